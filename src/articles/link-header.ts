import { type PageUrl, parsePageUrl } from "../urls/index.ts";

/** A target with its parameters (RFC 8288, section 3); a target may hold commas and semicolons. */
const LINK = /<([^<>]*)>((?:\s*;\s*[^\s=;,"<>]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"<>]*))?)*)/g;
const CANONICAL = /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?canonical(?:\s[^"]*)?"|canonical(?![^\s;,]))/i;
/** A link with an anchor speaks of another document (RFC 8288, 3.2). */
const ANCHOR = /;\s*anchor\s*=/i;
const MAX_LENGTH = 8192;

/**
 * Returns the canonical URL that a `Link` header names (RFC 6596); null when it names none.
 * @param base the URL that answered
 */
export function canonicalOfHeader(header: string | undefined, base: PageUrl): PageUrl | null {
  for (const [, target = "", parameters = ""] of (header ?? "").slice(0, MAX_LENGTH).matchAll(LINK))
    if (CANONICAL.test(parameters) && !ANCHOR.test(parameters) && target.trim() !== "")
      return parsePageUrl(target.trim(), base);
  return null;
}
