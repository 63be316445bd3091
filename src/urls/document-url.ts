import { type PageUrl, parsePageUrl } from "./page-url.ts";

/** `docs://<codename>/<path>`: the address of a document that has none on the web. */
export type DocsUrl = string & { readonly brand: "DocsUrl" };

/** The address of a document in a page store or an index. */
export type DocumentUrl = PageUrl | DocsUrl;

const DOCS_URL = /^docs:\/\/([a-z][a-z0-9_-]{1,63})\/(.+)$/;

/**
 * The address of the document at a path below a tenant's root.
 * @param path relative, with `/` between segments; segments are percent-encoded here
 */
export function docsUrl(codename: string, path: string): DocsUrl {
  return `docs://${codename}/${path.split("/").map(encodeURIComponent).join("/")}` as DocsUrl;
}

/** @returns null for anything but a well-formed `docs://` address whose path stays below its root */
export function parseDocsUrl(text: string): DocsUrl | null {
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

const isUnsafeSegment = (segment: string): boolean =>
  segment === "" || segment === "." || segment === ".." || segment.includes("/") || segment.includes("\0");

function decodeSegments(path: string): string[] | null {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    return null;
  }
}
