import { createHash } from "node:crypto";
import { Failure } from "../base/failure.ts";
import type { DocumentUrl } from "../urls/index.ts";

const EXTENSION = ".md";

// File systems allow 255 bytes; backup and sync tools append to the name.
const MAX_NAME_BYTES = 240;

// These are numbers of SHA-256 digits, ten first: the name must only differ from names with the same readable
// part.
const HASH_LENGTHS = [10, 20, 40, 64] as const;

// Some system refuses or reinterprets each of these. Categories C (control, format, unassigned) and Z (all
// spaces but U+0020) are invisible.
const UNSAFE_CHARACTER = /[/\\:*?"<>|\p{C}]|(?! )\p{Z}/u;
const UNSAFE_CHARACTERS = new RegExp(UNSAFE_CHARACTER, "gu");

// Windows reserves these device names, also before the first dot of a longer name.
const RESERVED_NAME = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?=[ .]|$)/i;

/**
 * The flat file name of a page: the URL without its scheme, `/` as `__`, `:` of a port as `_`, a query as
 * `_q_` and its safe form, with percent-escapes decoded where that is valid and safe. A hash of the URL is
 * added before `.md` when the name is taken, would also fit another URL, is longer than 240 bytes or is
 * unsafe on some system.
 * @param isTaken whether another URL's page, or a foreign file, has the name; compare names by `fileNameKey`,
 * so that no two meet on disks that fold case or normalise Unicode
 */
export function pageFileName(url: DocumentUrl, isTaken: (name: string) => boolean): string {
  const readable = readableName(url);
  const plain = readable.text + EXTENSION;
  if (readable.isFaithful && Buffer.byteLength(plain) <= MAX_NAME_BYTES && !isTaken(plain)) return plain;
  const hash = createHash("sha256").update(url).digest("hex");
  for (const length of HASH_LENGTHS) {
    const suffix = `-${hash.slice(0, length)}${EXTENSION}`;
    const name = cutToBytes(readable.text, MAX_NAME_BYTES - suffix.length) + suffix;
    if (!isTaken(name)) return name;
  }
  throw new Failure("unwritable_output", `every file name for ${url} is taken by another file`);
}

/**
 * A key that is equal for names that some file system treats as the same: case is folded fully (as in ext4's
 * casefold and APFS), Unicode decomposed, and ignorable code points dropped. It is coarser than any one of
 * them; a false match only costs a hash in a name.
 */
export function fileNameKey(name: string): string {
  const visible = name.normalize("NFKD").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return visible.toUpperCase().toLowerCase().normalize("NFKD");
}

/** A name is faithful when no other URL reads the same, apart from its scheme, case and escapes. */
type ReadableName = { readonly text: string; readonly isFaithful: boolean };

function readableName(url: DocumentUrl): ReadableName {
  const [location = "", query] = splitOnce(url.slice(url.indexOf("://") + 3), "?");
  const [host = "", path = ""] = splitOnce(location, "/");
  const segments = path === "" ? [] : path.split("/").map(decodeSafely);
  const parts = [host.replaceAll(":", "_"), ...segments];
  const raw = parts.join("__") + (query === undefined ? "" : `_q_${decodeSafely(query)}`);
  const text = makeSafe(raw);
  const isAmbiguous = segments.some(readsAsSeparator) || readsAsSeparator(host) || /_\d+$/.test(host);
  return { text, isFaithful: text === raw && !isAmbiguous };
}

// `a__b` in a path would read as `a/b`, `a_` before the separator as `_` after it, and `_q_` as a query.
const readsAsSeparator = (segment: string): boolean =>
  segment.includes("__") || segment.includes("_q_") || segment.endsWith("_");

function makeSafe(name: string): string {
  return name
    .replace(UNSAFE_CHARACTERS, "_")
    .replace(/\.{2,}/g, "_")
    .replace(/^[.\- ~]/, "_")
    .replace(/[. ]$/, "_")
    .replace(RESERVED_NAME, "_$&");
}

// Escapes of unsafe characters, or of bytes that are no UTF-8, are kept.
function decodeSafely(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return [...decodeURIComponent(escapes)].map(keepSafe).join("");
    } catch {
      return escapes; // decodeURIComponent throws only for bytes that are no UTF-8
    }
  });
}

function keepSafe(character: string): string {
  return character === "%" || UNSAFE_CHARACTER.test(character) ? encodeURIComponent(character) : character;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

// The cut is at a code point's boundary and leaves no blank or dot at the end.
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(bytes.length, maxBytes);
  while (end < bytes.length && isContinuationByte(bytes[end])) end--;
  return bytes.toString("utf8", 0, end).replace(/[. ]$/, "_");
}

const isContinuationByte = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;
