import { writeSync } from "node:fs";
import { VERSION } from "../src/base/version.ts";

// Scripts ask for the version again and again; loading the program would take four times as long as answering.
function answersVersion(): boolean {
  if (process.argv.length !== 3 || process.argv[2] !== "--version") return false;
  try {
    writeSync(1, `article-extractor ${VERSION}\n`);
    return true;
  } catch {
    return false; // The program tells what is wrong with the output.
  }
}

if (!answersVersion()) await import("./program.ts");
