import { type PageUrl, parsePageUrl } from "./page-url.ts";

/** `docs://<codename>/<path>`: the address of a document that has none on the web. */
export type DocsUrl = string & { readonly brand: "DocsUrl" };

/** The address of a document in a page store or an index. */
export type DocumentUrl = PageUrl | DocsUrl;

/** A path of 4096 bytes, the longest of common systems, with most of its bytes escaped. */
const MAX_DOCS_URL_LENGTH = 16_384;

const DOCS_URL = /^docs:\/\/([a-z][a-z0-9_-]{1,63})\/(.+)$/;

/**
 * The address of the document at a path below a tenant's root.
 * @param path relative, with `/` between segments; segments are percent-encoded here, lone surrogates (of
 *   file names that are no Unicode) become U+FFFD
 */
export function docsUrl(codename: string, path: string): DocsUrl {
  return `docs://${codename}/${path.toWellFormed().split("/").map(encodeURIComponent).join("/")}` as DocsUrl;
}

/**
 * The canonical form of a `docs://` address, without fragment.
 * @returns null for anything but a well-formed one of at most 16 384 characters whose path stays below
 *   its root on every system
 */
export function parseDocsUrl(text: string): DocsUrl | null {
  if (text.length > MAX_DOCS_URL_LENGTH) return null;
  const match = DOCS_URL.exec(text.trim());
  if (!match) return null;
  const [, codename = "", rawPath = ""] = match;
  const path = rawPath.split("#", 1)[0] ?? "";
  const segments = decodeSegments(path);
  if (!segments || segments.some(isUnsafeSegment)) return null;
  return docsUrl(codename, segments.join("/"));
}

/** A page's or a document's address; null when the text is neither. */
export function parseDocumentUrl(text: string): DocumentUrl | null {
  return parseDocsUrl(text) ?? parsePageUrl(text);
}

// Windows takes a backslash for a separator, so `..` must not hide behind one.
const isUnsafeSegment = (segment: string): boolean =>
  segment.includes("/") || segment.includes("\0") || segment.split("\\").some(isUnsafeName);

const isUnsafeName = (name: string): boolean => name === "" || name === "." || name === "..";

function decodeSegments(path: string): string[] | null {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    return null;
  }
}
