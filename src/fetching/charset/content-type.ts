/** The parts of a Content-Type header such as `text/html; charset=utf-8`. */
export type ContentType = { readonly essence: string; readonly charset: string | null };

/** Reads a Content-Type header; null when it names no type. */
export function parseContentType(header: string | null | undefined): ContentType | null {
  const match = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;|,|$)/i.exec(header ?? "");
  if (!match) return null;
  return { essence: (match[1] ?? "").toLowerCase(), charset: charsetParameter(header ?? "") };
}

/** Finds the charset parameter of a header value, even where the rest is malformed. */
export function charsetParameter(header: string): string | null {
  const match = /(?:^|[;,\s])charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']+))/i.exec(header.slice(0, 1000));
  const label = (match?.[1] ?? match?.[2] ?? match?.[3] ?? "").trim();
  return label === "" ? null : label;
}

const PAGE_TYPES = new Set(
  `text/html application/xhtml+xml text/plain text/markdown text/x-markdown`.split(/\s+/),
);

/** XML may be XHTML, a feed or anything else. */
const XML_TYPES = ["application/xml", "text/xml"];
/** These types say too little about the body, so the body itself is looked at. */
const VAGUE_TYPES = new Set(
  ["application/octet-stream", "binary/octet-stream", "unknown/unknown", "*/*"].concat(XML_TYPES),
);
// A comment ends at its first end, so that there is one way to read the beginning of a document.
const XHTML_START = /^(?:<\?[^>]*>|<!--(?:(?!-->)[\s\S])*-->|<!doctype[^>]*>|\s)*<(?:\w{1,40}:)?html[\s>]/i;

/** Whether a body of this type can hold an article; null when only the body can tell. */
export function isPageType(type: ContentType | null): boolean | null {
  if (!type || VAGUE_TYPES.has(type.essence)) return null;
  return PAGE_TYPES.has(type.essence);
}

/** Elements that mark HTML: those of the standard, and others that a part of a page may begin with. */
const HTML_START =
  /^<(?:!doctype html|!--|html|head|script|iframe|h[1-6]|div|font|table|a|style|title|b|body|br|p|meta|link|article|main|section|header|hgroup|nav|aside|footer|span|ul|ol|dl|blockquote|figure|picture|img|svg|video|audio|details|form|em|strong|i|code|template|noscript|base|center|hr|button|dialog)[\s>/!]/i;

/**
 * Finds the type of a body that came without one, as in the WHATWG MIME Sniffing standard.
 * @param type what it came with, which may say that it is XML
 * @returns null for a body that is not text, and for XML other than XHTML
 */
export function sniffPageType(bytes: Uint8Array, type: ContentType | null = null): string | null {
  const head = bytes.subarray(0, 1445);
  const [a, b] = head;
  const hasUtf16Mark = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  if (!hasUtf16Mark && head.some(isBinaryByte)) return null;
  const text = new TextDecoder("windows-1252").decode(head);
  const start = text.replace(/^\u00ef\u00bb\u00bf/, "").trimStart();
  if (XML_TYPES.includes(type?.essence ?? ""))
    return XHTML_START.test(start) ? "application/xhtml+xml" : null;
  if (/^<\?xml\b/i.test(start)) return /<html[\s>]/i.test(start) ? "application/xhtml+xml" : null;
  if (/^%pdf-/i.test(start)) return null;
  return HTML_START.test(`${start} `) ? "text/html" : "text/plain";
}

/** Signatures of formats whose files may consist of ASCII alone. */
const TEXTUAL_SIGNATURES: readonly (readonly [string, string])[] = [
  ["a PDF document", "%PDF-"],
  ["a PostScript document", "%!PS-Adobe-"],
];
/** The first bytes of each format; `.` stands for any byte. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ["an image", "\x89PNG\r\n\x1a\n"],
  ["an image", "\xff\xd8\xff"],
  ["an image", "GIF87a"],
  ["an image", "GIF89a"],
  ["an image", "RIFF....WEBP"],
  ["an image", "BM....\0\0\0\0"],
  ["an image", "II*\0"],
  ["an image", "MM\0*"],
  ["an image", "\0\0\x01\0"],
  ["an image", "8BPS"],
  ["a ZIP archive", "PK\x03\x04"],
  ["a ZIP archive", "PK\x05\x06"],
  ["a compressed file", "\x1f\x8b\x08"],
  ["a compressed file", "BZh.1AY&SY"],
  ["a compressed file", "\xfd7zXZ\0"],
  ["a compressed file", "(\xb5/\xfd"],
  ["an archive", "Rar!\x1a\x07"],
  ["an archive", "7z\xbc\xaf'\x1c"],
  ["an office document", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
  ["sound or video", "RIFF....WAVE"],
  ["sound or video", "RIFF....AVI "],
  ["sound or video", "OggS\0"],
  ["sound or video", "fLaC\0"],
  ["sound or video", "ID3\x02"],
  ["sound or video", "ID3\x03"],
  ["sound or video", "ID3\x04"],
  ["sound or video", "\0\0\0.ftyp"],
  ["sound or video", "\x1aE\xdf\xa3"],
  ["a font", "OTTO\0"],
  ["a font", "\0\x01\0\0"],
  ["a program", "\x7fELF"],
  ["a program", "\0asm"],
  ["a program", "\xca\xfe\xba\xbe"],
  ["a database", "SQLite format 3\0"],
];

/** The MIME Sniffing standard looks at this many bytes. */
const HEAD_BYTES = 1445;
/** Texts have hardly any control characters; compressed data has 10 %. */
const MAX_BINARY_SHARE = 0.04;
/** A stray control character or two does not make a page binary. */
const MIN_BINARY_BYTES = 4;

