import { analyse } from "chardet";
import { charsetParameter } from "./content-type.ts";

/** A guess at an encoding that nothing declares. */
type SniffedEncoding = {
  /** The name in the WHATWG Encoding Standard, in lower case. */
  readonly encoding: string;
  /** Whether other encodings fit nearly as well, or there are too few bytes to tell. */
  readonly doubtful: boolean;
};

// The runtime knows more labels than its types list.
const decoderOf = (label: string, fatal = false): TextDecoder =>
  new TextDecoder(label as ConstructorParameters<typeof TextDecoder>[0], { fatal });

const FALLBACK = "windows-1252"; // the HTML standard's for most locales
const SNIFF_BYTES = 65_536;

/** Guesses the encoding of bytes that nothing declares: UTF-8 when they are valid UTF-8, else by statistics. */
function sniffEncoding(bytes: Uint8Array): SniffedEncoding {
  const wide = utf16WithoutMark(bytes);
  if (wide) return { encoding: wide, doubtful: false };
  // ISO-2022-JP consists of ASCII and escapes, so it is also valid UTF-8.
  const hasEscapes = bytes.includes(ESCAPE);
  const isValid = decodesCleanly(bytes, "utf-8", { isWhole: true });
  if (isValid && !hasEscapes) return { encoding: "utf-8", doubtful: false };
  const guess = hasEscapes ? guessOf(bytes.subarray(0, SNIFF_BYTES)) : guessOf(textSample(bytes));
  if (guess) return guess;
  return isValid ? { encoding: "utf-8", doubtful: false } : { encoding: FALLBACK, doubtful: true };
}

const ESCAPE = 0x1b;

/** Single-byte encodings whose upper half is another script: most letters of a text are upper bytes. */
const OTHER_SCRIPTS = /^(?:windows-125[1356]|koi8-|iso-8859-[5678])/;
const MULTIBYTE = /^(?:shift_jis|euc-|big5|gb|iso-2022)/;
/** Pairs of encodings of one script that differ in few letters; statistics decide by other signs. */
const SIBLINGS: ReadonlyMap<string, string> = new Map([
  ["iso-8859-2", "windows-1250"],
  ["windows-1250", "iso-8859-2"],
  ["iso-8859-7", "windows-1253"],
  ["windows-1253", "iso-8859-7"],
  ["iso-8859-8", "windows-1255"],
]);

/** With fewer bytes outside ASCII than this, the statistics guess Russian for "é è". */
const MIN_UPPER_BYTES = 4;
/** The least confidence (0–100) accepted: long plain Russian reaches 19, a line of multibyte text over 50. */
const MIN_CONFIDENCE = 10;
const MIN_MULTIBYTE_CONFIDENCE = 25;
/** The library takes Thai for a multibyte encoding with a confidence of 29 to 61, and gives real ones 100. */
const SURE_CONFIDENCE = 80;
/** A guess from fewer letters may be wrong. */
const SURE_LETTERS = 200;

const isTelling = (sample: Uint8Array, upper: number): boolean =>
  upper >= MIN_UPPER_BYTES || sample.includes(ESCAPE);

function guessOf(sample: Uint8Array): SniffedEncoding | null {
  const letters = countOf(sample, isAsciiLetter);
  const upper = countOf(sample, (byte) => byte >= 0x80);
  if (!isTelling(sample, upper)) return null;
  const isShort = letters + upper < SURE_LETTERS;
  const matches = analyse(sample);
  const isSure = matches.some(({ confidence }) => confidence >= SURE_CONFIDENCE);
  if (!isSure && isThai(sample)) return { encoding: "windows-874", doubtful: isShort };
  for (const { name, confidence } of matches) {
    const encoding = encodingNamed(name);
    // The bytes have been tried as UTF-8 already, so a guess of UTF-8 is wrong.
    if (encoding === null || encoding.startsWith("utf-")) continue;
    const isMultibyte = MULTIBYTE.test(encoding);
    const isOtherScript = OTHER_SCRIPTS.test(encoding);
    if (isOtherScript && upper < letters) continue;
    if (confidence < (isMultibyte ? MIN_MULTIBYTE_CONFIDENCE : MIN_CONFIDENCE)) continue;
    const plausible = morePlausible(sample, encoding);
    if (plausible === null) continue;
    // Text in Latin letters is mostly ASCII, but text in IBM866, which the library does not know, is not.
    const mayBeOther = upper > letters && !isOtherScript && !isMultibyte;
    return { encoding: plausible, doubtful: isShort || mayBeOther };
  }
  return null;
}

