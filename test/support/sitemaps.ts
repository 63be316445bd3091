import { DEFAULT_SITEMAP_LIMITS, parseSitemapSource } from "../../src/crawler/index.ts";
import type { SitemapLimits } from "../../src/crawler/sitemap/open.ts";
import { readSitemaps } from "../../src/crawler/sitemap/read-sitemaps.ts";
import type { SitemapNews, SitemapUrl } from "../../src/crawler/types.ts";
import type { FetchOptions } from "../../src/fetching/index.ts";
import { serveLocal } from "./local.ts";
import { type TestFetcherOptions, testFetcher } from "./test-fetcher.ts";

export type SitemapBody = string | Uint8Array<ArrayBuffer>;
export type SitemapAnswer =
  | SitemapBody
  | { readonly body: SitemapBody; readonly type?: string; readonly status?: number };

export type SitemapSite = AsyncDisposable & { readonly origin: string; readonly requests: string[] };

/** Serves sitemaps by path; `{origin}` in texts becomes the site's own. Answers without a type are XML. */
export function serveSitemaps(answers: Readonly<Record<string, SitemapAnswer>>): SitemapSite {
  const requests: string[] = [];
  const server = serveLocal((request) => {
    const { pathname, origin, search } = new URL(request.url);
    requests.push(pathname + search);
    const answer = answers[pathname + search] ?? answers[pathname];
    if (answer === undefined) return new Response("Not found", { status: 404 });
    const {
      body,
      type = "application/xml",
      status = 200,
    } = typeof answer === "string" || answer instanceof Uint8Array ? { body: answer } : answer;
    const filled = typeof body === "string" ? body.replaceAll("{origin}", origin) : body;
    return new Response(filled, { status, headers: { "content-type": type } });
  });
  return { origin: server.url.origin, requests, [Symbol.asyncDispose]: () => server.stop(true) };
}

export type SitemapReading = {
  readonly pages: readonly SitemapUrl[];
  readonly urls: readonly string[];
  readonly events: readonly Exclude<SitemapNews, { kind: "pages" }>[];
};

/** Reads sitemaps, named as a person would name them, to the end. */
export async function readAll(
  written: readonly string[],
  options: {
    readonly limits?: Partial<SitemapLimits>;
    readonly fetcher?: TestFetcherOptions;
    readonly fetch?: FetchOptions;
    readonly authorizations?: ReadonlyMap<string, string>;
  } = {},
): Promise<SitemapReading> {
  const sources = written.map((text) => {
    const source = parseSitemapSource(text, "/");
    if (!source) throw new Error(`no sitemap: ${text}`);
    return source;
  });
  const pages: SitemapUrl[] = [];
  const events: Exclude<SitemapNews, { kind: "pages" }>[] = [];
  const reading = readSitemaps(sources, {
    fetcher: testFetcher({ ...options.fetcher, limits: { tries: 1, ...options.fetcher?.limits } }),
    limits: { ...DEFAULT_SITEMAP_LIMITS, ...options.limits },
    fetch: options.fetch ?? {},
    authorizations: options.authorizations ?? new Map(),
  });
  for await (const event of reading) {
    if (event.kind === "pages") pages.push(...event.pages);
    else events.push(event);
  }
  return { pages, urls: pages.map(({ url }) => url), events };
}

/** Serves one sitemap at /sitemap.xml and reads it. */
export async function readServed(
  answer: SitemapAnswer,
  options: Parameters<typeof readAll>[1] = {},
): Promise<SitemapReading & { readonly origin: string }> {
  await using site = serveSitemaps({ "/sitemap.xml": answer });
  return { ...(await readAll([`${site.origin}/sitemap.xml`], options)), origin: site.origin };
}
