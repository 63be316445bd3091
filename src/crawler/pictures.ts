import { Failure } from "../base/failure.ts";
import {
  backOffDelayMs,
  type Clock,
  fetchPicture,
  isRetryableStatus,
  isTransient,
  retryAfterMsOf,
  type StreamFetcher,
} from "../fetching/index.ts";
import { PictureFolder, type PicturePlace } from "../pages/index.ts";
import { originOf, type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { CrawlPlan } from "./plan.ts";
import type { Politeness } from "./politeness.ts";

/** The time limit for one picture with the waits for its host, which other pages of the host share. */
const PICTURE_DEADLINE_MS = 15 * 60_000;

/** Fetches pictures, and says how large they may be. */
export type PictureSource = { readonly http: StreamFetcher; readonly maxBytes: number };

/** The folder for pictures of a crawl, and what fetches them. */
export type CrawlPictures = PictureSource & { readonly folder: PictureFolder };

/** @returns null for a plan without pictures. @throws Failure `invalid_usage` where pages are neither files nor objects */
export function openCrawlPictures(
  { savesPictures }: Pick<CrawlPlan, "savesPictures">,
  place: PicturePlace | null,
  source: PictureSource,
): CrawlPictures | null {
  if (!savesPictures) return null;
  if (place === null)
    throw new Failure("invalid_usage", "pictures are saved beside pages that are files or objects");
  return { ...source, folder: new PictureFolder({ place, maxBytes: source.maxBytes, atOnce: 1 }) };
}

type PoliteParts = {
  readonly http: StreamFetcher;
  readonly politeness: Politeness;
  readonly authorizations: ReadonlyMap<string, string>;
  readonly tries: number;
  readonly clock: Clock;
  /** The page that shows the pictures. */
  readonly page: PageUrl;
  readonly signal: AbortSignal;
};

/** Fetches pictures of a page as a crawl may: by robots.txt, in the turns of hosts, and not while a host wants to rest. */
export function politePictures(parts: PoliteParts): (url: PageUrl) => Promise<Uint8Array | string> {
  const { http, politeness, authorizations, tries, clock, page, signal } = parts;
  let isRefused = false;
  let askedAt = 0;
  const beforeRequest = async (hop: URL, asking: AbortSignal): Promise<() => void> => {
    const target = parsePageUrl(hop.href);
    const rules = target && (await politeness.rulesFor(target, asking));
    if (rules?.failure) throw Failure.of(rules.failure);
    isRefused = target === null || !politeness.allows(rules, target);
    if (isRefused) throw new Failure("cancelled", `robots.txt keeps ${hop.host} from crawls`);
    const release = await politeness.beforeRequest(hop, asking);
    askedAt = performance.now();
    return release;
  };
  const options = (url: PageUrl) => ({
    signal,
    tries: 1,
    deadlineMs: PICTURE_DEADLINE_MS,
    beforeRequest,
    authorization: authorizations.get(originOf(url)) ?? null,
    isForeign: originOf(url) !== originOf(page),
  });
  return async (url) => {
    for (let made = 1; ; made++) {
      const { host } = new URL(url);
      if (politeness.paces.of(host).closedMs > 0) return "rate limited";
      const answer = await fetchPicture(http, url, options(url)).catch((error: unknown) => {
        const isWorthATry = error instanceof Failure && isTransient(error) && made < tries;
        if (!isRefused && !isWorthATry) throw error;
        return null;
      });
      if (isRefused) return "kept back by robots.txt";
      if (answer) {
        const { status, headers, bytes } = answer;
        if (status >= 200 && status < 300) return bytes;
        if (status === 429 || status === 503)
          await politeness.pauseHost(host, { askedAt, retryAfterMs: retryAfterMsOf(headers) }, signal);
        if (made >= tries || !isRetryableStatus(status)) return `HTTP ${status}`;
      }
      await clock.sleep(backOffDelayMs(made, clock.random), signal);
    }
  };
}
