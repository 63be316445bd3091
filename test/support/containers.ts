const UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc", "--uts", "--kill-child=SIGKILL"];

/**
 * These words before a command start it as a container does: it is process 1, and other containers have the same host
 * name. It ends when the process that started it ends.
 */
export const IN_CONTAINER: readonly string[] = [
  ...UNSHARE,
  "sh",
  "-c",
  'hostname container && exec "$@"',
  "sh",
];

/** Whether this user may make namespaces. */
export const canContain = Bun.spawnSync([...UNSHARE, "true"]).exitCode === 0;
