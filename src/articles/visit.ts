import { Away, Failure } from "../base/failure.ts";
import { traced } from "../base/tracing.ts";
import { withoutUrlSecrets } from "../base/url-secrets.ts";
import {
  type Article,
  type BodyKind,
  type Extraction,
  type ExtractionOptions,
  type Extractor,
  MAX_NOTICE_WORDS,
  refreshOf,
} from "../extraction/index.ts";
import {
  type FetchedPage,
  type Fetcher,
  type FetchOptions,
  isDownload,
  isUnusable,
} from "../fetching/index.ts";
import { hostOf, originOf, type PageUrl, parsePageUrl } from "../urls/index.ts";
import { blockedFailure, describeBlock } from "./blocked.ts";
import {
  createErrorPages,
  type ErrorPages,
  fingerprintOf,
  inventedName,
  type PageFingerprint,
  saySame,
} from "./error-pages.ts";
import { type FetchedArticle, named, type PageVisit, requireArticle } from "./fetched-article.ts";
import { withFrames } from "./frames.ts";
import { canonicalOfHeader } from "./link-header.ts";
import type { RenderingHistory } from "./rendering-history.ts";
import { type EmptyShell, emptyShell, SHELL_NAMES } from "./shell.ts";
import { MarkdownAlternates, withSiteMarkdown } from "./site-markdown.ts";

export type Fetchers = { readonly http: Fetcher; readonly browser: Fetcher | null };

/**
 * Which fetcher goes first: `browser` falls back to plain HTTP when there is no browser; `learned` is the same for a
 * single page, and among many renders only where that changes something; `http` asks the browser only about a
 * transient 404 or an application's empty shell; `http_only` never does.
 */
export type FetcherPreference = "browser" | "learned" | "http" | "http_only";

export type FromUrlParts = { readonly fetchers: Fetchers; readonly extractor: Pick<Extractor, "extract"> };

export type VisitRequest = {
  readonly preference: FetcherPreference;
  readonly options: ExtractionOptions;
  /** The fetch options; the deadline covers the whole visit, whichever fetchers are used. */
  readonly fetch: FetchOptions;
  /** Called with each answer before it is extracted. */
  readonly onFetched?: (page: FetchedPage) => void;
  /** Whether 404 and 410 are failures whatever the body holds, because the page was an ordinary one before. */
  readonly failsWhenGone?: boolean;
  /** Error pages that other visits for the same caller have seen. */
  readonly errorPages?: ErrorPages;
  /** What is known of the Markdown of sites; that of one page if absent. */
  readonly markdownAlternates?: MarkdownAlternates;
  /** Experience from other pages, for the preference `learned`; absent for a single page. */
  readonly renderingHistory?: RenderingHistory | undefined;
  /** Told how long the page has waited for others to be compared, in ms. */
  readonly onWaited?: (ms: number) => void;
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
  const { options, fetch, onFetched } = request;
  const startedAt = performance.now();
  const context = { request, parts, asked: url, startedAt, options, fetch, onFetched, tellsScripts: false };
  const visit = await visitByPreference(url, context);
  if (await isErrorPage(visit, context)) return { ...visit, extraction: null };
  return await siteMarkdownOf(visit, context);
}

/** The page is here already, and does not wait longer than this for its Markdown, in ms. */
const MARKDOWN_PATIENCE_MS = 5000;

/** Leaves a request so much of the time of its page at most. */
const patience = ({ deadlineMs = Number.POSITIVE_INFINITY, spentMs = 0 }: FetchOptions): FetchOptions => ({
  deadlineMs: Math.min(deadlineMs, spentMs + MARKDOWN_PATIENCE_MS),
});

