import { decodeLoosely } from "../../base/text.ts";
import type { Page } from "../../pages/index.ts";
import type { PageUrl } from "../../urls/index.ts";

/** A summary of a page's text, for recognising error pages. */
export type PageFingerprint = {
  readonly url: PageUrl;
  /**
   * The number of words, without those from the address, which error pages repeat; 0 for a page that is too
   * long to be one.
   */
  readonly wordCount: number;
  /**
   * Hashes of the pairs of neighbouring words, each once, in order. A sync keeps those of every page in
   * memory.
   */
  readonly pairs: Uint32Array;
  /** A hash of these words. */
  readonly digest: string;
  /** A hash of all words, including those of the address. */
  readonly fullDigest: string;
};

/** What a site shows for an address that does not exist. */
export type ErrorPage = PageFingerprint & {
  /** The page that answered after redirects, often the start page. */
  readonly answeredBy: string;
};

/** Longer pages are no error pages, however much they share. */
const MAX_ERROR_WORDS = 400;
/**
 * Extraction counts words differently, for example numbers, so only pages of this length are certainly too
 * long.
 */
const LONG_ENOUGH = 2 * MAX_ERROR_WORDS;
/** The most words of a page that are read. */
const MAX_WORDS = 2000;
const MAX_CHARACTERS = 50_000;

/** @param page.wordCount the words of the Markdown; a page that is too long for an error page is not read */
export function fingerprintOf(
  url: PageUrl,
  { title, markdown, wordCount }: Pick<Page, "title" | "markdown" | "wordCount">,
): PageFingerprint {
  const tooLong = { url, wordCount: 0, pairs: new Uint32Array(), digest: url, fullDigest: url };
  if (wordCount > LONG_ENOUGH) return tooLong;
  const text = `${title}\n${markdown}`.slice(0, MAX_CHARACTERS).toLowerCase();
  const visible = text.replace(/\]\([^()\n]{0,2000}\)/g, "]");
  const words = wordsOfLetters(withoutAddress(visible, url));
  if (words.length > LONG_ENOUGH) return tooLong;
  return {
    url,
    wordCount: words.length,
    pairs: pairsOf(words),
    digest: digestOf(words),
    fullDigest: digestOf(wordsOfLetters(visible)),
  };
}

function pairsOf(words: readonly string[]): Uint32Array {
  const numbers = words.map((word, index) => Bun.hash.crc32(`${word} ${words[index + 1] ?? ""}`));
  return new Uint32Array(new Set(numbers)).sort();
}

const digestOf = (words: readonly string[]): string => Bun.hash(words.join(" ")).toString(36);

function wordsOfLetters(text: string): string[] {
  const words: string[] = [];
  for (const [word] of text.matchAll(/\p{L}+/gu)) {
    if (words.length >= MAX_WORDS) break;
    words.push(word);
  }
  return words;
}

const MAX_SEGMENTS = 20;

/** Removes the address, its path and each of its parts, as they are and as a title writes them. */
function withoutAddress(text: string, url: PageUrl): string {
  const { pathname, search } = new URL(url);
  const path = decodeLoosely(pathname).toLowerCase();
  const segments = path
    .split("/")
    .filter((segment) => segment !== "")
    .slice(0, MAX_SEGMENTS);
  const spoken = segments.map((segment) => segment.replace(/[-_.]+/g, " "));
  let rest = text;
  for (const part of [url.toLowerCase(), path + search.toLowerCase(), path, ...segments, ...spoken]) {
    // Most parts do not occur, and each needs an expression of its own.
    if (part === "" || part === "/" || !rest.includes(part)) continue;
    rest = rest.replace(new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(part)}(?![\\p{L}\\p{N}])`, "gu"), " ");
  }
  return rest;
}

/** The share of a page's word pairs that the error page must have too, and the other way round. */
const SAME = 0.9;

/** Whether a page is the one that the site shows for addresses that do not exist. */
export function isLikeErrorPage(page: PageFingerprint, errorPage: ErrorPage): boolean {
  // When a site redirects every unknown address to its start page, the start page is still a page.
  if (page.url === errorPage.answeredBy) return false;
  if (page.wordCount === 0 || page.wordCount > MAX_ERROR_WORDS) return false;
  if (page.digest === errorPage.digest) return true;
  const most = Math.max(page.pairs.length, errorPage.pairs.length);
  return commonOf(page.pairs, errorPage.pairs) >= SAME * most;
}

/** Counts the numbers that two ascending lists share. */
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

/** Two pages may be equal by chance or as aliases; three with different names are no coincidence. */
const MIN_ALIKE = 3;

/**
 * Finds short pages that say the same under different names: a login, a maintenance notice, an error with
 * status 200. The same page in several versions of the documentation has one name and does not count.
 */
export function findRepeatedTexts(pages: readonly PageFingerprint[]): ReadonlySet<PageUrl> {
  const groups = new Map<string, PageFingerprint[]>();
  for (const page of pages) {
    if (page.wordCount === 0 || page.wordCount > MAX_ERROR_WORDS) continue;
    // Stubs of a reference differ in the name that they describe, which is also part of their address.
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
