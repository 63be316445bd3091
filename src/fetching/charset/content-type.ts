import { isBinaryByte } from "./binary-body.ts";

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

const PAGE_TYPES = new Set([
  "text/html",
  "application/xhtml+xml",
  "text/plain",
  "text/markdown",
  "text/x-markdown",
]);

/** These types say nothing about the body, so the body itself is looked at. */
const VAGUE_TYPES = new Set(["application/octet-stream", "binary/octet-stream", "unknown/unknown", "*/*"]);

/** Whether a body of this type can hold an article; null when only the body can tell. */
export function isPageType(type: ContentType | null): boolean | null {
  if (!type || VAGUE_TYPES.has(type.essence)) return null;
  return PAGE_TYPES.has(type.essence);
}

const HTML_START =
  /^<(?:!doctype html|!--|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|link|article|main|section)[\s>/!]/i;

/**
 * Finds the type of a body that came without one, as in the WHATWG MIME Sniffing standard.
 * @returns null for a body that is not text
 */
export function sniffPageType(bytes: Uint8Array): string | null {
  const head = bytes.subarray(0, 1445);
  const [a, b] = head;
  const hasUtf16Mark = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  if (!hasUtf16Mark && head.some(isBinaryByte)) return null;
  const text = new TextDecoder("windows-1252").decode(head);
  const start = text.replace(/^\u00ef\u00bb\u00bf/, "").trimStart();
  if (/^<\?xml\b/i.test(start)) return /<html[\s>]/i.test(start) ? "application/xhtml+xml" : null;
  if (/^%pdf-/i.test(start)) return null;
  return HTML_START.test(`${start} `) ? "text/html" : "text/plain";
}
