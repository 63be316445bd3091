import { createHash } from "node:crypto";
import {
  articleOfVisit,
  blockedFailure,
  type ErrorPages,
  type FetchedArticle,
  type Fetchers,
  linkPageOfVisit,
  type MarkdownAlternates,
  type PageVisit,
  type RenderingHistory,
  statusFailure,
  visitPage,
} from "../articles/index.ts";
import { onAbort } from "../base/abort.ts";
import { Away, Failure, type FailureRecord } from "../base/failure.ts";
import type { Log, LogFields } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { wordsIn } from "../base/text.ts";
import { traced } from "../base/tracing.ts";
import { withoutUrlSecrets } from "../base/url-secrets.ts";
import type { Article, Extractor, Link, MetaRobots } from "../extraction/index.ts";
import {
  backOffDelayMs,
  type Clock,
  type FetchedPage,
  isRetryableStatus,
  isTransient,
  PRODUCT_TOKEN,
  retryAfterMsOf,
} from "../fetching/index.ts";
import type { Page } from "../pages/index.ts";
import { originOf, type PageUrl } from "../urls/index.ts";
import type { ClaimedPage, Frontier, KnownPage, NextTry, Settlement } from "./frontier/frontier.ts";
import { type CrawlPictures, politePictures } from "./pictures.ts";
import { type CrawlPlan, isTooOld, LAST } from "./plan.ts";
import { LONG_WAIT_MS, PATIENCE_MS, PageGate, type Politeness } from "./politeness.ts";
import type { Scope } from "./scope.ts";
import type {
  CrawledPage,
  CrawlNotice,
  FallbackExtractor,
  PageChange,
  PageOutcome,
  PageSink,
  SkipReason,
} from "./types.ts";
import type { Variants } from "./variants.ts";

/** The parts that a try of a page needs. */
export type VisitParts = {
  readonly plan: CrawlPlan;
  readonly frontier: Frontier;
  readonly sink: PageSink;
  /** Where the pictures of pages are saved; null saves none. */
  readonly pictures: CrawlPictures | null;
  readonly fetchers: Fetchers;
  readonly extractor: Pick<Extractor, "extract">;
  /** The crawl's experience with rendering pages. */
  readonly renderingHistory: RenderingHistory;
  /** Whether an answer "not modified" is believed of pages that scripts may fill. */
  readonly trustsNotModified?: boolean;
  readonly politeness: Politeness;
  readonly scope: Scope;
  readonly errorPages: ErrorPages;
  readonly markdownAlternates: MarkdownAlternates;
  /** The maximum number of requests for one page, including the first. */
  readonly tries: number;
  readonly authorizations: ReadonlyMap<string, string>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Another extractor for pages that failed here. */
  readonly fallback?: FallbackExtractor;
  /**
   * Set where each seed wants an article of its own, even when two lead to one page. Called with each stored page and its
   * file before the outcome is recorded; after a crash, again.
   */
  readonly takeEach?: (page: CrawledPage, filePath: string | null, signal: AbortSignal) => Promise<void>;
  readonly onNotice: (notice: CrawlNotice) => void;
  /** Called with each page's decompressed size. */
  readonly onBytes: (bytes: number) => void;
};

/** The decision about a claimed page. */
export type Verdict =
  | { readonly kind: "settle"; readonly settlement: Settlement }
  /** The page is tried again later; `hostFreeAt` lets the host's other pages go. */
  | { readonly kind: "retry"; readonly next: NextTry };

/** One try of a page. */
type Attempt = {
  readonly page: ClaimedPage;
  readonly parts: VisitParts;
  readonly gate: PageGate;
  readonly signal: AbortSignal;
  /** See `TryHooks`. */
  readonly storing: AbortSignal;
  readonly startedAt: number;
  /** Whether the page of an earlier crawl is still in the sink, which is asked once. */
  readonly isStored: () => Promise<boolean>;
};

/** The time limit for one page in all its tries, not counting pauses of its host. */
const PAGE_DEADLINE_MS = 5 * 60_000;

