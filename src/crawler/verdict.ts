import { createHash } from "node:crypto";
import type { ErrorPages, FetchedArticle, Fetchers, PageVisit, Renderings } from "../articles/index.ts";
import { Failure, type FailureRecord } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { wordsIn } from "../base/text.ts";
import type { Article, Extractor, MetaRobots } from "../extraction/index.ts";
import { type Clock, type FetchedPage, PRODUCT_TOKEN } from "../fetching/index.ts";
import type { Page } from "../pages/index.ts";
import { originOf, type PageUrl } from "../urls/index.ts";
import type { ClaimedPage, Frontier, KnownPage, NextTry, Settlement } from "./frontier/frontier.ts";
import type { CrawlPlan } from "./plan.ts";
import type { PageGate, Politeness } from "./politeness.ts";
import type { Scope } from "./scope.ts";
import type {
  CrawlNotice,
  FallbackExtractor,
  PageChange,
  PageOutcome,
  PageSink,
  SkipReason,
} from "./types.ts";

/** The parts that a try of a page needs. */
export type VisitParts = {
  readonly plan: CrawlPlan;
  readonly frontier: Frontier;
  readonly sink: PageSink;
  readonly fetchers: Fetchers;
  readonly extractor: Pick<Extractor, "extract">;
  /** What the crawl has learned about rendering pages. */
  readonly renderings: Renderings;
  /** Whether an answer "not modified" is believed of pages that scripts may fill. */
  readonly trustsNotModified?: boolean;
  readonly politeness: Politeness;
  readonly scope: Scope;
  readonly errorPages: ErrorPages;
  /** The maximum number of requests for one page, including the first. */
  readonly tries: number;
  readonly authorizations: ReadonlyMap<string, string>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Another extractor for pages that failed here. */
  readonly fallback?: FallbackExtractor;
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
export type Attempt = {
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

/** Returns the page's other URLs: of redirects, the final one, and the canonical one of the same origin. */
export function otherUrls(url: PageUrl, { page, extraction }: PageVisit): PageUrl[] {
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
export function unchanged(attempt: Attempt, answer: FetchedPage | null): Verdict {
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

/** What is known about an unsuccessful answer. */
type Answered = {
  readonly answer?: FetchedPage;
  /** The links of this visit are followed nevertheless. */
  readonly visit?: PageVisit;
  /** The status of an answer that was not a page. */
  readonly status?: number | null;
  readonly finalUrl?: PageUrl;
};

export const failed = (attempt: Attempt, error: FailureRecord, answered: Answered = {}): Verdict =>
  settle(attempt, { outcome: { status: "failed", error, ...answerOf(answered) }, ...answered });

/** Settles a stored page as gone. */
export const gone = (attempt: Attempt, answer: FetchedPage, filePath: string | null): Verdict =>
  settle(attempt, {
    outcome: { status: "skipped", reason: "gone", change: "gone", filePath, ...answerOf({ answer }) },
  });

export const skipped = (attempt: Attempt, reason: SkipReason, answered: Answered = {}): Verdict =>
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
export function settle(attempt: Attempt, { outcome, validators, visit }: Judged): Verdict {
  const { page, parts, gate } = attempt;
  const isNofollow = visit !== undefined && robotsOf(visit).nofollow;
  const { links, refused } = parts.scope.chooseLinks(visit?.extraction?.links ?? [], isNofollow);
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
export const robotsOf = ({ page, extraction }: PageVisit): MetaRobots =>
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

/** Stores a page's article in the sink, unless the sink already has the same text. */
export async function storeArticle(
  { page, parts, signal, storing, isStored }: Attempt,
  fetched: FetchedArticle,
): Promise<Judged["outcome"]> {
  const { article, warnings, finalUrl, statusCode } = fetched;
  const { wordCount, language, publishedDate: date } = article;
  const title = article.title ?? "";
  const markdown = article.markdown ?? "";
  const anchors = article.anchors ?? [];
  const contentHash = contentHashOf({ title, markdown, anchors });
  // Another process may have stored the page since, and this text must not replace its.
  if (signal.aborted || !parts.frontier.holds(page))
    throw new Failure("cancelled", `${page.url} was given up before it was stored`);
  const isThere = page.known?.outcome.contentHash === contentHash && (await isStored());
  const filePath = isThere
    ? (page.known?.outcome.filePath ?? null)
    : await parts.sink.put(
        {
          page: {
            url: page.url,
            title,
            markdown,
            extractedAt: new Date(parts.clock.now()).toISOString(),
            wordCount,
            ...(language !== null && { language }),
            ...(date !== null && { date }),
            ...(anchors.length > 0 && { anchors }),
          },
          article: fetched,
          depth: page.depth,
          parent: page.parent,
        },
        storing,
      );
  return {
    status: "success",
    filePath,
    title: article.title,
    wordCount,
    httpStatus: statusCode,
    finalUrl,
    contentHash,
    warnings,
    change: changeOf(page.known, contentHash),
    fetcher: fetched.fetcher === "browser" ? "browser" : "http",
  };
}

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
export async function tryFallback(
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
