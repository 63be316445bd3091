import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import {
  type CrawlEvent,
  type CrawlJobOptions,
  type CrawlJobParts,
  type CrawlPlan,
  createCrawlPlan,
  type FallbackExtractor,
  type PlannedPage,
  type PreviewOptions,
} from "../../crawler/index.ts";
import { type ExtractionOptions, type Extractor, STORED_RENDERINGS } from "../../extraction/index.ts";
import type { HttpFetcher, Poster, PostResponse } from "../../fetching/index.ts";
import type { PageStore } from "../../pages/index.ts";
import { compileUrlRules, originOf, type PageUrl } from "../../urls/index.ts";
import type { OnlineTenant } from "../settings.ts";

/** How pages are crawled, the same for every tenant. */
type CrawlPoliteness = {
  readonly concurrency: number;
  readonly hostDelayMs: number;
  /** Null learns where rendering changes something. */
  readonly preferBrowser: boolean | null;
  readonly extraction: Omit<ExtractionOptions, "renderings">;
};

/** No tenant limits the depth; this is the largest allowed one. */
const MAX_DEPTH = 100;

/** The settings that say which pages are crawled. */
export type WantedPages = Pick<
  OnlineTenant,
  "entryUrls" | "sitemapUrls" | "allowPrefixes" | "denyPrefixes" | "followLinks" | "maxPages"
>;

/** The plan of the crawl for a sync of a website. */
export const planOf = (
  tenant: WantedPages,
  politeness: CrawlPoliteness,
  trustsLastModified: boolean,
): CrawlPlan =>
  createCrawlPlan({
    seeds: tenant.entryUrls,
    sitemaps: tenant.sitemapUrls,
    allowPrefixes: tenant.allowPrefixes,
    denyPrefixes: tenant.denyPrefixes,
    maxPages: tenant.maxPages,
    followsLinks: tenant.followLinks,
    readsDocuments: true,
    trustsLastModified,
    maxDepth: MAX_DEPTH,
    concurrency: politeness.concurrency,
    hostDelayMs: politeness.hostDelayMs,
    respectsMetaRobots: true,
    preference: preferenceOf(politeness),
    // A sync asks for Markdown itself, and only where links do not have to be followed.
    extraction: { ...politeness.extraction, renderings: STORED_RENDERINGS, takesNativeMarkdown: false },
  });

const preferenceOf = ({ preferBrowser }: CrawlPoliteness): CrawlPlan["preference"] =>
  preferBrowser === null ? "learned" : preferBrowser ? "browser" : "http";

/** The plan of a crawl of exactly these pages, whatever they link to. */
export const checkPlanOf = (
  tenant: OnlineTenant,
  politeness: CrawlPoliteness,
  seeds: readonly PageUrl[],
): CrawlPlan =>
  planOf(
    { ...tenant, entryUrls: seeds, sitemapUrls: [], maxPages: seeds.length, followLinks: false },
    politeness,
    false,
  );

/** Makes a function that tells whether the tenant's settings include a page. */
export function createIsWanted(tenant: OnlineTenant): (url: PageUrl) => boolean {
  const refusalOf = compileUrlRules(tenant);
  return (url) => refusalOf(url, null) === null;
}

/** An address in each part of the site that cannot exist, to see what the site shows for it. */
export function probesOf(tenant: OnlineTenant, urls: readonly PageUrl[], word: string): PageUrl[] {
  const origins = [...new Set(urls.map(originOf))].slice(0, MAX_PROBES);
  return origins.map((origin) => {
    const prefix = tenant.allowPrefixes.find((allowed) => allowed.startsWith(`${origin}/`)) ?? `${origin}/`;
    const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
    // A canonical URL's folder followed by letters is a canonical URL.
    return `${folder.startsWith(prefix) ? folder : prefix}${word}` as PageUrl;
  });
}

const MAX_PROBES = 20;

/** Crawls for one tenant. */
export interface TenantCrawler extends AsyncDisposable {
  /** The fetcher without a browser. */
  readonly http: HttpFetcher;
  /** Lists the pages that a crawl would begin with. */
  previewCrawl(
    plan: CrawlPlan,
    options: PreviewOptions,
    signal: AbortSignal,
  ): AsyncGenerator<PlannedPage, void>;
  crawl(
    plan: CrawlPlan,
    options: CrawlJobOptions,
    signal: AbortSignal,
    adapt: (parts: CrawlJobParts, http: HttpFetcher) => CrawlJobParts,
  ): AsyncGenerator<CrawlEvent, void>;
}

