import { dirname, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { RobotsRules } from "../../fetching/index.ts";
import { type PageUrl, parsePageUrl } from "../../urls/index.ts";
import type { SitemapSource } from "./types.ts";

/** Longer ones are mistakes: the protocol ends at 2048 (sitemaps.org, "loc"). */
const MAX_SITEMAP_URL_LENGTH = 2048;

/**
 * What a person means by a sitemap: an http or https URL (its credentials are dropped), a `file:` URL, or a
 * path.
 * @param directory what a relative path starts from
 * @returns null for a URL of another scheme and for an empty text
 */
export function parseSitemapSource(written: string, directory: string): SitemapSource | null {
  const text = written.trim();
  if (text === "") return null;
  if (/^https?:/i.test(text)) {
    const url = parsePageUrl(text);
    return url && { kind: "url", url };
  }
  if (/^file:/i.test(text)) return fromFileUrl(URL.parse(text));
  // "c:\sitemap.xml" is a path; "ftp://…" and "javascript:…" are not.
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return null;
  return { kind: "file", path: resolve(directory, text) };
}

/**
 * The sitemaps that a robots.txt names, without repetitions. Only those of the web: what else a site writes
 * there must not become a path of this machine.
 */
export const sitemapsOfRobots = (rules: RobotsRules): readonly PageUrl[] => [
  ...new Set(rules.sitemaps.map((line) => parsePageUrl(line)).filter((url) => url !== null)),
];

/** Equal for sources that are the same sitemap; what messages call it. */
export const sitemapName = (source: SitemapSource): string =>
  source.kind === "url" ? source.url : source.path;

/**
 * The sitemap that an index names. An index on the web leads to the web only. A local one may also name files
 * beside and below itself: it may come from somebody who should not choose which files are read.
 * @param base where the index was found: its URL after redirects, null for a local one
 */
export function childSource(loc: string, parent: SitemapSource, base: PageUrl | null): SitemapSource | null {
  if (loc.length > MAX_SITEMAP_URL_LENGTH) return null;
  const url = parsePageUrl(loc, base ?? undefined);
  if (url) return { kind: "url", url };
  if (parent.kind === "url") return null;
  const child = fromFileUrl(URL.parse(loc, pathToFileURL(parent.path)));
  const isBelow = child?.path.startsWith(dirname(parent.path).replace(/[\\/]?$/, sep)) ?? false;
  return isBelow ? child : null;
}

function fromFileUrl(url: URL | null): Extract<SitemapSource, { kind: "file" }> | null {
  if (url?.protocol !== "file:") return null;
  try {
    return { kind: "file", path: fileURLToPath(url) };
  } catch {
    return null; // a host, or an escaped slash: no path of this machine
  }
}
