import { blockedFailure, statusFailure, visitPage } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import { originOf, type PageUrl } from "../urls/index.ts";
import type { CrawlJobParts } from "./job.ts";
import type { CrawlPlan } from "./plan.ts";
import { Politeness } from "./politeness.ts";
import { createScope, type Scope, withoutSession } from "./scope.ts";
import { readStarts } from "./seeding.ts";
import type { LinkRefusal, MapOptions, MappedPage } from "./types.ts";

type MapParts = CrawlJobParts & {
  readonly plan: CrawlPlan;
  readonly scope: Scope;
  readonly politeness: Politeness;
};

/**
 * Lists the addresses of a site, each once: the seeds, the addresses of sitemaps, then those that only the seeds' links
 * lead to; among them those that a crawl would leave out, with the reason. It fetches robots.txt, sitemaps and the seeds.
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
  const linked = new Map<PageUrl, LinkRefusal | null>();
  const mapped = new Set<PageUrl>();
  for (const seed of plan.seeds)
    for (const { url, text, refusal } of await linksOf(seed, parts, options, signal)) {
      if (url !== seed && linked.get(url) !== null) linked.set(url, refusal);
      if (text !== "" && !titles.has(url)) titles.set(url, text);
    }
  const isClosed = async (url: PageUrl): Promise<boolean> => {
    const rules = await politeness.rulesFor(url, signal);
    return Boolean(rules?.failure) || !politeness.allows(rules, url);
  };
  const page = async ({ url, refusal, source, lastModified }: Untitled): Promise<MappedPage> => {
    mapped.add(url);
    const title = titles.get(url) ?? null;
    return {
      url,
      source,
      title,
      lastModified,
      refusal: refusal ?? ((await isClosed(url)) ? "robots" : null),
    };
  };
  const { authorizations, onSitemapFailure } = options;
  for await (const news of readStarts({ ...parts, authorizations }, signal)) {
    if (news.kind === "failed") onSitemapFailure(news.failure);
    for (const { url, source, refusal, lastModified = null } of news.kind === "entries" ? news.entries : [])
      if (!mapped.has(url))
        yield await page({ url, source: source === "seed" ? "seed" : "sitemap", lastModified, refusal });
  }
  for (const [url, refusal] of linked)
    if (!mapped.has(url)) yield await page({ url, source: "link", lastModified: null, refusal });
}

type Untitled = Omit<MappedPage, "title">;
type MappedLink = Pick<MappedPage, "url"> & { readonly text: string; readonly refusal: LinkRefusal | null };

/** The title of a seed and its links; none where it cannot be had, which is told. */
async function linksOf(
  seed: PageUrl,
  { plan, scope, politeness, fetchers, extractor }: MapParts,
  { authorizations, onPageFailure }: MapOptions,
  signal: AbortSignal,
): Promise<readonly MappedLink[]> {
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
    const followed = plan.followsLinks
      ? links.map((link) => ({ ...link, url: withoutSession(link.url) }))
      : [];
    return [
      { url: seed, text: article?.title ?? "", refusal: null },
      ...followed.map((link) => ({ ...link, refusal: scope.refuseLink(visit.page.finalUrl, link, false) })),
    ];
  } catch (error) {
    if (!(error instanceof Failure) || signal.aborted) throw error;
    onPageFailure(error.toRecord());
    return [];
  }
}
