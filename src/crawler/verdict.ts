import type { Fetchers, PageVisit } from "../articles/index.ts";
import { Failure, type FailureRecord } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Extractor, MetaRobots } from "../extraction/index.ts";
import { type Clock, type FetchedPage, PRODUCT_TOKEN } from "../fetching/index.ts";
import { originOf, type PageUrl } from "../urls/index.ts";
import type { ClaimedPage, Frontier, KnownPage, NextTry, Settlement } from "./frontier/frontier.ts";
import type { PageGate, Politeness } from "./politeness.ts";
import type { Scope } from "./scope.ts";
import type {
  CrawlNotice,
  CrawlPlan,
  FallbackExtractor,
  PageChange,
  PageOutcome,
  PageSink,
  SkipReason,
} from "./types.ts";

/** What trying a page takes. */
export type VisitParts = {
  readonly plan: CrawlPlan;
  readonly frontier: Frontier;
  readonly sink: PageSink;
  readonly fetchers: Fetchers;
  readonly extractor: Pick<Extractor, "extract">;
  readonly politeness: Politeness;
  readonly scope: Scope;
  /** Requests for one page at most, the first included. */
  readonly tries: number;
  readonly authorizations: ReadonlyMap<string, string>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Another extractor, which is asked about pages that failed here. */
  readonly fallback?: FallbackExtractor;
  readonly onNotice: (notice: CrawlNotice) => void;
  /** Told of each page's decompressed size. */
  readonly onBytes: (bytes: number) => void;
};

/** What is to be done about a claimed page. */
export type Verdict =
  | { readonly kind: "settle"; readonly settlement: Settlement }
  /** Another try later; `hostFreeAt` lets the host's other pages out. */
  | { readonly kind: "retry"; readonly next: NextTry };

/** One try of one page. */
export type Attempt = {
  readonly page: ClaimedPage;
  readonly parts: VisitParts;
  readonly gate: PageGate;
  readonly signal: AbortSignal;
  readonly startedAt: number;
};

/** The page's other URLs: what redirected, what answered, and the canonical one of the same origin. */
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
} as const;

/** What the last crawl stored is still right; its links are those of then. */
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

/** What is known of an answer that is no success. */
type Answered = {
  readonly answer?: FetchedPage;
  /** Its links are followed all the same. */
  readonly visit?: PageVisit;
  /** Of an answer that was no page. */
  readonly status?: number | null;
  readonly finalUrl?: PageUrl;
};

export const failed = (attempt: Attempt, error: FailureRecord, answered: Answered = {}): Verdict =>
  settle(attempt, { outcome: { status: "failed", error, ...answerOf(answered) }, ...answered });

/** A stored page that is not there any more. @param filePath where it was moved */
export const gone = (attempt: Attempt, answer: FetchedPage, filePath: string | null): Verdict =>
  settle(attempt, {
    outcome: { status: "skipped", reason: "gone", change: "gone", filePath, ...answerOf({ answer }) },
  });

export const skipped = (attempt: Attempt, reason: SkipReason, answered: Answered = {}): Verdict =>
  settle(attempt, { outcome: { status: "skipped", reason, ...answerOf(answered) }, ...answered });

function answerOf(answered: Answered): Pick<PageOutcome, "httpStatus" | "finalUrl"> {
  const { answer, visit, status = null, finalUrl = null } = answered;
  const page = answer ?? visit?.page;
  return { httpStatus: page?.status ?? status, finalUrl: page?.finalUrl ?? finalUrl };
}

type Judged = {
  readonly outcome: Pick<PageOutcome, "status"> & Partial<PageOutcome>;
  readonly validators?: Settlement["validators"];
  readonly visit?: PageVisit;
};

/** The end of a page, with its links where it was read. */
export function settle(attempt: Attempt, { outcome, validators, visit }: Judged): Verdict {
  const { page, parts, gate } = attempt;
  const { links, refused } = parts.scope.chooseLinks(visit?.extraction?.links ?? [], {
    isNofollow: visit !== undefined && robotsOf(visit).nofollow,
  });
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

/** Links of a page that no page of the crawl leads to any more are not the crawl's. */
function followOf({ page, parts }: Attempt): Settlement["follow"] {
  if (page.source === "memory") return "never";
  return page.depth < parts.plan.maxDepth ? "now" : "too_deep";
}

/** What a stored page is since the last crawl that finished. */
export function changeOf(known: KnownPage | null, contentHash: string | null): PageChange {
  if (known === null || known.toldHash === null) return "new";
  return known.toldHash === contentHash ? "unchanged" : "changed";
}

/** The page's robots directives, those of its header included. */
export const robotsOf = ({ page, extraction }: PageVisit): MetaRobots =>
  withRobotsHeader(extraction?.robots ?? { noindex: false, nofollow: false }, page.headers["x-robots-tag"]);

const durationOf = ({ page, gate, startedAt }: Attempt): number =>
  page.spentMs + Math.max(0, Math.round(performance.now() - startedAt - gate.waitedMs));

/** The page's directives with those of its `X-Robots-Tag` header, for all agents or for this one. */
export function withRobotsHeader(page: MetaRobots, header: string | undefined): MetaRobots {
  if (header === undefined) return page;
  let { noindex, nofollow } = page;
  let isForUs = true;
  for (const part of header.slice(0, 4096).toLowerCase().split(",")) {
    const colon = part.indexOf(":");
    const agent = colon < 0 ? "" : part.slice(0, colon).trim();
    // A name holds for what follows it; these directives have a value of their own.
    const isAgent = agent !== "" && !/^(?:unavailable_after|max-\w+(?:-\w+)*)$/.test(agent);
    if (isAgent) isForUs = agent === PRODUCT_TOKEN || agent === "*";
    const directive = (isAgent ? part.slice(colon + 1) : part).trim();
    if (!isForUs) continue;
    if (directive === "noindex" || directive === "none") noindex = true;
    if (directive === "nofollow" || directive === "none") nofollow = true;
  }
  return { noindex, nofollow };
}