export type TryHooks = {
  readonly signal: AbortSignal;
  /** Aborts storing the page, which may continue for a moment after `signal` has aborted. */
  readonly storing: AbortSignal;
  readonly onFetched: () => void;
  readonly onDiagnosed?: (fields: LogFields) => void;
};

/**
 * Tries one page once: robots.txt, request, extraction, storage.
 * @param hooks.onFetched the request is over, and the host may have another
 * @param hooks.onDiagnosed told what the log is to say of the try where diagnostics are wanted
 * @throws Failure `cancelled` when the signal aborts; what the sink and the frontier throw
 */
export function tryPage(page: ClaimedPage, parts: VisitParts, hooks: TryHooks): Promise<Verdict> {
  const attributes = () => ({ "url.full": withoutUrlSecrets(page.url), depth: page.depth });
  return traced({ name: "crawl page", isRoot: true, attributes }, async (span) => {
    const verdict = await tryInSpan(page, parts, hooks);
    for (const warning of parts.scope.traps.takeWarnings()) await parts.frontier.addWarning(warning);
    if (verdict.kind === "settle") span.set({ outcome: verdict.settlement.outcome.status });
    return verdict;
  });
}

async function tryInSpan(page: ClaimedPage, parts: VisitParts, hooks: TryHooks): Promise<Verdict> {
  const { signal, storing } = hooks;
  const gate = new PageGate(page, parts);
  // A bucket is asked once, and only where it matters.
  let stored: Promise<boolean> | null = null;
  const isStored = async (): Promise<boolean> => {
    if (page.known === null) return false;
    stored ??= parts.sink.has(page.url);
    return await stored;
  };
  const attempt = { page, parts, gate, signal, storing, startedAt: performance.now(), isStored };
  const early = await beforeFetch(attempt);
  if (early) return early;
  const result = await fetchPage(attempt, hooks);
  if (result instanceof Failure) return afterFailure(attempt, result);
  return afterAnswer(attempt, result);
}

/** What other pages have told of a page since its link was found. */
function refusalOf({ url, source, parent }: ClaimedPage, { traps, variants }: Scope): SkipReason | null {
  if (source === "link" && traps.isTrap(url, parent)) return "trap";
  return source === "seed" ? null : variants.refusalOf(url);
}

/** Whether a sitemap says of a stored page that it has not changed since the last crawl. */
const isPast = async ({ page, parts: { plan }, isStored }: Attempt): Promise<boolean> =>
  plan.since === LAST && isTooOld(plan, page.lastModified, page.known !== null) && (await isStored());

/** Decides about a page without a request if that is possible; null when it must be fetched. */
async function beforeFetch(attempt: Attempt): Promise<Verdict | null> {
  const { page, parts, signal } = attempt;
  const { plan, politeness } = parts;
  const refusal = refusalOf(page, parts.scope);
  if (refusal !== null) return skipped(attempt, refusal);
  if (await isPast(attempt)) return skipped(attempt, "older");
  const isKnownUnchanged =
    plan.trustsLastModified && page.lastModified !== null && page.known?.lastModified === page.lastModified;
  if (isKnownUnchanged && (await attempt.isStored())) return unchanged(attempt, null);
  try {
    const rules = await politeness.rulesFor(page.url, signal);
    if (rules?.failure) return failed(attempt, rules.failure);
    if (!politeness.allows(rules, page.url)) return skipped(attempt, "robots");
  } catch (error) {
    if (error instanceof Failure && error.code === "egress_refused") return failed(attempt, error.toRecord());
    throw error;
  }
  await politeness.paces.learn(signal);
  const { closedMs } = politeness.paces.of(page.host);
  if (closedMs > 0) return failed(attempt, closedHost(page, Date.now() + closedMs));
  const restMs = await politeness.restMs(page.host);
  return restMs > PATIENCE_MS ? putBack(attempt, restMs) : null;
}

