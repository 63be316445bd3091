import type { PageUrl } from "./page-url.ts";

/** Why the rules refuse a URL. */
export type UrlRefusal = "not_allowed" | "denied" | "foreign_origin";

export type UrlRules = {
  /** URLs must start with one of these; empty allows all. */
  readonly allowPrefixes: readonly string[];
  /** URLs that start with one of these are refused. */
  readonly denyPrefixes: readonly string[];
};

/**
 * A prefix in the same canonical form as the URLs it is compared with: scheme and host in lower case,
 * default port removed, and one that ends inside the authority completed with `/`, so that
 * `https://example.org` does not admit `https://example.org.evil.test`.
 * @returns null when it is no http or https URL
 */
export function parseUrlPrefix(text: string): string | null {
  const trimmed = text.trim();
  const url = URL.parse(trimmed);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  url.username = "";
  url.password = "";
  url.hash = "";
  return url.href;
}

/**
 * The filter of the specification's crawl rule 2, in its order: allow prefixes, then deny prefixes,
 * then (only without allow prefixes, and only when origins are given) the same origin.
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
    if (allowPrefixes.length === 0 && origins && !origins.has(new URL(url).origin)) return "foreign_origin";
    return null;
  };
}
