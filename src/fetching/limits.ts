import type { FetchOptions } from "./types.ts";

/** The limits of fetching; sizes count decompressed bytes. */
export type FetchLimits = {
  readonly pageBytes: number;
  readonly robotsBytes: number;
  readonly sitemapBytes: number;
  readonly feedBytes: number;
  readonly redirects: number;
  /**
   * The time limit of one request with its headers and, for a page, its body; for a stream, of the wait for
   * each piece.
   */
  readonly requestTimeoutMs: number;
  /** The time limit of one fetch with its redirects, retries and waits. */
  readonly deadlineMs: number;
  /** The most requests for one page, the first included. */
  readonly tries: number;
};

/** The default limits, which the settings pass on when nobody set others. */
export const DEFAULT_FETCH_LIMITS: FetchLimits = {
  pageBytes: 20 * 1024 * 1024,
  robotsBytes: 500 * 1024,
  sitemapBytes: 50 * 1024 * 1024,
  feedBytes: 20 * 1024 * 1024,
  redirects: 10,
  requestTimeoutMs: 30_000,
  deadlineMs: 60_000,
  tries: 4,
};

/** The rest of a fetch's deadline in ms, at least 1. */
export const deadlineOf = (
  { deadlineMs, spentMs = 0 }: Pick<FetchOptions, "deadlineMs" | "spentMs">,
  limits: FetchLimits,
): number => Math.max(1, Math.round((deadlineMs ?? limits.deadlineMs) - spentMs));
