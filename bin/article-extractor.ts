import { runCli } from "../src/cli/index.ts";
import { processIo } from "./process-io.ts";

process.exitCode = await runCli(process.argv.slice(2), processIo());
