import { createHash } from "node:crypto";
import { decodeLoosely } from "../base/text.ts";
import type { PageUrl } from "../urls/index.ts";

/** A summary of a page's text, for recognising error pages. */
export type PageFingerprint = {
  readonly url: PageUrl;
  /** The number of words, without those from the address, which error pages repeat. */
  readonly wordCount: number;
  /** Hashes of the pairs of neighbouring words, each once, in order. */
  readonly pairs: Uint32Array;
  /** A hash of the words. */
  readonly digest: string;
  /** A hash of all words, including those of the address. */
  readonly fullDigest: string;
};

/** The most words of a page that are read. */
const MAX_WORDS = 2000;
const MAX_CHARACTERS = 50_000;

/** @param written the page's title and text or Markdown */
export function fingerprintOf(url: PageUrl, written: string): PageFingerprint {
  const text = written.slice(0, MAX_CHARACTERS).toLowerCase();
  const visible = text.replace(/\]\([^()\n]{0,2000}\)/g, "]");
  const words = wordsOfLetters(withoutAddress(visible, url));
  return {
    url,
    wordCount: words.length,
    pairs: pairsOf(words),
    digest: digestOf(words),
    fullDigest: digestOf(wordsOfLetters(visible)),
  };
}

function pairsOf(words: readonly string[]): Uint32Array {
  const numbers = words.map((word, index) => fnv1a(`${word} ${words[index + 1] ?? ""}`));
  return new Uint32Array(new Set(numbers)).sort();
}

/** FNV-1a over UTF-16 code units: the library runs on Node, too, whose zlib has no CRC before 22.2. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

const digestOf = (words: readonly string[]): string =>
  createHash("sha256").update(words.join(" ")).digest("base64url").slice(0, 16);

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
    const literal = part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    rest = rest.replace(new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, "gu"), " ");
  }
  return rest;
}

/** The share of a page's word pairs that the error page must have too, and the other way round. */
const SAME = 0.9;

/** Whether two pages say the same, but for their addresses. */
export function saySame(page: PageFingerprint, other: PageFingerprint): boolean {
  if (page.wordCount === 0) return false;
  if (page.digest === other.digest) return true;
  return commonOf(page.pairs, other.pairs) >= SAME * Math.max(page.pairs.length, other.pairs.length);
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

/** Returns a word that no site has a page for. */
export const inventedName = (): string => `no-such-page-${crypto.randomUUID().replace(/[^a-f]/g, "")}x`;

/** Answers of sites to URLs that do not exist, by site. */
export interface ErrorPages {
  /**
   * Returns a site's error page, which is looked up once for each site.
   * @param site the origin, and on whose behalf it is asked
   * @param look asks the site; returns null if the site shows no page. An error that it throws is not kept.
   */
  take(site: string, look: () => Promise<PageFingerprint | null>): Promise<PageFingerprint | null>;
}

const MAX_SITES = 1000;
/** A server runs for months, in which sites change. */
const MAX_AGE_MS = 60 * 60_000;

export function createErrorPages(now: () => number = performance.now.bind(performance)): ErrorPages {
  const known = new Map<string, { readonly at: number; readonly page: Promise<PageFingerprint | null> }>();
  return {
    async take(site, look) {
      for (let entry = known.get(site); entry; entry = known.get(site)) {
        if (now() - entry.at > MAX_AGE_MS) break;
        // The visit that was asking may have been cancelled; then the next visit asks.
        const page = await entry.page.catch(() => undefined);
        if (page !== undefined) return page;
      }
      const page = look();
      known.delete(site);
      known.set(site, { at: now(), page });
      page.catch(() => known.delete(site));
      for (const oldest of known.keys()) {
        if (known.size <= MAX_SITES) break;
        known.delete(oldest);
      }
      return await page;
    },
  };
}