/** Takes the site's own Markdown unless only parts of the page are wanted. */
async function siteMarkdownOf(visit: PageVisit, context: VisitContext): Promise<PageVisit> {
  const { options, markdownAlternates: alternates = new MarkdownAlternates() } = context.request;
  const { takesNativeMarkdown, engine, select, exclude } = options;
  if (!takesNativeMarkdown || engine === "readability" || select !== null || exclude.length > 0) return visit;
  if (!bodyKind(visit.page.contentType).endsWith("html")) return visit;
  const beside = besideOf(visit.page, context, `the Markdown of ${visit.page.finalUrl}`);
  return await withSiteMarkdown(visit, {
    alternates,
    beside: { http: context.parts.fetchers.http, options: { ...beside.fetch, ...patience(beside.fetch) } },
    extract: (page) => extractAnswer(page, beside),
  });
}

async function visitByPreference(url: PageUrl, context: VisitContext): Promise<PageVisit> {
  const { request, parts } = context;
  const { http, browser } = parts.fetchers;
  if (browser !== null && request.preference === "learned" && request.renderingHistory)
    return await learnedVisit(browser, url, context, request.renderingHistory);
  if (browser !== null && (request.preference === "browser" || request.preference === "learned"))
    return await browserFirst(browser, url, context);
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
 * @throws Failure `http_status` and `rate_limited` for an error status whose body holds no page; `no_content`; `blocked`
 */
export function articleOfVisit(url: string, visit: PageVisit): FetchedArticle {
  const { page, extraction } = visit;
  if (visit.blocked) throw blockedFailure(page.finalUrl, visit.blocked, page);
  // A 404 whose body holds no article is an error after all.
  if (!extraction || (page.status >= 400 && !extraction.article)) throw statusFailure(page);
  if (!extraction.article && extraction.frameset)
    throw new Failure(
      "no_content",
      `${page.finalUrl} is a frameset: the content is in its frames, ${extraction.frameset.frames.slice(0, 8).join(" ")}`,
    );
  const shell = emptyShell(page.html, extraction.article?.wordCount ?? 0);
  const saysNothing = !extraction.article || (shell === "script_redirect" && page.fetchedBy === "http");
  if (shell !== null && saysNothing)
    throw new Failure(
      "no_content",
      `${page.finalUrl} is ${SHELL_NAMES[shell].name}${shellHint(page, shell)}`,
    );
  return fetchedOf(url, visit, requireArticle(extraction, page.finalUrl));
}

/**
 * Returns what a visited page holds that has a heading and links only, with a warning; null for any other page: it is a
 * chapter's start. A heading alone is no content.
 */
export function linkPageOfVisit(url: string, visit: PageVisit): FetchedArticle | null {
  const { page, extraction } = visit;
  const article = extraction?.linkPage ?? null;
  if (article === null || article.wordCount === 0 || page.status >= 400 || visit.blocked) return null;
  if (emptyShell(page.html, 0) !== null) return null;
  const warnings = ["The page holds a heading and links only", ...article.warnings];
  return fetchedOf(url, visit, { ...article, warnings });
}

/** Returns what is the article of a visited page for every command; throws as `articleOfVisit`. */
export function contentOfVisit(url: string, visit: PageVisit): FetchedArticle {
  try {
    return articleOfVisit(url, visit);
  } catch (error) {
    const linkPage = error instanceof Failure ? linkPageOfVisit(url, visit) : null;
    if (linkPage === null) throw error;
    return linkPage;
  }
}

function fetchedOf(url: string, visit: PageVisit, article: Article): FetchedArticle {
  const { page, extraction, extractionMs, notes } = visit;
  const warnings = [...article.warnings, ...page.warnings, ...notes];
  // Specified in these words, for a 410 too; `http_status` says which it was.
  if (isGone(page.status)) warnings.push("Extracted after HTTP 404 (SPA/client-rendered)");
  return {
    url,
    finalUrl: page.finalUrl,
    canonicalUrl: extraction?.canonical ?? null,
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
  /** The URL that the caller asked for. */
  readonly asked: PageUrl;
  /** The start of the visit on the clock of `performance.now`. */
  readonly startedAt: number;
  /** These begin as the request has them, and may differ for one page of the visit. */
  readonly options: ExtractionOptions;
  readonly fetch: FetchOptions;
  readonly onFetched: VisitRequest["onFetched"];
  readonly tellsScripts: boolean;
};

const withTimeSpent = (context: VisitContext): VisitContext => ({
  ...context,
  fetch: { ...context.fetch, spentMs: performance.now() - context.startedAt },
});

async function attempt(fetcher: Fetcher, url: PageUrl, context: VisitContext): Promise<PageVisit> {
  const first = await attemptOnce(fetcher, url, context);
  const { fetchers } = context.parts;
  const runsScripts = fetchers.browser !== null && context.request.preference !== "http_only";
  const visit = await followRefreshes(first, runsScripts, (target, isForeign) =>
    attemptOnce(fetcher, target, forAnother(context, { isForeign })),
  );
  const { options, fetch } = context;
  return withFrames(visit, {
    options,
    signal: fetch.signal,
    visitFrame: (frame) => visitBeside(fetcher, frame, visit.page, context),
  });
}

/** Visits a URL of a page's own origin for the sake of that page. */
const visitBeside = (
  fetcher: Fetcher,
  url: PageUrl,
  page: FetchedPage,
  context: VisitContext,
): Promise<PageVisit> => attemptOnce(fetcher, url, besideOf(page, context, url));

/**
 * The context of requests for the sake of a page, which never leave its origin.
 * @param part what is requested, in a message
 */
function besideOf(page: FetchedPage, context: VisitContext, part: string): VisitContext {
  const origin = originOf(page.finalUrl);
  const beforeRequest: FetchOptions["beforeRequest"] = async (asked, signal) => {
    if (asked.origin !== origin) throw new Failure("cancelled", `${part} is answered by ${asked.origin}`);
    return await context.fetch.beforeRequest?.(asked, signal);
  };
  const isForeign = originOf(page.url) !== origin;
  // The words of a part are too few only together with the others.
  const options = { ...context.options, minWordCount: 0 };
  return { ...forAnother(context, { isForeign, beforeRequest }), options };
}

/** The context of a request for another URL in the same visit. */
function forAnother(context: VisitContext, own: FetchOptions): VisitContext {
  const { validators: _, received: __, ...fetch } = withTimeSpent(context).fetch;
  return { ...context, fetch: { ...fetch, ...own } };
}

async function attemptOnce(fetcher: Fetcher, url: PageUrl, context: VisitContext): Promise<PageVisit> {
  const { request, options, fetch, onFetched } = context;
  const attributes = () => ({ "url.full": withoutUrlSecrets(url) });
  const page = await traced({ name: "fetch page", kind: "client", attributes }, async (span) => {
    const answer = await fetcher.fetch(url, fetch);
    const { status, bodyBytes, fetchedBy } = answer;
    span.set({
      "http.response.status_code": status,
      "http.response.body.size": bodyBytes,
      fetcher: fetchedBy,
    });
    return answer;
  });
  onFetched?.(page);
  const isRefused = options.failsOnHttpError || request.failsWhenGone;
  const isError = page.status >= 400 && (isRefused || !isTransient404(page));
  const nothing = { page, extraction: null, extractionMs: 0, blocked: null, notes: [] };
  if (page.status === 304 || (isError && !mayBeBlocked(page))) return nothing;
  const started = performance.now();
  const extraction = await extractAnswer(page, context).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    // The status is the failure of such a page, unless its body says why.
    if (isError && !fetch.signal?.aborted && !(error instanceof Away)) return null;
    throw error.aboutStatus(page.status);
  });
  const block = extraction?.blocked ?? null;
  if (extraction === null || (isError && (block === null || !options.keepsBlocked)))
    return { ...nothing, blocked: block };
  const visit = { ...nothing, extraction, extractionMs: performance.now() - started };
  if (block === null || !options.keepsBlocked) return { ...visit, blocked: block };
  return { ...visit, notes: [describeBlock(page.finalUrl, block)] };
}

