import { type PageUrl, parsePageUrl } from "../urls/index.ts";
import { cut, tidyValue } from "./meta-tags.ts";
import type { Link, MetaRobots } from "./types.ts";

const MAX_ANCHOR_TEXT = 200;

/** What relative references of the page resolve against: `<base href>`, else the page's URL. */
export function baseUrl(document: Document, url: PageUrl | null): PageUrl | null {
  const href = document.querySelector("base[href]")?.getAttribute("href");
  if (!href) return url;
  return parsePageUrl(href, url ?? undefined) ?? url;
}

/** The page's http and https links in page order, each target once. */
export function readLinks(document: Document, base: PageUrl | null): Link[] {
  const links = new Map<PageUrl, Link>();
  for (const anchor of document.querySelectorAll("a[href], area[href]")) {
    const href = (anchor.getAttribute("href") ?? "").trim();
    // A fragment alone is a place on this page, not a link to another.
    if (href.startsWith("#")) continue;
    const url = parsePageUrl(href, base ?? undefined);
    if (!url) continue;
    const isNofollow = hasToken(anchor.getAttribute("rel"), "nofollow");
    const known = links.get(url);
    if (!known) {
      const text = cut(tidyValue(anchor.textContent ?? ""), MAX_ANCHOR_TEXT);
      links.set(url, { url, text, isNofollow });
    } else if (known.isNofollow && !isNofollow) links.set(url, { ...known, isNofollow });
  }
  return [...links.values()];
}

/** The directives of every `<meta name="robots">`; `none` means both. */
export function readRobots(document: Document): MetaRobots {
  let noindex = false;
  let nofollow = false;
  for (const meta of document.querySelectorAll("meta[name]")) {
    if (meta.getAttribute("name")?.trim().toLowerCase() !== "robots") continue;
    const tokens = (meta.getAttribute("content") ?? "").toLowerCase().split(/[\s,]+/);
    noindex ||= tokens.includes("noindex") || tokens.includes("none");
    nofollow ||= tokens.includes("nofollow") || tokens.includes("none");
  }
  return { noindex, nofollow };
}

/** `<link rel="canonical">`, resolved; null when absent or no http URL. */
export function readCanonical(document: Document, base: PageUrl | null): PageUrl | null {
  for (const link of document.querySelectorAll("link[rel][href]")) {
    const href = link.getAttribute("href")?.trim();
    // An empty one would name the page itself, and means that a template had nothing to say.
    if (href && hasToken(link.getAttribute("rel"), "canonical")) return parsePageUrl(href, base ?? undefined);
  }
  return null;
}

const hasToken = (list: string | null, token: string): boolean =>
  (list ?? "").toLowerCase().split(/\s+/).includes(token);
