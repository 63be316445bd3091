import { articleFromDocument, articleFromUrl } from "../articles/index.ts";
import { Failure } from "../base/failure.ts";
import { silentLog } from "../base/silent-log.ts";
import { HOME_PAGE, VERSION } from "../base/version.ts";
import { type Extractor, extractBody } from "../extraction/index.ts";
import {
  chooseProxy,
  createEgress,
  createHttpFetcher,
  DEFAULT_FETCH_LIMITS,
  type HttpFetcher,
  type ProxyEnvironment,
  parseEgressPolicy,
  productUserAgent,
  randomUserAgent,
  readProxyEnvironment,
  systemResolve,
} from "../fetching/index.ts";
import { splitCredentials } from "../urls/index.ts";
import { checkOptions, extractionOptions, flatten, notAUrl, readDocument, wrong } from "./arguments.ts";
import type {
  ExtractArticleOptions,
  ExtractedArticle,
  ExtractFromUrlOptions,
  NetworkOptions,
  PageBody,
} from "./types.ts";
import { openWorkers } from "./workers.ts";

/**
 * Extracts the article of a page that is here already, on the calling thread and without any input or output. An empty
 * page, like every page without words, fails with `no_content`. A PDF, DOCX, ODT or EPUB is read on a worker thread.
 * @param html text, or bytes (a `Buffer` too) whose charset is detected as for fetched pages; or those of a document
 * @param url the page's address, for its relative links; null leaves them relative
 * @throws Failure `no_content`, `too_large`, `unsupported_content` for bytes that are neither text nor a document,
 * `damaged_document`, `encrypted_document`, `no_text_layer`, `too_complex` for a document that takes 60 s, `invalid_url`,
 * `invalid_usage` for a wrong selector, option or type, `cancelled` when the signal has fired
 */
export async function extractArticle(
  html: PageBody,
  url: string | null = null,
  options: ExtractArticleOptions = {},
): Promise<ExtractedArticle> {
  checkOptions("extractArticle", options);
  const document = readDocument({ html, url, contentType: options.contentType }, "extractArticle");
  if (options.signal?.aborted) throw new Failure("cancelled", "the extraction was cancelled before it began");
  const parts = { extractor: inlineExtractor, ...(options.signal && { signal: options.signal }) };
  return flatten(await articleFromDocument(document, extractionOptions(options), parts), options);
}

/**
 * Fetches a page, or a PDF, DOCX, ODT or EPUB, over HTTP and extracts its article.
 * @throws Failure `invalid_url`, `network`, `timeout`, `http_status`, `egress_refused`, `too_large`,
 * `unsupported_content`, `no_content`, `blocked`, `rate_limited`, `cancelled`, `invalid_usage` for a wrong selector, option or type,
 * and those of documents that `extractArticle` throws
 */
export async function extractArticleFromUrl(
  url: string,
  options: ExtractFromUrlOptions = {},
): Promise<ExtractedArticle> {
  checkOptions("extractArticleFromUrl", options);
  checkOptions("extractArticleFromUrl's network", options.network ?? {});
  if (typeof url !== "string") throw wrong("extractArticleFromUrl", "the page's address as text", url);
  const split = splitCredentials(url);
  if (!split) throw notAUrl(url);
  await using fetcher = openFetcher(options.network ?? {});
  const { signal } = options;
  const request = {
    url: split.url,
    preference: "http_only" as const,
    options: extractionOptions(options),
    fetch: { authorization: split.authorization, acceptsFiles: true, ...(signal ? { signal } : {}) },
  };
  return flatten(
    await articleFromUrl(request, { fetchers: { http: fetcher, browser: null }, extractor: inlineExtractor }),
    options,
  );
}

const inlineExtractor: Pick<Extractor, "extract"> = {
  async extract(task, signal) {
    if (task.kind !== "file") return extractBody(task);
    // Readers of files change globals of their thread, and a document may be made to run for ever.
    await using worker = openWorkers(1);
    return await worker.extract(task, signal);
  },
};

function openFetcher(network: NetworkOptions): HttpFetcher {
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
