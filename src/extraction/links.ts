import { type PageUrl, parsePageUrl } from "../urls/index.ts";
import { cut, tidyValue } from "./meta-tags.ts";
import type { PageFacts } from "./page/page-model.ts";
import type { Link, MetaRobots } from "./types.ts";

const MAX_ANCHOR_TEXT = 200;
/** Short references to a long base may take gigabytes: 100 000 of them took 2.7. Real pages stay below 1 MB. */
const MAX_TOTAL_CHARS = 20_000_000;

/** What relative references of the page resolve against: `<base href>`, else the page's URL. */
export function baseOf(facts: PageFacts, url: PageUrl | null): PageUrl | null {
  if (!facts.baseHref) return url;
  return parsePageUrl(facts.baseHref, url ?? undefined) ?? url;
}

/**
 * The page's http and https links in page order, each target once; those after the first 20 million
 * characters of addresses are left out.
 */
export function linksOf(facts: PageFacts, base: PageUrl | null): Link[] {
  const links = new Map<PageUrl, Link>();
  // Menus repeat their links, and resolving one costs more than looking it up.
  const resolved = new Map<string, PageUrl>();
  let chars = 0;
  for (const { href, text, isNofollow } of facts.links) {
    // A fragment alone is a place on this page, not a link to another.
    const reference = href.trim();
    if (reference.startsWith("#")) continue;
    const url = resolved.get(reference) ?? parsePageUrl(reference, base ?? undefined);
    if (!url) continue;
    resolved.set(reference, url);
    const known = links.get(url);
    if (!known) chars += url.length;
    if (chars > MAX_TOTAL_CHARS) break;
    if (!known) links.set(url, { url, text: cut(tidyValue(text), MAX_ANCHOR_TEXT), isNofollow });
    else if (known.isNofollow && !isNofollow) links.set(url, { ...known, isNofollow });
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
