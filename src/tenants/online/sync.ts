import { join } from "node:path";
import {
  type Fetchers,
  inventedName,
  MarkdownAlternates,
  type PageFingerprint,
} from "../../articles/index.ts";
import { makePrivateDirectory } from "../../base/database/index.ts";
import { createYieldWhenDue } from "../../base/event-loop.ts";
import { Failure, type FailureRecord } from "../../base/failure.ts";
import { defined } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { CrawlPlan, CrawlSummary, PageOutcome, PageSink } from "../../crawler/index.ts";
import type { Fetcher } from "../../fetching/index.ts";
import { type PageUrl, parsePageUrl } from "../../urls/index.ts";
import type { OnlineTenant } from "../settings.ts";
import type { FailedPages, SyncContext, SyncCounts } from "../source/source.ts";
import { hasFailed, readMissed, writeMissed } from "../why.ts";
import {
  type CrawledOutcome,
  type ErrorPage,
  fingerprintOf,
  type Judgement,
  judge,
  type KnownDocument,
} from "./judge.ts";
import { orMarkdown, preferMarkdown, revalidateFirst, withLlmsTxt } from "./markdown-alternates.ts";
import {
  checkPlanOf,
  createFallbackExtractor,
  createIsWanted,
  type OnlineParts,
  planOf,
  probesOf,
  type TenantCrawler,
} from "./plan.ts";
import { type Ledger, openLedger, Staging, writeLedger } from "./staging.ts";

/** A sitemap's dates are trusted for this long; then every page is requested once. */
const TRUST_DATES_MS = 7 * 24 * 60 * 60 * 1000;
/** The most documents that the crawl did not reach and that are requested one by one. */
const MAX_CHECKS = 1000;

/** How many files are written and flushed at once; one by one, most of the time is spent waiting for the disk. */
const PUBLISHED_AT_ONCE = 16;

/** One sync of a website; see `onlineSource`. */
export async function syncWebsite(parts: OnlineParts, context: SyncContext): Promise<SyncCounts> {
  const { tenant, options, published } = parts;
  makePrivateDirectory(options.stateDirectory);
  const ledger = await openLedger(parts);
  const staging = await Staging.open(join(options.stateDirectory, "staged"), published, ledger);
  const hosts = [...tenant.entryUrls, ...tenant.sitemapUrls, ...tenant.allowPrefixes].map(
    (url) => new URL(url).hostname,
  );
  await using crawler = options.access.openCrawler([...new Set(hosts)], {
    acceptMarkdown: !tenant.followLinks,
  });
  const { missed, retried } = await pagesToRetry(parts, context);
  const sync: Sync = { parts, ledger, staging, crawler, context, retried };
  const startedAt = options.now();
  if (retried?.length === 0) return { fetched: 0, unchanged: ledger.documents.size, removed: 0, failed: 0 };
  const trustsDates = retried !== null || Math.abs(startedAt - ledger.verifiedAt) < TRUST_DATES_MS;
  const crawled = await crawlSite(sync, trustsDates);
  const kept = missed.filter(({ url }) => !crawled.outcomes.has(url as PageUrl));
  await noteMissed(parts, crawled.outcomes, new Set(), kept);
  if (retried === null) requireSomeSuccess(tenant.codename, crawled);
  const { summary, outcomes } = crawled;
  // Pages that an interrupted sync has staged and this one did not find again are left out.
  const isTwin = (url: PageUrl): boolean => isTwinOf(outcomes, url);
  const isStaged = (url: PageUrl): boolean => outcomes.get(url)?.status === "success" && !isTwin(url);
  const staged = [...staging.fingerprints].filter(({ url }) => isStaged(url));
  const isWanted = createIsWanted(tenant);
  const isWhole = retried === null && isWholeCrawl(crawled, tenant.followLinks);
  const unmet = [...ledger.documents.keys()].filter((url) => !outcomes.has(url));
  const { checks, errorPages } = await checkSite(sync, staged, isWhole ? unmet : []);
  const judgement = judge({
    known: ledger.documents,
    outcomes,
    staged,
    checks,
    errorPages,
    isWhole,
    isWanted: (url) => isWanted(url) && !isTwin(url),
    entries: new Set(tenant.entryUrls),
  });
  const left = (summary.skips.max_pages ?? 0) + (summary.skippedLinks.max_pages ?? 0);
  const cut = left === 0 ? [] : [`max_crawl_pages (${tenant.maxPages}) left ${left} known pages unfetched`];
  for (const warning of [...summary.warnings, ...judgement.warnings, ...cut])
    options.log.warning("sync", { warning });
  const verifiedAt = trustsDates ? ledger.verifiedAt : startedAt;
  const counts = await publish(sync, judgement, outcomes, verifiedAt);
  if (judgement.quarantined.size > 0) await noteMissed(parts, outcomes, judgement.quarantined, kept);
  const forbidden = forbiddenBy(outcomes);
  return defined({
    ...counts,
    failures: counts.failed > 0 ? failuresOf(outcomes, judgement.quarantined) : undefined,
    left: left || undefined,
    notes: forbidden > 0 ? [`robots.txt forbids ${forbidden} of ${outcomes.size} pages`] : undefined,
  });
}

