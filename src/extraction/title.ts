import { type MetaTags, type Sourced, tidyValue } from "./meta-tags.ts";
import type { PageFacts } from "./page/page-model.ts";
import { foldForComparison } from "./text.ts";

type TitleContext = {
  readonly meta: MetaTags;
  readonly siteName: string | null;
  /** Host name of the page, which often stands for the site's name. */
  readonly host: string | null;
};

const SEPARATOR = /\s+[|\-–—·•»«:/\\]+\s+/;
/** A last part of at most so many words is taken for the site's name. */
const MAX_SUFFIX_WORDS = 4;

/**
 * The title of the main content: the first level-1 heading that shares at least half of its words with
 * the page's `<title>` or `og:title`, else `og:title`, else `<title>`, these two without the site's name.
 */
export function chooseTitle(facts: PageFacts, context: TitleContext): Sourced | null {
  const pageTitle = tidyValue(facts.title);
  const openGraph = context.meta.get("og:title") ?? context.meta.get("twitter:title") ?? "";
  const heading = agreeingHeading(facts.headings, `${pageTitle} ${openGraph}`, context.siteName);
  if (heading) return { value: heading, source: "heading" };
  if (openGraph) return { value: withoutSiteName(openGraph, context), source: "meta" };
  if (pageTitle) return { value: withoutSiteName(pageTitle, context), source: "title" };
  const first = tidyValue(facts.headings[0] ?? "");
  return first ? { value: first, source: "heading" } : null;
}

function agreeingHeading(headings: readonly string[], said: string, siteName: string | null): string | null {
  const saidWords = new Set(foldForComparison(said).split(" "));
  for (const written of headings) {
    const heading = tidyValue(written);
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
