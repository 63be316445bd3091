export type { FileIdentity, Io, Supervisor } from "./io.ts";
export { decodeWords } from "./path-bytes.ts";
export { runCli } from "./run.ts";
export { stdoutFailure } from "./system-error.ts";
export { untilAborted } from "./until-aborted.ts";
