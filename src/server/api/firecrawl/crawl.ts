import { parseJson } from "../../../base/json.ts";
import type { JobRecord, ManifestEntry } from "../../../crawler/index.ts";
import { CRAWL } from "../../../options/index.ts";
import { notPageUrl, parsePageUrl } from "../../../urls/index.ts";
import { readJsonBody } from "../../middleware/body.ts";
import type { Exchange } from "../../middleware/exchange.ts";
import { ProblemError } from "../../middleware/problem.ts";
import { findPages, pagesOf } from "../extractor/jobs/outcomes.ts";
import { isOver } from "../extractor/jobs/spec.ts";
import { acceptCrawl, findJob } from "../extractor/operations/crawl.ts";
import type { ExtractorParts } from "../extractor/parts.ts";
import { readUrl } from "../extractor/requests.ts";
import type { CrawlRequestFields } from "../extractor/schemas/requests.ts";
import { type ApiCall, invalidRequest, parseWith, type z } from "../openapi.ts";
import { documentOf, markdownOf } from "./documents.ts";
import { globsOf } from "./patterns.ts";
import { BatchRequest, CrawlRequest } from "./schemas.ts";
import { given, networkOf, optionsOf, SELECTORS } from "./scrape.ts";
import { readWebhookFields } from "./webhook.ts";

/** The most documents of one answer, and the characters of Markdown after which it ends. */
const [MAX_DOCUMENTS, MAX_CHARACTERS] = [100, 4 * 1024 * 1024];
/** The most failures that are listed. */
const MAX_ERRORS = 10_000;

/** Answers `POST /v2/crawl`. @param prefix the path before `/crawl` */
export async function startCrawl(
  { exchange }: ApiCall,
  parts: ExtractorParts,
  prefix: string,
): Promise<Response> {
  const request = parseWith(CrawlRequest, readJsonBody(exchange), "body");
  readUrl(request.url, "url");
  const reading = request.scrapeOptions ?? {};
  const webhook = readWebhookFields(request.webhook, "crawl");
  const job = await acceptCrawl({ ...crawlOf(request), webhook: webhook?.request }, exchange, parts, {
    webhookForm: webhook?.form,
    network: { ...networkOf(reading), requestTimeoutMs: reading.timeout ?? null },
    selectors: SELECTORS,
  });
  return Response.json({ success: true, id: job.id, url: addressOf(exchange, `${prefix}/crawl/${job.id}`) });
}

/** Answers `POST /v2/batch/scrape`. @throws ProblemError 422 for an address that is none, unless these are to be ignored */
export async function startBatch(
  { exchange }: ApiCall,
  parts: ExtractorParts,
  prefix: string,
): Promise<Response> {
  const request = parseWith(BatchRequest, readJsonBody(exchange), "body");
  const invalid = request.urls.filter((url) => parsePageUrl(url) === null);
  const seeds = request.urls.filter((url) => !invalid.includes(url));
  if (invalid.length > 0 && (request.ignoreInvalidURLs === false || seeds.length === 0))
    throw refused("urls", notPageUrl(invalid[0]!));
  const webhook = readWebhookFields(request.webhook, "batch_scrape");
  const batch: CrawlRequestFields = {
    webhook: webhook?.request,
    seeds,
    max_pages: seeds.length,
    max_depth: 0,
    follow_links: false,
    ignore_robots: true,
    concurrency: request.maxConcurrency ?? null,
    options: optionsOf(request),
  };
  const job = await acceptCrawl(batch, exchange, parts, {
    webhookForm: webhook?.form,
    network: { ...networkOf(request), requestTimeoutMs: request.timeout ?? null },
    selectors: SELECTORS,
  });
  const url = addressOf(exchange, `${prefix}/batch/scrape/${job.id}`);
  return Response.json({ success: true, id: job.id, url, invalidURLs: invalid });
}

type CrawlFields = z.output<typeof CrawlRequest>;