/** Returns the pages that the last sync missed, and which of them to retry; null for a sync of the whole site. */
async function pagesToRetry({ options }: OnlineParts, { onlyFailed }: SyncContext) {
  const missed = onlyFailed ? await readMissed(options.stateDirectory) : null;
  const retried = missed?.filter(hasFailed).flatMap(({ url }) => parsePageUrl(url) ?? []) ?? null;
  return { missed: missed ?? [], retried };
}

const AN_ERROR_PAGE = "it looks like an error page";

/** The most addresses that are named of the pages that failed. */
const NAMED_FAILURES = 5;

function failuresOf(outcomes: CrawledSite["outcomes"], quarantined: ReadonlySet<PageUrl>): FailedPages {
  const counts: Record<string, number> = {};
  const examples: Record<string, string> = {};
  const pages: string[] = [];
  for (const [url, { status, error }] of outcomes) {
    if (status !== "failed" && !quarantined.has(url)) continue;
    const { code, message } = error ?? { code: "error_page", message: `${url}: ${AN_ERROR_PAGE}` };
    counts[code] = (counts[code] ?? 0) + 1;
    examples[code] ??= message;
    if (pages.length < NAMED_FAILURES) pages.push(url);
  }
  return { counts, examples, pages };
}

/**
 * Keeps why pages did not become documents, for those who ask.
 * @param kept of pages that were not tried again
 */
function noteMissed(
  { options }: OnlineParts,
  outcomes: CrawledSite["outcomes"],
  quarantined: ReadonlySet<PageUrl>,
  kept: Parameters<typeof writeMissed>[1],
): Promise<void> {
  const missed = [...outcomes].filter(
    ([url, { status }]) => status !== "success" || quarantined.has(url) || isTwinOf(outcomes, url),
  );
  const rows = missed.map(([url, { status, reason, finalUrl, error }]) => {
    if (quarantined.has(url)) return { url, status, reason, finalUrl, detail: AN_ERROR_PAGE };
    if (status !== "success") return { url, status, reason, finalUrl, detail: error?.message ?? null };
    return {
      url,
      status,
      reason: "duplicate" as const,
      finalUrl: parsePageUrl(url.slice(0, -".html".length)),
      detail: null,
    };
  });
  return writeMissed(options.stateDirectory, [...kept, ...rows]);
}

/** How many pages robots.txt forbids. */
const forbiddenBy = (outcomes: CrawledSite["outcomes"]): number =>
  [...outcomes.values()].filter(({ reason }) => reason === "robots").length;

/** Whether a page `/a.html` has the text of `/a`, of which one document is enough. */
function isTwinOf(outcomes: CrawledSite["outcomes"], url: PageUrl): boolean {
  const hash = outcomes.get(url)?.contentHash ?? null;
  const plain = url.endsWith(".html") ? parsePageUrl(url.slice(0, -".html".length)) : null;
  return hash !== null && plain !== null && outcomes.get(plain)?.contentHash === hash;
}

type Sync = {
  readonly parts: OnlineParts;
  readonly ledger: Ledger;
  readonly staging: Staging;
  readonly crawler: TenantCrawler;
  readonly context: SyncContext;
  /** See `pagesToRetry`. */
  readonly retried: readonly PageUrl[] | null;
};

type CrawledSite = {
  readonly summary: CrawlSummary;
  /** The outcomes of all pages, including pages that an earlier, interrupted sync crawled. */
  readonly outcomes: ReadonlyMap<PageUrl, MetOutcome>;
  /** Why the first failed page failed; null when none did. */
  readonly firstError: FailureRecord | null;
};

/** The outcome of a page, and the hash of its text; null without a text. */
type MetOutcome = CrawledOutcome & Pick<PageOutcome, "contentHash" | "error">;

/**
 * Failures of a remembered crawl that a new one does not have: the settings name other pages, another version of the
 * program wrote it, or its file is damaged.
 */
const BEGINS_ANEW: ReadonlySet<string> = new Set(["crawl_conflict", "unreadable_input"]);

