export { type Io, OutputClosed } from "./io.ts";
export { runCli } from "./run.ts";
