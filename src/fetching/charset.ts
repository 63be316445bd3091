import { analyse } from "chardet";
import { charsetParameter } from "./content-type.ts";

/** Where the encoding of a text was learnt. */
export type EncodingSource = "bom" | "header" | "meta" | "sniffed";

export type DecodedText = {
  readonly text: string;
  /** The encoding's name in the WHATWG Encoding Standard, in lower case. */
  readonly encoding: string;
  readonly source: EncodingSource;
  /** Whether some bytes were none of that encoding and became U+FFFD. */
  readonly malformed: boolean;
};

/**
 * Decodes a body or a file to text, without its byte order mark. A mark decides, then the charset of the
 * header, then `<meta>` or the XML declaration, then the bytes themselves; a label that the Encoding Standard
 * does not know is passed over. The mark goes first as in the standard's "decode" and in every browser:
 * servers declare a charset for files that they have not looked into.
 * @param contentType the header's value, null when there is none (a local file)
 */
export function decodeText(bytes: Uint8Array, contentType: string | null): DecodedText {
  const { encoding, source } = findEncoding(bytes, contentType);
  return { ...decodeAs(bytes, encoding), encoding, source };
}

type Finding = { readonly encoding: string; readonly source: EncodingSource };

function findEncoding(bytes: Uint8Array, contentType: string | null): Finding {
  const marked = byteOrderMark(bytes);
  if (marked) return { encoding: marked, source: "bom" };
  const declared = encodingOf(charsetParameter(contentType ?? ""));
  if (declared) return { encoding: declared, source: "header" };
  const inside = encodingInMarkup(bytes);
  if (inside) return { encoding: inside, source: "meta" };
  return { encoding: sniffEncoding(bytes), source: "sniffed" };
}

// The types of the runtime list fewer labels than it knows.
const decoder = (label: string, fatal = false): TextDecoder =>
  new TextDecoder(label as ConstructorParameters<typeof TextDecoder>[0], { fatal });

function byteOrderMark(bytes: Uint8Array): string | null {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return null;
}

// The labels of the standard's "replacement" encoding, which decodes to one U+FFFD and nothing else.
const REPLACEMENT_LABELS = new Set([
  "csiso2022kr",
  "hz-gb-2312",
  "iso-2022-cn",
  "iso-2022-cn-ext",
  "iso-2022-kr",
  "replacement",
]);

/** The encoding that a label means, or null when the standard (or this runtime) has none of that name. */
function encodingOf(label: string | null): string | null {
  const plain = label?.trim().toLowerCase() ?? "";
  if (plain === "") return null;
  if (REPLACEMENT_LABELS.has(plain)) return "replacement";
  if (plain === "x-user-defined") return plain;
  try {
    return decoder(plain).encoding.toLowerCase();
  } catch {
    return null;
  }
}

function decodeAs(
  bytes: Uint8Array,
  encoding: string,
): { readonly text: string; readonly malformed: boolean } {
  if (encoding === "replacement")
    return { text: bytes.length > 0 ? "\ufffd" : "", malformed: bytes.length > 0 };
  if (encoding === "x-user-defined") return { text: decodeUserDefined(bytes), malformed: false };
  try {
    return { text: decoder(encoding, true).decode(bytes), malformed: false };
  } catch {
    return { text: decoder(encoding).decode(bytes), malformed: true };
  }
}

// Encoding Standard 14.5: upper bytes are the private characters from U+F780. Node's decoder lacks it.
function decodeUserDefined(bytes: Uint8Array): string {
  const latin1 = new TextDecoder("latin1").decode(bytes.map((byte) => (byte < 0x80 ? byte : 0x3f)));
  if (!bytes.some((byte) => byte >= 0x80)) return latin1;
  const parts: string[] = [];
  for (const byte of bytes) parts.push(String.fromCharCode(byte < 0x80 ? byte : 0xf700 + byte));
  return parts.join("");
}

// The standard looks at 1024 bytes; browsers go on a little, and pages with long comments need it.
const PRESCAN_BYTES = 4096;

/** The encoding that the document names itself (HTML standard, "prescan a byte stream"). */
function encodingInMarkup(bytes: Uint8Array): string | null {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, PRESCAN_BYTES));
  const xml = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']+)["']/i.exec(head);
  const label = metaCharset(withoutComments(head)) ?? xml?.[1] ?? null;
  const encoding = encodingOf(label);
  // A document whose declaration could be read byte by byte is not in UTF-16, whatever it says.
  if (encoding === "utf-16le" || encoding === "utf-16be") return "utf-8";
  return encoding === "x-user-defined" ? "windows-1252" : encoding;
}

