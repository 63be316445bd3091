import { type PageUrl, parsePageUrl } from "../urls/index.ts";

/** A target with its parameters (RFC 8288, section 3); a target may hold commas and semicolons. */
const LINK = /<([^<>]*)>((?:\s*;\s*[^\s=;,"<>]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"<>]*))?)*)/g;
const PARAMETER = /;\s*([^\s=;,"<>]+)(?:\s*=\s*(?:"([^"]*)"|([^\s;,"<>]*)))?/g;
/** A link with an anchor speaks of another document (RFC 8288, 3.2). */
const ANCHOR = /;\s*anchor\s*=/i;
const MAX_LENGTH = 8192;

type HeaderLink = { readonly url: PageUrl; readonly rel: readonly string[]; readonly type: string };

/**
 * Reads the links of a `Link` header that speak of the page itself.
 * @param base the URL that answered
 */
export function linksOfHeader(header: string | undefined, base: PageUrl): readonly HeaderLink[] {
  const links: HeaderLink[] = [];
  for (const [, target = "", parameters = ""] of (header ?? "").slice(0, MAX_LENGTH).matchAll(LINK)) {
    const url = target.trim() === "" || ANCHOR.test(parameters) ? null : parsePageUrl(target.trim(), base);
    if (url === null) continue;
    const values = new Map<string, string>();
    for (const [, name = "", quoted, plain = ""] of parameters.matchAll(PARAMETER)) {
      const key = name.toLowerCase();
      // The first one counts (RFC 8288, 3.3).
      if (!values.has(key)) values.set(key, (quoted ?? plain).toLowerCase());
    }
    links.push({ url, rel: (values.get("rel") ?? "").split(/\s+/), type: values.get("type") ?? "" });
  }
  return links;
}

/**
 * Returns the canonical URL that a `Link` header names (RFC 6596); null when it names none.
 * @param base the URL that answered
 */
export const canonicalOfHeader = (header: string | undefined, base: PageUrl): PageUrl | null =>
  linksOfHeader(header, base).find(({ rel }) => rel.includes("canonical"))?.url ?? null;