/** Lets the page wait for its host without counting a try. */
const putBack = ({ page }: Attempt, restMs: number): Verdict => ({
  kind: "retry",
  next: { waitMs: restMs, tries: page.tries, spentMs: page.spentMs },
});

const closedHost = ({ url, host }: ClaimedPage, until: number): FailureRecord => ({
  code: "rate_limited",
  message: `GET ${url} was not sent: ${host} asks to be left alone until ${new Date(until).toISOString()}`,
});

async function fetchPage(attempt: Attempt, hooks: TryHooks): Promise<PageVisit | Failure> {
  const { page, parts, gate } = attempt;
  const { plan, fetchers, extractor, metrics } = parts;
  const request = hooks.onDiagnosed ? { request_id: crypto.randomUUID() } : {};
  hooks.onDiagnosed?.(request);
  using deadline = startDeadline(attempt.signal, PAGE_DEADLINE_MS - page.spentMs);
  const isStored = await attempt.isStored();
  const validators = isStored && mayBeUnmodified(attempt) ? page.known?.validators : undefined;
  let isFetching = true;
  let noted: Promise<void> = Promise.resolve();
  const finishFetch = (answer: FetchedPage | null): void => {
    isFetching = false;
    if (answer) noted = noteFetch(answer, attempt);
    gate.release();
    hooks.onFetched();
  };
  const visiting: Parameters<typeof visitPage>[1] = {
    preference: plan.preference,
    options: { ...plan.extraction, keepsDataPictures: plan.savesPictures },
    failsWhenGone: wasThere(attempt),
    errorPages: parts.errorPages,
    markdownAlternates: parts.markdownAlternates,
    renderingHistory: parts.renderingHistory,
    onWaited: (ms) => {
      gate.waitedMs += ms;
    },
    fetch: {
      signal: deadline.signal,
      tries: 1,
      deadlineMs: PAGE_DEADLINE_MS,
      logFields: request,
      beforeRequest: gate.beforeRequest,
      // Sites link to many documents; one that a person named is wanted.
      acceptsFiles: plan.readsDocuments || page.source === "seed",
      authorization: parts.authorizations.get(originOf(page.url)) ?? null,
      ...(validators && { validators }),
    },
    onFetched: finishFetch,
  };
  try {
    const visit = await visitPage(page.url, visiting, { fetchers, extractor });
    await noted;
    if (visit.extraction) metrics.time("extraction_duration", {}, visit.extractionMs);
    hooks.onDiagnosed?.({ ...request, ...diagnosticsOf(visit) });
    return visit;
  } catch (error) {
    // A further fetch for the page, with the browser or after a refresh, may have failed.
    gate.release();
    if (isFetching) finishFetch(null);
    if (attempt.signal.aborted || !(error instanceof Failure) || error instanceof Away) throw error;
    if (!deadline.isOver()) return error;
    return new Failure("timeout", `${page.url} took longer than the ${PAGE_DEADLINE_MS} ms that a page has`);
  }
}

/** Counts an answer and tells the host's pace of it. */
function noteFetch(answer: FetchedPage, { page, parts, gate, startedAt, signal }: Attempt): Promise<void> {
  const fetcher = answer.fetchedBy;
  parts.metrics.count("fetches", { fetcher });
  parts.metrics.time("fetch_duration", { fetcher }, answer.durationMs);
  parts.onBytes(answer.bodyBytes);
  const latencyMs = performance.now() - startedAt - gate.waitedMs;
  const isGood = !isRetryableStatus(answer.status);
  const noted = parts.politeness.noteAnswer(page.host, { latencyMs, isGood }, signal);
  noted.catch(() => {}); // the caller awaits it; until then it must not count as unhandled
  return noted;
}

/** An unmodified document proves an unchanged page only if no browser is to render the page. */
const mayBeUnmodified = ({ page, parts: { plan, fetchers, trustsNotModified } }: Attempt): boolean =>
  plan.preference !== "learned" ||
  fetchers.browser === null ||
  trustsNotModified === true ||
  page.known?.outcome.fetcher === "http";

