import { DEFAULT_NETWORK } from "../../../app/index.ts";
import { Failure, type FailureRecord } from "../../../base/failure.ts";
import type { MappedPage } from "../../../crawler/index.ts";
import { subscriberNetwork } from "../../../fetching/index.ts";
import { readJsonBody } from "../../middleware/body.ts";
import type { Exchange } from "../../middleware/exchange.ts";
import { callerOf } from "../../middleware/origin.ts";
import type { ExtractorParts } from "../extractor/parts.ts";
import { readCrawl, readUrl } from "../extractor/requests.ts";
import { type ApiCall, parseWith, type z } from "../openapi.ts";
import { withDeadline } from "./page.ts";
import { MapRequest } from "./schemas.ts";

type MapFields = z.output<typeof MapRequest>;

/** As many addresses as Firecrawl lists, and how long a map may take unless the request says more. */
const [DEFAULT_LIMIT, DEFAULT_TIMEOUT_MS] = [5000, 60_000];

/** Answers `POST /v2/map`. */
export async function map({ exchange }: ApiCall, parts: ExtractorParts): Promise<Response> {
  const request = parseWith(MapRequest, readJsonBody(exchange), "body");
  readUrl(request.url, "url");
  exchange.keepOpen();
  const pages = await withDeadline(exchange.signal(), request.timeout ?? DEFAULT_TIMEOUT_MS, (signal) =>
    mapped(request, { exchange, parts, signal }),
  );
  const links = byRelevance(pages, request.search ?? "").map(({ url, title }) =>
    title === null ? { url } : { url, title },
  );
  return Response.json({ success: true, links });
}

type MapWork = {
  readonly exchange: Exchange;
  readonly parts: ExtractorParts;
  readonly signal: AbortSignal;
};

/** @throws Failure that of the page, where nothing else was found */
async function mapped(
  { url, sitemap, limit, ignoreQueryParameters }: MapFields,
  { exchange, parts: { app, defaults, hasApiKey, paths }, signal }: MapWork,
): Promise<readonly MappedPage[]> {
  const { plan, authorizations } = await readCrawl(
    { seeds: [url], discover_sitemaps: sitemap !== "skip", follow_links: sitemap !== "only" },
    defaults,
    paths,
  );
  await using session = app.openSession(DEFAULT_NETWORK, callerOf(exchange, hasApiKey), {
    client: subscriberNetwork(exchange.client.address),
  });
  let failure: FailureRecord | null = null;
  const noteFailure = (record: FailureRecord): void => {
    failure ??= record;
  };
  const options = {
    authorizations: new Map(authorizations),
    onSitemapFailure: () => {},
    onPageFailure: noteFailure,
  };
  const pages: MappedPage[] = [];
  for await (const page of session.mapSite(plan, options, signal)) {
    if (page.refusal !== null) continue;
    if (ignoreQueryParameters !== false && page.url.includes("?") && page.source !== "seed") continue;
    if (pages.push(page) >= (limit ?? DEFAULT_LIMIT)) break;
  }
  if (failure !== null && pages.every(({ source }) => source === "seed")) throw Failure.of(failure);
  return pages;
}

/** Puts first what has the most words of a search in its address or title; all else stays in its order. */
function byRelevance(pages: readonly MappedPage[], search: string): readonly MappedPage[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return pages;
  const scoreOf = ({ url, title }: MappedPage): number => {
    const text = `${url} ${title ?? ""}`.toLowerCase();
    return words.filter((word) => text.includes(word)).length;
  };
  return pages
    .map((page) => ({ page, score: scoreOf(page) }))
    .sort((a, b) => b.score - a.score)
    .map(({ page }) => page);
}
