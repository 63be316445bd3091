/** CPU time of all threads of this process while some work is done, ms: what a busy machine changes little. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
