import { open } from "node:fs/promises";
import { dirname, extname } from "node:path";
import { bodyKind, type LocalDocument } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import { systemReason } from "../base/system-error.ts";
import { decodeText, decodingWarnings, sniffPageType } from "../fetching/index.ts";
import type { PageUrl } from "../urls/index.ts";
import { type Io, untilAborted } from "./io.ts";

/** The limits of reading. */
type ReadOptions = {
  readonly url: PageUrl | null;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
};

/**
 * Reads a local page.
 * @throws Failure `unreadable_input` for a missing, unreadable or empty file and for directories,
 * `too_large`, `unsupported_content` for what is no text
 */
export async function readDocument(path: string, options: ReadOptions): Promise<LocalDocument> {
  const { url, maxBytes, signal } = options;
  const bytes = await untilAborted(readBytes(path, maxBytes), signal);
  return toDocument({
    name: path,
    bytes,
    url,
    declaredType: TYPE_BY_EXTENSION[extname(path).toLowerCase()] ?? null,
  });
}

/** Reads a page from standard input; throws as `readDocument`. */
export async function readStdin(
  io: Io,
  { url, maxBytes }: Omit<ReadOptions, "signal">,
): Promise<LocalDocument> {
  const name = "standard input";
  const bytes = await io.stdin.read(maxBytes + 1);
  requireSize(name, bytes.length, maxBytes);
  return toDocument({ name, bytes, url, declaredType: null });
}

/** Reads a small text file or, for "-", standard input; throws as `readDocument`. */
export async function readText(path: string, io: Io, maxBytes: number): Promise<string> {
  const reading = isStdin(path) ? io.stdin.read(maxBytes + 1) : readBytes(path, maxBytes);
  const bytes = await untilAborted(reading, io.signal);
  requireSize(path, bytes.length, maxBytes);
  return decodeText(bytes, null).text;
}

/** Tells whether a path means standard input; /dev/stdin cannot be opened when it is a socket. */
export const isStdin = (path: string): boolean => path === "-" || path === "/dev/stdin";

const TYPE_BY_EXTENSION: Readonly<Record<string, string>> = {
  ".md": "text/markdown",
  ".markdown": "text/markdown",
  ".txt": "text/plain",
  ".htm": "text/html",
  ".html": "text/html",
  ".xhtml": "application/xhtml+xml",
  ".xht": "application/xhtml+xml",
};

async function readBytes(path: string, maxBytes: number): Promise<Uint8Array> {
  try {
    await using file = await open(pathBytes(path), "r");
    const stat = await file.stat();
    if (stat.isDirectory()) throw new Failure("unreadable_input", `${path} is a directory, not a file`);
    requireSize(path, stat.size, maxBytes);
    const bytes = await readAtMost(file, maxBytes + 1);
    requireSize(path, bytes.length, maxBytes);
    return bytes;
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure("unreadable_input", `${path} cannot be read: ${systemReason(cause)}`, { cause });
  }
}

type Readable = { createReadStream(): AsyncIterable<Uint8Array> };

// The file is read as a stream, because pipes and devices have no reliable size.
async function readAtMost(file: Readable, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of file.createReadStream()) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= limit) break;
  }
  return Buffer.concat(chunks);
}

function requireSize(name: string, bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) {
    throw new Failure("too_large", `${name} is larger than ${maxBytes} bytes; --max-bytes sets the limit`);
  }
}

type RawDocument = {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly url: PageUrl | null;
  readonly declaredType: string | null;
};

function toDocument({ name, bytes, url, declaredType }: RawDocument): LocalDocument {
  if (bytes.length === 0) throw new Failure("unreadable_input", `${name} is empty`);
  const sniffed = sniffPageType(bytes);
  if (sniffed === null) {
    throw new Failure("unsupported_content", `${name} is not HTML, Markdown or plain text`);
  }
  const decoded = decodeText(bytes, null);
  const { text } = decoded;
  return {
    name,
    // A fragment that starts with a bare word is still a page; only text without any tag is plain text.
    kind: bodyKind(declaredType ?? (sniffed === "text/plain" && hasTags(text) ? "text/html" : sniffed)),
    body: text,
    url,
    warnings: decodingWarnings(decoded),
  };
}

const hasTags = (text: string): boolean =>
  /<\/[a-z][a-z0-9]{0,15}\s*>|<(?:p|br|div|h[1-6])\b[^<>]{0,500}>/i.test(text);

/**
 * Decodes the bytes of a file name. Each byte that is not UTF-8 becomes a lone surrogate U+DC80 to U+DCFF, which
 * UTF-8 cannot contain, so that every name can be encoded back unchanged (as in Python's PEP 383).
 */
export function decodePath(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    text +=
      length === 0
        ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0))
        : UTF8.decode(bytes.subarray(at, at + length));
    at += length || 1;
  }
  return text;
}

/**
 * Returns the argument for functions of `node:fs` for a path from `decodePath`: text, or bytes when it is not UTF-8.
 */
export function pathBytes(path: string): string | Buffer {
  if (!hasRawBytes(path)) return path;
  const parts = path.split(RAW_BYTE).map((part) => {
    const isRaw = part.length === 1 && RAW_BYTE.test(part);
    return isRaw ? Buffer.from([part.charCodeAt(0) - 0xdc00]) : Buffer.from(part);
  });
  return Buffer.concat(parts);
}

/** Works like `dirname`, which, like `join` and `resolve`, replaces such bytes in this runtime. */
export function directoryOf(path: string): string {
  if (!hasRawBytes(path)) return dirname(path);
  const end = path.lastIndexOf("/");
  return end < 0 ? "." : path.slice(0, end) || "/";
}

/** Tells whether a word contains bytes that are not UTF-8. */
export const hasRawBytes = (word: string): boolean => !word.isWellFormed();

/**
 * Returns the words of the command line with all their bytes. The runtime replaces invalid UTF-8 by U+FFFD, which
 * would make two file names equal.
 * @param argv as the runtime gives them
 * @param readCommandLine the process's words with a zero byte behind each, as Linux shows them; null elsewhere
 */
export function decodeWords(
  argv: readonly string[],
  readCommandLine: () => Uint8Array | null,
): readonly string[] {
  if (!argv.some((word) => word.includes("\ufffd"))) return argv;
  const line = readCommandLine();
  if (line === null) return argv;
  const words = decodePath(line).split("\0").slice(0, -1).slice(-argv.length);
  const isSame = argv.every((word, at) => words[at] === word || hasRawBytes(words[at] ?? ""));
  return isSame ? words : argv;
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const RAW_BYTE = /([\udc80-\udcff])/u;

/** Returns the length of the UTF-8 sequence that begins here (Unicode 16, table 3-7); 0 when none does. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const second = bytes[at + 1] ?? 0;
  const [low, high] = SECOND_BYTES[first] ?? [0x80, 0xbf];
  const isBegun = first >= 0xc2 && first <= 0xf4 && second >= low && second <= high;
  const isContinued = [2, 3].every((step) => step >= length || ((bytes[at + step] ?? 0) & 0xc0) === 0x80);
  return isBegun && isContinued ? length : 0;
}

/** The bytes that may follow these first bytes; others accept any continuation. */
const SECOND_BYTES: Readonly<Record<number, readonly [low: number, high: number]>> = {
  224: [0xa0, 0xbf],
  237: [0x80, 0x9f],
  240: [0x90, 0xbf],
  244: [0x80, 0x8f],
};