/** Access to websites, shared by all tenants. */
export type WebAccess = {
  readonly politeness: CrawlPoliteness;
  /** Opens a crawler that may reach these hosts, and others as the egress policy decides. */
  readonly openCrawler: (
    hosts: readonly string[],
    options: { readonly acceptMarkdown: boolean },
  ) => TenantCrawler;
  readonly fallback: RemoteExtractor | null;
};

export type OnlineSourceOptions = {
  readonly access: WebAccess;
  /** An absolute path; the directory holds the crawl's memory, pages that wait to be judged, and the ledger. */
  readonly stateDirectory: string;
  readonly log: Log;
  /** The time in milliseconds since 1970. */
  readonly now: () => number;
};

/** The objects that the steps of a sync work with. */
export type OnlineParts = {
  readonly tenant: OnlineTenant;
  readonly options: OnlineSourceOptions;
  /** The published documents. */
  readonly published: PageStore;
  readonly ledgerPath: string;
};

/** The remote extractor that is asked when a page fails here (`article_extractor_fallback` in docs/tenants.md). */
export type RemoteExtractor = {
  readonly endpoint: PageUrl;
  /** The time limit of one request, in ms. */
  readonly timeoutMs: number;
  /** The number of requests after the first failed one. */
  readonly maxRetries: number;
  /** The bearer token; null sends none. */
  readonly token: string | null;
  readonly poster: Poster;
};

/** Makes an extractor that requests one page at a time, whatever the service accepts at once. */
export function createFallbackExtractor(
  remote: RemoteExtractor,
  extractor: Pick<Extractor, "extract">,
  options: ExtractionOptions,
): FallbackExtractor {
  return async (url, signal) => {
    const answer = await post(remote, { url }, signal);
    if (answer.status < 200 || answer.status > 299)
      throw new Failure("http_status", `POST ${remote.endpoint} answered HTTP ${answer.status}`);
    const { title, markdown, content } = readAnswer(remote.endpoint, answer);
    const body = markdown ?? content;
    if (body === null) return null;
    const kind = markdown === null ? ("html" as const) : ("markdown" as const);
    const task = { kind, body, url, options };
    const { article } = await extractor.extract(task, signal);
    return article && { ...article, title: title ?? article.title };
  };
}

/**
 * Checks that the endpoint takes connections. Nothing is sent, since the service would count a request without a page
 * as an error.
 * @throws Failure `invalid_settings`
 */
export async function requireReachable(remote: RemoteExtractor, signal: AbortSignal): Promise<void> {
  try {
    await remote.poster.reach(remote.endpoint, { signal, deadlineMs: remote.timeoutMs });
  } catch (cause) {
    if (!(cause instanceof Failure) || signal.aborted) throw cause;
    throw new Failure(
      "invalid_settings",
      `infrastructure.article_extractor_fallback.endpoint: nobody answers at ${remote.endpoint}: ${cause.message}`,
      { cause },
    );
  }
}

const post = (
  { poster, endpoint, timeoutMs, maxRetries, token }: RemoteExtractor,
  json: unknown,
  signal: AbortSignal,
): Promise<PostResponse> =>
  poster.post(endpoint, {
    json,
    signal,
    tries: maxRetries + 1,
    deadlineMs: (maxRetries + 1) * timeoutMs + maxRetries * MAX_BACK_OFF_MS,
    authorization: token === null ? null : `Bearer ${token}`,
  });

/** The longest wait between two tries. */
const MAX_BACK_OFF_MS = 8_000;

function readAnswer(endpoint: PageUrl, { text }: PostResponse) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Failure("unsupported_content", `POST ${endpoint} answered no JSON`, { cause });
  }
  const field = (name: string): string | null => {
    const found = typeof value === "object" && value !== null ? Reflect.get(value, name) : null;
    return typeof found === "string" && found.trim() !== "" ? found : null;
  };
  return { title: field("title"), markdown: field("markdown"), content: field("content") };
}
