import { articleFromDocument, articleFromUrl, type FetchedArticle } from "./articles/index.ts";
import { Failure } from "./base/failure.ts";
import { silentLog } from "./base/log.ts";
import { HOME_PAGE, VERSION } from "./base/version.ts";
import { composeMarkdown, type ExtractionOptions, extractBody } from "./extraction/index.ts";
import {
  chooseProxy,
  createEgress,
  createHttpFetcher,
  DEFAULT_FETCH_LIMITS,
  type ProxyEnvironment,
  parseEgressPolicy,
  productUserAgent,
  randomUserAgent,
  readProxyEnvironment,
  systemResolve,
} from "./fetching/index.ts";
import { DEFAULT_EXTRACTION } from "./settings/index.ts";
import { type PageUrl, parsePageUrl, splitCredentials, withoutCredentials } from "./urls/index.ts";

export { Failure, type FailureCode } from "./base/failure.ts";

/** How a page is fetched; every field is optional. */
export type NetworkOptions = {
  readonly userAgent?: string;
  readonly randomUserAgent?: boolean;
  /** Address of an HTTP proxy; goes before `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY`. */
  readonly proxy?: string | null;
  /** Hosts that skip the proxy, in the grammar of `NO_PROXY`. */
  readonly proxyBypass?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** For one request, in ms; 30 000 by default. */
  readonly timeoutMs?: number;
  /** Further tries after a failed connection, 408, 425, 429 or 5xx; 3 by default. */
  readonly retries?: number;
  /** `auto` (default), `open`, `public`, or hosts and networks that may be reached besides public ones. */
  readonly egress?: string;
};

/** What shapes an extraction; every field is optional. */
export type ExtractOptions = Partial<Omit<ExtractionOptions, "renderings">> & {
  /** What is long, and null in the article unless it is asked for. */
  readonly include?: readonly ("links" | "images" | "structuredData")[];
  /** Used by `extractArticleFromUrl`; `extractArticle` opens no connection and has no use for it. */
  readonly network?: NetworkOptions;
  /** Ends the fetch with `cancelled`; an extraction that has begun on this thread comes to its end. */
  readonly signal?: AbortSignal;
};

/** An extracted article. Absent values are null. */
export type ExtractedArticle = Omit<FetchedArticle, "article" | "timings"> &
  Omit<FetchedArticle["article"], "content" | "markdown" | "warnings"> & {
    /** Sanitised HTML. */
    readonly content: string;
    /** GitHub-flavoured Markdown that starts with the title. */
    readonly markdown: string;
  };

/**
 * Extracts the article of an HTML string, without any input or output.
 * @param url the page's address, for its relative links; null leaves them relative
 * @throws Failure `no_content`, `too_large`, `invalid_url` for an address that is none, `invalid_usage`
 * for a wrong selector, `cancelled` when the signal was given before
 */
export async function extractArticle(
  html: string,
  url: string | null = null,
  options: ExtractOptions = {},
): Promise<ExtractedArticle> {
  const pageUrl = url === null ? null : requirePageUrl(url);
  if (options.signal?.aborted) throw new Failure("cancelled", "the extraction was cancelled before it began");
  const document = {
    name: pageUrl ?? "the page",
    kind: "html",
    body: html,
    url: pageUrl,
    warnings: [],
  } as const;
  return flatten(
    await articleFromDocument(document, extractionOptions(options), { extractor: inlineExtractor }),
  );
}

/**
 * Fetches a page over HTTP and extracts its article.
 * @throws Failure `invalid_url`, `network`, `timeout`, `http_status`, `egress_refused`, `too_large`,
 * `unsupported_content`, `no_content`, `rate_limited`, `cancelled`
 */
export async function extractArticleFromUrl(
  url: string,
  options: ExtractOptions = {},
): Promise<ExtractedArticle> {
  const split = splitCredentials(url);
  if (!split) throw notAUrl(url);
  await using fetcher = openFetcher(options.network ?? {});
  const { signal } = options;
  const request = {
    url: split.url,
    preference: "http_only" as const,
    options: extractionOptions(options),
    fetch: { authorization: split.authorization, ...(signal ? { signal } : {}) },
  };
  return flatten(
    await articleFromUrl(request, { fetchers: { http: fetcher, browser: null }, extractor: inlineExtractor }),
  );
}

const inlineExtractor = { extract: extractBody };

function requirePageUrl(url: string): PageUrl {
  const parsed = parsePageUrl(url);
  if (!parsed) throw notAUrl(url);
  return parsed;
}

const notAUrl = (url: string): Failure =>
  new Failure("invalid_url", `${JSON.stringify(withoutCredentials(url))} is not an http or https URL`);

function extractionOptions({
  network: _network,
  signal: _signal,
  include = [],
  ...given
}: ExtractOptions): ExtractionOptions {
  return { ...DEFAULT_EXTRACTION, ...given, renderings: ["content", "markdown", ...include] };
}

function openFetcher(network: NetworkOptions) {
  const requestTimeoutMs = network.timeoutMs ?? DEFAULT_FETCH_LIMITS.requestTimeoutMs;
  const chosenAgent = network.randomUserAgent ? randomUserAgent(Math.random) : null;
  return createHttpFetcher({
    egress: createEgress({
      policy: parseEgressPolicy(network.egress ?? "auto"),
      resolve: systemResolve,
      resolverTtlMs: 0,
    }),
    caller: { kind: "cli" },
    chooseProxy: chooseProxy({
      explicit: network.proxy ?? null,
      explicitSource: "caller",
      bypass: network.proxyBypass ?? [],
      environment: proxyEnvironment(),
    }),
    userAgent:
      network.userAgent ?? chosenAgent ?? productUserAgent({ version: VERSION, homePage: HOME_PAGE }),
    headers: network.headers ?? {},
    limits: {
      ...DEFAULT_FETCH_LIMITS,
      requestTimeoutMs,
      deadlineMs: Math.max(DEFAULT_FETCH_LIMITS.deadlineMs, requestTimeoutMs),
      tries: network.retries === undefined ? DEFAULT_FETCH_LIMITS.tries : network.retries + 1,
    },
    log: silentLog,
  });
}

let knownProxyEnvironment: ProxyEnvironment | null = null;

// Bun's fetch obeys the proxy variables by itself and past the egress policy, so there they are taken out
// of the process's environment; Node's undici does not read them, and they stay.
function proxyEnvironment(): ProxyEnvironment {
  knownProxyEnvironment ??= readProxyEnvironment(process.versions.bun ? process.env : { ...process.env });
  return knownProxyEnvironment;
}

function flatten({ article, timings: _timings, ...page }: FetchedArticle): ExtractedArticle {
  return {
    ...article,
    ...page,
    content: article.content ?? "",
    markdown: composeMarkdown(article.title, article.markdown ?? ""),
  };
}
