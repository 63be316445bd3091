import { dirname, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { FailureRecord } from "../../base/failure.ts";
import type { RobotsRules } from "../../fetching/index.ts";
import { type PageUrl, parsePageUrl } from "../../urls/index.ts";
import type { SitemapUrl } from "../types.ts";

/** Where a sitemap is: on the web, or at an absolute path of this machine. */
export type SitemapSource =
  | { readonly kind: "url"; readonly url: PageUrl }
  | { readonly kind: "file"; readonly path: string };

/**
 * What reading sitemaps comes to (the crawl's `SitemapNews`, and more). What was read of a sitemap that fails
 * halfway stays read.
 */
export type SitemapEvent =
  /** In the order of the sitemap, a few hundred at once. */
  | { readonly kind: "pages"; readonly sitemap: string; readonly pages: readonly SitemapUrl[] }
  | {
      readonly kind: "read";
      /** The URL without credentials, or the path. */
      readonly sitemap: string;
      readonly pageCount: number;
      /** Sitemaps that it names, when it is an index. */
      readonly sitemapCount: number;
      /** Entries that are no http or https URL, and are passed over. */
      readonly invalidCount: number;
    }
  | { readonly kind: "failed"; readonly sitemap: string; readonly failure: FailureRecord };

/** The bounds of reading sitemaps. */
export type SitemapLimits = {
  /** Of one local sitemap, decompressed; the fetcher bounds those of the web. */
  readonly fileBytes: number;
  /** Indexes above a sitemap at most. */
  readonly indexDepth: number;
  /** Sitemaps of one crawl at most, indexes included. */
  readonly sitemaps: number;
  /** For one sitemap of the web, retries and the reading included, in ms. */
  readonly deadlineMs: number;
};

/** The decided bounds: those of a page of the web for bytes, and far more than sites need for the rest. */
export const DEFAULT_SITEMAP_LIMITS: SitemapLimits = {
  fileBytes: 50 * 1024 * 1024,
  indexDepth: 5,
  sitemaps: 10_000,
  deadlineMs: 5 * 60_000,
};

/** An entry of a sitemap as it is written there. */
export type SitemapRecord = {
  /** Whether it names a page or, in an index, a sitemap. */
  readonly names: "page" | "sitemap";
  readonly loc: string;
  /** In a list of URLs a word is no relative location. */
  readonly mayBeRelative: boolean;
  readonly lastModified: string | null;
};

/** Takes a sitemap's text piece by piece. */
export interface RecordReader {
  /** @throws Failure `unsupported_content` for what is no sitemap, or is made to harm */
  read(piece: string): void;
  /** Says that the text is over. @throws Failure `unsupported_content` when it ends too early */
  finish(): void;
  /** What has been read since the last call, also before a failure. */
  take(): readonly SitemapRecord[];
}

/** Longer locations are traps; of text in them little more than this is kept. */
export const MAX_LOC_LENGTH = 8192;

/** Longer ones are mistakes: the protocol ends at 2048 (sitemaps.org, "loc"). */
const MAX_SITEMAP_URL_LENGTH = 2048;

/**
 * What a person means by a sitemap: an http or https URL (its credentials are dropped), a `file:` URL, or a
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
 * The sitemaps that a robots.txt names, without repetitions. Only those of the web: what else a site writes
 * there must not become a path of this machine.
 */
export const sitemapsOfRobots = (rules: RobotsRules): readonly PageUrl[] => [
  ...new Set(rules.sitemaps.map((line) => parsePageUrl(line)).filter((url) => url !== null)),
];

/** Equal for sources that are the same sitemap; what messages call it. */
export const sitemapName = (source: SitemapSource): string =>
  source.kind === "url" ? source.url : source.path;

/**
 * The sitemap that an index names. An index on the web leads to the web only. A local one may also name files
 * beside and below itself: it may come from somebody who should not choose which files are read.
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