/** Pages that stand in for others are small. */
const MAX_BLOCKED_BYTES = 256 * 1024;

/** Whether an error's body may say that it stands in for the page. */
const mayBeBlocked = ({ status, contentType, html, bodyBytes }: FetchedPage): boolean =>
  !isGone(status) && html !== "" && bodyKind(contentType) === "html" && bodyBytes <= MAX_BLOCKED_BYTES;

async function extractAnswer(
  page: FetchedPage,
  { parts, asked, options, fetch, tellsScripts }: VisitContext,
): Promise<Extraction> {
  const { status, headers, finalUrl } = page;
  const task = {
    kind: page.file ? ("file" as const) : bodyKind(page.contentType),
    body: page.file ?? page.html,
    url: finalUrl,
    options,
    tellsScripts,
    // A browser that renders an answer gets it as UTF-8.
    encoding: fetch.received?.encoding ?? page.encoding,
    answer: { status, headers, asked, url: finalUrl },
  };
  const attributes = () => ({ "url.full": withoutUrlSecrets(page.url) });
  const found = await traced({ name: "extract page", attributes }, () => {
    const work = parts.extractor.extract(task, fetch.signal);
    return page.file ? named(`GET ${finalUrl}`, work) : work;
  });
  // The document's own word comes first; only a header can say it of plain text.
  return { ...found, canonical: found.canonical ?? canonicalOfHeader(headers.link, finalUrl) };
}

