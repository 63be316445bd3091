/** Measures the CPU time in ms that this process takes for some work, which a busy machine hardly changes. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
