import { join } from "node:path";
import type { Fetchers } from "../../articles/index.ts";
import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import type { CrawlPlan, CrawlSummary, PageOutcome, PageSink } from "../../crawler/index.ts";
import type { Fetcher } from "../../fetching/index.ts";
import type { Page } from "../../pages/index.ts";
import { type PageUrl, parsePageUrl } from "../../urls/index.ts";
import { createBreathing } from "../breathing.ts";
import type { OnlineTenant } from "../settings.ts";
import type { SyncContext, SyncCounts } from "../source/source.ts";
import { makeStateDirectory } from "../state-file.ts";
import { createRescue } from "./fallback.ts";
import { type CrawledOutcome, type Judgement, judge, type KnownDocument } from "./judge.ts";
import { type Ledger, readLedger, recoverLedger, writeLedger } from "./ledger.ts";
import { type ErrorPage, type PagePrint, printOf } from "./look-alike.ts";
import { type MetOutcome, type MetOutcomes, readOutcomes } from "./outcomes.ts";
import type { OnlineParts, TenantCrawler } from "./parts.ts";
import { checkPlanOf, createIsWanted, planOf, probesOf } from "./plan.ts";
import { Staging } from "./staging.ts";
import { preferTwins, revalidateFirst, TwinBook, withLlmsTxt } from "./twins.ts";

/** A sitemap's dates are believed so long; then every page is asked for once. */
const TRUST_DATES_MS = 7 * 24 * 60 * 60 * 1000;
/** Documents that the crawl did not meet and that are asked for one by one. */
const MAX_CHECKS = 1000;

/** Files that are written and flushed at once; one by one, the disk is what most of the time is waited for. */
const PUBLISHED_AT_ONCE = 16;

/** One sync of a website; see `onlineSource`. */
export async function syncWebsite(parts: OnlineParts, context: SyncContext): Promise<SyncCounts> {
  const { tenant, options, published, ledgerPath } = parts;
  makeStateDirectory(options.stateDirectory);
  const ledger = (await readLedger(ledgerPath)) ?? (await recoverLedger(published));
  const staging = new Staging(join(options.stateDirectory, "staged"), { published, ledger });
  const hosts = [...tenant.entryUrls, ...tenant.sitemapUrls, ...tenant.allowPrefixes].map(
    (url) => new URL(url).hostname,
  );
  await using crawler = options.access.openCrawler([...new Set(hosts)], {
    acceptMarkdown: !tenant.followLinks,
  });
  const sync: Sync = { ...parts, ledger, staging, crawler, context };
  const startedAt = options.now();
  const trustsDates = startedAt - ledger.verifiedAt < TRUST_DATES_MS;
  const summary = await crawlSite(sync, planOf(tenant, options.access.manners, trustsDates));
  const met = await readOutcomes(manifestPathOf(sync));
  requireSomeSuccess(tenant.codename, summary, met);
  const { outcomes } = met;
  const staged = await printStaged(staging, outcomes);
  const isWhole = isWholeCrawl(summary, tenant.followLinks);
  const unmet = [...ledger.documents.keys()].filter((url) => !outcomes.has(url));
  const { checks, errorPages } = await checkSite(sync, { staged, unmet: isWhole ? unmet : [] });
  const judgement = judge({
    known: ledger.documents,
    outcomes,
    staged,
    checks,
    errorPages,
    isWhole,
    isWanted: createIsWanted(tenant),
    entries: new Set(tenant.entryUrls),
  });
  for (const warning of [...summary.warnings, ...judgement.warnings])
    options.log.warning("sync", { warning });
  return await publish(sync, {
    judgement,
    outcomes,
    verifiedAt: trustsDates ? ledger.verifiedAt : startedAt,
  });
}

type Sync = OnlineParts & {
  readonly ledger: Ledger;
  readonly staging: Staging;
  readonly crawler: TenantCrawler;
  readonly context: SyncContext;
};

/** Crawls the site, going on where an earlier sync was cut off. @throws Failure when it could not go on */
async function crawlSite(sync: Sync, plan: CrawlPlan): Promise<CrawlSummary> {
  try {
    return await crawlOnce(sync, plan, false);
  } catch (error) {
    // The settings name other pages than those of the crawl that is remembered there, or another version wrote it.
    if (!(error instanceof Failure) || error.code !== "crawl_conflict") throw error;
    return await crawlOnce(sync, plan, true);
  }
}

