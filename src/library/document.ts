import { bodyKind, type LocalDocument } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import { decodeText, decodingWarnings, sniffPageType } from "../fetching/index.ts";
import { type PageUrl, parsePageUrl, withoutCredentials } from "../urls/index.ts";
import { wrong } from "./arguments.ts";
import type { PageSource } from "./types.ts";

/**
 * Reads what a program handed over as a page.
 * @param name the function that was called
 * @throws Failure `invalid_usage` for what is neither text nor bytes, `invalid_url`, `unsupported_content` for bytes
 * that are no text
 */
export function readDocument({ html, url, contentType }: PageSource, name: string): LocalDocument {
  if (!isTextOrNothing(url)) throw wrong(name, "the page's url as text or null", url);
  if (!isTextOrNothing(contentType)) throw wrong(name, "contentType as text or null", contentType);
  const pageUrl = url == null ? null : requirePageUrl(url);
  const [type = ""] = (contentType ?? "").split(";");
  const kind = bodyKind(type.trim().toLowerCase());
  const document = { name: pageUrl ?? "the page", kind, url: pageUrl };
  if (typeof html === "string") return { ...document, body: html, warnings: [] };
  const bytes = bytesOf(html);
  if (bytes === null) throw wrong(name, "the page as a string, Uint8Array or ArrayBuffer", html);
  if (bytes.length > 0 && type === "" && sniffPageType(bytes) === null)
    throw new Failure("unsupported_content", `${document.name} is not HTML, Markdown or plain text`);
  const decoded = decodeText(bytes, contentType ?? null);
  return { ...document, body: decoded.text, warnings: decodingWarnings(decoded) };
}

const isTextOrNothing = (value: unknown): boolean => value == null || typeof value === "string";

function bytesOf(body: unknown): Uint8Array | null {
  if (body instanceof Uint8Array) return body;
  return body instanceof ArrayBuffer ? new Uint8Array(body) : null;
}

function requirePageUrl(url: string): PageUrl {
  const parsed = parsePageUrl(url);
  if (!parsed) throw notAUrl(url);
  return parsed;
}

export const notAUrl = (url: string): Failure =>
  new Failure("invalid_url", `${JSON.stringify(withoutCredentials(url))} is not an http or https URL`);