/**
 * Says what a body is when it cannot be text, whatever its type claims: by its first bytes, or by many
 * control characters.
 * @returns a noun phrase for messages; null for what may be text
 */
export function binaryBody(bytes: Uint8Array): string | null {
  const head = bytes.subarray(0, HEAD_BYTES);
  const start = firstOf(head);
  for (const [name, signature] of TEXTUAL_SIGNATURES) if (startsWith(head, signature, start)) return name;
  let binary = 0;
  for (const byte of head) if (isBinaryByte(byte)) binary++;
  if (binary === 0) return null;
  for (const [name, signature] of SIGNATURES) if (startsWith(head, signature, start)) return name;
  if (isWide(head)) return null;
  return binary >= MIN_BINARY_BYTES && binary > MAX_BINARY_SHARE * head.length ? "no text" : null;
}

const FILE_TYPES = new Set(
  `application/pdf application/x-pdf application/epub+zip application/vnd.oasis.opendocument.text
  application/vnd.openxmlformats-officedocument.wordprocessingml.document`.split(/\s+/),
);

/** Whether a type names documents that are files: PDF, Word, OpenDocument text, EPUB. */
export const isFileType = (type: ContentType | null): boolean => FILE_TYPES.has(type?.essence ?? "");

/** The first entries that writers of DOCX, ODT and EPUB put into their archives. */
const FIRST_ENTRY = /^(?:\[Content_Types\]\.xml|_rels\/|docProps\/|customXml\/|word\/|META-INF\/|mimetype)/;
/** The name of the first entry stands here in a ZIP archive. */
const FIRST_ENTRY_AT = 30;
/** Others put anything first, and what makes a document of an archive stands in the directory at its end. */
const ENTRIES = ["word/document.xml", "META-INF/manifest.xml", "META-INF/container.xml"];
const DIRECTORY_BYTES = 1024 * 1024;
/** Word keeps a document with a password in a container of the old format, in a stream of this name. */
const ENCRYPTED_PACKAGE = Buffer.from("EncryptedPackage", "utf16le");

/** Whether a body, by its bytes, may be a document of `FILE_TYPES`; its reader says whether it is. */
export function isFileBody(bytes: Uint8Array): boolean {
  const start = firstOf(bytes.subarray(0, HEAD_BYTES));
  if (startsWith(bytes, "%PDF-", start)) return true;
  if (startsWith(bytes, "\xd0\xcf\x11\xe0", 0))
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(ENCRYPTED_PACKAGE);
  if (!startsWith(bytes, "PK\x03\x04", 0)) return false;
  if (FIRST_ENTRY.test(new TextDecoder().decode(bytes.subarray(FIRST_ENTRY_AT, FIRST_ENTRY_AT + 40))))
    return true;
  const tail = bytes.subarray(-DIRECTORY_BYTES);
  const directory = Buffer.from(tail.buffer, tail.byteOffset, tail.length);
  return ENTRIES.some((name) => directory.includes(name));
}

/** Does the same for a text into which a browser has decoded the bytes. */
export const binaryText = (text: string): string | null =>
  binaryBody(Uint8Array.from(text.slice(0, HEAD_BYTES), (char) => Math.min(char.charCodeAt(0), 0xff)));

/** MIME Sniffing's "binary data bytes": controls that no text encoding without a byte order mark uses. */
const isBinaryByte = (byte: number): boolean =>
  byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f);

// Some programs that generate documents write line breaks before them.
function firstOf(head: Uint8Array): number {
  let at = 0;
  while (head[at] === 0x20 || head[at] === 0x0a || head[at] === 0x0d) at++;
  return at;
}

function startsWith(head: Uint8Array, signature: string, start: number): boolean {
  for (let index = 0; index < signature.length; index++) {
    const expected = signature.charCodeAt(index);
    if (expected !== ANY && head[start + index] !== expected) return false;
  }
  return start + signature.length <= head.length;
}

const ANY = ".".charCodeAt(0);

/** Whether the bytes are UTF-16, by a mark or by zeros at every other byte. */
function isWide(head: Uint8Array): boolean {
  const [a, b] = head;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) return true;
  const zeros = [0, 0];
  for (let index = 0; index < head.length; index++) if (head[index] === 0) zeros[index & 1]!++;
  const [even = 0, odd = 0] = zeros;
  return Math.max(even, odd) > head.length / 8 && Math.min(even, odd) <= head.length / 100;
}
