import { CRAWL, defaultsOf, EXTRACTION } from "../options/index.ts";
import type { SearchSettings } from "../search/index.ts";
import type { Settings } from "./environment.ts";

/** The default options of an extraction, the same on the command line, over HTTP and in crawls. */
export const DEFAULT_EXTRACTION = defaultsOf(EXTRACTION);

/** The same where settings say more. */
export const extractionDefaults = (settings: Settings) => defaultsOf(EXTRACTION, settings);

/** The options of a crawl when neither an option nor the environment says otherwise. */
export const crawlDefaults = (settings: Settings) => defaultsOf(CRAWL, settings);

/** A tenant's search; these boosts ranked best on six collections of documentation (docs/search.md). */
export const DEFAULT_SEARCH: SearchSettings = {
  profile: "default",
  language: "en",
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
  synonyms: { abbreviations: true, groups: [], oneWay: {} },
  preferences: { boost: [], deboost: [] },
  assumed: { language: "", version: "" },
};

/** Time limits of extraction workers. */
export const EXTRACTION_LIMITS = {
  /** The CPU time for one page; a fetch has its own deadline. */
  timeLimitMs: 60_000,
  /** The time for a worker to load its code. */
  startLimitMs: 60_000,
} as const;

/**
 * When a crawl collects garbage. With 1000 pages of 92 KB the peak of its resident set is 160 MB when it
 * collects every 8 MB and 148 MB when it does every 1 MB, for 2 % more CPU. A server must not block its other
 * clients: collecting everything at once blocks the thread for 35 ms with 1 000 articles and 300 000 other
 * objects in memory, and for 50 ms and more with others; collecting little by little blocks it for 1 ms.
 */
export const GARBAGE_COLLECTION = {
  cli: { everyBytes: 1_000_000, isAtOnce: true },
  server: { everyBytes: 32_000_000, isAtOnce: false },
} as const;

/** Limits for building search indexes. */
export const INDEX_BUILD = {
  /** The memory for postings and their words, in bytes; larger builds spill to the disk. */
  memoryBytes: 160 * 1024 * 1024,
  /** A worker that takes more CPU time for one document counts as hanging: it is ended and the document is left out. */
  documentLimitMs: 120_000,
} as const;