/** A longer body may be a page that a script fills, although its status is 404 or 410. */
const TRANSIENT_404_MIN_BYTES = 500;

const isGone = (status: number): boolean => status === 404 || status === 410;

// Some applications answer 404 or 410 with a page that only a browser completes.
const isTransient404 = ({ status, html, bodyBytes }: FetchedPage): boolean =>
  isGone(status) && bodyBytes > TRANSIENT_404_MIN_BYTES && /<(?:article|main|p)[\s>/]/i.test(html);

/**
 * Whether a page with such a status only says that it is missing: in its title or a heading, or because an invented
 * address of the same site gets the same text.
 * @throws Failure `cancelled` when the caller is
 */
async function isErrorPage({ page, extraction }: PageVisit, context: VisitContext): Promise<boolean> {
  if (!isGone(page.status) || !extraction?.article) return false;
  if (extraction.saysMissing) return true;
  const { errorPages = createErrorPages() } = context.request;
  const shown = await errorPages.take(originOf(page.finalUrl), () => lookAtErrorPage(page, context));
  return shown !== null && saySame(fingerprintOfArticle(page.finalUrl, extraction.article), shown);
}

const fingerprintOfArticle = (url: PageUrl, { title, text }: Article): PageFingerprint =>
  fingerprintOf(url, `${title ?? ""}\n${text}`);

/** Asks for an address beside the page's that cannot exist, once and on the page's own origin only. */
async function lookAtErrorPage(page: FetchedPage, context: VisitContext): Promise<PageFingerprint | null> {
  const { fetchers } = context.parts;
  const invented = parsePageUrl(new URL(inventedName(), page.finalUrl).href);
  const fetcher = page.fetchedBy === "browser" ? fetchers.browser : fetchers.http;
  if (!invented || !fetcher) return null;
  const once = { ...context, fetch: { ...context.fetch, tries: 1 } };
  try {
    const { page: answer, extraction } = await visitBeside(fetcher, invented, page, once);
    return extraction?.article ? fingerprintOfArticle(answer.finalUrl, extraction.article) : null;
  } catch (error) {
    if (!(error instanceof Failure) || context.fetch.signal?.aborted) throw error;
    return null;
  }
}

// Besides such a status, an empty shell is a reason to ask the browser. A dead link without further signs is not,
// because a crawl meets many.
function reasonForBrowser({ page, extraction }: PageVisit): string | null {
  if (isTransient404(page) || (isGone(page.status) && emptyShell(page.html, 0) !== null))
    return `the plain answer was HTTP ${page.status}`;
  const shell = extraction && emptyShell(page.html, extraction.article?.wordCount ?? 0);
  return shell && `the plain answer was ${SHELL_NAMES[shell].name}`;
}

