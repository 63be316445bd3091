import type { Log } from "./log.ts";

const write = (): void => {};

/** A log that writes nothing, for library callers and tests. */
export const silentLog: Log = {
  debug: write,
  info: write,
  warning: write,
  error: write,
  critical: write,
  always: write,
  with: () => silentLog,
};
