import { type MetaTags, type Sourced, tidyValue } from "./meta-tags.ts";
import { foldForComparison, renderText } from "./text.ts";

type TitleContext = {
  readonly meta: MetaTags;
  readonly siteName: string | null;
  /** Host name of the page, which often stands for the site's name. */
  readonly host: string | null;
};

const MAX_HEADINGS = 20;
const SEPARATOR = /\s+[|\-–—·•»«:/\\]+\s+/;
/** A last part of at most so many words is taken for the site's name. */
const MAX_SUFFIX_WORDS = 4;

/**
 * The title of the main content: the first level-1 heading that shares at least half of its words with
 * the page's `<title>` or `og:title`, else `og:title`, else `<title>`, these two without the site's name.
 */
export function chooseTitle(document: Document, context: TitleContext): Sourced | null {
  const pageTitle = readPageTitle(document);
  const openGraph = context.meta.get("og:title") ?? context.meta.get("twitter:title") ?? "";
  const heading = agreeingHeading(document, `${pageTitle} ${openGraph}`, context.siteName);
  if (heading) return { value: heading, source: "heading" };
  if (openGraph) return { value: withoutSiteName(openGraph, context), source: "meta" };
  if (pageTitle) return { value: withoutSiteName(pageTitle, context), source: "title" };
  const heading1 = document.querySelector("h1");
  const first = heading1 ? headingText(heading1) : "";
  return first ? { value: first, source: "heading" } : null;
}

// An icon in an SVG has a title, too.
function readPageTitle(document: Document): string {
  for (const element of document.querySelectorAll("title")) {
    if (!element.closest("svg")) return tidyValue(element.textContent ?? "");
  }
  return "";
}

/** A heading's text in one line; a line break in it separates words. */
export const headingText = (heading: Element): string => tidyValue(renderText(heading));

function agreeingHeading(document: Document, said: string, siteName: string | null): string | null {
  const saidWords = new Set(foldForComparison(said).split(" "));
  let seen = 0;
  for (const element of document.querySelectorAll("h1")) {
    if (++seen > MAX_HEADINGS) break;
    const heading = headingText(element);
    const folded = foldForComparison(heading);
    if (folded === "" || (siteName !== null && folded === foldForComparison(siteName))) continue;
    const words = folded.split(" ");
    const shared = words.reduce((count, word) => count + (saidWords.has(word) ? 1 : 0), 0);
    if (shared * 2 >= words.length) return heading;
  }
  return null;
}

function withoutSiteName(title: string, { siteName, host }: TitleContext): string {
  const parts = title.split(SEPARATOR);
  if (parts.length < 2) return title;
  const isSite = (part: string): boolean => namesSite(part, siteName, host);
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (isSite(last)) return title.slice(0, title.lastIndexOf(last)).replace(TRAILING_SEPARATOR, "");
  if (isSite(first)) return title.slice(first.length).replace(LEADING_SEPARATOR, "");
  const isShortSuffix = last.split(/\s+/).length <= MAX_SUFFIX_WORDS && last.length < first.length;
  return isShortSuffix ? title.slice(0, title.lastIndexOf(last)).replace(TRAILING_SEPARATOR, "") : title;
}

const TRAILING_SEPARATOR = /\s+[|\-–—·•»«:/\\]+\s*$/;
const LEADING_SEPARATOR = /^\s*[|\-–—·•»«:/\\]+\s+/;

function namesSite(part: string, siteName: string | null, host: string | null): boolean {
  const folded = foldForComparison(part);
  if (siteName !== null && folded === foldForComparison(siteName)) return true;
  const joined = folded.replaceAll(" ", "");
  return (
    host !== null &&
    joined.length > 2 &&
    host
      .replace(/^www\./, "")
      .replaceAll("-", "")
      .startsWith(joined)
  );
}
