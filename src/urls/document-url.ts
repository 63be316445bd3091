import { type PageUrl, parsePageUrl } from "./page-url.ts";

/** The address of a document that has none on the web: `docs://<codename>/<path>`. */
export type DocsUrl = string & { readonly brand: "DocsUrl" };

/** The address of a document in a page store or an index. */
export type DocumentUrl = PageUrl | DocsUrl;

/** Enough for a path of 4096 bytes, the limit of common systems, with most of its bytes escaped. */
const MAX_DOCS_URL_LENGTH = 16_384;

const DOCS_URL = /^docs:\/\/([a-z][a-z0-9_-]{1,63})\/(.+)$/;

/**
 * Makes the address of a document from its path below a tenant's root.
 * @param path relative, with `/` between segments. Segments are percent-encoded here; lone surrogates (from file
 * names that are not valid Unicode) become U+FFFD
 */
export function docsUrl(codename: string, path: string): DocsUrl {
  return `docs://${codename}/${path.toWellFormed().split("/").map(encodeURIComponent).join("/")}` as DocsUrl;
}

/**
 * The canonical form of a `docs://` address, without fragment.
 * @returns null unless the address is well-formed, at most 16 384 characters long, and its path stays below
 * its root on every system
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

/** Reads the address of a page or a document; null when the text is neither. */
export function parseDocumentUrl(text: string): DocumentUrl | null {
  return parseDocsUrl(text) ?? parsePageUrl(text);
}

// Windows treats a backslash as a separator, so `..` must not hide behind one.
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
