import type { ExtractionOptions } from "../extraction/index.ts";
import type { SearchSettings } from "../search/index.ts";

/** What an extraction does where nobody says otherwise: the same in the shell, over HTTP and in crawls. */
export const DEFAULT_EXTRACTION: Omit<ExtractionOptions, "renderings"> = {
  minWordCount: 150,
  favor: "balanced",
  includeImages: true,
  includeCode: true,
  select: null,
  exclude: [],
};

/** What a crawl does where neither an option nor the environment says otherwise. */
export const DEFAULT_CRAWL = { maxDepth: 3 } as const;

/**
 * How a tenant is searched where its configuration says nothing. The boosts are those that ranked best on six
 * collections of documentation (docs/search.md).
 */
export const DEFAULT_SEARCH: SearchSettings = {
  profile: "default",
  ranking: {
    k1: 1.2,
    b: 0.75,
    boosts: {
      title: 0.4,
      headings_h1: 0.6,
      headings_h2: 0.6,
      headings: 0.6,
      body: 1,
      code: 0.2,
      path: 1.6,
      url: 0.1,
    },
  },
  snippet: { style: "plain", fragmentChars: 240, maxFragments: 2, contextChars: 120 },
  synonyms: false,
};

/** How long extraction workers may take. */
export const EXTRACTION_LIMITS = {
  /** For one page; a fetch has its own deadline. */
  timeLimitMs: 60_000,
  /** For a worker to load its code. */
  startLimitMs: 60_000,
} as const;

/**
 * When a crawl collects its garbage. With 1000 pages of 92 KB the peak of its resident set is 160 MB at 8 MB a time
 * and 148 MB at 1 MB, for 2 % more CPU. A server has others to answer, and each collection at once makes them wait for 50 ms and more; with
 * 1 000 articles and 300 000 other objects in memory one that is not takes the thread 1 ms, not 35.
 */
export const GARBAGE_COLLECTION = {
  cli: { everyBytes: 1_000_000, isAtOnce: true },
  server: { everyBytes: 32_000_000, isAtOnce: false },
} as const;

/** How search indexes are built. */
export const INDEX_BUILD = {
  /** Postings and their words in memory, in bytes; larger builds spill to the disk. */
  memoryBytes: 160 * 1024 * 1024,
  /** A worker that takes longer for one document hangs; it is ended, and the document left out. */
  documentLimitMs: 120_000,
} as const;