const diagnosticsOf = ({ page, extractionMs }: PageVisit): LogFields => ({
  cache: page.status === 304 ? "revalidated" : "miss",
  fetcher: page.fetchedBy,
  fetch_ms: Math.round(page.durationMs),
  extraction_ms: Math.round(extractionMs),
});

type Deadline = Disposable & { readonly signal: AbortSignal; readonly isOver: () => boolean };

/** Creates a signal that follows the crawl's and aborts when the page's time is up. */
function startDeadline(crawl: AbortSignal, ms: number): Deadline {
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(
    () => {
      isOver = true;
      controller.abort();
    },
    Math.max(1, ms),
  );
  const following = onAbort(crawl, () => controller.abort());
  return {
    signal: controller.signal,
    isOver: () => isOver,
    [Symbol.dispose]() {
      clearTimeout(timer);
      following[Symbol.dispose]();
    },
  };
}

async function afterFailure(attempt: Attempt, failure: Failure): Promise<Verdict> {
  const { page, parts, gate } = attempt;
  if (gate.restMs > 0) return putBack(attempt, gate.restMs);
  if (gate.refusal) {
    const { reason, target } = gate.refusal;
    if (page.source === "seed" && reason === "out_of_scope")
      await parts.frontier.addWarning(
        `The seed ${page.url} redirects to ${target}, which the allow and deny prefixes leave out`,
      );
    return skipped(attempt, reason, { finalUrl: target });
  }
  if (isTransient(failure) && page.tries + 1 < parts.tries) {
    const again = tryAgain(attempt, backOffDelayMs(page.tries + 1, parts.clock.random));
    if (again) return again;
  }
  // Sites link to PDFs, images and archives; only a document that was requested by name counts as failed.
  if (failure.code === "unsupported_content" && page.source !== "seed")
    return skipped(attempt, "content_type", { status: failure.targetStatus });
  const record = failure.toRecord();
  const status = failure.targetStatus;
  return (await tryFallback(attempt, record, status, null)) ?? failed(attempt, record, { status });
}

/** Schedules another try; null when the page's time is up. */
function tryAgain({ page, startedAt, gate }: Attempt, waitMs: number): Verdict | null {
  const spentMs = page.spentMs + Math.round(performance.now() - startedAt - gate.waitedMs);
  if (spentMs >= PAGE_DEADLINE_MS) return null;
  return { kind: "retry", next: { waitMs, tries: page.tries + 1, spentMs } };
}

async function afterAnswer(attempt: Attempt, visit: PageVisit): Promise<Verdict> {
  const { page: answer } = visit;
  if (answer.status === 304) return unchanged(attempt, answer);
  if (isRetryableStatus(answer.status)) return afterRefusal(attempt, visit);
  let article: FetchedArticle;
  try {
    article = articleOfVisit(attempt.page.url, visit);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const failure = error.toRecord();
    const absence = await afterAbsence(attempt, answer);
    if (absence) return absence;
    // If a fallback found nothing today, its earlier result is better than a heading.
    const linkPage = attempt.parts.fallback ? null : linkPageOfVisit(attempt.page.url, visit);
    // A preview has the links of its page; those of a challenge or a login lead only around it.
    const standsIn = visit.blocked !== null && visit.blocked.kind !== "paywall";
    // A page without words may still link to others.
    if (linkPage === null)
      attempt.parts.scope.traps.note(attempt.page.url, "", visit.extraction?.links ?? []);
    return (
      (await tryFallback(attempt, failure, answer.status, answer)) ??
      (linkPage
        ? await store(attempt, visit, linkPage)
        : failed(attempt, failure, standsIn ? { answer } : { visit }))
    );
  }
  // Outside, since what the sink or the frontier fails with is no failure of the page.
  return store(attempt, visit, article);
}

/** Tells whether a page is or was stored as an ordinary page, which an error page must not replace. */
function wasThere({ page, parts }: Attempt): boolean {
  // A sync does not move pages away; it judges absences from the whole site.
  if (!parts.sink.retire) return false;
  return page.known === null ? page.wasGone : !page.known.isTransient404;
}