async function crawlOnce(sync: Sync, plan: CrawlPlan, isFresh: boolean): Promise<CrawlSummary> {
  const { options, tenant, crawler, context, staging } = sync;
  const book = new TwinBook();
  const output = {
    kind: "sink" as const,
    sink: staging.sink,
    stateDirectory: join(options.stateDirectory, "crawl"),
    manifestPath: manifestPathOf(sync),
  };
  const events = crawler.crawl(
    plan,
    { output, jobId: null, isFresh, authorizations: new Map() },
    context.signal,
    (parts, http) => ({
      ...parts,
      log: options.log,
      fetchers: fetchersOf(parts.fetchers, { http, book, tenant }),
      readSitemaps: withLlmsTxt(parts.readSitemaps, {
        http,
        book,
        starts: [...tenant.entryUrls, ...tenant.sitemapUrls],
        addsPages: tenant.followLinks,
      }),
      ...(options.access.fallback && {
        rescue: createRescue(options.access.fallback, {
          extractor: parts.extractor,
          options: plan.extraction,
        }),
      }),
    }),
  );
  const counts = { fetched: 0, unchanged: 0, removed: 0, failed: 0 };
  for await (const event of events) {
    if (event.kind === "page") {
      countOutcome(counts, event.outcome);
      context.onProgress({ ...counts });
    } else if (event.kind === "finished") {
      const { error } = event.summary;
      if (error) throw new Failure(error.code, error.message);
      return event.summary;
    }
  }
  throw new Failure("internal", "the crawl ended without an end");
}

type FetchersOptions = {
  readonly http: Fetcher;
  readonly book: TwinBook;
  readonly tenant: OnlineTenant;
};

function fetchersOf(fetchers: Fetchers, { http, book, tenant }: FetchersOptions): Fetchers {
  const browser = fetchers.browser && revalidateFirst(fetchers.browser, http);
  // Links are in the page, and not all of them in its Markdown.
  if (tenant.followLinks) return { http: fetchers.http, browser };
  const preferred = (fetcher: Fetcher): Fetcher => preferTwins(fetcher, { book, http });
  return { http: preferred(fetchers.http), browser: browser && preferred(browser) };
}

type Counts = { -readonly [K in keyof SyncCounts]: number };

function countOutcome(counts: Counts, { status, change }: PageOutcome): void {
  if (status === "failed") counts.failed++;
  else if (status === "success") counts[change === "unchanged" ? "unchanged" : "fetched"]++;
}

const manifestPathOf = ({ options }: OnlineParts): string => join(options.stateDirectory, "manifest.json");

/** A sync without one page changes nothing. */
function requireSomeSuccess(
  codename: string,
  { progress }: CrawlSummary,
  { outcomes, error }: MetOutcomes,
): void {
  if (progress.successful > 0) return;
  const what = `Tenant '${codename}': none of ${outcomes.size} pages could be had`;
  throw new Failure(error?.code ?? "no_content", error ? `${what}: ${error.message}` : what);
}

async function printStaged(
  staging: Staging,
  outcomes: ReadonlyMap<PageUrl, MetOutcome>,
): Promise<PagePrint[]> {
  const staged: PagePrint[] = [];
  const breathe = createBreathing();
  for await (const page of staging.pages()) {
    const url = parsePageUrl(page.url);
    // Of an earlier run that was cut off, what this one did not find again stays out.
    if (url && outcomes.get(url)?.status === "success") staged.push(printOf(url, page));
    await breathe();
  }
  return staged;
}

function isWholeCrawl(
  { warnings, skips, skippedLinks, failures, progress }: CrawlSummary,
  followsLinks: boolean,
): boolean {
  if (warnings.length > 0 || skips.max_pages || skippedLinks.max_pages) return false;
  // A page that failed may be the only one with a link to others.
  const gone = failures.http_status ?? 0;
  return !followsLinks || progress.failed === gone;
}

