import { DEFAULT_NETWORK, type NetworkOptions } from "../../../app/index.ts";
import type { FetchedArticle } from "../../../articles/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { Rendering } from "../../../extraction/index.ts";
import { subscriberNetwork } from "../../../fetching/index.ts";
import type { Exchange } from "../../middleware/exchange.ts";
import { callerOf } from "../../middleware/origin.ts";
import type { ExtractorParts } from "../extractor/parts.ts";
import { readExtraction, readUrl, requireSelectors, type SelectorFields } from "../extractor/requests.ts";
import type { OptionsRequestFields } from "../extractor/schemas/requests.ts";

/** A page as a request of another program's API wants it. */
export type PageWish = {
  readonly url: string;
  readonly network: Partial<NetworkOptions>;
  readonly options: Partial<OptionsRequestFields>;
  /** The names of the selectors' fields in messages. */
  readonly selectors: SelectorFields;
  readonly renderings: readonly Rendering[];
  /** The longest time for all of it, in ms; null leaves that to the settings. */
  readonly timeoutMs: number | null;
  /** Whether the page is fetched now, without looking into the cache. */
  readonly isFresh: boolean;
  /** Whether the page's own body is wanted. */
  readonly keepsBody: boolean;
};

/** Fetches and extracts a page as `POST /` does. @throws ProblemError, Failure as that operation */
export async function fetchPage(
  wish: PageWish,
  exchange: Exchange,
  { app, defaults, hasApiKey }: ExtractorParts,
): Promise<FetchedArticle> {
  const { timeoutMs, selectors, isFresh, keepsBody } = wish;
  const { url, authorization } = readUrl(wish.url, "url");
  const options = readExtraction(wish.options, wish.renderings, defaults.extraction);
  exchange.keepOpen();
  const network = { ...DEFAULT_NETWORK, requestTimeoutMs: timeoutMs, ...wish.network };
  await using session = app.openSession(network, callerOf(exchange, hasApiKey), {
    client: subscriberNetwork(exchange.client.address),
  });
  const { requestId } = exchange;
  return await withDeadline(exchange.signal(), timeoutMs, async (signal) => {
    try {
      return await session.fromUrl({ url, authorization, options, signal, requestId, isFresh, keepsBody });
    } catch (error) {
      if (error instanceof Failure && error.code === "invalid_usage")
        await requireSelectors(options, session, signal, selectors);
      throw error;
    }
  });
}

/** Does the work, but for this time at most. @throws Failure `timeout` */
export async function withDeadline<T>(
  signal: AbortSignal,
  timeoutMs: number | null,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === null) return await work(signal);
  const late = AbortSignal.timeout(timeoutMs);
  try {
    return await work(AbortSignal.any([signal, late]));
  } catch (error) {
    if (!late.aborted || !(error instanceof Failure) || error.code !== "cancelled") throw error;
    throw new Failure("timeout", `it took longer than the timeout of ${timeoutMs} ms`, { cause: error });
  }
}
