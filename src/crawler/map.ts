import { blockedFailure, statusFailure, visitPage } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import { originOf, type PageUrl } from "../urls/index.ts";
import type { CrawlJobParts } from "./job.ts";
import type { CrawlPlan } from "./plan.ts";
import { Politeness } from "./politeness.ts";
import { createScope, type Scope } from "./scope.ts";
import { readStarts } from "./seeding.ts";
import type { MapOptions, MappedPage } from "./types.ts";

type MapParts = CrawlJobParts & {
  readonly plan: CrawlPlan;
  readonly scope: Scope;
  readonly politeness: Politeness;
};

/**
 * Lists the addresses of a site, each once: the seeds, the addresses of sitemaps, then those that only the seeds' links
 * lead to. It fetches robots.txt, sitemaps and the seeds, and lists what a crawl may fetch.
 * @throws Failure `cancelled`, `egress_refused`
 */
export async function* mapSite(
  plan: CrawlPlan,
  options: MapOptions,
  crawlParts: CrawlJobParts,
  signal: AbortSignal,
): AsyncGenerator<MappedPage, void> {
  const politeness = new Politeness(plan, crawlParts);
  const parts = { ...crawlParts, plan, scope: createScope(plan), politeness };
  const titles = new Map<string, string>();
  const linked = new Set<PageUrl>();
  const mapped = new Set<PageUrl>();
  for (const seed of plan.seeds)
    for (const { url, text } of await linksOf(seed, parts, options, signal)) {
      if (url !== seed) linked.add(url);
      if (text !== "" && !titles.has(url)) titles.set(url, text);
    }
  const isOpen = async (url: PageUrl): Promise<boolean> => {
    if (mapped.has(url)) return false;
    const rules = await politeness.rulesFor(url, signal);
    return !rules?.failure && politeness.allows(rules, url);
  };
  const page = (url: PageUrl, source: MappedPage["source"], lastModified: string | null): MappedPage => {
    mapped.add(url);
    return { url, source, title: titles.get(url) ?? null, lastModified };
  };
  const { authorizations, onSitemapFailure } = options;
  for await (const news of readStarts({ ...parts, authorizations }, signal)) {
    if (news.kind === "failed") onSitemapFailure(news.failure);
    for (const { url, source, refusal, lastModified = null } of news.kind === "entries" ? news.entries : [])
      if (refusal === null && (await isOpen(url)))
        yield page(url, source === "seed" ? "seed" : "sitemap", lastModified);
  }
  for (const url of linked) if (await isOpen(url)) yield page(url, "link", null);
}

/** The title of a seed and its links that belong to the crawl; none where it cannot be had, which is told. */
async function linksOf(
  seed: PageUrl,
  { plan, scope, politeness, fetchers, extractor }: MapParts,
  { authorizations, onPageFailure }: MapOptions,
  signal: AbortSignal,
): Promise<readonly { readonly url: PageUrl; readonly text: string }[]> {
  try {
    const authorization = authorizations.get(originOf(seed)) ?? null;
    const visit = await visitPage(
      seed,
      {
        preference: plan.preference,
        options: plan.extraction,
        fetch: { signal, authorization, beforeRequest: politeness.beforeRequest },
      },
      { fetchers, extractor },
    );
    if (visit.blocked) throw blockedFailure(visit.page.finalUrl, visit.blocked, visit.page);
    if (visit.page.status >= 400) throw statusFailure(visit.page);
    const { links = [], article } = visit.extraction ?? {};
    scope.addOrigin(originOf(visit.page.finalUrl));
    const chosen = new Set(scope.chooseLinks(visit.page.finalUrl, links, false).links);
    return [{ url: seed, text: article?.title ?? "" }, ...links.filter(({ url }) => chosen.has(url))];
  } catch (error) {
    if (!(error instanceof Failure) || signal.aborted) throw error;
    onPageFailure(error.toRecord());
    return [];
  }
}
