export type { Supervisor } from "../server/index.ts";
export type { FileIdentity, Io } from "./io.ts";
export { decodeWords } from "./path-bytes.ts";
export { runCli } from "./run.ts";
export { stdoutFailure } from "./system-error.ts";
export { untilAborted } from "./until-aborted.ts";
