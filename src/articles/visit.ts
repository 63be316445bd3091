import { Failure } from "../base/failure.ts";
import { traced } from "../base/tracing.ts";
import { withoutUrlSecrets } from "../base/url-secrets.ts";
import type { BodyKind, Extraction, ExtractionOptions, Extractor } from "../extraction/index.ts";
import {
  type FetchedPage,
  type Fetcher,
  type FetchOptions,
  isDownload,
  isUnusable,
} from "../fetching/index.ts";
import { originOf, type PageUrl } from "../urls/index.ts";
import { type FetchedArticle, requireArticle } from "./fetched-article.ts";

/** The available fetchers. */
export type Fetchers = { readonly http: Fetcher; readonly browser: Fetcher | null };

/**
 * Which fetcher goes first: `browser` falls back to plain HTTP when there is no browser; `http` asks the
 * browser only about a transient 404 or an application's empty shell; `http_only` never does.
 */
export type FetcherPreference = "browser" | "http" | "http_only";

export type FromUrlParts = {
  readonly fetchers: Fetchers;
  readonly extractor: Pick<Extractor, "extract">;
};

export type VisitRequest = {
  readonly preference: FetcherPreference;
  readonly options: ExtractionOptions;
  /** The fetch options; the deadline covers the whole visit, whichever fetchers are used. */
  readonly fetch: FetchOptions;
  /** Called with each answer before it is extracted. */
  readonly onFetched?: (page: FetchedPage) => void;
};

/**
 * Fetches a page by the preference and extracts it once. The caller judges its status and content.
 * @throws Failure as the fetchers and the extractor do
 */
export async function visitPage(
  url: PageUrl,
  request: VisitRequest,
  parts: FromUrlParts,
): Promise<PageVisit> {
  const { http, browser } = parts.fetchers;
  const context = { request, parts, startedAt: performance.now() };
  if (request.preference === "browser" && browser !== null) return await browserFirst(browser, url, context);
  const first = await attempt(http, url, context);
  const reason = reasonForBrowser(first);
  if (reason === null || browser === null || request.preference !== "http") return first;
  const second = await attempt(browser, url, withTimeSpent(context));
  return { ...second, notes: [`Fetched with the browser: ${reason}`] };
}

// The machine's browser may not run, and a browser downloads some texts that the HTTP client can read.
async function browserFirst(browser: Fetcher, url: PageUrl, context: VisitContext): Promise<PageVisit> {
  try {
    return await attempt(browser, url, context);
  } catch (error) {
    const isFallback = isUnusable(error) || isDownload(error);
    if (!isFallback || !(error instanceof Failure)) throw error;
    const visit = await attempt(context.parts.fetchers.http, url, withTimeSpent(context));
    const note = `Fetched over plain HTTP: ${error.message}`;
    return isDownload(error) ? visit : { ...visit, notes: [note, ...visit.notes] };
  }
}

/**
 * Returns the article of a visited page.
 * @param url the requested URL
 * @throws Failure `http_status` and `rate_limited` for an error status whose body holds no page; `no_content`
 */
export function articleOfVisit(url: string, visit: PageVisit): FetchedArticle {
  const { page, extraction, extractionMs, notes } = visit;
  // A 404 whose body holds no article is an error after all.
  if (!extraction || (page.status >= 400 && !extraction.article)) throw statusFailure(page);
  const shell = emptyShell(page.html, extraction.article?.wordCount ?? 0);
  const saysNothing = !extraction.article || (shell === "script_redirect" && page.fetchedBy === "http");
  if (shell !== null && saysNothing)
    throw new Failure(
      "no_content",
      `${page.finalUrl} is ${SHELL_NAMES[shell].name}${shellHint(page, shell)}`,
    );
  const article = requireArticle(extraction, page.finalUrl);
  const warnings = [...article.warnings, ...page.warnings, ...notes];
  if (page.status >= 400) warnings.push(`Extracted after HTTP ${page.status} (SPA/client-rendered)`);
  return {
    url,
    finalUrl: page.finalUrl,
    canonicalUrl: extraction.canonical,
    statusCode: page.status,
    fetcher: page.fetchedBy,
    article,
    warnings,
    timings: { fetchMs: page.durationMs, extractionMs },
  };
}

