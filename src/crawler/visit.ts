import {
  articleOfVisit,
  type FetchedArticle,
  linkPageOfVisit,
  type PageVisit,
  visitPage,
} from "../articles/index.ts";
import { onAbort } from "../base/abort.ts";
import { Failure, type FailureRecord } from "../base/failure.ts";
import type { LogFields } from "../base/log.ts";
import { traced } from "../base/tracing.ts";
import { withoutUrlSecrets } from "../base/url-secrets.ts";
import {
  backOffDelayMs,
  type FetchedPage,
  isRetryableStatus,
  isTransient,
  parseRetryAfterMs,
} from "../fetching/index.ts";
import { originOf } from "../urls/index.ts";
import type { ClaimedPage } from "./frontier/frontier.ts";
import { PATIENCE_MS, PageGate } from "./politeness.ts";
import {
  type Attempt,
  failed,
  gone,
  otherUrls,
  robotsOf,
  settle,
  skipped,
  storeArticle,
  tryFallback,
  unchanged,
  type Verdict,
  type VisitParts,
} from "./verdict.ts";

/** The time limit for one page in all its tries, not counting pauses of its host. */
const PAGE_DEADLINE_MS = 5 * 60_000;

export type TryHooks = {
  readonly signal: AbortSignal;
  /** Aborts storing the page, which may go on for a moment after `signal` has aborted. */
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

/** Decides about a page without a request if that is possible; null when it must be fetched. */
async function beforeFetch(attempt: Attempt): Promise<Verdict | null> {
  const { page, parts, signal } = attempt;
  const { plan, politeness } = parts;
  if (page.source === "link" && parts.scope.isEcho(page.url)) return skipped(attempt, "trap");
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
  await politeness.learn(signal);
  const closedMs = politeness.closedMs(page.host);
  if (closedMs > 0) return failed(attempt, closedHost(page, parts.clock.now() + closedMs));
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
    options: plan.extraction,
    failsWhenGone: wasThere(attempt),
    errorPages: parts.errorPages,
    renderings: parts.renderings,
    onWaited: (ms) => {
      gate.waitedMs += ms;
    },
    fetch: {
      signal: deadline.signal,
      tries: 1,
      deadlineMs: PAGE_DEADLINE_MS,
      logFields: request,
      beforeRequest: gate.beforeRequest,
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
    if (attempt.signal.aborted || !(error instanceof Failure)) throw error;
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

/** Where a browser is to render a page, its document alone does not tell whether the page is as it was. */
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
  if (isRetryableStatus(answer.status)) return afterRefusal(attempt, answer);
  try {
    return await store(attempt, visit, articleOfVisit(attempt.page.url, visit));
  } catch (error) {
    if (!(error instanceof Failure) || !isOfPage(error)) throw error;
    const failure = error.toRecord();
    const absence = await afterAbsence(attempt, answer);
    if (absence) return absence;
    // Where a fallback found nothing today, what it found before is better than a heading.
    const linkPage = attempt.parts.fallback ? null : linkPageOfVisit(attempt.page.url, visit);
    // A page without words may still link to others.
    return (
      (await tryFallback(attempt, failure, answer.status, answer)) ??
      (linkPage ? await store(attempt, visit, linkPage) : failed(attempt, failure, { visit }))
    );
  }
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

// Failures of the sink or the frontier end the crawl.
const isOfPage = ({ code }: Failure): boolean =>
  code === "no_content" || code === "http_status" || code === "rate_limited";

/** Handles a status that asks for another try; 429 and 503 also pause the whole host. */
async function afterRefusal(attempt: Attempt, answer: FetchedPage): Promise<Verdict> {
  const { page, parts, gate } = attempt;
  const { clock, politeness } = parts;
  const retryAfterMs = parseRetryAfterMs(answer.headers["retry-after"], clock.now());
  const isPause = answer.status === 429 || answer.status === 503;
  const host = new URL(answer.finalUrl).host;
  let waitMs = retryAfterMs ?? backOffDelayMs(page.tries + 1, clock.random);
  if (isPause) {
    const refusal = { askedAt: gate.askedAt, retryAfterMs };
    waitMs = await politeness.pauseHost(host, refusal, attempt.signal);
    parts.onNotice({ kind: "host_paused", host, untilMs: clock.now() + waitMs });
  }
  const isOpen = politeness.closedMs(page.host) === 0;
  const again = page.tries + 1 < parts.tries && isOpen ? tryAgain(attempt, waitMs) : null;
  if (again) return again;
  const failure = refusalOf(answer, retryAfterMs, page.tries + 1);
  return (await tryFallback(attempt, failure, answer.status, answer)) ?? failed(attempt, failure, { answer });
}

function refusalOf(answer: FetchedPage, retryAfterMs: number | null, tries: number): FailureRecord {
  const after = tries > 1 ? ` after ${tries} tries` : "";
  const asks = retryAfterMs === null ? "" : `, asking to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  return {
    code: answer.status === 429 ? "rate_limited" : "http_status",
    message: `GET ${answer.finalUrl} answered HTTP ${answer.status}${after}${asks}`,
  };
}

async function store(attempt: Attempt, visit: PageVisit, fetched: FetchedArticle): Promise<Verdict> {
  const { page, parts } = attempt;
  const { plan, frontier, scope } = parts;
  const { page: answer } = visit;
  if (plan.respectsMetaRobots && robotsOf(visit).noindex) return skipped(attempt, "noindex", { visit });
  const others = otherUrls(page.url, visit);
  if (others.length > 0 && !(await frontier.identify(page, others)))
    return skipped(attempt, "duplicate", { visit });
  const { title, markdown } = fetched.article;
  scope.noteStored(page.url, `${title ?? ""}\n${markdown ?? ""}`);
  const { etag, "last-modified": lastModified } = answer.headers;
  return settle(attempt, {
    outcome: await storeArticle(attempt, fetched),
    validators: answer.status === 200 ? { etag: etag ?? null, lastModified: lastModified ?? null } : null,
    visit,
  });
}