type Checks = {
  readonly checks: ReadonlyMap<PageUrl, CrawledOutcome>;
  readonly errorPages: readonly ErrorPage[];
};

/** Asks for documents that were not met, and for an address that does not exist where there are new texts. */
async function checkSite(
  sync: Sync,
  { staged, unmet }: { readonly staged: readonly PagePrint[]; readonly unmet: readonly PageUrl[] },
): Promise<Checks> {
  const { tenant, options, crawler, context } = sync;
  const letters = crypto.randomUUID().replace(/[^a-f]/g, "");
  const word = `no-such-page-${letters}x`;
  const probes = new Set(
    probesOf(
      tenant,
      staged.map(({ url }) => url),
      word,
    ),
  );
  const seeds = [...probes, ...unmet.slice(0, MAX_CHECKS)];
  const checks = new Map<PageUrl, CrawledOutcome>();
  const errorPages: ErrorPage[] = [];
  if (seeds.length === 0) return { checks, errorPages };
  const sink: PageSink = {
    put: async ({ page, article }) => {
      const url = parsePageUrl(page.url);
      if (url && probes.has(url))
        errorPages.push({
          ...printOf(url, page),
          answeredBy: article.finalUrl ?? url,
        });
      return null;
    },
    has: async () => false,
  };
  const output = { kind: "sink" as const, sink, stateDirectory: null, manifestPath: null };
  const job = { output, jobId: null, isFresh: true, authorizations: new Map() };
  const plan = checkPlanOf(tenant, options.access.manners, seeds);
  for await (const event of crawler.crawl(plan, job, context.signal, (parts) => ({
    ...parts,
    log: withoutProbes(options.log, probes),
  }))) {
    if (event.kind === "page") {
      const { url, status, httpStatus, finalUrl, reason } = event.outcome;
      if (!probes.has(url)) checks.set(url, { status, httpStatus, finalUrl, reason });
    } else if (event.kind === "finished" && event.summary.error?.code === "cancelled")
      throw new Failure("cancelled", "the sync was called off");
  }
  return { checks, errorPages };
}

/** That a page which cannot exist fails is what it was asked for, and no fault of the site. */
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

type Verdict = {
  readonly judgement: Judgement;
  readonly outcomes: ReadonlyMap<PageUrl, MetOutcome>;
  readonly verifiedAt: number;
};

/** Takes over what was accepted; the ledger is written before anything is removed. */
async function publish(sync: Sync, { judgement, outcomes, verifiedAt }: Verdict): Promise<SyncCounts> {
  const { published, ledger, staging, ledgerPath } = sync;
  const documents = new Map<PageUrl, KnownDocument>();
  for (const [url, misses] of judgement.misses) {
    const known = ledger.documents.get(url);
    if (known) documents.set(url, { ...known, misses });
  }
  let fetched = 0;
  const take = async (page: Page): Promise<void> => {
    const url = parsePageUrl(page.url);
    if (!url || !judgement.accepted.has(url)) return;
    const hash = outcomes.get(url)?.contentHash ?? "";
    if (ledger.documents.get(url)?.hash !== hash || (await published.get(url)) === null) {
      await published.put(page);
      fetched++;
    }
    documents.set(url, { hash, misses: 0 });
  };
  let batch: Page[] = [];
  for await (const page of staging.pages()) {
    batch.push(page);
    if (batch.length < PUBLISHED_AT_ONCE) continue;
    // Begun only here, where all of them are waited for: a write that fails must not do so unseen.
    await Promise.all(batch.map(take));
    batch = [];
  }
  await Promise.all(batch.map(take));
  const garbage = [...ledger.garbage, ...judgement.removed].filter((url) => !documents.has(url));
  const next = { documents, quarantined: judgement.quarantined, verifiedAt, garbage };
  await writeLedger(ledgerPath, next);
  for (const url of garbage) await published.delete(url);
  if (garbage.length > 0) await writeLedger(ledgerPath, { ...next, garbage: [] });
  await staging.clear();
  const failed = [...outcomes.values()].filter(({ status }) => status === "failed").length;
  return {
    fetched,
    unchanged: documents.size - fetched,
    removed: judgement.removed.size,
    failed: failed + judgement.quarantined.size,
  };
}