const shellHint = ({ fetchedBy }: FetchedPage, shell: EmptyShell): string =>
  fetchedBy === "browser"
    ? ": the browser found nothing in it either; where content comes late, --wait-for CSS waits for it"
    : `, ${SHELL_NAMES[shell].remedy}`;

/** How to read a body of this media type (without parameters). */
export function bodyKind(contentType: string): BodyKind {
  if (contentType === "text/markdown" || contentType === "text/x-markdown") return "markdown";
  if (contentType === "application/xhtml+xml") return "xhtml";
  return contentType === "text/plain" ? "plain" : "html";
}

type VisitContext = {
  readonly request: VisitRequest;
  readonly parts: FromUrlParts;
  /** The start of the visit on the clock of `performance.now`. */
  readonly startedAt: number;
};

function withTimeSpent({ request, parts, startedAt }: VisitContext): VisitContext {
  const spentMs = performance.now() - startedAt;
  return { request: { ...request, fetch: { ...request.fetch, spentMs } }, parts, startedAt };
}

async function attempt(fetcher: Fetcher, url: PageUrl, context: VisitContext): Promise<PageVisit> {
  const first = await attemptOnce(fetcher, url, context);
  return followRefreshes(first, (target, isForeign) => {
    const { request, ...rest } = withTimeSpent(context);
    const { validators: _, ...fetch } = request.fetch;
    return attemptOnce(fetcher, target, { ...rest, request: { ...request, fetch: { ...fetch, isForeign } } });
  });
}

async function attemptOnce(
  fetcher: Fetcher,
  url: PageUrl,
  { request, parts }: VisitContext,
): Promise<PageVisit> {
  const attributes = () => ({ "url.full": withoutUrlSecrets(url) });
  const page = await traced({ name: "fetch page", kind: "client", attributes }, async (span) => {
    const answer = await fetcher.fetch(url, request.fetch);
    const { status, bodyBytes, fetchedBy } = answer;
    span.set({
      "http.response.status_code": status,
      "http.response.body.size": bodyBytes,
      fetcher: fetchedBy,
    });
    return answer;
  });
  request.onFetched?.(page);
  const isAnswered = page.status === 304 || (page.status >= 400 && !isTransient404(page));
  if (isAnswered) return { page, extraction: null, extractionMs: 0, notes: [] };
  const started = performance.now();
  const task = {
    kind: bodyKind(page.contentType),
    body: page.html,
    url: page.finalUrl,
    options: request.options,
  };
  try {
    const extraction = await traced({ name: "extract page", attributes }, () =>
      parts.extractor.extract(task, request.fetch.signal),
    );
    return { page, extraction, extractionMs: performance.now() - started, notes: [] };
  } catch (error) {
    throw error instanceof Failure ? error.aboutStatus(page.status) : error;
  }
}

/** A longer body may be a page that a script fills, although its status is 404 or 410. */
const TRANSIENT_404_MIN_BYTES = 500;

const isGone = (status: number): boolean => status === 404 || status === 410;

// Some applications answer 404 or 410 with a page that only a browser completes.
const isTransient404 = ({ status, html, bodyBytes }: FetchedPage): boolean =>
  isGone(status) && bodyBytes > TRANSIENT_404_MIN_BYTES && /<(?:article|main|p)[\s>/]/i.test(html);

// Besides such a status, an empty shell is a reason to ask the browser. A dead link that says no more than
// that is none, because a crawl meets many.
function reasonForBrowser({ page, extraction }: PageVisit): string | null {
  if (isTransient404(page) || (isGone(page.status) && emptyShell(page.html, 0) !== null))
    return `the plain answer was HTTP ${page.status}`;
  const shell = extraction && emptyShell(page.html, extraction.article?.wordCount ?? 0);
  return shell && `the plain answer was ${SHELL_NAMES[shell].name}`;
}

