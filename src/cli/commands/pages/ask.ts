import { homedir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../../base/failure.ts";
import type { Io } from "../../io.ts";

/**
 * Asks the person at the terminal for the output directory; an empty answer takes the suggestion.
 * @throws Failure `invalid_usage` where nobody can be asked or the answer does not come
 */
export async function askForDirectory(io: Io, suggestion: string): Promise<string> {
  const missing = new Failure(
    "invalid_usage",
    "crawl needs --output-dir DIR for its files, or --jsonl to write pages to stdout",
  );
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) throw missing;
  io.stderr.write(`Directory for the pages [${suggestion}]: `);
  const answer = await io.stdin.readLine();
  if (answer === null) {
    io.stderr.write("\n");
    throw missing;
  }
  return expandHome(answer.trim() || suggestion);
}

// The shell does this for what is typed after an option.
const expandHome = (path: string): string =>
  path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
