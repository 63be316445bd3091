import { isTrackingPair, originOf, type PageUrl, parseHttpUrl } from "./page-url.ts";

/** Why the rules refuse a URL. */
type UrlRefusal = "not_allowed" | "denied" | "foreign_origin";

type UrlRules = {
  /** If not empty, a URL must start with one of these prefixes, each in the form of `parseUrlPrefix`. */
  readonly allowPrefixes: readonly string[];
  /** URLs that start with one of these prefixes, in the same form, are refused. */
  readonly denyPrefixes: readonly string[];
};

/**
 * Brings a prefix into the canonical form of the URLs that it is compared with: scheme and host in lower
 * case, default port and tracking parameters removed. A prefix that ends inside the authority gets a `/`, so
 * that `https://example.org` does not admit `https://example.org.evil.test`. A `?` at the end is kept and
 * asks for URLs with a query.
 * @returns null when it is no http or https URL of at most 8192 characters
 */
export function parseUrlPrefix(text: string): string | null {
  const url = parseHttpUrl(text);
  if (!url) return null;
  url.username = "";
  url.password = "";
  url.hash = "";
  if (url.search === "") return url.href;
  const pairs = url.search.slice(1).split("&");
  // The last name may be only the start of a name: `?gclid` is also the start of `?gclid_list=1`.
  const isOpen = (index: number): boolean => index === pairs.length - 1 && !pairs[index]?.includes("=");
  const kept = pairs.filter((pair, index) => isOpen(index) || !isTrackingPair(pair)).join("&");
  url.search = kept === "" ? "" : `?${kept}`;
  return url.href;
}

/**
 * Compiles the filter of a crawl's URLs. It checks in this order: allow prefixes, deny prefixes, and the same
 * origin, but the last only without allow prefixes and when origins are given.
 * @returns a function that says why a URL is refused, or null when it is admitted
 */
export function compileUrlRules(
  rules: UrlRules,
): (url: PageUrl, origins: ReadonlySet<string> | null) => UrlRefusal | null {
  const { allowPrefixes, denyPrefixes } = rules;
  return (url, origins) => {
    if (allowPrefixes.length > 0 && !allowPrefixes.some((prefix) => url.startsWith(prefix)))
      return "not_allowed";
    if (denyPrefixes.some((prefix) => url.startsWith(prefix))) return "denied";
    if (allowPrefixes.length === 0 && origins && !origins.has(originOf(url))) return "foreign_origin";
    return null;
  };
}

/**
 * A test of paths, which begin with `/`. A pattern without `*`, `?`, `[` and `{` is the beginning of a path;
 * others match whole paths, as globs with `**`, and without a slash a name in any folder, in linear time.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const isAnchored = pattern.startsWith("/") || pattern.includes("://");
  if (!/[*?[{]/.test(pattern)) {
    const start = isAnchored ? pattern : `/${pattern}`;
    return (path) => path.startsWith(start);
  }
  const glob = new Bun.Glob(isAnchored ? pattern : pattern.includes("/") ? `/${pattern}` : `/**/${pattern}`);
  return (path) => glob.match(path);
}

/**
 * Tells whether a URL matches one of these globs: of its path with its query, or of all of it where a glob names a
 * scheme.
 */
export function compileUrlGlobs(globs: readonly string[]): (url: PageUrl) => boolean {
  const tests = globs.map((glob) => ({ isWhole: glob.includes("://"), matches: compileGlob(glob) }));
  return (url) => {
    const path = url.slice(originOf(url).length);
    return tests.some(({ isWhole, matches }) => matches(isWhole ? url : path));
  };
}