function statusFailure({ finalUrl, status, tries }: FetchedPage): Failure {
  const after = tries > 1 ? ` after ${tries} tries` : "";
  return new Failure(
    status === 429 ? "rate_limited" : "http_status",
    `GET ${finalUrl} answered HTTP ${status}${after}`,
    { targetStatus: status },
  );
}

/** A page's answer, and everything that one pass over it yields. */
export type PageVisit = {
  readonly page: FetchedPage;
  /** Null when the status alone says that there is no page or, for 304, that the known one is still valid. */
  readonly extraction: Extraction | null;
  readonly extractionMs: number;
  /** Warnings about fetching the page. */
  readonly notes: readonly string[];
};

const MAX_REFRESHES = 3;

/**
 * Follows a page's `<meta http-equiv=refresh>` at most three times, like a browser without scripts. The pages
 * on the way count as redirects of the last one. Secrets are sent only to the origin of the first page, and
 * an error page's refresh is not followed.
 * @param visitNext visits the next page; `isForeign` as in `FetchOptions`
 * @throws Failure as `visitNext`; when a target is no page, the page that led to it is returned
 */
async function followRefreshes(
  first: PageVisit,
  visitNext: (url: PageUrl, isForeign: boolean) => Promise<PageVisit>,
): Promise<PageVisit> {
  let visit = first;
  for (let hops = 0; ; hops++) {
    const target = targetOf(visit);
    if (target === null) return visit;
    if (hops === MAX_REFRESHES)
      return warned(visit, `The page refreshes to ${target}, which is one refresh too many to follow`);
    const isForeign = [...seenBy(visit.page), target].some(
      (url) => originOf(url) !== originOf(first.page.url),
    );
    try {
      visit = joined(visit, await visitNext(target, isForeign));
    } catch (error) {
      // The target is a download, for which a browser would stay on the page.
      if (!(error instanceof Failure) || error.code !== "unsupported_content") throw error;
      return warned(visit, `The page refreshes to ${target}, which is no page`);
    }
  }
}

const seenBy = ({ redirects, finalUrl }: FetchedPage): PageUrl[] => [...redirects, finalUrl];

function targetOf({ page, extraction }: PageVisit): PageUrl | null {
  if (page.fetchedBy === "browser" || page.status >= 400) return null;
  return extraction?.refresh ?? null;
}

const warned = (visit: PageVisit, warning: string): PageVisit => ({
  ...visit,
  notes: [...visit.notes, warning],
});

function joined(before: PageVisit, after: PageVisit): PageVisit {
  // The last page's validators cannot tell whether the first page still leads to it.
  const { etag: _, "last-modified": __, ...headers } = after.page.headers;
  const page = {
    ...after.page,
    headers,
    url: before.page.url,
    redirects: [...seenBy(before.page), ...after.page.redirects],
    tries: before.page.tries + after.page.tries - 1,
    durationMs: before.page.durationMs + after.page.durationMs,
  };
  return {
    page,
    extraction: after.extraction,
    extractionMs: before.extractionMs + after.extractionMs,
    notes: [...before.notes, `Read from ${page.finalUrl}, to which ${before.page.finalUrl} refreshes`],
  };
}

/**
 * A shell can be recognised near its start. This runs on the main thread, which a hostile body must not
 * block.
 */
const MAX_LOOK = 32 * 1024;
/** A page with more words than this has content of its own. */
const MAX_SHELL_WORDS = 50;
/** Enough for "You are being redirected. Click here if your browser does not do it by itself." */
const MAX_REDIRECT_WORDS = 20;

