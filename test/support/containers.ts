const UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc", "--uts", "--kill-child=SIGKILL"];

/**
 * What starts a command as a container does: as process 1 of its own, on a host whose name others have too. It ends
 * with the command that holds it.
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
