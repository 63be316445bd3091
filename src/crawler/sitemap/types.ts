import type { FailureRecord } from "../../base/failure.ts";
import type { PageUrl } from "../../urls/index.ts";
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
