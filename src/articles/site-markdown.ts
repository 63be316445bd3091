import { Failure } from "../base/failure.ts";
import type { Extraction, MarkdownSign } from "../extraction/index.ts";
import type { FetchedPage, Fetcher, FetchOptions } from "../fetching/index.ts";
import { originOf, type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { PageVisit } from "./fetched-article.ts";
import { linksOfHeader } from "./link-header.ts";

/** What is known of the Markdown of sites' pages: `llms.txt` (llmstxt.org) links to it, or `page.md` answers. */
export class MarkdownAlternates {
  /** Pages whose Markdown `llms.txt` names. */
  readonly #named = new Map<PageUrl, PageUrl>();
  /** Misses in a row by origin; a hit makes the number negative for good. */
  readonly #misses = new Map<string, number>();
  /** The indexes that pages name, each read once. */
  readonly #indexes = new Map<PageUrl, Promise<void>>();

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
    return this.isWorthAsking(page) ? guessedAlternate(page) : null;
  }

  /** Whether the site has not disappointed too often. */
  isWorthAsking(page: PageUrl): boolean {
    return (this.#misses.get(originOf(page)) ?? 0) < MAX_MISSES;
  }

  /** Notes the links of an index once. */
  async read(index: PageUrl, load: () => Promise<readonly PageUrl[] | null>): Promise<void> {
    const noteAll = async (): Promise<void> => {
      for (const link of (await load()) ?? []) this.note(link);
    };
    const reading = this.#indexes.get(index) ?? noteAll();
    this.#indexes.set(index, reading);
    await reading;
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
  if (url.search !== "" || /\.(?:md|markdown|txt|xml|json|pdf|docx|odt|epub)$/i.test(url.pathname))
    return null;
  url.pathname = url.pathname.endsWith("/") ? `${url.pathname}index.html.md` : `${url.pathname}.md`;
  return parsePageUrl(url.href);
}

/** The answer to one request; null without one. */
export async function askOnce(
  http: Fetcher,
  url: PageUrl,
  options: FetchOptions,
): Promise<FetchedPage | null> {
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

/** The links of an index of Markdown, such as `llms.txt`, to pages of its site; null when there is no such file. */
export async function linksOfIndex(
  http: Fetcher,
  url: PageUrl,
  options: FetchOptions,
): Promise<readonly PageUrl[] | null> {
  const page = await askOnce(http, url, options);
  if (page?.status !== 200 || !/^text\/(?:plain|markdown|x-markdown)$/.test(page.contentType)) return null;
  if (page.html === "") return null;
  return linksOf(page.html, url).filter((link) => originOf(link) === originOf(url));
}

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

/** The types that are asked for where a site has Markdown. */
const ACCEPT = "text/markdown,text/plain;q=0.9,text/html;q=0.5";

type TwinParts = {
  readonly alternates: MarkdownAlternates;
  /** Fetches an address of the page's own origin, for the sake of the page. */
  readonly beside: { readonly http: Fetcher; readonly options: FetchOptions };
  readonly extract: (page: FetchedPage) => Promise<Extraction>;
};

/**
 * Puts the site's own Markdown in the place of that of an article, if the page names it and it holds what the page
 * holds; a warning tells why a named one is not taken. Everything else is still that of the page.
 * @throws Failure `cancelled` when the caller is
 */
export async function withSiteMarkdown(visit: PageVisit, parts: TwinParts): Promise<PageVisit> {
  const { page, extraction } = visit;
  const { alternates, extract, beside } = parts;
  const article = extraction?.article;
  if (!article || article.markdown === null || page.status !== 200) return visit;
  if (!alternates.isWorthAsking(page.finalUrl)) return visit;
  const named = await twinOf(visit, parts);
  if (named === null) return visit;
  const twin = await fetchMarkdown(beside.http, named.url, { ...beside.options, accept: ACCEPT });
  const own = twin && (await unlessItFails(() => extract(twin)))?.article;
  // Most pages have none.
  const { doubtOf, withMarkdown } = await import("./native-markdown.ts");
  const doubt = twin && own ? doubtOf(article, own, twin.html) : "there is none";
  alternates.noteAnswer(page.finalUrl, doubt === null);
  if (doubt !== null) {
    // A page that varies says nothing of Markdown.
    const warnings = named.sign === "vary" ? [] : [`The site's Markdown ${named.url} is not taken: ${doubt}`];
    return { ...visit, notes: [...visit.notes, ...warnings] };
  }
  const sources = { ...article.sources, markdown: { url: twin!.finalUrl, sign: named.sign } };
  const changed = { ...withMarkdown(article, own!, twin!.finalUrl), sources };
  return { ...visit, extraction: { ...extraction, article: changed } };
}

/** The first address that a page names for its Markdown, most explicit first. */
async function twinOf(
  { page, extraction }: PageVisit,
  { alternates, beside }: TwinParts,
): Promise<{ readonly url: PageUrl; readonly sign: MarkdownSign } | null> {
  const { finalUrl, headers } = page;
  const isNear = (url: PageUrl | null | undefined): url is PageUrl =>
    url != null && originOf(url) === originOf(finalUrl);
  const header = linksOfHeader(headers.link, finalUrl);
  const typed = header.find(
    ({ rel, type }) => rel.includes("alternate") && /^text\/(?:x-)?markdown/.test(type),
  );
  const [{ twin, index }, links] = [extraction?.markdownPointers ?? NOWHERE, extraction?.links ?? []];
  const indexes = [index, header.find(({ rel }) => rel.includes("describedby"))?.url, twin, typed?.url];
  if (isNear(twin) && !isIndex(twin)) return { url: twin, sign: "alternate" };
  if (isNear(typed?.url) && !isIndex(typed.url)) return { url: typed.url, sign: "header" };
  const forms = formsOf(finalUrl);
  const linked = links.find(({ url }) => forms.has(url));
  if (linked) return { url: linked.url, sign: "link" };
  for (const url of indexes) {
    if (!isNear(url) || !isIndex(url)) continue;
    await alternates.read(url, () => linksOfIndex(beside.http, url, { ...beside.options, accept: ACCEPT }));
    const listed = alternates.namedFor(finalUrl);
    if (isNear(listed)) return { url: listed, sign: "llms.txt" };
  }
  const varies = (headers.vary ?? "").split(",").map((name) => name.trim().toLowerCase());
  return varies.includes("accept") && page.fetchedBy === "http" ? { url: finalUrl, sign: "vary" } : null;
}

const NOWHERE = { twin: null, index: null };

const isIndex = (url: PageUrl): boolean => /\/llms(?:-[a-z]+)?\.txt$/.test(new URL(url).pathname);

/** The addresses at which sites have the Markdown of a page. */
function formsOf(page: PageUrl): ReadonlySet<PageUrl> {
  const url = new URL(page);
  const path = url.pathname;
  const stem = path.replace(/(?:\.html?|\/(?:index\.html?)?)$/, "");
  const paths = path.endsWith("/")
    ? [`${path}index.md`, `${path}index.html.md`, `${stem}.md`]
    : [`${path}.md`, `${stem}.md`];
  const forms = new Set<PageUrl>();
  for (const form of paths) {
    url.pathname = form;
    const parsed = parsePageUrl(url.href);
    if (parsed && parsed !== page) forms.add(parsed);
  }
  return forms;
}

async function unlessItFails<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Failure) || error.code === "cancelled") throw error;
    return null;
  }
}