/** Crawls the site, continuing an interrupted sync, or only the pages to retry. @throws Failure when the crawl could not continue */
async function crawlSite(sync: Sync, trustsDates: boolean): Promise<CrawledSite> {
  const { parts, retried } = sync;
  const { tenant, options } = parts;
  const { politeness } = options.access;
  if (retried !== null) return await crawlOnce(sync, checkPlanOf(tenant, politeness, retried), true);
  const plan = planOf(tenant, politeness, trustsDates);
  try {
    return await crawlOnce(sync, plan, false);
  } catch (error) {
    if (!(error instanceof Failure) || !BEGINS_ANEW.has(error.code)) throw error;
    if (error.code === "unreadable_input")
      options.log.warning("a damaged sync begins anew", { error: error.message });
    return await crawlOnce(sync, plan, true);
  }
}

async function crawlOnce(sync: Sync, plan: CrawlPlan, isFresh: boolean): Promise<CrawledSite> {
  const { crawler, context, staging, retried } = sync;
  const { options, tenant } = sync.parts;
  const alternates = new MarkdownAlternates();
  const output = {
    kind: "sink" as const,
    sink: staging.sink,
    // The memory of whole crawls stays as it is.
    stateDirectory: retried !== null ? null : join(options.stateDirectory, "crawl"),
    manifestPath: null,
  };
  const events = crawler.crawl(
    plan,
    { output, jobId: null, isFresh, authorizations: new Map() },
    context.signal,
    (parts, http) => ({
      ...parts,
      log: options.log,
      trustsNotModified: true,
      fetchers: fetchersOf(parts.fetchers, { http, alternates, tenant }),
      readSitemaps: withLlmsTxt(parts.readSitemaps, {
        http,
        alternates,
        starts: [...tenant.entryUrls, ...tenant.sitemapUrls],
        addsPages: tenant.followLinks && retried === null,
      }),
      ...(options.access.fallback && {
        fallback: createFallbackExtractor(options.access.fallback, parts.extractor, plan.extraction),
      }),
    }),
  );
  const counts = { fetched: 0, unchanged: 0, removed: 0, failed: 0 };
  for await (const event of events) {
    if (event.kind === "page") {
      const { status, change } = event.outcome;
      if (status === "failed") counts.failed++;
      else if (status === "success") counts[change === "unchanged" ? "unchanged" : "fetched"]++;
      context.onProgress({ ...counts });
    } else if (event.kind === "finished") {
      const { error } = event.summary;
      if (error) throw Failure.of(error);
      return { summary: event.summary, ...(await collect(event.outcomes())) };
    }
  }
  throw new Failure("internal", "the crawl ended without an end");
}

async function collect(list: AsyncIterable<PageOutcome>): Promise<Omit<CrawledSite, "summary">> {
  const outcomes = new Map<PageUrl, MetOutcome>();
  let firstError: FailureRecord | null = null;
  const yieldWhenDue = createYieldWhenDue();
  for await (const { url, status, httpStatus, finalUrl, reason, contentHash, error } of list) {
    outcomes.set(url, { status, httpStatus, finalUrl, reason, contentHash, error });
    firstError ??= error;
    await yieldWhenDue();
  }
  return { outcomes, firstError };
}

type FetchersOptions = {
  readonly http: Fetcher;
  readonly alternates: MarkdownAlternates;
  readonly tenant: OnlineTenant;
};

function fetchersOf(fetchers: Fetchers, { http, alternates, tenant }: FetchersOptions): Fetchers {
  const browser = fetchers.browser && revalidateFirst(fetchers.browser, http);
  // Links are in the page itself, and not all of them in its Markdown.
  if (tenant.followLinks) return { http: orMarkdown(fetchers.http, { alternates, http }), browser };
  const preferred = (fetcher: Fetcher): Fetcher => preferMarkdown(fetcher, { alternates, http });
  return { http: preferred(fetchers.http), browser: browser && preferred(browser) };
}

/** A sync without any page must change nothing. */
function requireSomeSuccess(codename: string, { summary, outcomes, firstError }: CrawledSite): void {
  if (summary.progress.successful > 0) return;
  const forbidden = forbiddenBy(outcomes);
  const why = forbidden === 0 ? "" : `; robots.txt forbids ${forbidden}`;
  const what = `Tenant '${codename}': none of ${outcomes.size} pages could be had${why}`;
  if (firstError === null) throw new Failure("no_content", what);
  throw Failure.of({ ...firstError, message: `${what}: ${firstError.message}` });
}

function isWholeCrawl(
  { summary: { warnings, skips, skippedLinks }, outcomes }: CrawledSite,
  followsLinks: boolean,
): boolean {
  if (warnings.length > 0 || skips.max_pages || skippedLinks.max_pages) return false;
  // The failed page may be the only one that links to others.
  return !followsLinks || outcomes.entries().every(([url, outcome]) => !mayHaveLed(url, outcome));
}