/** Moves a stored page away that is gone. */
async function afterAbsence(attempt: Attempt, answer: FetchedPage): Promise<Verdict | null> {
  const { known, url } = attempt.page;
  const { sink } = attempt.parts;
  const isCertain = answer.status === 410 || (answer.status === 404 && known?.wasMissed);
  if (!known || !sink.retire || !isCertain) return null;
  // This comes before the outcome is recorded: after a crash in between, the page is requested again.
  return gone(attempt, answer, await sink.retire(url));
}

/** Handles a status that asks for another try; 429 and 503 also pause the whole host. */
async function afterRefusal(attempt: Attempt, { page: answer, blocked }: PageVisit): Promise<Verdict> {
  const { page, parts, gate } = attempt;
  const { clock, politeness } = parts;
  const retryAfterMs = retryAfterMsOf(answer.headers);
  const isPause = answer.status === 429 || answer.status === 503;
  const host = new URL(answer.finalUrl).host;
  let waitMs = retryAfterMs ?? backOffDelayMs(page.tries + 1, clock.random);
  if (isPause) {
    const refusal = { askedAt: gate.askedAt, retryAfterMs };
    waitMs = await politeness.pauseHost(host, refusal, attempt.signal);
  }
  const reason = retryAfterMs === null ? "errors" : "retry_after";
  if (isPause || waitMs >= LONG_WAIT_MS)
    parts.onNotice({ kind: "host_paused", host, untilMs: Date.now() + waitMs, reason });
  const isOpen = politeness.paces.of(page.host).closedMs === 0;
  const again = page.tries + 1 < parts.tries && isOpen ? tryAgain(attempt, waitMs) : null;
  if (again) return again;
  const asks = retryAfterMs === null ? "" : `, asking to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  const refusal = blocked
    ? blockedFailure(answer.finalUrl, blocked, answer)
    : statusFailure({ ...answer, tries: page.tries + 1 }, asks);
  const failure = refusal.toRecord();
  return (await tryFallback(attempt, failure, answer.status, answer)) ?? failed(attempt, failure, { answer });
}

async function store(attempt: Attempt, visit: PageVisit, fetched: FetchedArticle): Promise<Verdict> {
  const { page, parts } = attempt;
  const { plan, frontier, scope } = parts;
  const { page: answer } = visit;
  const { title, markdown } = fetched.article;
  scope.traps.note(page.url, `${title ?? ""}\n${markdown ?? ""}`, visit.extraction?.links ?? []);
  if (plan.respectsMetaRobots && robotsOf(visit).noindex) return skipped(attempt, "noindex", { visit });
  const variant = visit.extraction && scope.variants.note(page.url, visit.extraction);
  if (variant !== null) return skipped(attempt, variant, { visit });
  if (isOlder(fetched.article, attempt)) return skipped(attempt, "older", { visit });
  const others = otherUrls(page.url, visit);
  if (!parts.takeEach && others.length > 0 && !(await frontier.identify(page, others)))
    return skipped(attempt, "duplicate", { visit });
  const { etag, "last-modified": lastModified } = answer.headers;
  return settle(attempt, {
    outcome: await storeArticle(attempt, fetched),
    validators: answer.status === 200 ? { etag: etag ?? null, lastModified: lastModified ?? null } : null,
    visit,
  });
}

/** Whether a page says that it is too old; one that says nothing may be new. */
const isOlder = ({ modifiedDate, publishedDate }: Article, { page, parts }: Attempt): boolean =>
  isTooOld(parts.plan, modifiedDate ?? publishedDate, page.known !== null);

/** Returns the page's other URLs: of redirects, the final one, and the canonical one of the same origin. */
function otherUrls(url: PageUrl, { page, extraction }: PageVisit): PageUrl[] {
  const others = new Set<PageUrl>([...page.redirects, page.finalUrl]);
  const canonical = extraction?.canonical ?? null;
  if (canonical !== null && originOf(canonical) === originOf(page.finalUrl)) others.add(canonical);
  others.delete(url);
  return [...others];
}

const NOTHING = {
  filePath: null,
  wordCount: null,
  title: null,
  httpStatus: null,
  finalUrl: null,
  durationMs: null,
  contentHash: null,
  warnings: [],
  error: null,
  reason: null,
  change: null,
  fetcher: null,
} as const;

/** Settles a page as unchanged: what the last crawl stored is still valid, as are the links it found. */
function unchanged(attempt: Attempt, answer: FetchedPage | null): Verdict {
  const { known } = attempt.page;
  if (!known) {
    const failure = new Failure(
      "http_status",
      `GET ${attempt.page.url} answered HTTP 304 to a first request`,
    );
    return failed(attempt, failure.toRecord(), answer ? { answer } : {});
  }
  const { etag, "last-modified": lastModified } = answer?.headers ?? {};
  const settlement: Settlement = {
    page: attempt.page,
    outcome: {
      ...NOTHING,
      ...known.outcome,
      status: "success",
      httpStatus: answer?.status ?? null,
      finalUrl: answer?.finalUrl ?? null,
      durationMs: durationOf(attempt),
      change: changeOf(known, known.outcome.contentHash),
    },
    isFetched: answer !== null,
    validators: {
      etag: etag ?? known.validators.etag ?? null,
      lastModified: lastModified ?? known.validators.lastModified ?? null,
    },
    links: known.links,
    follow: followOf(attempt),
    skippedLinks: new Map(),
  };
  return { kind: "settle", settlement };
}

/** The facts about an unsuccessful response. */
type Answered = {
  readonly answer?: FetchedPage;
  /** The links of this visit are followed nevertheless. */
  readonly visit?: PageVisit;
  /** The status of an answer that was not a page. */
  readonly status?: number | null;
  readonly finalUrl?: PageUrl;
};

const failed = (attempt: Attempt, error: FailureRecord, answered: Answered = {}): Verdict =>
  settle(attempt, { outcome: { status: "failed", error, ...answerOf(answered) }, ...answered });

/** Settles a stored page as gone. */
const gone = (attempt: Attempt, answer: FetchedPage, filePath: string | null): Verdict =>
  settle(attempt, {
    outcome: { status: "skipped", reason: "gone", change: "gone", filePath, ...answerOf({ answer }) },
  });

const skipped = (attempt: Attempt, reason: SkipReason, answered: Answered = {}): Verdict =>
  settle(attempt, { outcome: { status: "skipped", reason, ...answerOf(answered) }, ...answered });

function answerOf(answered: Answered): Pick<PageOutcome, "httpStatus" | "finalUrl" | "fetcher"> {
  const { answer, visit, status = null, finalUrl = null } = answered;
  const page = answer ?? visit?.page;
  return {
    httpStatus: page?.status ?? status,
    finalUrl: page?.finalUrl ?? finalUrl,
    fetcher: page?.fetchedBy ?? null,
  };
}

type Judged = {
  readonly outcome: Pick<PageOutcome, "status"> & Partial<PageOutcome>;
  readonly validators?: Settlement["validators"];
  readonly visit?: PageVisit;
};

/** Settles a page, with its links if it was read. */
function settle(attempt: Attempt, { outcome, validators, visit }: Judged): Verdict {
  const { page, parts, gate } = attempt;
  const isNofollow = visit !== undefined && robotsOf(visit).nofollow;
  const { links, refused } = parts.scope.chooseLinks(
    page.url,
    linksOf(visit, parts.scope.variants),
    isNofollow,
  );
  const settlement = {
    page,
    outcome: { ...NOTHING, ...outcome, durationMs: gate.requests > 0 ? durationOf(attempt) : null },
    isFetched: gate.requests > 0,
    validators: validators ?? null,
    links,
    follow: followOf(attempt),
    skippedLinks: refused,
  };
  return { kind: "settle", settlement };
}

/** The links of a page, and the page in the wanted language, to which none may lead. */
function linksOf(visit: PageVisit | undefined, variants: Variants): readonly Link[] {
  const { extraction } = visit ?? {};
  if (!extraction) return [];
  const wanted = variants.wantedFor(extraction);
  return wanted === null
    ? extraction.links
    : [{ url: wanted, text: "", isNofollow: false }, ...extraction.links];
}

/** The links of a page that no page of the crawl links to any more do not belong to the crawl. */
function followOf({ page, parts }: Attempt): Settlement["follow"] {
  if (page.source === "memory") return "never";
  return page.depth < parts.plan.maxDepth ? "now" : "too_deep";
}

/** Tells how a stored page has changed since the last finished crawl. */
function changeOf(known: KnownPage | null, contentHash: string | null): PageChange {
  if (known === null || known.toldHash === null) return "new";
  const isSame = contentHash !== null && textHash(known.toldHash) === textHash(contentHash);
  return isSame ? "unchanged" : "changed";
}

/** Returns the page's robots directives, including those of its header. */
const robotsOf = ({ page, extraction }: PageVisit): MetaRobots =>
  withRobotsHeader(extraction?.robots ?? { noindex: false, nofollow: false }, page.headers["x-robots-tag"]);

const durationOf = ({ page, gate, startedAt }: Attempt): number =>
  page.spentMs + Math.max(0, Math.round(performance.now() - startedAt - gate.waitedMs));

/** Adds the directives of the page's `X-Robots-Tag` header, for all agents or for this one. */
export function withRobotsHeader(page: MetaRobots, header: string | undefined): MetaRobots {
  if (header === undefined) return page;
  let { noindex, nofollow } = page;
  let isForUs = true;
  for (const part of header.slice(0, 4096).toLowerCase().split(",")) {
    const colon = part.indexOf(":");
    const agent = colon < 0 ? "" : part.slice(0, colon).trim();
    // A name applies to the directives after it; these directives have a value of their own.
    const isAgent = agent !== "" && !/^(?:unavailable_after|max-\w+(?:-\w+)*)$/.test(agent);
    if (isAgent) isForUs = agent === PRODUCT_TOKEN || agent === "*";
    const directive = (isAgent ? part.slice(colon + 1) : part).trim();
    if (!isForUs) continue;
    if (directive === "noindex" || directive === "none") noindex = true;
    if (directive === "nofollow" || directive === "none") nofollow = true;
  }
  return { noindex, nofollow };
}

/** Saves the pictures of an article, whose Markdown then leads to them. */
async function withPictures(
  { page, parts, signal }: Attempt,
  fetched: FetchedArticle,
): Promise<FetchedArticle> {
  const { pictures } = parts;
  const { article } = fetched;
  if (pictures === null || article.markdown === null) return fetched;
  const { http, folder } = pictures;
  const fetch = politePictures({ ...parts, http, page: page.url, signal });
  const { warnings, ...text } = await folder.save({ ...article, markdown: article.markdown }, fetch);
  return { ...fetched, article: { ...article, ...text }, warnings: [...fetched.warnings, ...warnings] };
}

/** Stores a page's article in the sink, unless the sink already has the same text. */
async function storeArticle(attempt: Attempt, extracted: FetchedArticle): Promise<Judged["outcome"]> {
  const { page, parts, signal, storing, isStored } = attempt;
  const fetched = await withPictures(attempt, extracted);
  const stored = storedPage(page.url, fetched.article, parts.frontier.crawl.now());
  const contentHash = contentHashOf(stored);
  // Another process may have stored the page since, and this text must not replace its.
  if (signal.aborted || !parts.frontier.holds(page))
    throw new Failure("cancelled", `${page.url} was given up before it was stored`);
  const isThere = page.known?.outcome.contentHash === contentHash && (await isStored());
  const crawled = { page: stored, article: fetched, depth: page.depth, parent: page.parent };
  const filePath = isThere ? (page.known?.outcome.filePath ?? null) : await parts.sink.put(crawled, storing);
  await parts.takeEach?.(crawled, filePath, storing);
  return {
    ...successOf(fetched),
    filePath,
    contentHash,
    change: changeOf(page.known, contentHash),
  };
}

/** The page that is stored of an article. @param at ms since 1970 */
export function storedPage(url: PageUrl, article: Article, at: number): Page {
  const { wordCount, language, publishedDate: date, anchors } = article;
  return {
    url,
    title: article.title ?? "",
    markdown: article.markdown ?? "",
    extractedAt: new Date(at).toISOString(),
    wordCount,
    ...(language !== null && { language }),
    ...(date !== null && { date }),
    ...(anchors && anchors.length > 0 && { anchors }),
  };
}

const successOf = ({ article, warnings, finalUrl, statusCode, fetcher }: FetchedArticle) => ({
  status: "success" as const,
  title: article.title,
  wordCount: article.wordCount,
  httpStatus: statusCode,
  finalUrl,
  warnings,
  fetcher: fetcher === "browser" ? ("browser" as const) : ("http" as const),
});

/** The outcome of a page that was asked for by itself, outside of a crawl. */
export function outcomeOf(url: PageUrl, result: Failure | (StoredArticle & FetchedArticle)): PageOutcome {
  const own = { ...NOTHING, url, depth: 0, parent: null };
  if (result instanceof Failure)
    return { ...own, status: "failed", httpStatus: result.targetStatus, error: result.toRecord() };
  const { filePath, contentHash, timings } = result;
  const durationMs = Math.round(timings.fetchMs + timings.extractionMs);
  return { ...own, ...successOf(result), filePath, contentHash, durationMs };
}

type StoredArticle = { readonly filePath: string; readonly contentHash: string };

/** Returns `sha256:` and the digest of a page's title and Markdown; after a `+` that of its anchors, if it has any. */
export function contentHashOf({
  title,
  markdown,
  anchors = [],
}: Pick<Page, "title" | "markdown" | "anchors">): string {
  const text = `sha256:${digestOf(`${title}\n${markdown}`)}`;
  if (anchors.length === 0) return text;
  return `${text}+${digestOf(JSON.stringify(anchors.map(({ id, start }) => [id, start]))).slice(0, 16)}`;
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The part of a page's hash that tells whether its text has changed; some sites make new ids for each answer. */
export const textHash = (contentHash: string): string => contentHash.replace(/\+.*$/, "");

/** Another extractor has another network and another browser, so after these failures it may get the page. */
const WORTH_ASKING: ReadonlySet<FailureRecord["code"]> = new Set(
  wordsIn("no_content network timeout http_status internal"),
);

/**
 * Asks the fallback extractor for a page that failed here.
 * @param status the last answer's, even if it was not a page; null when there was no answer
 * @returns null when there is no such extractor or it has no page
 */
async function tryFallback(
  attempt: Attempt,
  failure: FailureRecord,
  status: number | null,
  answer: FetchedPage | null,
): Promise<Verdict | null> {
  const { page, parts, signal } = attempt;
  // The fallback must not invent a page that is gone.
  const isGone = answer?.status === 404 || answer?.status === 410;
  if (!parts.fallback || !WORTH_ASKING.has(failure.code) || isGone) return null;
  const article = await askFor(attempt, failure);
  if (!article || signal.aborted) return null;
  const outcome = await storeArticle(attempt, {
    url: page.url,
    finalUrl: answer?.finalUrl ?? page.url,
    canonicalUrl: null,
    statusCode: status,
    fetcher: "http",
    article,
    warnings: [`Extracted by the fallback extractor: ${failure.message}`],
    timings: { fetchMs: 0, extractionMs: 0 },
  });
  return settle(attempt, { outcome });
}

async function askFor({ page, parts, signal }: Attempt, failure: FailureRecord): Promise<Article | null> {
  try {
    return (await parts.fallback?.(page.url, signal)) ?? null;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    parts.log.warning("fallback extractor failed", {
      url: page.url,
      code: error.code,
      reason: error.message,
      page_failure: failure.code,
    });
    return null;
  }
}
