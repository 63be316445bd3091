import { existsSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../../base/failure.ts";
import type { Io } from "../../io.ts";
import { hasRawBytes, pathBytes } from "../../path-bytes.ts";
import { attempt } from "./output.ts";

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

/** A directory for output, and a path of text that leads there for as long as it is open. */
export type OutputDirectory = AsyncDisposable & { readonly path: string };

/**
 * Opens a directory whose name may be no UTF-8. Such a name fits into no text, and most of what writes files takes
 * text for a path, so they go through the open directory's entry in /proc.
 * @throws Failure `unwritable_output`; `invalid_usage` where the system has no /proc
 */
export async function openOutputDirectory(directory: string): Promise<OutputDirectory> {
  if (!hasRawBytes(directory)) return { path: directory, [Symbol.asyncDispose]: async () => {} };
  if (!existsSync(DESCRIPTORS))
    throw new Failure("invalid_usage", "--output-dir is no UTF-8, which this system has no way to write to");
  const handle = await attempt(directory, async () => {
    await mkdir(pathBytes(directory), { recursive: true });
    return await open(pathBytes(directory), "r");
  });
  return { path: `${DESCRIPTORS}/${handle.fd}`, [Symbol.asyncDispose]: () => handle.close() };
}

const DESCRIPTORS = "/proc/self/fd";
