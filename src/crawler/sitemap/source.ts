import { dirname, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { FailureRecord } from "../../base/failure.ts";
import type { RobotsRules } from "../../fetching/index.ts";
import { type PageUrl, parsePageUrl } from "../../urls/index.ts";
import type { SitemapUrl } from "../types.ts";

/** The location of a sitemap: on the web, or an absolute path of this machine. */
export type SitemapSource =
  | { readonly kind: "url"; readonly url: PageUrl }
  | { readonly kind: "file"; readonly path: string };

/**
 * The events of reading sitemaps (the crawl's `SitemapNews`, and more). Pages of a sitemap that fails halfway remain
 * valid.
 */
export type SitemapEvent =
  /** Pages in the order of the sitemap, a few hundred at a time. */
  | { readonly kind: "pages"; readonly sitemap: string; readonly pages: readonly SitemapUrl[] }
  | {
      readonly kind: "read";
      /** The URL without credentials, or the path. */
      readonly sitemap: string;
      readonly pageCount: number;
      /** The number of sitemaps that it names, when it is an index. */
      readonly sitemapCount: number;
      /** The number of entries that were skipped because they are not http or https URLs. */
      readonly invalidCount: number;
    }
  | { readonly kind: "failed"; readonly sitemap: string; readonly failure: FailureRecord };

/** The limits of reading sitemaps. */
export type SitemapLimits = {
  /** The maximum decompressed size of a local sitemap; the fetcher limits those of the web. */
  readonly fileBytes: number;
  /** The maximum number of indexes above a sitemap. */
  readonly indexDepth: number;
  /** The maximum number of sitemaps in one crawl, including indexes. */
  readonly sitemaps: number;
  /** The time limit for one sitemap of the web, including retries and reading, in ms. */
  readonly deadlineMs: number;
};

/** The default limits: for bytes those of web pages, for the rest far more than sites need. */
export const DEFAULT_SITEMAP_LIMITS: SitemapLimits = {
  fileBytes: 50 * 1024 * 1024,
  indexDepth: 5,
  sitemaps: 10_000,
  deadlineMs: 5 * 60_000,
};

/** An entry of a sitemap, as written. */
export type SitemapRecord = {
  /** Whether it names a page or, in an index, a sitemap. */
  readonly names: "page" | "sitemap";
  readonly loc: string;
  /** Whether a relative location is allowed; in a list of URLs, a bare word is not one. */
  readonly mayBeRelative: boolean;
  readonly lastModified: string | null;
};

/** Reads a sitemap's text piece by piece. */
export interface RecordReader {
  /** @throws Failure `unsupported_content` for what is no sitemap, or is made to harm */
  read(piece: string): void;
  /** Ends the text. */
  finish(): void;
  /** Returns what has been read since the last call, also after a failure. */
  take(): readonly SitemapRecord[];
}

/** Longer locations are traps; little more text than this is kept of them. */
export const MAX_LOC_LENGTH = 8192;

/** Longer URLs are mistakes: the protocol's limit is 2048 (sitemaps.org, "loc"). */
const MAX_SITEMAP_URL_LENGTH = 2048;

/**
 * Parses what a person gives as a sitemap: an http or https URL (its credentials are dropped), a `file:` URL, or a
 * path.
 * @param directory what a relative path starts from
 * @returns null for a URL of another scheme and for an empty text
 */
export function parseSitemapSource(written: string, directory: string): SitemapSource | null {
  const text = written.trim();
  if (text === "") return null;
  if (/^https?:/i.test(text)) {
    const url = parsePageUrl(text);
    return url && { kind: "url", url };
  }
  if (/^file:/i.test(text)) return fromFileUrl(URL.parse(text));
  // "c:\sitemap.xml" is a path; "ftp://…" and "javascript:…" are not.
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return null;
  return { kind: "file", path: resolve(directory, text) };
}

/**
 * Lists the sitemaps in a robots.txt, without repetitions and only those of the web: a site must not be able to name
 * a path of this machine.
 */
export const sitemapsOfRobots = (rules: RobotsRules): readonly PageUrl[] => [
  ...new Set(rules.sitemaps.map((line) => parsePageUrl(line)).filter((url) => url !== null)),
];

/** Returns the name of a sitemap for messages; it is equal for equal sources. */
export const sitemapName = (source: SitemapSource): string =>
  source.kind === "url" ? source.url : source.path;

/**
 * Resolves the sitemap that an index names. An index on the web may only name sitemaps on the web. A local one may
 * also name files beside and below itself; its author should not choose which other files are read.
 * @param base where the index was found: its URL after redirects, null for a local one
 */
export function childSource(loc: string, parent: SitemapSource, base: PageUrl | null): SitemapSource | null {
  if (loc.length > MAX_SITEMAP_URL_LENGTH) return null;
  const url = parsePageUrl(loc, base ?? undefined);
  if (url) return { kind: "url", url };
  if (parent.kind === "url") return null;
  const child = fromFileUrl(URL.parse(loc, pathToFileURL(parent.path)));
  const isBelow = child?.path.startsWith(dirname(parent.path).replace(/[\\/]?$/, sep)) ?? false;
  return isBelow ? child : null;
}

function fromFileUrl(url: URL | null): Extract<SitemapSource, { kind: "file" }> | null {
  if (url?.protocol !== "file:") return null;
  try {
    return { kind: "file", path: fileURLToPath(url) };
  } catch {
    return null; // a host, or an escaped slash: no path of this machine
  }
}
