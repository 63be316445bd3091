export type { FileIdentity, Io } from "./io.ts";
export { runCli } from "./run.ts";
export { stdoutFailure } from "./system-error.ts";
export { untilAborted } from "./until-aborted.ts";
