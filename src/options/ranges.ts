/** The least and the most of a number, both included. */
export type Range = { readonly min: number; readonly max: number };

/** The ranges of the numbers among the options of pages and crawls: one for the command line, HTTP, library and settings. */
export const RANGES = {
  minWordCount: { min: 0, max: 1_000_000_000 },
  timeoutSeconds: { min: 0.001, max: 3600 },
  retries: { min: 0, max: 20 },
  /** How long a headed browser waits for its user. */
  interactionSeconds: { min: 0, max: 86_400 },
  maxPages: { min: 1, max: 1_000_000 },
  maxDepth: { min: 0, max: 100 },
  concurrency: { min: 1, max: 256 },
  /** The least time between two requests to one host; robots.txt may ask for more. */
  rateLimitSeconds: { min: 0, max: 3600 },
} as const satisfies Readonly<Record<string, Range>>;
