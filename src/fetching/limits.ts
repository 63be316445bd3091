import type { FetchOptions } from "./types.ts";

/** The bounds of fetching; sizes count decompressed bytes. */
export type FetchLimits = {
  readonly pageBytes: number;
  readonly robotsBytes: number;
  readonly sitemapBytes: number;
  readonly feedBytes: number;
  readonly redirects: number;
  /** For one request: connection, headers and (of a page) body; of a stream, the wait for each piece. */
  readonly requestTimeoutMs: number;
  /** For one fetch with its redirects, retries and waits. */
  readonly deadlineMs: number;
  /** Requests for one page at most, the first included. */
  readonly tries: number;
};

/** The decided bounds, which the settings hand in where nobody set others. */
export const DECIDED_FETCH_LIMITS: FetchLimits = {
  pageBytes: 20 * 1024 * 1024,
  robotsBytes: 500 * 1024,
  sitemapBytes: 50 * 1024 * 1024,
  feedBytes: 20 * 1024 * 1024,
  redirects: 10,
  requestTimeoutMs: 30_000,
  deadlineMs: 60_000,
  tries: 4,
};

/** What a fetch has left of its deadline, in ms, at least 1. */
export const deadlineOf = (
  { deadlineMs, spentMs = 0 }: Pick<FetchOptions, "deadlineMs" | "spentMs">,
  limits: FetchLimits,
): number => Math.max(1, Math.round((deadlineMs ?? limits.deadlineMs) - spentMs));
