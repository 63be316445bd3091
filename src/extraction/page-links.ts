import { type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { PageFacts } from "./page/page-model.ts";
import { collapseSpace } from "./text.ts";
import type { Link, MetaRobots } from "./types.ts";

const MAX_ANCHOR_TEXT = 200;

/** What relative references of the page resolve against: `<base href>`, else the page's URL. */
export function baseOf(facts: PageFacts, url: PageUrl | null): PageUrl | null {
  if (!facts.baseHref) return url;
  return parsePageUrl(facts.baseHref, url ?? undefined) ?? url;
}

/** The page's http and https links in page order, each target once. */
export function linksOf(facts: PageFacts, base: PageUrl | null): Link[] {
  const links = new Map<PageUrl, Link>();
  const seen = new Set<string>();
  for (const { href, text, isNofollow } of facts.links) {
    // A fragment alone is a place on this page, not a link to another.
    if (href.startsWith("#") || seen.has(href)) continue;
    seen.add(href);
    const url = parsePageUrl(href, base ?? undefined);
    if (!url || links.has(url)) continue;
    links.set(url, { url, text: collapseSpace(text).slice(0, MAX_ANCHOR_TEXT), isNofollow });
  }
  return [...links.values()];
}

/** The directives of every `<meta name="robots">`; `none` means both. */
export function robotsOf(facts: PageFacts): MetaRobots {
  const tokens = new Set(facts.robots.flatMap((content) => content.toLowerCase().split(/[\s,]+/)));
  const isNone = tokens.has("none");
  return { noindex: isNone || tokens.has("noindex"), nofollow: isNone || tokens.has("nofollow") };
}

/** `<link rel="canonical">`, resolved; null when absent or no http URL. */
export const canonicalOf = (facts: PageFacts, base: PageUrl | null): PageUrl | null =>
  facts.canonicalHref === null ? null : parsePageUrl(facts.canonicalHref, base ?? undefined);
