import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchMarkdown, MarkdownAlternates } from "../../articles/index.ts";
import { Failure } from "../../base/failure.ts";
import { sitemapsOfRobots } from "../../crawler/index.ts";
import { createRobotsCache, DEFAULT_ROBOTS_TIMES, displayUrl } from "../../fetching/index.ts";
import { compileUrlRules, originOf, type PageUrl, parsePageUrl } from "../../urls/index.ts";
import { type GitAccess, openAccess } from "../git/access.ts";
import { openRepository } from "../git/repository.ts";
import { chooseFiles } from "../git/working-copy.ts";
import { linksOfLlmsTxt } from "../online/markdown-alternates.ts";
import { planOf, type TenantCrawler, type WantedPages, type WebAccess } from "../online/plan.ts";
import type { GitTenant } from "../settings.ts";

type LookOptions = {
  readonly access: WebAccess;
  readonly signal: AbortSignal;
  /** Beginnings of addresses that the tenant excludes. */
  readonly denyPrefixes: readonly string[];
  /** The most pages that the tenant takes. */
  readonly maxPages: number;
};
type Look = Pick<LookOptions, "access" | "signal"> & { readonly crawler: TenantCrawler };

const MAX_SITEMAPS = 20;
/** Number of pages to try before deciding whether a site has Markdown, as in a sync. */
const MARKDOWN_TRIES = 3;

/**
 * Finds out how a website is best read: by the sitemaps that name pages below the given address, else by links.
 * @throws Failure of fetching the page at the address; `http_status`
 */
export async function lookAtWebsite(url: PageUrl, options: LookOptions) {
  const { access, signal } = options;
  await using crawler = access.openCrawler([new URL(url).hostname], { acceptMarkdown: true });
  const { status, finalUrl: entry, contentType, html } = await crawler.http.fetch(url, { signal });
  if (status >= 400) throw new Failure("http_status", `GET ${url} answered with status ${status}`);
  if (siteOf(entry) !== siteOf(url))
    throw new Failure(
      "invalid_usage",
      `${url} leads to another site, ${displayUrl(entry)}; name that one instead`,
    );
  const look: Look = { access, signal, crawler };
  const prefix = prefixOf(entry);
  const byLinks: WantedPages = {
    entryUrls: [entry],
    sitemapUrls: [],
    allowPrefixes: prefix === null ? [] : [prefix],
    denyPrefixes: options.denyPrefixes,
    followLinks: true,
    maxPages: options.maxPages,
  };
  const links = await linksOfLlmsTxt(crawler.http, [entry], { signal });
  const alternates = new MarkdownAlternates();
  const named = (links ?? []).map((link) => alternates.note(link));
  const listed = await readSitemaps(byLinks, look);
  const isListed = listed.sitemapUrls.length > 0;
  const isWanted = compileUrlRules(byLinks);
  const pages = new Set(isListed ? listed.pages : [entry]);
  if (!isListed)
    for (const page of named) if (isWanted(page, new Set([originOf(entry)])) === null) pages.add(page);
  const hasMarkdown = contentType === "text/markdown" || (await hasAlternates([...pages], alternates, look));
  return {
    wanted: { ...byLinks, sitemapUrls: listed.sitemapUrls, followLinks: !isListed },
    /** The page at the address, null where it is no HTML. */
    start: /html/.test(contentType) ? html : null,
    hasLlmsTxt: links !== null,
    /** Whether pages can be had as Markdown. */
    hasMarkdown,
    /** Those that a sync would begin with, of which there may be more behind links. */
    pages: [...pages],
  };
}

const siteOf = (url: PageUrl): string => new URL(url).hostname.replace(/^www\./, "");

/** The part of a site that an address stands for: its folder, or all that begins with it; null for the whole site. */
function prefixOf(entry: PageUrl): string | null {
  const { origin, pathname } = new URL(entry);
  const folder = pathname.slice(0, pathname.lastIndexOf("/") + 1);
  const isFile = pathname.slice(folder.length).includes(".");
  const part = isFile ? folder : pathname;
  return part === "/" ? null : `${origin}${part}`;
}

