export type { FileIdentity, Io, Supervisor } from "./io.ts";
export { runCli } from "./run.ts";
export { stdoutFailure } from "./system-error.ts";
export { untilAborted } from "./until-aborted.ts";