/** The crawl that a request means, as a request of our own. */
function crawlOf(request: CrawlFields): CrawlRequestFields {
  const { url, sitemap, scrapeOptions } = request;
  const paths = request.includePaths ?? [];
  const below = request.crawlEntireDomain ? null : folderOf(url);
  // Globs of one list are alternatives, so two conditions need both kinds of rules.
  const isByGlob = paths.length === 0 && below !== null && !/[*?[{]/.test(below.pathname);
  return {
    seeds: [url],
    include_urls: isByGlob ? [below.pathname] : globsOfAll("includePaths", paths),
    allow_prefixes: isByGlob || below === null ? [] : [`${below.origin}${below.pathname}`],
    exclude_urls: globsOfAll("excludePaths", request.excludePaths ?? []),
    max_pages: request.limit ?? null,
    max_depth: request.maxDiscoveryDepth ?? CRAWL.maxDepth.kind.max,
    discover_sitemaps: sitemap !== "skip",
    follow_links: sitemap !== "only",
    ignore_robots: request.ignoreRobotsTxt ?? null,
    rate_limit_delay: request.delay ?? null,
    concurrency: request.maxConcurrency ?? null,
    documents: scrapeOptions?.parsers?.length !== 0,
    options: scrapeOptions && optionsOf(scrapeOptions),
  };
}

/** The address below which a crawl stays; null for a whole site, or no address. */
function folderOf(written: string): URL | null {
  const url = URL.parse(written);
  return url === null || url.pathname === "/" ? null : url;
}

/** @throws ProblemError 422 for an expression that cannot be written as globs */
function globsOfAll(field: string, expressions: readonly string[]): string[] {
  const globs = expressions.flatMap((expression, index) => {
    const found = globsOf(expression);
    if (found) return found;
    const shown = JSON.stringify(expression.slice(0, 100));
    throw refused(
      `${field}.${index}`,
      `the expression ${shown} is not supported: it may have literal text, ., .*, .+, [^/]+, [^/]*, (a|b), ?, ^ and $`,
    );
  });
  const { maxCount } = CRAWL.includeUrls.kind;
  if (globs.length <= maxCount) return globs;
  throw refused(field, `the expressions have over ${maxCount} alternatives together`);
}

const refused = (path: string, message: string): ProblemError =>
  invalidRequest(`${path}: ${message}`, [{ path, message }]);

/**
 * Answers `GET /v2/crawl/{id}` and the same of a batch: how far it is, and some of its documents. Before its end these
 * are the first ones, without an address for more: their order may be another in the end.
 * @param base the path before the id
 */
export async function crawlStatus(call: ApiCall, parts: ExtractorParts, base: string): Promise<Response> {
  const job = await findJob(call.param("id"), parts.queue);
  const offset = numberIn(call, "skip", { min: 0, max: 1e9, fallback: 0 });
  const limit = numberIn(call, "limit", { min: 1, max: MAX_DOCUMENTS, fallback: MAX_DOCUMENTS });
  const { documents, end, total } = await documentsOf(job, parts, { offset, limit });
  const { counts } = job;
  const next = end < total ? addressOf(call.exchange, `${base}/${job.id}?skip=${end}&limit=${limit}`) : null;
  return Response.json({
    success: true,
    status: statusOf(job),
    total: counts.total - counts.skipped,
    completed: counts.successful,
    creditsUsed: 0,
    next,
    data: documents,
    ...given({ error: job.error?.message, warning: job.warnings.join(" ") || null }),
  });
}

const isCancelled = ({ error }: JobRecord): boolean => error?.code === "cancelled";

function statusOf(job: JobRecord): "scraping" | "completed" | "failed" | "cancelled" {
  if (!isOver(job)) return "scraping";
  return job.state === "completed" ? "completed" : isCancelled(job) ? "cancelled" : "failed";
}

type Place = { readonly offset: number; readonly limit: number };

/** Some documents of a crawl, where the next ones begin, and how many are to be had. */
async function documentsOf(job: JobRecord, { queue, places }: ExtractorParts, place: Place) {
  const wish = { status: "success", reason: null, host: null } as const;
  const { pages, total } = isOver(job)
    ? await findPages(pagesOf(places, job), wish, place)
    : { pages: await storedSoFar(job, queue, place), total: 0 };
  const documents: object[] = [];
  let characters = 0;
  for (const page of pages) {
    if (characters > MAX_CHARACTERS) break;
    const markdown = await markdownOf(page, job, places);
    characters += markdown?.text.length ?? 0;
    documents.push(documentOf(page, markdown));
  }
  return { documents, end: place.offset + documents.length, total };
}

/** The pages that a running crawl has stored, as far as its events tell. */
async function storedSoFar(job: JobRecord, queue: ExtractorParts["queue"], { offset, limit }: Place) {
  const pages: ManifestEntry[] = [];
  for (let after = 0; pages.length < offset + limit; ) {
    const events = await queue.eventsAfter(job.id, after, EVENTS_AT_ONCE);
    for (const { number, kind, body } of events) {
      after = number;
      const entry = kind === "page" ? (parseJson(body) as ManifestEntry) : null; // as the crawl reported it
      if (entry?.status === "success") pages.push(entry);
    }
    if (events.length < EVENTS_AT_ONCE) break;
  }
  return pages.slice(offset, offset + limit);
}

const EVENTS_AT_ONCE = 500;

function numberIn(
  { query }: ApiCall,
  name: string,
  { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const written = query[name];
  if (written === undefined) return fallback;
  if (/^\d{1,10}$/.test(written) && Number(written) >= min) return Math.min(Number(written), max);
  throw refused(name, `must be a whole number from ${min}`);
}

/** Answers `GET /v2/crawl/{id}/errors`. */
export async function crawlErrors(call: ApiCall, { queue, places }: ExtractorParts): Promise<Response> {
  const job = await findJob(call.param("id"), queue);
  const errors: object[] = [];
  const robotsBlocked: string[] = [];
  for await (const { url, status, reason, error } of isOver(job) ? pagesOf(places, job) : []) {
    if (reason === "robots" && robotsBlocked.length < MAX_ERRORS) robotsBlocked.push(url);
    if (status !== "failed" || errors.length >= MAX_ERRORS) continue;
    const { code, message } = error ?? { code: "internal", message: "unknown" };
    errors.push({
      id: `${job.id}-${errors.length + 1}`,
      timestamp: job.completedAt,
      url,
      code,
      error: message,
    });
  }
  return Response.json({ errors, robotsBlocked });
}

/** Answers `DELETE /v2/crawl/{id}`. @throws ProblemError 409 for a crawl that has ended by itself */
export async function cancelCrawl(call: ApiCall, { queue }: ExtractorParts): Promise<Response> {
  const found = await findJob(call.param("id"), queue);
  if (isOver(found) && !isCancelled(found))
    throw new ProblemError(409, "crawl_over", `the crawl is ${found.state}; there is nothing to cancel`);
  await queue.cancel(found.id);
  return Response.json({ success: true, status: "cancelled" });
}

/** The whole address of a path of this server, as its client sees it. */
const addressOf = ({ client, basePath }: Exchange, path: string): string =>
  `${client.scheme}://${client.host}${basePath}${path}`;
