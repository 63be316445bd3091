export type { Supervisor } from "../server/index.ts";
export { type FileIdentity, type Io, readAtMost, stdoutFailure, untilAborted } from "./io.ts";
export { runCli } from "./run.ts";
export { decodeWords } from "./words.ts";
export { type Workload, workloadOf } from "./workload.ts";
