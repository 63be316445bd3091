export type { Supervisor } from "../server/index.ts";
export { decodeWords } from "./input.ts";
export { type FileIdentity, type Io, stdoutFailure, untilAborted } from "./io.ts";
export { runCli } from "./run.ts";
