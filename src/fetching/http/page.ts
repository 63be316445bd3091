import { Failure } from "../../base/failure.ts";
import { type PageUrl, parsePageUrl } from "../../urls/index.ts";
import {
  binaryBody,
  type ContentType,
  isPageType,
  parseContentType,
  sniffPageType,
} from "../charset/content-type.ts";
import { decodeText, decodingWarnings } from "../charset/decode.ts";
import { displayUrl } from "../display-url.ts";
import type { FetchedHeaders, FetchedPage } from "../types.ts";
import { discard, readBody, tooLarge } from "./body.ts";
import type { WireResponse } from "./connect.ts";

type PageBody = Pick<FetchedPage, "contentType" | "html" | "encoding" | "headers" | "bodyBytes" | "warnings">;

/**
 * Reads the body of an answer as a page.
 * @throws Failure `unsupported_content` or `too_large`, but not for an error status: there the status is the
 * answer, and a body that cannot be shown is left empty
 */
export async function readPage(wire: WireResponse, url: URL, maxBytes: number): Promise<PageBody> {
  const type = parseContentType(wire.headers.get("content-type"));
  const headers = plainHeaders(wire.headers);
  const empty = {
    contentType: type?.essence ?? "",
    html: "",
    encoding: "utf-8",
    headers,
    warnings: [],
  };
  const isAnswerByStatus = wire.status >= 400 || wire.status === 304;
  if (wire.status === 304 || isPageType(type) === false) {
    await discard(wire);
    if (isAnswerByStatus) return { ...empty, bodyBytes: 0 };
    throw unsupported(`GET ${displayUrl(url)}`, type);
  }
  const check = (head: Uint8Array): void => {
    const otherwise = binaryBody(head);
    const isPage = otherwise === null && (isPageType(type) ?? sniffPageType(head) !== null);
    if (!isPage) throw unsupported(`GET ${displayUrl(url)}`, type, otherwise);
  };
  // An installer that is served as a page, or without a type, is refused by its first bytes.
  const bytes = await readBody(wire, maxBytes, isAnswerByStatus ? null : check);
  if (!bytes) {
    if (isAnswerByStatus) return { ...empty, bodyBytes: 0 };
    throw tooLarge(`GET ${displayUrl(url)}`, maxBytes);
  }
  if (!isAnswerByStatus) check(bytes);
  const contentType = isPageType(type) ? type?.essence : sniffPageType(bytes);
  if (!contentType || binaryBody(bytes) !== null) return { ...empty, bodyBytes: bytes.length };
  const decoded = decodeText(bytes, wire.headers.get("content-type"));
  return {
    headers,
    contentType,
    html: decoded.text,
    encoding: decoded.encoding,
    bodyBytes: bytes.length,
    warnings: decodingWarnings(decoded),
  };
}

/**
 * The Failure for a body that holds no article.
 * @param otherwise what the body is, when that differs from its type
 */
export function unsupported(
  what: string,
  type: ContentType | null,
  otherwise: string | null = null,
): Failure {
  const essence = type?.essence.slice(0, 80) ?? "";
  const isMistaken = otherwise !== null && isPageType(type);
  const is = otherwise ?? (essence === "" ? "not text" : essence);
  const rest = isMistaken ? `, though its type says ${essence}` : ", not HTML, plain text or Markdown";
  return new Failure("unsupported_content", `${what}: the body is ${is}${rest}`);
}

/** Copies headers without cookies: what is fetched may be kept and shown, a session may not. */
export function plainHeaders(headers: Headers): FetchedHeaders {
  const plain: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) if (name !== "set-cookie") plain[name] = value;
  return plain;
}

/** The canonical URL of a hop, or `fallback` when the hop's URL is too long to be canonical. */
export const pageUrlOf = (url: URL, fallback: PageUrl): PageUrl => parsePageUrl(url.href) ?? fallback;