/** The failure of an answer with an error status. @param more what else the answer said */
export function statusFailure(
  { finalUrl, status, tries }: Pick<FetchedPage, "finalUrl" | "status" | "tries">,
  more = "",
): Failure {
  const after = tries > 1 ? ` after ${tries} tries` : "";
  const message = `GET ${finalUrl} answered HTTP ${status}${after}${more}`;
  return new Failure(status === 429 ? "rate_limited" : "http_status", message, { targetStatus: status });
}

/** As many as the browser follows (fetching/browser/read-page.ts). */
const MAX_REFRESHES = 3;

/**
 * Follows a page's refresh at most three times, by its header or its meta element. The pages on the way count as
 * redirects of the last one. Secrets are sent only to the origin of the first page, and the refresh of an error page or
 * of a page with an article of its own is not followed.
 * @param runsScripts whether a browser reads what is for readers with scripts, so that `noscript` does not count
 * @param visitNext visits the next page; `isForeign` as in `FetchOptions`
 * @throws Failure as `visitNext`; when a target is no page, the page that led to it is returned
 */
async function followRefreshes(
  first: PageVisit,
  runsScripts: boolean,
  visitNext: (url: PageUrl, isForeign: boolean) => Promise<PageVisit>,
): Promise<PageVisit> {
  let visit = first;
  for (let hops = 0; ; hops++) {
    const target = targetOf(visit, runsScripts);
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
      return warned(visit, `The page refreshes to ${target}, which is not a page`);
    }
  }
}

const seenBy = ({ redirects, finalUrl }: FetchedPage): PageUrl[] => [...redirects, finalUrl];

function targetOf({ page, extraction }: PageVisit, runsScripts: boolean): PageUrl | null {
  if (page.status >= 400 || !extraction) return null;
  // A page with an article of its own says more than that it has moved.
  if ((extraction.article?.wordCount ?? 0) > MAX_NOTICE_WORDS) return null;
  const { finalUrl: url } = page;
  const announced = refreshOf(page.headers.refresh ?? null, { url, base: url }) ?? extraction.refresh;
  return announced ?? (runsScripts ? null : extraction.noscriptRefresh);
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
    blocked: after.blocked,
    notes: [
      ...before.notes,
      ...after.notes,
      `Read from ${page.finalUrl}, to which ${before.page.finalUrl} refreshes`,
    ],
  };
}

/**
 * Gets a page over plain HTTP, and has a browser render its document unless it runs nothing, or that has changed nothing
 * for pages with its script profile. The site is asked once, except where it refuses the plain client.
 * @throws Failure as the fetchers and the extractor do
 */
async function learnedVisit(
  browser: Fetcher,
  url: PageUrl,
  context: VisitContext,
  history: RenderingHistory,
): Promise<PageVisit> {
  const { fetch, onFetched } = context;
  const { onWaited } = context.request;
  const plain = await plainUnlessRefused(browser, url, context, history);
  if (plain.page.fetchedBy === "browser") return plain;
  const received = plain.page;
  const rendered = (waitedMs: number | null) => render(browser, url, { context, received, waitedMs });
  const scripts = plain.extraction?.scripts;
  if (!scripts?.runs) {
    // An answer that is no page may become one in a browser.
    if (isGone(plain.page.status) && /<script\b/i.test(plain.page.html)) return await rendered(null);
    onFetched?.(plain.page);
    return plain;
  }
  const turn = history.take(hostOf(plain.page.finalUrl), scripts.name);
  if (turn === null) return await rendered(null);
  let waitedMs: number | null = null;
  if (!turn.isCompared) {
    onFetched?.(plain.page);
    const startedAt = performance.now();
    const isCompared = await history.wait(turn, fetch.signal);
    waitedMs = performance.now() - startedAt;
    onWaited?.(waitedMs);
    if (!isCompared) return plain;
  }
  try {
    const second = await rendered(waitedMs);
    const asked = second.page.asked ?? [];
    // Data that scripts read now may fill a place on another page that is empty on this page.
    const isSame = isSameContent(plain, second) && !(scripts.awaits && asked.length > 0);
    history.note(turn, { isSame, asked: asked.join("\n") });
    return second;
  } catch (error) {
    turn.history.leave(turn.place);
    if (!isUnusable(error) || !(error instanceof Failure)) throw error;
    if (waitedMs === null) onFetched?.(plain.page);
    return { ...plain, notes: [...plain.notes, `Fetched over plain HTTP: ${error.message}`] };
  }
}

