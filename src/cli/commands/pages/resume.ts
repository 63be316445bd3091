import type { Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { ARTICLE_FIELDS } from "../../../articles/index.ts";
import { makePrivateDirectory, openDatabase } from "../../../base/database/index.ts";
import { Failure } from "../../../base/failure.ts";
import { parsePageUrl } from "../../../urls/index.ts";
import { attempt, type Sink } from "../../sink.ts";

type ResumeOptions = {
  /** Whether a failed page counts as one that has no line. */
  readonly retriesFailed: boolean;
  /** The directory for the lock of the file; null when its folder is locked. */
  readonly locks: string | null;
};

/**
 * Opens a file of JSON lines to continue, or creates it. A line that was cut off at the end is dropped.
 * @throws Failure `invalid_usage` while another process writes there, `unwritable_output`, and `unreadable_input` for a
 *   file that holds anything else
 */
export async function openResumed(path: string, { retriesFailed, locks }: ResumeOptions) {
  const file = await attempt(path, () => open(path, "a+"));
  let lock: ReturnType<typeof lockList> | null = null;
  const close = async (): Promise<void> => {
    await file.close();
    lock?.close();
  };
  try {
    const found = await file.stat();
    if (!found.isFile())
      throw new Failure("unwritable_output", `${path} is not a regular file, which --resume needs`);
    lock = locks === null ? null : lockFile(path, locks, found);
    const lines = await readLines(file, path);
    return {
      /** Takes a line of the page and gives its outcome; null when there is none, or none any more. */
      take: (name: string) => {
        const end = lines.get(keyOf(name))?.ends.pop() ?? null;
        return end === "failed" && retriesFailed ? null : end;
      },
      /** The pages that have failed and not been done since; a local one is named by its file. */
      failed: () =>
        [...lines]
          .filter(([, { ends }]) => !ends.includes("done"))
          .map(([name, { isFile }]) => (isFile ? { file: name } : { url: name })),
      sink: {
        write: (text: string) => attempt(path, () => file.writeFile(text)),
        finish: async () => {},
        [Symbol.asyncDispose]: async () => {},
      } satisfies Sink,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Locks the place of a list for this process.
 * @throws Failure `invalid_usage` while another process has it; `unwritable_output`
 */
export function lockList(place: string, directory: string, name: string) {
  makePrivateDirectory(directory);
  // The system frees the lock, whose file stays: a removed one could be locked by a process that has just opened it.
  return openDatabase({
    path: join(directory, name),
    name: "the lock of a list",
    access: { kind: "exclusive", refusal: `${place}: another list is being extracted there` },
  });
}

/** A file is locked under its number, which is the same whatever path leads to it. */
function lockFile(path: string, directory: string, { dev, ino }: Stats) {
  try {
    return lockList(path, directory, `${dev}-${ino}.sqlite`);
  } catch (error) {
    if (error instanceof Failure && error.code === "invalid_usage") throw error;
    return null; // a program that may write nothing but the file goes without
  }
}

/** A file of JSON lines that an earlier run began, with its content. */
export type Resumed = Awaited<ReturnType<typeof openResumed>>;

/** The outcomes in the lines of a page; successes are taken first. */
type PageLines = { readonly isFile: boolean; readonly ends: ("done" | "failed")[] };
type Lines = Map<string, PageLines>;

const CHUNK_BYTES = 1 << 20;
const NEW_LINE = 0x0a;

async function readLines(file: FileHandle, path: string): Promise<Lines> {
  const lines: Lines = new Map();
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let line: Buffer[] = [];
  let number = 1;
  let [position, lineStart] = [0, 0];
  while (true) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) break;
    let from = 0;
    for (
      let end = chunk.indexOf(NEW_LINE);
      end >= 0 && end < bytesRead;
      end = chunk.indexOf(NEW_LINE, from)
    ) {
      takeLine(Buffer.concat([...line, chunk.subarray(from, end)]).toString(), lines, { path, number });
      from = end + 1;
      line = [];
      number++;
      lineStart = position + from;
    }
    // The chunk's memory is reused.
    line.push(Buffer.from(chunk.subarray(from, bytesRead)));
    position += bytesRead;
  }
  await mendEnd(Buffer.concat(line).toString(), { file, lines, place: { path, number }, lineStart });
  return lines;
}

type LineNumber = { readonly path: string; readonly number: number };

function takeLine(text: string, lines: Lines, place: LineNumber): void {
  if (text.trim() === "") return;
  const page = parseLine(text);
  if (page === null) throw notOurs(place);
  const { isFile } = page;
  const known = lines.get(page.key) ?? { isFile, ends: [] };
  if (page.end === "done") known.ends.push(page.end);
  else known.ends.unshift(page.end);
  lines.set(page.key, known);
}

type End = {
  readonly file: FileHandle;
  readonly lines: Lines;
  readonly place: LineNumber;
  readonly lineStart: number;
};

// The beginning of a JSON object is never valid JSON. A file system that crashed may leave NUL bytes.
async function mendEnd(text: string, { file, lines, place, lineStart }: End): Promise<void> {
  if (text === "") return;
  if (parseLine(text) !== null) {
    takeLine(text, lines, place);
    await attempt(place.path, () => file.writeFile("\n"));
    return;
  }
  const written = text.replace(/\0+$/, "");
  const isCut = !isJson(text) && BEGINNINGS.some((b) => written.startsWith(b) || b.startsWith(written));
  // Any other content belongs to a file that was named by mistake.
  if (!isCut) throw notOurs(place);
  await attempt(place.path, () => file.truncate(lineStart));
}

const BEGINNINGS = ["file", ...ARTICLE_FIELDS].map((field) => `{"${field}":`);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const notOurs = ({ path, number }: LineNumber): Failure =>
  new Failure(
    "unreadable_input",
    `${path}:${number} is not a JSON line of a page; --resume appends to a file of such lines only`,
  );

type PageLine = { readonly key: string; readonly isFile: boolean; readonly end: "done" | "failed" };

function parseLine(text: string): PageLine | null {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line !== "object" || line === null) return null;
    const { file, url, error } = line as Readonly<Record<string, unknown>>;
    const name = file ?? url;
    if (typeof name !== "string") return null;
    const end = error === undefined || error === null ? "done" : "failed";
    return { key: keyOf(name), isFile: typeof file === "string", end };
  } catch {
    return null;
  }
}

const keyOf = (name: string): string => parsePageUrl(name) ?? name;
