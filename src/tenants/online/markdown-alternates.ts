import { askOnce, fetchMarkdown, linksOfIndex, type MarkdownAlternates } from "../../articles/index.ts";
import type { ReadSitemaps } from "../../crawler/index.ts";
import type { Fetcher, FetchOptions } from "../../fetching/index.ts";
import { type PageUrl, parsePageUrl } from "../../urls/index.ts";

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
    const links = url && (await linksOfIndex(http, url, reading));
    if (links === null) continue;
    isThere = true;
    for (const link of links) found.push(link);
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