/** Renders the document of an answer; a wait has ended the host's turn, and what scripts read needs another one. */
async function render(
  browser: Fetcher,
  url: PageUrl,
  { context, received, waitedMs }: { context: VisitContext; received: FetchedPage; waitedMs: number | null },
): Promise<PageVisit> {
  const beforeRequest = waitedMs === null ? undefined : context.fetch.beforeRequest;
  const spentMs = performance.now() - context.startedAt - (waitedMs ?? 0);
  const fetch = { ...context.fetch, validators: undefined, beforeRequest, received, spentMs };
  const visit = await attempt(browser, url, { ...context, fetch, tellsScripts: true });
  const durationMs = received.durationMs + visit.page.durationMs;
  return { ...visit, page: { ...visit.page, tries: received.tries, durationMs } };
}

/** Asks the plain client first, unless the host refuses it what it gives a browser. */
async function plainUnlessRefused(
  browser: Fetcher,
  url: PageUrl,
  context: VisitContext,
  history: RenderingHistory,
): Promise<PageVisit> {
  const host = hostOf(url);
  const throughout = () => browserFirst(browser, url, withTimeSpent(context));
  if (history.isRefusing(host) === true) return await throughout();
  const quietly = { ...context, onFetched: undefined, tellsScripts: true };
  const plainly = attempt(context.parts.fetchers.http, url, quietly);
  const answer = await plainly.catch((error: unknown) => {
    if (error instanceof Failure && error.code === "network") return error;
    throw error;
  });
  const isRefused =
    answer instanceof Failure || isRefusal(answer.page.status) || answer.blocked?.kind === "challenge";
  if (!isRefused || history.isRefusing(host) === false) {
    if (answer instanceof Failure) throw answer;
    return answer;
  }
  try {
    const second = await throughout();
    const isPage = second.page.status < 400 && second.blocked === null;
    history.noteRefusal(host, second.page.fetchedBy === "browser" && isPage);
    return second;
  } catch (error) {
    history.noteRefusal(host, false);
    throw error;
  }
}

/** Statuses with which a site may turn away a client that is no browser. */
const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && ![404, 408, 410, 425, 429].includes(status);

/** Whether rendering left the content as it was, and added no link. */
function isSameContent(plain: PageVisit, rendered: PageVisit): boolean {
  const [before, after] = [plain.extraction, rendered.extraction];
  if (before === null || after === null || plain.page.finalUrl !== rendered.page.finalUrl) return false;
  const links = new Set(before.links.map(({ url, isNofollow }) => `${isNofollow} ${url}`));
  return (
    after.links.every(({ url, isNofollow }) => links.has(`${isNofollow} ${url}`)) &&
    canonicalOf(before) === canonicalOf(after) &&
    // The same words may be written down in another way, which the choice of blocks may take for other content.
    ((before.scripts !== undefined && before.scripts.words === after.scripts?.words) ||
      contentOf(before) === contentOf(after))
  );
}

const canonicalOf = ({ robots, canonical }: Extraction): string => JSON.stringify([robots, canonical]);

const contentOf = ({ article }: Extraction): string =>
  JSON.stringify(
    article && [
      article.title,
      article.byline,
      article.publishedDate,
      article.modifiedDate,
      article.text,
      article.markdown,
      article.anchors,
    ],
  );