function encodingNamed(name: string): string | null {
  try {
    return decoderOf(name).encoding.toLowerCase();
  } catch {
    return null;
  }
}

const countOf = (bytes: Uint8Array, counts: (byte: number) => boolean): number =>
  bytes.reduce((count, byte) => count + (counts(byte) ? 1 : 0), 0);

const isAsciiLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

/** The largest share of letters outside ASCII that may stand beside a sign which no word contains. */
const MAX_ODD_SHARE = 0.02;

/** The encoding, or its sibling when that gives fewer odd places; null when both are implausible. */
function morePlausible(sample: Uint8Array, encoding: string): string | null {
  let best: { readonly name: string; readonly odd: number } | null = null;
  for (const name of [encoding, SIBLINGS.get(encoding)]) {
    if (name === undefined || !decodesCleanly(sample, name)) continue;
    const odd = oddShare(decoderOf(name).decode(sample));
    if (odd <= MAX_ODD_SHARE && (best === null || odd < best.odd)) best = { name, odd };
  }
  return best?.name ?? null;
}

// "Dvo¾ák", "¶λλοι", "’λλοι" and control characters: letters of one encoding that another one shows as signs.
const ODD = /\p{L}(?:[¡-§©«¬®-¶¸¹»-¿×÷]|[¡-¿×÷₪]{2,})\p{L}|(?<![\p{L}\p{N}])[’¶]\p{L}|[\x80-\x9f]/gu;

const oddShare = (text: string): number =>
  (text.match(ODD)?.length ?? 0) / Math.max(1, text.match(/\P{ASCII}/gu)?.length ?? 0);

const isConsonant = (byte: number): boolean => byte >= 0xa1 && byte <= 0xce;
/** Whether a byte is a Thai vowel or tone mark above or below a consonant. */
const isMark = (byte: number): boolean =>
  byte === 0xd1 || (byte >= 0xd4 && byte <= 0xda) || (byte >= 0xe7 && byte <= 0xee);
const isLeadingVowel = (byte: number): boolean => byte >= 0xe0 && byte <= 0xe4;

const MIN_THAI_BYTES = 20;
const MIN_THAI_SHARE = 0.98;

/** Whether vowels and tones stand as Thai (TIS-620, windows-874) has them, which the library cannot tell. */
function isThai(sample: Uint8Array): boolean {
  let fitting = 0;
  let signs = 0;
  let others = 0;
  sample.forEach((byte, index) => {
    const before = sample[index - 1] ?? 0;
    if (isMark(byte)) {
      signs++;
      if (isConsonant(before) || isMark(before)) fitting++;
    } else if (isLeadingVowel(byte)) {
      signs++;
      if (isConsonant(sample[index + 1] ?? 0)) fitting++;
    } else if (isConsonant(byte) || byte === 0xa0 || (byte >= 0xcf && byte <= 0xfb)) others++;
    else if (byte >= 0x80) others -= 10;
  });
  return signs >= MIN_THAI_BYTES && others >= signs / 2 && fitting >= MIN_THAI_SHARE * signs;
}

/**
 * The lines outside tags, scripts and comments that hold a byte outside ASCII, because markup, code and English menus
 * say nothing about the encoding. Without such a line, all bytes from the first one outside ASCII on.
 */
function textSample(bytes: Uint8Array): Uint8Array {
  const markup = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const lines: string[] = [];
  let length = 0;
  for (let at = 0; at < markup.length && length < SNIFF_BYTES; ) {
    const open = markup.indexOf("<", at);
    const text = markup.slice(at, open < 0 ? markup.length : open);
    for (const line of UPPER.test(text) ? text.split("\n") : []) {
      if (!UPPER.test(line)) continue;
      lines.push(line);
      length += line.length + 1;
    }
    at = open < 0 ? markup.length : endOfMarkup(markup, open);
  }
  const sample = length > 0 ? lines.join("\n") : markup.slice(markup.search(UPPER));
  return Buffer.from(sample.slice(0, SNIFF_BYTES), "latin1");
}

