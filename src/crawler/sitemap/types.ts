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
