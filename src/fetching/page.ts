import { Failure } from "../failure.ts";
import { discard, readBody, tooLarge } from "./body.ts";
import { decodeText } from "./charset.ts";
import type { WireResponse } from "./connect.ts";
import { isPageType, parseContentType, sniffPageType } from "./content-type.ts";
import { displayUrl } from "./display-url.ts";
import type { FetchedHeaders, FetchedPage } from "./types.ts";

type PageBody = Pick<
  FetchedPage,
  "contentType" | "html" | "encoding" | "malformedText" | "headers" | "bodyBytes" | "warnings"
>;

/**
 * Takes in the body of an answer as a page.
 * @throws Failure `unsupported_content` or `too_large`, but not for an error status: there the status is
 * the answer and a body that cannot be shown is left empty
 */
export async function readPage(wire: WireResponse, url: URL, maxBytes: number): Promise<PageBody> {
  const type = parseContentType(wire.headers.get("content-type"));
  const headers = plainHeaders(wire.headers);
  const empty = {
    contentType: type?.essence ?? "",
    html: "",
    encoding: "utf-8",
    malformedText: false,
    headers,
    warnings: [],
  };
  const isAnswerByStatus = wire.status >= 400 || wire.status === 304;
  if (wire.status === 304 || isPageType(type) === false) {
    await discard(wire);
    if (isAnswerByStatus) return { ...empty, bodyBytes: 0 };
    throw unsupported(url, type?.essence ?? "");
  }
  // An installer of a vague type is as good as any file of another type, and need not be fetched to be refused.
  const checkHead = (head: Uint8Array): void => {
    if (sniffPageType(head) === null) throw unsupported(url, type?.essence ?? "");
  };
  const isVague = isPageType(type) === null && !isAnswerByStatus;
  const bytes = await readBody(wire, maxBytes, isVague ? checkHead : null);
  if (!bytes) {
    if (isAnswerByStatus) return { ...empty, bodyBytes: 0 };
    throw tooLarge(`GET ${displayUrl(url)}`, maxBytes);
  }
  const contentType = isPageType(type) ? type?.essence : sniffPageType(bytes);
  if (!contentType) {
    if (isAnswerByStatus) return { ...empty, bodyBytes: bytes.length };
    throw unsupported(url, type?.essence ?? "");
  }
  const { text, encoding, malformed } = decodeText(bytes, wire.headers.get("content-type"));
  const warnings: string[] = [];
  return {
    headers,
    contentType,
    html: text,
    encoding,
    malformedText: malformed,
    bodyBytes: bytes.length,
    warnings,
  };
}

const unsupported = (url: URL, type: string): Failure =>
  new Failure(
    "unsupported_content",
    `GET ${displayUrl(url)}: ${type === "" ? "the body is not text" : `the body is ${type.slice(0, 80)}`}, not HTML, plain text or Markdown`,
  );

/** Headers as plain data, without the cookies: what is fetched may be kept and shown, a session may not. */
export function plainHeaders(headers: Headers): FetchedHeaders {
  const plain: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) if (name !== "set-cookie") plain[name] = value;
  return plain;
}
