import { Failure } from "../../base/failure.ts";
import type { ReadSitemaps } from "../../crawler/index.ts";
import type { FetchedPage, Fetcher, FetchOptions } from "../../fetching/index.ts";
import { originOf, type PageUrl, parsePageUrl } from "../../urls/index.ts";

/** Finds the Markdown of a site's pages: `llms.txt` (llmstxt.org) links to it, or `page.md` answers. */
export class MarkdownAlternates {
  /** Pages whose Markdown `llms.txt` names. */
  readonly #named = new Map<PageUrl, PageUrl>();
  /** Misses in a row by origin; a hit makes the number negative for good. */
  readonly #misses = new Map<string, number>();

  /** Notes a link of `llms.txt`. @returns the page that it stands for */
  note(link: PageUrl): PageUrl {
    const page = pageOf(link);
    if (page === null) return link;
    this.#named.set(page, link);
    return page;
  }

  /** Returns the probable URL of the page's Markdown; null when it is not worth a request. */
  alternateOf(page: PageUrl): PageUrl | null {
    const named = this.namedFor(page);
    if (named) return named;
    return (this.#misses.get(originOf(page)) ?? 0) < MAX_MISSES ? guessedAlternate(page) : null;
  }

  /** The page's Markdown as `llms.txt` names it; null when it does not. */
  namedFor(page: PageUrl): PageUrl | null {
    return this.#named.get(page) ?? null;
  }

  noteAnswer(page: PageUrl, isHit: boolean): void {
    const origin = originOf(page);
    const misses = this.#misses.get(origin) ?? 0;
    if (isHit) this.#misses.set(origin, Number.NEGATIVE_INFINITY);
    else this.#misses.set(origin, misses + 1);
  }
}

/** After this many pages without Markdown a site counts as having none. */
const MAX_MISSES = 3;

/** `/guide.md` and `/guide.html.md` are `/guide` and `/guide.html`; `/guide/index.html.md` is `/guide/`. */
function pageOf(link: PageUrl): PageUrl | null {
  const url = new URL(link);
  if (!url.pathname.endsWith(".md")) return null;
  url.pathname = url.pathname.replace(/index(?:\.html?)?\.md$/, "").replace(/\.md$/, "");
  return parsePageUrl(url.href);
}

function guessedAlternate(page: PageUrl): PageUrl | null {
  const url = new URL(page);
  if (url.search !== "" || /\.(?:md|markdown|txt|xml|json|pdf)$/i.test(url.pathname)) return null;
  url.pathname = url.pathname.endsWith("/") ? `${url.pathname}index.html.md` : `${url.pathname}.md`;
  return parsePageUrl(url.href);
}

type Alternatives = { readonly alternates: MarkdownAlternates; readonly http: Fetcher };

/** Fetches in another way with a fetcher, which it is disposed of with. */
const fetchingWith = (fetcher: Fetcher, read: Fetcher["fetch"]): Fetcher => ({
  fetch: read,
  [Symbol.asyncDispose]: () => fetcher[Symbol.asyncDispose](),
});

/** Fetches a page, or the Markdown that `llms.txt` names for it where the site has no such page. */
export const orMarkdown = (fetcher: Fetcher, { alternates, http }: Alternatives): Fetcher =>
  fetchingWith(fetcher, async (url, options = {}) => {
    const page = await fetcher.fetch(url, options);
    const named = page.status === 404 || page.status === 410 ? alternates.namedFor(url) : null;
    const markdown = named && (await fetchMarkdown(http, named, options));
    return markdown ? { ...markdown, url, finalUrl: url, redirects: [] } : page;
  });

/** Fetches the Markdown form of a page if the site has one, else the page, under the page's own address. */
export const preferMarkdown = (fetcher: Fetcher, { alternates, http }: Alternatives): Fetcher =>
  fetchingWith(fetcher, async (url, options = {}) => {
    // The page is here already.
    if (options.received) return fetcher.fetch(url, options);
    const alternate = alternates.alternateOf(url);
    const page = alternate === null ? null : await fetchMarkdown(http, alternate, options);
    if (alternate !== null) alternates.noteAnswer(url, page !== null);
    return page ? { ...page, url, finalUrl: url, redirects: [] } : fetcher.fetch(url, options);
  });

/**
 * Asks with the plain client whether a page has changed before a browser opens it, because a browser cannot
 * ask. In a later sync most pages have not changed.
 */
export const revalidateFirst = (browser: Fetcher, http: Fetcher): Fetcher =>
  fetchingWith(browser, async (url, options = {}) => {
    const { validators, ...others } = options;
    if (validators?.etag || validators?.lastModified) {
      // The site may give the browser what it refuses the plain client.
      const page = await askOnce(http, url, options);
      if (page?.status === 304) return page;
    }
    return browser.fetch(url, others);
  });

/** The answer to one request; null without one. */
async function askOnce(http: Fetcher, url: PageUrl, options: FetchOptions): Promise<FetchedPage | null> {
  try {
    return await http.fetch(url, { ...options, tries: 1 });
  } catch (error) {
    if (!(error instanceof Failure) || options.signal?.aborted) throw error;
    return null;
  }
}

/** The Markdown at an address; null when there is none. */
export async function fetchMarkdown(
  http: Fetcher,
  alternate: PageUrl,
  options: FetchOptions,
): Promise<FetchedPage | null> {
  const page = await askOnce(http, alternate, options);
  if (page === null || page.status === 304) return page;
  const isMarkdown = /^text\/(?:x-)?markdown$/.test(page.contentType) || isPlainMarkdown(page);
  return page.status === 200 && isMarkdown ? { ...page, contentType: "text/markdown" } : null;
}

const isPlainMarkdown = ({ contentType, html }: FetchedPage): boolean =>
  contentType === "text/plain" && !html.trimStart().startsWith("<");

/** Reads the sites' `llms.txt` after their sitemaps, and adds its pages when they are to be crawled. */
export function withLlmsTxt(
  readSitemaps: ReadSitemaps,
  options: {
    readonly http: Fetcher;
    readonly alternates: MarkdownAlternates;
    /** Pages for which `linksOfLlmsTxt` asks. */
    readonly starts: readonly PageUrl[];
    readonly addsPages: boolean;
  },
): ReadSitemaps {
  return async function* (sitemaps, reading) {
    const links = (await linksOfLlmsTxt(options.http, options.starts, reading)) ?? [];
    const pages = links.map((link) => ({ url: options.alternates.note(link), lastModified: null }));
    yield* readSitemaps(sitemaps, reading);
    if (options.addsPages && pages.length > 0) yield { kind: "pages", pages };
  };
}

type Reading = Pick<FetchOptions, "beforeRequest"> & { readonly signal: AbortSignal };

/** The links to pages of their sites in every `llms.txt` that is for some pages; null when there is no such file. */
export async function linksOfLlmsTxt(
  http: Fetcher,
  starts: readonly PageUrl[],
  reading: Reading,
): Promise<readonly PageUrl[] | null> {
  const found: PageUrl[] = [];
  let isThere = false;
  // Of several addresses each is a page, and there may be hundreds.
  for (const folder of new Set(starts.flatMap((start) => foldersFor(start, starts.length === 1)))) {
    const url = parsePageUrl(`${folder}llms.txt`);
    const page = url && (await askOnce(http, url, reading));
    if (page?.status !== 200 || !/^text\/(?:plain|markdown|x-markdown)$/.test(page.contentType)) continue;
    if (page.html === "") continue;
    isThere = true;
    for (const link of linksOf(page.html, url!)) if (originOf(link) === originOf(url!)) found.push(link);
  }
  return isThere ? found : null;
}

/**
 * The folders whose `llms.txt` is for a page: its own, the nearest above it, and the root.
 * @param isPart whether the address stands for all that begins with it, as `/docs` does
 */
function foldersFor(page: PageUrl, isPart: boolean): readonly string[] {
  const { origin, pathname } = new URL(page);
  const names = pathname.split("/").slice(1);
  const last = names.pop()!; // a path begins with a slash
  if (isPart && last !== "" && !last.includes(".")) names.push(last);
  const above = names.map((_, depth) => `${origin}/${names.slice(0, depth + 1).join("/")}/`).reverse();
  return [...above.slice(0, 1 + MAX_PARENTS), `${origin}/`];
}

const MAX_PARENTS = 3;
const MAX_LINKS = 20_000;
/** A link of Markdown: its address may have blanks between `<` and `>`, and pairs of parentheses without them. */
const LINK = /\]\(\s{0,9}(?:<([^<>\n]{1,2000})>|((?:[^\s()<>]|\([^\s()<>]{0,200}\)){1,2000}))/g;

function linksOf(markdown: string, base: PageUrl): PageUrl[] {
  const links: PageUrl[] = [];
  for (const [, bracketed, bare = ""] of markdown.matchAll(LINK)) {
    const url = parsePageUrl(bracketed ?? bare, base);
    if (url) links.push(url);
    if (links.length >= MAX_LINKS) break;
  }
  return links;
}