function metaCharset(markup: string): string | null {
  for (const [, attributes = ""] of markup.matchAll(/<meta[\s/]([^>]*)/gi)) {
    const charset = /(?:^|[\s"'/])charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes);
    const label = charset?.[1] ?? charset?.[2] ?? charset?.[3];
    if (label === undefined) continue;
    if (encodingOf(label)) return label;
  }
  return null;
}

function withoutComments(markup: string): string {
  const parts: string[] = [];
  let at = 0;
  for (;;) {
    const start = markup.indexOf("<!--", at);
    if (start < 0) break;
    parts.push(markup.slice(at, start));
    const end = markup.indexOf("-->", start + 2);
    if (end < 0) return parts.join(" ");
    at = end + 3;
  }
  parts.push(markup.slice(at));
  return parts.join(" ");
}

const SNIFF_BYTES = 65_536;
const FALLBACK = "windows-1252"; // the HTML standard's for most locales

/** The likeliest encoding of bytes that nothing declares: UTF-8 when they are valid, else by statistics. */
function sniffEncoding(bytes: Uint8Array): string {
  const wide = utf16WithoutMark(bytes);
  if (wide) return wide;
  if (!isUtf8(bytes)) return statisticalGuess(bytes) ?? FALLBACK;
  // ISO-2022-JP is ASCII with escapes, so it is valid UTF-8 as well.
  return bytes.includes(0x1b) ? (statisticalGuess(bytes) ?? "utf-8") : "utf-8";
}

/** Single-byte encodings whose upper half is a script of its own, so that a text is mostly upper bytes. */
const OTHER_SCRIPTS = /^(?:windows-125[1356]|koi8-|iso-8859-[5678])/;
const MULTIBYTE = /^(?:shift_jis|euc-|big5|gb|iso-2022)/;

/** Under so many bytes outside ASCII the statistics guess Russian for "é è". */
const MIN_UPPER_BYTES = 4;
/** The library's confidence, 0–100; long plain Russian reaches 19, multibyte texts of a line over 50. */
const MIN_CONFIDENCE = 10;
const MIN_MULTIBYTE_CONFIDENCE = 25;

function statisticalGuess(bytes: Uint8Array): string | null {
  const sample = textSample(bytes);
  const upper = sample.reduce((count, byte) => count + (byte >= 0x80 ? 1 : 0), 0);
  const letters = sample.reduce((count, byte) => count + (isAsciiLetter(byte) ? 1 : 0), 0);
  const hasEscapes = sample.includes(0x1b);
  if (upper < MIN_UPPER_BYTES && !hasEscapes) return null;
  for (const match of analyse(sample)) {
    const encoding = encodingOf(match.name);
    // A guess of UTF-8 is wrong here: the bytes have been tried.
    if (encoding === null || encoding.startsWith("utf-") || encoding === "replacement") continue;
    if (OTHER_SCRIPTS.test(encoding) && upper < letters) continue;
    const enough = MULTIBYTE.test(encoding) ? MIN_MULTIBYTE_CONFIDENCE : MIN_CONFIDENCE;
    if (match.confidence >= enough && decodesCleanly(sample, encoding)) return encoding;
  }
  return null;
}

const isAsciiLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

/** Bytes outside of tags, from where the first one that is not ASCII stands: markup tells nothing. */
function textSample(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte >= 0x80 || byte === 0x1b);
  const sample = new Uint8Array(Math.min(SNIFF_BYTES, bytes.length));
  let length = 0;
  // The second bytes of ISO-2022-JP are ASCII, "<" among them.
  const hasTags = bytes[first] !== 0x1b;
  let isInTag = false;
  for (let index = Math.max(0, first - 64); index < bytes.length && length < sample.length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte === 0x3c && hasTags) isInTag = isAsciiLetter(bytes[index + 1] ?? 0) || bytes[index + 1] === 0x2f;
    if (!isInTag) sample[length++] = byte;
    if (byte === 0x3e) isInTag = false;
  }
  return sample.subarray(0, length);
}

function decodesCleanly(sample: Uint8Array, encoding: string): boolean {
  // The sample's end may cut a character, so the last bytes do not count.
  try {
    decoder(encoding, true).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** UTF-16 of mostly Latin text shows in zeros at every other byte. */
function utf16WithoutMark(bytes: Uint8Array): string | null {
  const length = Math.min(bytes.length, 512) & ~1;
  if (length < 4) return null;
  const zeros = [0, 0];
  for (let index = 0; index < length; index++)
    if (bytes[index] === 0) zeros[index & 1] = (zeros[index & 1] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const most = length / 4;
  if (odd > most && even === 0) return "utf-16le";
  return even > most && odd === 0 ? "utf-16be" : null;
}
