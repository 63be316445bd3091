import { decodeWords, runCli, workloadOf } from "../src/cli/index.ts";
import { chooseCompilers } from "./compilers.ts";
import { isReadingStdin, processIo, readCommandLine } from "./process-io.ts";

const words = decodeWords(process.argv.slice(2), readCommandLine);
chooseCompilers(workloadOf(words));
const io = processIo();
process.exitCode = await runCli(words, io);
await io.drained();
// An interrupted read of a pipe continues, and would keep the program alive until somebody writes to the
// pipe.
if (io.signal.aborted || isReadingStdin()) process.exit();
// The channel to a supervisor would keep it alive too.
if (io.supervisor !== null) process.disconnect?.();