const MOUNT_POINT =
  /<(?:div|main|section|app-root|[a-z]+-app)\b[^>]{0,300}?\b(?:id|data-reactroot|ng-version)\s*=?\s*["']?(?:root|app|__next|__nuxt|___gatsby|svelte|main-app|application|react-root|mount|ember\d*)\b[^>]{0,300}>\s*(?:<noscript\b[\s\S]{0,2000}?<\/noscript>\s*)?<\//i;
const ROOT_COMPONENT = /<app-root\b[^>]{0,300}>\s*(?:loading[^<]{0,40})?<\/app-root>/i;
const ASKS_FOR_SCRIPT =
  /<noscript\b[^>]{0,100}>[\s\S]{0,1500}?\b(?:enable|activate|requires?|need|turn on)\b[\s\S]{0,80}?\bjavascript\b/i;

/** Why a page needs a browser: it is an application without content, or its script goes on to another page. */
type EmptyShell = "application" | "script_redirect";

/** Each shell's name in messages, and what a browser would do about it. */
const SHELL_NAMES: Readonly<Record<EmptyShell, { readonly name: string; readonly remedy: string }>> = {
  application: { name: "an application's empty shell", remedy: "which a browser would fill" },
  script_redirect: { name: "a script that goes on to another page", remedy: "which a browser would run" },
};

/**
 * Whether a page is an empty shell. It has hardly any words, and either scripts and an empty mount point or a
 * plea to enable JavaScript, or a script that goes on to another page as soon as it runs.
 * @param wordCount words of the extracted content, 0 when there is none
 */
export function emptyShell(html: string, wordCount: number): EmptyShell | null {
  if (wordCount > MAX_SHELL_WORDS) return null;
  const start = html.slice(0, MAX_LOOK);
  if (wordCount <= MAX_REDIRECT_WORDS && navigatesAway(start, wordCount === 0)) return "script_redirect";
  if (!/<script\b/i.test(html)) return null;
  const isShell = MOUNT_POINT.test(start) || ROOT_COMPONENT.test(start) || ASKS_FOR_SCRIPT.test(start);
  return isShell ? "application" : null;
}

const NAVIGATION =
  /\b(?:location(?:\s{0,9}\.\s{0,9}href)?\s{0,9}=(?![=>])|location\s{0,9}\.\s{0,9}(?:replace|assign)\s{0,9}\()/g;
/** A page that only redirects does little else. */
const MAX_NAVIGATIONS = 20;
const NAVIGATION_ON_LOAD = /<body\b[^>]{0,300}?\bonload\s*=[^>]{0,100}?\blocation\b/i;

/**
 * @param isWordless whether the page has no words to lose; then any script that may go on counts as one that
 * does
 */
function navigatesAway(html: string, isWordless: boolean): boolean {
  if (NAVIGATION_ON_LOAD.test(html)) return true;
  let navigations = 0;
  for (const code of inlineScripts(html)) {
    for (const { index } of code.matchAll(NAVIGATION)) {
      if (++navigations > MAX_NAVIGATIONS) return false;
      if (isWordless || runsAtOnce(code, index)) return true;
    }
  }
  return false;
}

function* inlineScripts(html: string): Generator<string> {
  const opening = /<script\b[^>]{0,500}>/gi;
  for (let found = opening.exec(html); found; found = opening.exec(html)) {
    const end = html.indexOf("</", opening.lastIndex);
    if (end < 0) return;
    yield html.slice(opening.lastIndex, end);
    opening.lastIndex = end;
  }
}

const MAX_HEAD = 120;
/** Matches the text before the brace of a function that runs at once or when the page has loaded. */
const RUNS =
  /(?:[(!]|\bonload\s{0,9}=|["'](?:load|DOMContentLoaded)["']\s{0,9},)\s{0,9}(?:function\s{0,9}\w{0,40}\s{0,9}\([^()]{0,40}\)|\([^()]{0,40}\)\s{0,9}=>)\s{0,9}$|\btry\s{0,9}$/;

const STATEMENT_START =
  /(?:^|[;{}\n]|\*\/|-->)\s{0,99}(?:\b(?:window|document|self|top|parent)\s{0,9}\.\s{0,9})?$/;

/** Whether the statement at this position runs when the page is shown, not on a click or under a condition. */
function runsAtOnce(code: string, at: number): boolean {
  const near = code.slice(Math.max(0, at - MAX_HEAD), at);
  if (!STATEMENT_START.test(near)) return false;
  const before = code.slice(0, at);
  const heads: string[] = [];
  for (let place = 0; place < before.length; place++) {
    if (before[place] === "{") heads.push(before.slice(Math.max(0, place - MAX_HEAD), place));
    else if (before[place] === "}") heads.pop();
  }
  return heads.every((head) => RUNS.test(head));
}
