import { isUtf8 } from "node:buffer";
import { dirname } from "node:path";

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

/** The path for `node:fs` of one from `decodePath`: text, or bytes when it is not UTF-8. */
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

/** The length of the UTF-8 sequence that begins here; 0 when none does. */
const sequenceLength = (bytes: Uint8Array, at: number): number =>
  [1, 2, 3, 4].find((length) => isUtf8(bytes.subarray(at, at + length))) ?? 0;