/** Finds the sitemaps that name wanted pages, among the sitemaps in robots.txt and in the usual places. */
async function readSitemaps(wanted: WantedPages, look: Look) {
  const { crawler, signal } = look;
  const {
    entryUrls: [entry],
    maxPages,
  } = wanted;
  const sitemapUrls: PageUrl[] = [];
  const pages = new Set<PageUrl>();
  const read = async (candidates: readonly (PageUrl | null)[]): Promise<void> => {
    for (const sitemap of candidates) {
      if (sitemap === null || sitemapUrls.length >= MAX_SITEMAPS || pages.size >= maxPages) continue;
      const before = pages.size;
      for await (const page of pagesOf({ ...wanted, sitemapUrls: [sitemap] }, look)) {
        pages.add(page);
        if (pages.size >= maxPages) break;
      }
      if (pages.size > before) sitemapUrls.push(sitemap);
    }
  };
  const robots = createRobotsCache({ fetcher: crawler.http, ...DEFAULT_ROBOTS_TIMES });
  if (entry) {
    const named = sitemapsOfRobots(await robots.rulesFor(entry, { signal }), entry);
    // Hosts of the file may be in inner networks, which only the operator may say; and a comma parts its addresses.
    await read(named.filter((sitemap) => siteOf(sitemap) === siteOf(entry) && !sitemap.includes(",")));
  }
  for (const base of [wanted.allowPrefixes[0]?.replace(/\/?$/, "/"), entry && `${originOf(entry)}/`])
    if (sitemapUrls.length === 0 && base) await read([parsePageUrl(`${base}sitemap.xml`)]);
  if (entry && pages.size < maxPages) pages.add(entry);
  return { sitemapUrls, pages };
}

async function* pagesOf(wanted: WantedPages, { access, crawler, signal }: Look): AsyncGenerator<PageUrl> {
  const plan = planOf(wanted, access.politeness, false);
  const options = { authorizations: new Map(), onSitemapFailure: () => {} };
  for await (const { url, source, refusal } of crawler.previewCrawl(plan, options, signal))
    if (source === "sitemap" && refusal === null) yield url;
}

async function hasAlternates(
  pages: readonly PageUrl[],
  alternates: MarkdownAlternates,
  { crawler: { http }, signal }: Look,
): Promise<boolean> {
  for (const page of pages.slice(0, MARKDOWN_TRIES)) {
    const alternate = alternates.alternateOf(page);
    if (alternate !== null && (await fetchMarkdown(http, alternate, { signal })) !== null) return true;
  }
  return false;
}

/** The folders in which projects keep their documentation, the likeliest first. */
const FOLDERS = ["docs", "doc", "documentation", "website/docs", "site/docs", "docs-site", "guide", "guides"];

/** A project with a larger tree is added by hand. */
const MAX_BYTES = 512 * 1024 * 1024;
const MAX_FILES = 100_000;

/**
 * Looks at the files of a repository's default branch, without their contents where the server can leave them out.
 * @throws Failure of `openAccess` and of git; `unreadable_input` for a repository without documents
 */
export async function lookAtRepository(
  tenant: GitTenant,
  { access, signal }: { readonly access: GitAccess; readonly signal: AbortSignal },
) {
  const directory = await mkdtemp(join(tmpdir(), "article-extractor-git-"));
  try {
    const home = join(directory, "home");
    await using opened = await openAccess(access, tenant, home);
    const url = tenant.repositoryUrl;
    const clone = join(directory, "git");
    const reach = opened.git;
    const repository = openRepository({ reach, directory: clone, home, url, maxBytes: MAX_BYTES, signal });
    const revision = (await repository.defaultBranch()) ?? tenant.revision;
    const tip = await repository.resolve(revision);
    await repository.fetchCommit(tip);
    const entries = await repository.list(tip.commit);
    const choosing = { stripPrefix: null, rules: tenant.rules, maxFiles: MAX_FILES };
    const chosenFrom = (subpaths: readonly string[]): readonly string[] =>
      chooseFiles(entries, { ...choosing, subpaths }).files.map(({ from }) => from);
    const all = chosenFrom(["."]);
    if (all.length === 0)
      throw new Failure("unreadable_input", `${url} has no documents in the branch ${revision}`);
    const folder = FOLDERS.find((one) => all.some((path) => path.startsWith(`${one}/`)));
    const introductions = all.filter((path) => /^readme\.[a-z]{1,10}$/i.test(path));
    const subpaths = folder === undefined ? ["."] : [folder, ...introductions];
    // A folder for the documentation and the introduction at the top, else all of it.
    return { revision, subpaths, documents: chosenFrom(subpaths) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
