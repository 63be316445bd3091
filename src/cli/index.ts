export type { Supervisor } from "../server/index.ts";
export { type FileIdentity, type Io, stdoutFailure, untilAborted } from "./io.ts";
export { decodeWords } from "./path-bytes.ts";
export { runCli } from "./run.ts";