const UPPER = /[\x80-\xff]/;

/** The position after the tag, comment or script that starts at this "<". */
function endOfMarkup(markup: string, open: number): number {
  const past = (mark: string, from: number): number => {
    const found = markup.indexOf(mark, from);
    return found < 0 ? markup.length : found + mark.length;
  };
  if (markup.startsWith("<!--", open)) return past("-->", open + 2);
  const [, name] = /^<([a-z]{1,10}|[/!?])/i.exec(markup.slice(open, open + 12)) ?? [];
  if (name === undefined) return open + 1;
  let at = past(">", open);
  if (!/^(?:script|style)$/i.test(name)) return at;
  const closing = `</${name.toLowerCase()}`;
  while (at < markup.length && markup.slice(at, at + closing.length).toLowerCase() !== closing) {
    const next = markup.indexOf("</", at + 1);
    at = next < 0 ? markup.length : next;
  }
  return past(">", at);
}

/** @param options.isWhole whether the sample ends between two characters; otherwise its end may cut one */
function decodesCleanly(
  sample: Uint8Array,
  encoding: string,
  { isWhole = false }: { readonly isWhole?: boolean } = {},
): boolean {
  try {
    decoderOf(encoding, true).decode(sample, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

/** Recognises UTF-16 of mostly Latin text by the zeros at every other byte. */
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

/** The source that named a text's encoding. */
type EncodingSource = "bom" | "header" | "meta" | "sniffed";

type DecodedText = {
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
 * of the header, then the bytes when they are UTF-8, `<meta>` or the XML declaration, and statistics; labels that the Encoding
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

type Finding = { readonly encoding: string; readonly source: EncodingSource; readonly doubtful?: boolean };

function findEncoding(bytes: Uint8Array, contentType: string | null): Finding {
  const marked = byteOrderMark(bytes);
  if (marked) return { encoding: marked, source: "bom" };
  const declared = encodingOf(charsetParameter(contentType ?? ""));
  if (declared) return { encoding: declared, source: "header" };
  const inside = encodingInMarkup(bytes);
  if (inside && !isUtf8InDisguise(bytes, inside)) return { encoding: inside, source: "meta" };
  return { ...sniffEncoding(bytes), source: "sniffed" };
}

/**
 * Tells whether bytes are UTF-8 although their markup names another encoding: a browser that saves a page writes UTF-8
 * and leaves the old `<meta>` in place. Text in another encoding is hardly ever valid UTF-8, but a word or two of a
 * multibyte one may be.
 */
function isUtf8InDisguise(bytes: Uint8Array, declared: string): boolean {
  const enough = MULTIBYTE.test(declared) ? 6 : 1;
  const upper = declared === "utf-8" ? 0 : countOf(bytes, (byte) => byte >= 0x80);
  return upper >= enough && decodesCleanly(bytes, "utf-8", { isWhole: true });
}

function byteOrderMark(bytes: Uint8Array): string | null {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return null;
}

// These labels belong to the standard's "replacement" encoding, which decodes everything to one U+FFFD.
const REPLACEMENT_LABELS = new Set(
  `csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement`.split(/\s+/),
);

/** The encoding that a label names, or null when the standard or this runtime does not know it. */
function encodingOf(label: string | null): string | null {
  const plain = label?.trim().toLowerCase() ?? "";
  if (plain === "") return null;
  if (REPLACEMENT_LABELS.has(plain)) return "replacement";
  return plain === "x-user-defined" ? plain : encodingNamed(plain);
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

// Upper bytes map to private-use characters from U+F780 (Encoding Standard 14.5). Node has no decoder for this.
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

const withoutComments = (markup: string): string => markup.replace(/<!--(?:-?>|[\s\S]*?(?:-->|$))/g, " ");
