import { charsetParameter } from "./content-type.ts";
import { decoderOf, sniffEncoding } from "./sniff-encoding.ts";

/** Where the encoding of a text was found. */
export type EncodingSource = "bom" | "header" | "meta" | "sniffed";

export type DecodedText = {
  readonly text: string;
  /** The encoding's name in the WHATWG Encoding Standard, in lower case. */
  readonly encoding: string;
  readonly source: EncodingSource;
  /** Whether some bytes were invalid in that encoding and became U+FFFD. */
  readonly malformed: boolean;
  /** Whether the encoding is a guess that may be wrong. */
  readonly doubtful: boolean;
};

/**
 * Decodes a body or a file to text, without its byte order mark. A byte order mark decides, then the charset
 * of the header, then `<meta>` or the XML declaration, then the bytes themselves; labels that the Encoding
 * Standard does not know are ignored. The mark comes first as in the standard's "decode" and in every
 * browser, because servers declare a charset for files that they have not looked into.
 * @param contentType the header's value, null when there is none (a local file)
 */
export function decodeText(bytes: Uint8Array, contentType: string | null): DecodedText {
  const { encoding, source, doubtful = false } = findEncoding(bytes, contentType);
  return { ...decodeAs(bytes, encoding), encoding, source, doubtful };
}

/** Sentences that tell a reader what was doubtful about the decoding. */
export function decodingWarnings({ encoding, malformed, doubtful }: Omit<DecodedText, "text">): string[] {
  const guessed = doubtful
    ? [`No encoding is declared, and ${encoding} is a guess: letters may be wrong`]
    : [];
  return malformed ? [...guessed, `Some bytes are not valid ${encoding} and were replaced`] : guessed;
}

type Finding = {
  readonly encoding: string;
  readonly source: EncodingSource;
  readonly doubtful?: boolean;
};

function findEncoding(bytes: Uint8Array, contentType: string | null): Finding {
  const marked = byteOrderMark(bytes);
  if (marked) return { encoding: marked, source: "bom" };
  const declared = encodingOf(charsetParameter(contentType ?? ""));
  if (declared) return { encoding: declared, source: "header" };
  const inside = encodingInMarkup(bytes);
  if (inside) return { encoding: inside, source: "meta" };
  return { ...sniffEncoding(bytes), source: "sniffed" };
}

function byteOrderMark(bytes: Uint8Array): string | null {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return null;
}

// These labels belong to the standard's "replacement" encoding, which decodes everything to one U+FFFD.
const REPLACEMENT_LABELS = new Set([
  "csiso2022kr",
  "hz-gb-2312",
  "iso-2022-cn",
  "iso-2022-cn-ext",
  "iso-2022-kr",
  "replacement",
]);

/** The encoding that a label names, or null when the standard or this runtime does not know it. */
function encodingOf(label: string | null): string | null {
  const plain = label?.trim().toLowerCase() ?? "";
  if (plain === "") return null;
  if (REPLACEMENT_LABELS.has(plain)) return "replacement";
  if (plain === "x-user-defined") return plain;
  try {
    return decoderOf(plain).encoding.toLowerCase();
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
    return { text: decoderOf(encoding, true).decode(bytes), malformed: false };
  } catch {
    return { text: decoderOf(encoding).decode(bytes), malformed: true };
  }
}

// Upper bytes map to private-use characters from U+F780 (Encoding Standard 14.5). Node has no decoder for
// this.
function decodeUserDefined(bytes: Uint8Array): string {
  const latin1 = new TextDecoder("latin1").decode(bytes.map((byte) => (byte < 0x80 ? byte : 0x3f)));
  if (!bytes.some((byte) => byte >= 0x80)) return latin1;
  const parts: string[] = [];
  for (const byte of bytes) parts.push(String.fromCharCode(byte < 0x80 ? byte : 0xf700 + byte));
  return parts.join("");
}

// The standard looks at 1024 bytes; browsers look a little further, and pages with long comments need it.
const PRESCAN_BYTES = 4096;

/** The encoding that the document declares itself (HTML standard, "prescan a byte stream"). */
function encodingInMarkup(bytes: Uint8Array): string | null {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, PRESCAN_BYTES));
  const xml = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']+)["']/i.exec(head);
  const label = metaCharset(withoutComments(head)) ?? xml?.[1] ?? null;
  const encoding = encodingOf(label);
  // A declaration that can be read byte by byte proves that the document is not UTF-16, whatever it says.
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
