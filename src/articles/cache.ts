import { LRUCache } from "lru-cache";
import { orAborted } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";
import type { FetchedArticle } from "./fetched-article.ts";

/** Extracted articles by request, and the extractions that are under way. */
export interface ArticleCache {
  readonly size: number;
  readonly maxSize: number;
  /**
   * Returns the article for a key: from the cache, from an extraction of the same key that is under way, or
   * by loading it. Failures are not kept. A shared extraction is cancelled when nobody waits for it any more.
   * @param signal of this caller alone
   */
  take(
    key: string,
    load: (signal: AbortSignal) => Promise<FetchedArticle>,
    signal?: AbortSignal,
  ): Promise<{ readonly fetched: FetchedArticle; readonly origin: "hit" | "shared" | "miss" }>;
}

/** What an object takes in memory besides its texts. */
const OBJECT_BYTES = 100;

/** Estimates what a value takes in memory: its texts in UTF-8, and a fixed amount for each object. */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  let bytes = OBJECT_BYTES;
  for (const part of Object.values(value)) bytes += bytesOf(part);
  return bytes;
}

type UnderWay = {
  readonly promise: Promise<FetchedArticle>;
  readonly controller: AbortController;
  waiting: number;
};

export type ArticleCacheLimits = {
  /**
   * The number of articles to keep; the least recently used is dropped first. 0 keeps none, but requests
   * still share an extraction that is under way.
   */
  readonly maxSize: number;
  /** The bytes of text that all kept articles may have together; a larger article is not kept. At least 1. */
  readonly maxBytes: number;
};

/**
 * Makes a cache. It is correct because the key holds everything that changes the result: the URL and every
 * option.
 */
export function createArticleCache({ maxSize, maxBytes }: ArticleCacheLimits): ArticleCache {
  const kept =
    maxSize > 0
      ? new LRUCache<string, FetchedArticle>({
          max: maxSize,
          maxSize: maxBytes,
          sizeCalculation: (fetched, key) => key.length + bytesOf(fetched),
        })
      : null;
  const underWay = new Map<string, UnderWay>();

  const start = (key: string, load: (signal: AbortSignal) => Promise<FetchedArticle>): UnderWay => {
    const controller = new AbortController();
    const promise = load(controller.signal).then((fetched) => {
      kept?.set(key, fetched);
      return fetched;
    });
    const work: UnderWay = { promise, controller, waiting: 0 };
    underWay.set(key, work);
    const forget = (): void => {
      if (underWay.get(key) === work) underWay.delete(key);
    };
    promise.then(forget, forget);
    return work;
  };

  return {
    get size() {
      return kept?.size ?? 0;
    },
    maxSize,
    async take(key, load, signal) {
      if (signal?.aborted) throw cancelled();
      const hit = kept?.get(key);
      if (hit) return { fetched: hit, origin: "hit" };
      const shared = underWay.get(key);
      const work = shared ?? start(key, load);
      const leave = (): void => {
        work.waiting--;
        if (work.waiting > 0) return;
        // Nobody waits any more, so the next request must start anew.
        if (underWay.get(key) === work) underWay.delete(key);
        work.controller.abort(signal?.reason);
      };
      work.waiting++;
      return {
        fetched: await orAborted(work.promise, signal, () => {
          leave();
          return cancelled();
        }),
        origin: shared ? "shared" : "miss",
      };
    },
  };
}

const cancelled = (): Failure => new Failure("cancelled", "the request was cancelled by its caller");
