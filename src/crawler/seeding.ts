import { Failure, type FailureRecord } from "../base/failure.ts";
import type { RobotsCache } from "../fetching/index.ts";
import { originOf, type PageUrl } from "../urls/index.ts";
import type { Frontier, FrontierEntry } from "./frontier/frontier.ts";
import { sitemapWarning } from "./manifest.ts";
import { isTooOld } from "./plan.ts";
import { sitemapsOfRobots } from "./sitemap/open.ts";
import type { CrawlNotice, ReadSitemaps, SitemapNews } from "./types.ts";
import type { VisitParts } from "./visit.ts";

type SeedingParts = Pick<VisitParts, "plan" | "scope" | "politeness" | "fetchers" | "authorizations"> & {
  readonly robots: RobotsCache;
  readonly readSitemaps: ReadSitemaps;
};

/** Further sitemap URLs are not read: no crawl fetches that many pages, and a sitemap may be endless. */
const MAX_SITEMAP_URLS = 2_000_000;

/** A batch of start URLs, or news of a sitemap. */
type SeedNews =
  | { readonly kind: "entries"; readonly entries: readonly FrontierEntry[] }
  | Exclude<SitemapNews, { kind: "pages" }>
  | { readonly kind: "stopped"; readonly limit: number };

/** Yields the seeds, then the sitemaps' URLs as they are read, each with the reason for a refusal, if any. */
export async function* readStarts(parts: SeedingParts, signal: AbortSignal): AsyncGenerator<SeedNews> {
  const { plan, scope, politeness, readSitemaps, authorizations } = parts;
  const entry = (
    url: PageUrl,
    source: FrontierEntry["source"],
    lastModified: string | null,
  ): FrontierEntry => {
    const isOld = isTooOld(plan, lastModified, false);
    return { url, source, lastModified, refusal: scope.refuseStart(url) ?? (isOld ? "older" : null) };
  };
  if (plan.seeds.length > 0)
    yield { kind: "entries", entries: plan.seeds.map((url) => entry(url, "seed", null)) };
  const sitemaps = [...plan.sitemaps, ...(await discoverSitemaps(parts, signal))];
  let count = 0;
  const options = { signal, beforeRequest: politeness.beforeRequest, authorizations };
  for await (const news of readSitemaps(sitemaps, options)) {
    if (news.kind !== "pages") {
      yield news;
      continue;
    }
    const entries = news.pages.map(({ url, lastModified }) => entry(url, "sitemap", lastModified));
    yield { kind: "entries", entries };
    count += entries.length;
    if (count < MAX_SITEMAP_URLS) continue;
    yield { kind: "stopped", limit: MAX_SITEMAP_URLS };
    return;
  }
}

async function discoverSitemaps(parts: SeedingParts, signal: AbortSignal): Promise<string[]> {
  const { plan, robots, politeness } = parts;
  if (!plan.discoversSitemaps) return [];
  const found = new Set<string>();
  for (const origin of new Set(plan.seeds.map(originOf))) {
    const { beforeRequest } = politeness;
    const sitemapsOf = async (site: PageUrl): Promise<readonly PageUrl[]> =>
      sitemapsOfRobots(await robots.rulesFor(site, { signal, beforeRequest }), site);
    let sitemaps = await sitemapsOf(`${origin}/` as PageUrl);
    const target = sitemaps.length > 0 ? null : await redirectTarget(origin, parts, signal);
    if (target !== null) sitemaps = await sitemapsOf(target);
    for (const sitemap of sitemaps) found.add(sitemap);
  }
  return [...found].filter((sitemap) => !plan.sitemaps.includes(sitemap));
}

/** Returns where the first seed of an origin leads when that is another origin: a site may have moved. */
async function redirectTarget(
  origin: string,
  { plan, fetchers, scope, politeness, authorizations }: SeedingParts,
  signal: AbortSignal,
): Promise<PageUrl | null> {
  const seed = plan.seeds.find((url) => originOf(url) === origin);
  if (seed === undefined) return null;
  const { beforeRequest } = politeness;
  const authorization = authorizations.get(origin) ?? null;
  try {
    const { finalUrl } = await fetchers.http.fetch(seed, { signal, beforeRequest, authorization, tries: 1 });
    return originOf(finalUrl) !== origin && scope.admitsTarget(finalUrl, "seed") ? finalUrl : null;
  } catch (error) {
    // The page's own visit reports the failure.
    if (!(error instanceof Failure) || signal.aborted) throw error;
    return null;
  }
}

/** Adds the start URLs to the frontier, and yields after each batch, so that outcomes can be passed on. */
export async function* seed(
  frontier: Frontier,
  parts: SeedingParts,
  { signal, onNotice }: { readonly signal: AbortSignal; readonly onNotice: (notice: CrawlNotice) => void },
): AsyncGenerator<void> {
  let failure: FailureRecord | null = null;
  for await (const news of readStarts(parts, signal)) {
    if (news.kind === "entries") {
      await frontier.add(news.entries);
      for (const { url, refusal } of news.entries) if (refusal === null) parts.scope.addOrigin(originOf(url));
    } else if (news.kind === "stopped") {
      await frontier.addWarning(`Sitemap URLs after the first ${news.limit} were left out`);
    } else if (news.kind === "read") {
      onNotice({ kind: "sitemap_read", sitemap: news.sitemap, pageCount: news.pageCount });
      const warning = parts.plan.sitemaps.includes(news.sitemap) ? entriesWarning(news) : null;
      if (warning !== null) await frontier.addWarning(warning);
    } else {
      failure = news.failure;
      const notice = { ...news, kind: "sitemap_failed" } as const;
      onNotice(notice);
      await frontier.addWarning(sitemapWarning(notice));
    }
    yield;
  }
  await requireSomeStart(frontier, failure);
  await frontier.finishSeeding();
}

type ReadSitemap = Extract<SitemapNews, { kind: "read" }>;

/** Returns what is wrong with the entries of a sitemap that was asked for; null for nothing. */
function entriesWarning({ sitemap, pageCount, sitemapCount, invalidCount }: ReadSitemap): string | null {
  if (pageCount + sitemapCount === 0) return `The sitemap ${sitemap} names no page`;
  if (invalidCount === 0) return null;
  const entries = invalidCount === 1 ? "1 entry that is" : `${invalidCount} entries that are`;
  return `The sitemap ${sitemap} has ${entries} no http or https URL`;
}

/** Fails unless the crawl has something to fetch. */
async function requireSomeStart(frontier: Frontier, failure: FailureRecord | null): Promise<void> {
  const { queued, skipped, successful, failed } = await frontier.counts();
  if (queued + successful + failed > 0) return;
  if (skipped > 0) {
    throw new Failure(
      "invalid_usage",
      `none of the ${skipped} seeds and sitemap URLs may be crawled: see the allow and deny prefixes`,
    );
  }
  if (failure) throw Failure.of(failure);
  throw new Failure("no_content", "there is nothing to crawl: the sitemaps name no http or https page");
}