const LEADS_NOWHERE = new Set(["http_status", "damaged_document", "encrypted_document", "no_text_layer"]);

/** Whether a page failed that may lead to others: neither an error nor a file does. */
const mayHaveLed = (url: PageUrl, { status, error }: MetOutcome): boolean =>
  status === "failed" &&
  !LEADS_NOWHERE.has(error?.code ?? "") &&
  !/\.(?:pdf|docx|odt|epub)$/i.test(new URL(url).pathname);

/** Requests documents that were not reached and, when there are new texts, an address that does not exist. */
async function checkSite(sync: Sync, staged: readonly PageFingerprint[], unmet: readonly PageUrl[]) {
  const { crawler, context } = sync;
  const { tenant, options } = sync.parts;
  const urls = staged.map(({ url }) => url);
  const probes = new Set(probesOf(tenant, urls, inventedName()));
  const seeds = [...probes, ...unmet.slice(0, MAX_CHECKS)];
  const checks = new Map<PageUrl, CrawledOutcome>();
  const errorPages: ErrorPage[] = [];
  if (seeds.length === 0) return { checks, errorPages };
  const sink: PageSink = {
    put: async ({ page, article }) => {
      const url = parsePageUrl(page.url);
      if (url && probes.has(url))
        errorPages.push({ ...fingerprintOf(url, page), answeredBy: article.finalUrl ?? url });
      return null;
    },
    has: async () => false,
  };
  const output = { kind: "sink" as const, sink, stateDirectory: null, manifestPath: null };
  const job = { output, jobId: null, isFresh: true, authorizations: new Map() };
  const plan = checkPlanOf(tenant, options.access.politeness, seeds);
  for await (const event of crawler.crawl(plan, job, context.signal, (parts) => ({
    ...parts,
    log: withoutProbes(options.log, probes),
  }))) {
    if (event.kind === "page") {
      const { url, status, httpStatus, finalUrl, reason } = event.outcome;
      if (!probes.has(url)) checks.set(url, { status, httpStatus, finalUrl, reason });
    } else if (event.kind === "finished" && event.summary.error?.code === "cancelled")
      throw new Failure("cancelled", "the sync was cancelled");
  }
  return { checks, errorPages };
}

/** Hides the failures of pages that cannot exist: they were requested in order to fail. */
function withoutProbes(log: Log, probes: ReadonlySet<string>): Log {
  return {
    ...log,
    with: (fields) => withoutProbes(log.with(fields), probes),
    warning: (message, fields) => {
      const isProbe = typeof fields?.url === "string" && probes.has(fields.url);
      if (isProbe) log.debug("asked for a page that cannot exist, to know the site's error page", fields);
      else log.warning(message, fields);
    },
  };
}

/** Publishes the accepted pages; the ledger is written before anything is removed. */
async function publish(
  sync: Sync,
  judgement: Judgement,
  outcomes: CrawledSite["outcomes"],
  verifiedAt: number,
): Promise<SyncCounts> {
  const { parts, ledger, staging } = sync;
  const { published } = parts;
  const documents = new Map<PageUrl, KnownDocument>();
  for (const [url, misses] of judgement.misses) {
    const known = ledger.documents.get(url);
    if (known) documents.set(url, { ...known, misses });
  }
  let fetched = 0;
  const take = async (url: PageUrl): Promise<void> => {
    const hash = outcomes.get(url)?.contentHash ?? "";
    if (ledger.documents.get(url)?.hash !== hash || (await published.get(url)) === null) {
      const page = await staging.get(url);
      if (!page) return;
      await published.put(page);
      fetched++;
    }
    documents.set(url, { hash, misses: 0 });
  };
  const accepted = [...judgement.accepted];
  for (let from = 0; from < accepted.length; from += PUBLISHED_AT_ONCE)
    await Promise.all(accepted.slice(from, from + PUBLISHED_AT_ONCE).map(take));
  const garbage = [...ledger.garbage, ...judgement.removed].filter((url) => !documents.has(url));
  const next = { documents, quarantined: judgement.quarantined, verifiedAt, garbage };
  await writeLedger(parts, next);
  for (const url of garbage) await published.delete(url);
  if (garbage.length > 0) await writeLedger(parts, { ...next, garbage: [] });
  await staging.clear();
  const failed = [...outcomes.values()].filter(({ status }) => status === "failed").length;
  return {
    fetched,
    unchanged: documents.size - fetched,
    removed: judgement.removed.size,
    failed: failed + judgement.quarantined.size,
  };
}
