import { fingerprintOf as fingerprintText, type PageFingerprint, saySame } from "../../articles/index.ts";
import type { Page } from "../../pages/index.ts";
import type { PageUrl } from "../../urls/index.ts";

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

/**
 * The fingerprint of a page, without pairs and words where it is too long for an error page: a sync keeps those of
 * every page in memory.
 * @param page.wordCount the words of the Markdown; a page that is too long is not read
 */
export function fingerprintOf(
  url: PageUrl,
  { title, markdown, wordCount }: Pick<Page, "title" | "markdown" | "wordCount">,
): PageFingerprint {
  const tooLong = { url, wordCount: 0, pairs: new Uint32Array(), digest: url, fullDigest: url };
  if (wordCount > LONG_ENOUGH) return tooLong;
  const fingerprint = fingerprintText(url, `${title}\n${markdown}`);
  return fingerprint.wordCount > LONG_ENOUGH ? tooLong : fingerprint;
}

/** Whether a page is the one that the site shows for addresses that do not exist. */
export function isLikeErrorPage(page: PageFingerprint, errorPage: ErrorPage): boolean {
  // When a site redirects every unknown address to its start page, the start page is still a page.
  if (page.url === errorPage.answeredBy) return false;
  return page.wordCount <= MAX_ERROR_WORDS && saySame(page, errorPage);
}

/** Two pages may be equal by chance or as aliases; three with different names are no coincidence. */
const MIN_ALIKE = 3;

/**
 * Finds short pages that say the same under different names: a login, a maintenance notice, an error with
 * status 200. The same page in several versions of the documentation has one name and does not count.
 */
export function findRepeatedTexts(pages: readonly PageFingerprint[]): ReadonlySet<PageUrl> {
  const short = pages.filter(({ wordCount }) => wordCount > 0 && wordCount <= MAX_ERROR_WORDS);
  // Stubs of a reference differ in the name that they describe, which is also part of their address.
  const groups = Map.groupBy(short, ({ fullDigest }) => fullDigest);
  const found = new Set<PageUrl>();
  for (const group of groups.values())
    if (new Set(group.map(({ url }) => nameOf(url))).size >= MIN_ALIKE)
      for (const { url } of group) found.add(url);
  return found;
}

/** The last part of a URL's path. */
export const nameOf = (url: string): string =>
  new URL(url).pathname.split("/").findLast((part) => part !== "") ?? "";
