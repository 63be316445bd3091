import type { Page } from "../../pages/index.ts";
import type { PageUrl } from "../../urls/index.ts";

/** What a page says. */
export type PageFingerprint = {
  readonly url: PageUrl;
  /** Without those that error pages repeat of the address that was asked for; 0 for a page that is too long for one. */
  readonly wordCount: number;
  /** Numbers of the pairs of neighbours among these words, each once, in order: a sync holds those of every page. */
  readonly pairs: Uint32Array;
  /** A number of these words. */
  readonly digest: string;
  /** A number of all words, those of the address included. */
  readonly fullDigest: string;
};

/** What a site shows for an address that does not exist. */
export type ErrorPage = PageFingerprint & {
  /** The page that answered, after redirects: often the start page. */
  readonly answeredBy: string;
};

/** Longer pages are no error pages, however much they share. */
const MAX_ERROR_WORDS = 400;
/** Words are counted otherwise where a page is extracted: numbers are words there. */
const LONG_ENOUGH = 2 * MAX_ERROR_WORDS;
/** Words of a page that are looked at. */
const MAX_WORDS = 2000;
const MAX_CHARACTERS = 50_000;

/** @param page.wordCount of the Markdown; of a page that is too long for an error page nothing is read */
export function fingerprintOf(
  url: PageUrl,
  { title, markdown, wordCount }: Pick<Page, "title" | "markdown" | "wordCount">,
): PageFingerprint {
  const tooLong = { url, wordCount: 0, pairs: new Uint32Array(), digest: url, fullDigest: url };
  if (wordCount > LONG_ENOUGH) return tooLong;
  const text = `${title}\n${markdown}`.slice(0, MAX_CHARACTERS).toLowerCase();
  const visible = text.replace(/\]\([^()\n]{0,2000}\)/g, "]");
  const words = wordsOf(withoutAddress(visible, url));
  if (words.length > LONG_ENOUGH) return tooLong;
  return {
    url,
    wordCount: words.length,
    pairs: pairsOf(words),
    digest: digestOf(words),
    fullDigest: digestOf(wordsOf(visible)),
  };
}

function pairsOf(words: readonly string[]): Uint32Array {
  const numbers = words.map((word, index) => Bun.hash.crc32(`${word} ${words[index + 1] ?? ""}`));
  return new Uint32Array(new Set(numbers)).sort();
}

const digestOf = (words: readonly string[]): string => Bun.hash(words.join(" ")).toString(36);

function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [word] of text.matchAll(/\p{L}+/gu)) {
    if (words.length >= MAX_WORDS) break;
    words.push(word);
  }
  return words;
}

const MAX_SEGMENTS = 20;

/** The address, its path and each part of it, as they are and as a title has them, do not count. */
function withoutAddress(text: string, url: PageUrl): string {
  const { pathname, search } = new URL(url);
  const path = decode(pathname).toLowerCase();
  const segments = path
    .split("/")
    .filter((segment) => segment !== "")
    .slice(0, MAX_SEGMENTS);
  const spoken = segments.map((segment) => segment.replace(/[-_.]+/g, " "));
  let rest = text;
  for (const part of [url.toLowerCase(), path + search.toLowerCase(), path, ...segments, ...spoken]) {
    // Most are not there, and an expression is made for each.
    if (part === "" || part === "/" || !rest.includes(part)) continue;
    rest = rest.replace(new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(part)}(?![\\p{L}\\p{N}])`, "gu"), " ");
  }
  return rest;
}

function decode(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

/** So much of a page's word pairs must stand in the error page, and the other way round. */
const SAME = 0.9;

/** Whether a page is the one that the site shows for an address that does not exist. */
export function isLikeErrorPage(page: PageFingerprint, errorPage: ErrorPage): boolean {
  // Where a site leads everybody to its start page, the start page is still one.
  if (page.url === errorPage.answeredBy) return false;
  if (page.wordCount === 0 || page.wordCount > MAX_ERROR_WORDS) return false;
  if (page.digest === errorPage.digest) return true;
  const most = Math.max(page.pairs.length, errorPage.pairs.length);
  return commonOf(page.pairs, errorPage.pairs) >= SAME * most;
}

/** How many numbers stand in both; both in order. */
function commonOf(a: Uint32Array, b: Uint32Array): number {
  let common = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [left = 0, right = 0] = [a[i], b[j]];
    if (left === right) common++;
    if (left <= right) i++;
    if (right <= left) j++;
  }
  return common;
}

/** Two pages may be the same by chance or as aliases; three that have other names are no coincidence. */
const MIN_ALIKE = 3;

/**
 * Short pages that say the same under names that differ: a login, a notice of maintenance, an error with status
 * 200. The same page in several versions of the documentation has one name, and is none of these.
 */
export function findRepeatedTexts(pages: readonly PageFingerprint[]): ReadonlySet<PageUrl> {
  const groups = new Map<string, PageFingerprint[]>();
  for (const page of pages) {
    if (page.wordCount === 0 || page.wordCount > MAX_ERROR_WORDS) continue;
    // Stubs of a reference differ in the name that they describe, which stands in their address too.
    const group = groups.get(page.fullDigest);
    if (group) group.push(page);
    else groups.set(page.fullDigest, [page]);
  }
  const found = new Set<PageUrl>();
  for (const group of groups.values())
    if (new Set(group.map(({ url }) => nameOf(url))).size >= MIN_ALIKE)
      for (const { url } of group) found.add(url);
  return found;
}

/** The last part of a URL's path. */
export const nameOf = (url: string): string =>
  new URL(url).pathname.split("/").findLast((part) => part !== "") ?? "";
