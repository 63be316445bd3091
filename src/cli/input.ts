import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { extname } from "node:path";
import { bodyKind, type LocalDocument } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import { systemReason } from "../base/system-error.ts";
import { decodeText, decodingWarnings, isFileBody, sniffPageType } from "../fetching/index.ts";
import type { PageUrl } from "../urls/index.ts";
import { type Io, readAtMost, untilAborted } from "./io.ts";
import { pathBytes } from "./words.ts";

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
  return toDocument(path, bytes, url, TYPE_BY_EXTENSION[extname(path).toLowerCase()]);
}

const STDIN = "standard input";

/** Reads a page from standard input; throws as `readDocument`. */
export async function readStdin(io: Io, { url, maxBytes }: ReadOptions): Promise<LocalDocument> {
  const name = STDIN;
  const bytes = await io.stdin.read(maxBytes + 1);
  requireSize(name, bytes.length, maxBytes);
  return toDocument(name, bytes, url);
}

/** Reads a small text file or, for "-", standard input; throws as `readDocument`. */
export async function readText(path: string, io: Io, maxBytes: number): Promise<string> {
  const reading = isStdin(path) ? io.stdin.read(maxBytes + 1) : readBytes(path, maxBytes);
  const bytes = await untilAborted(reading, io.signal);
  requireSize(path, bytes.length, maxBytes);
  return decodeText(bytes, null).text;
}

/** Tells whether a folder is there. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
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
    // The file is read as a stream, because pipes and devices have no reliable size.
    const bytes = await readAtMost(file.createReadStream(), maxBytes + 1);
    requireSize(path, bytes.length, maxBytes);
    return bytes;
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure("unreadable_input", `${path} cannot be read: ${systemReason(cause)}`, { cause });
  }
}

function requireSize(name: string, bytes: number, maxBytes: number): void {
  if (bytes > maxBytes)
    throw new Failure("too_large", `${name} is larger than ${maxBytes} bytes; --max-bytes sets the limit`);
}

function toDocument(
  name: string,
  bytes: Uint8Array,
  url: PageUrl | null,
  declaredType?: string,
): LocalDocument {
  const hint = url && name === STDIN ? "; --url only says where it is from: leave --url out to fetch it" : "";
  if (bytes.length === 0) throw new Failure("unreadable_input", `${name} is empty${hint}`);
  if (isFileBody(bytes)) return { name, kind: "file", body: bytes, url, warnings: [] };
  const sniffed = sniffPageType(bytes);
  if (sniffed === null)
    throw new Failure("unsupported_content", `${name} is not HTML, Markdown or plain text`);
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
