/** A canonical absolute http or https URL without credentials and fragment. Equal strings are the same page. */
export type PageUrl = string & { readonly brand: "PageUrl" };

/** Longer URLs are traps or mistakes; servers answer 414 long before this. */
const MAX_URL_LENGTH = 8192;

// These parameters name a campaign or a click, never a page.
const TRACKING_PARAMETER =
  /^(?:utm_[a-z0-9_]+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|mc_eid|_hsenc|_hsmi|mkt_tok|vero_id|oly_enc_id|oly_anon_id|s_cid)$/i;

/**
 * The canonical form of a URL: WHATWG parsing, lower-case scheme and host, no default port, no fragment, no
 * credentials, dot segments resolved, tracking parameters removed. The order of the query and a trailing
 * slash stay as they are. Idempotent.
 * @param base resolves a relative reference; without it `text` must be absolute
 * @returns null for anything but an http or https URL of at most 8192 characters
 */
export function parsePageUrl(text: string, base?: PageUrl): PageUrl | null {
  const url = parseHttpUrl(text, base);
  if (!url) return null;
  // Most links have nothing to remove, and each setter rewrites the whole URL.
  if (REMOVABLE.test(url.href)) {
    url.hash = "";
    url.username = "";
    url.password = "";
    removeTrackingParameters(url);
  }
  return url.href.length <= MAX_URL_LENGTH ? (url.href as PageUrl) : null;
}

/** The scheme, host and port of a canonical URL; a hundred times cheaper than parsing it again. */
export const originOf = (url: PageUrl): string => url.slice(0, url.indexOf("/", url.indexOf("//") + 2));

/** The host of a canonical URL, with its port unless that is the scheme's default. */
export function hostOf(url: PageUrl): string {
  const start = url.indexOf("//") + 2;
  return url.slice(start, url.indexOf("/", start));
}
const REMOVABLE = /[?#@]/;

/**
 * The absolute form of a link with its fragment and query unchanged, as a reader's copy of the page needs it.
 * @returns null when it cannot be resolved or its scheme is not safe to follow
 */
export function resolveHref(href: string, base: PageUrl | null): string | null {
  const trimmed = href.trim();
  if (trimmed.length > MAX_URL_LENGTH) return null;
  const url = base ? URL.parse(trimmed, base) : URL.parse(trimmed);
  if (!url) return null;
  return SAFE_LINK_SCHEMES.has(url.protocol) ? url.href : null;
}

const SAFE_LINK_SCHEMES = new Set(["http:", "https:", "mailto:", "tel:", "ftp:", "geo:", "xmpp:"]);

/**
 * Removes the password from a URL that a person typed: everything before its last @, even where the rest is
 * no URL; `medium.com/@name` holds none. The result is cut at 200 characters.
 */
export function withoutCredentials(written: string): string {
  const at = written.lastIndexOf("@");
  const start = /^\s*(?:[a-z][a-z0-9+.-]*:\/\/)?/i.exec(written)?.[0].length ?? 0;
  const before = written.slice(start, Math.max(start, at));
  const isSecret = at >= start && (!/[/?#]/.test(before) || before.includes(":"));
  const shown = isSecret ? `${written.slice(0, start)}…${written.slice(at)}` : written;
  return shown.length <= MAX_SHOWN ? shown : `${shown.slice(0, MAX_SHOWN)}…`;
}

const MAX_SHOWN = 200;

/** Says of a text, which is shown without credentials, that it is not the URL of a page. */
export const notPageUrl = (written: string): string =>
  `${JSON.stringify(withoutCredentials(written))} is not an http or https URL`;

/**
 * Splits `https://user:secret@host/` into the URL without credentials and the value of an Authorization
 * header, so that no secret travels inside a URL.
 * @returns null when `text` is no http or https URL
 */
export function splitCredentials(
  text: string,
): { readonly url: string; readonly authorization: string | null } | null {
  const url = parseHttpUrl(text);
  if (!url) return null;
  if (url.username === "" && url.password === "") return { url: text.trim(), authorization: null };
  const pair = `${safeDecode(url.username)}:${safeDecode(url.password)}`;
  url.username = "";
  url.password = "";
  const bytes = new TextEncoder().encode(pair);
  return { url: url.href, authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** Parses an absolute or, with a base, relative http or https URL; null for any other text. */
export function parseHttpUrl(text: string, base?: PageUrl): URL | null {
  const trimmed = text.trim();
  if (trimmed.length > MAX_URL_LENGTH) return null;
  const url = base ? URL.parse(trimmed, base) : URL.parse(trimmed);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "") return null;
  return url;
}

/** The base of a service's addresses: an http or https URL without credentials, query and fragment; else null. */
export function parseServiceUrl(text: string): URL | null {
  const url = URL.parse(text);
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password;
  return isPlain && !url.search && !url.hash ? url : null;
}

function removeTrackingParameters(url: URL): void {
  const kept = url.search
    .slice(1)
    .split("&")
    .filter((pair) => !isTrackingPair(pair))
    .join("&");
  // An empty search also drops a bare "?", because `https://h/a?` and `https://h/a` are the same request
  // target for every server we know of. The setter drops one "?" of its value, so the value gets one more.
  url.search = kept === "" ? "" : `?${kept}`;
}

/**
 * Whether a `name=value` of a raw query names a campaign or a click. It works on raw text because
 * URLSearchParams would re-encode the rest.
 */
export function isTrackingPair(pair: string): boolean {
  const end = pair.indexOf("=");
  return TRACKING_PARAMETER.test(safeDecode(end < 0 ? pair : pair.slice(0, end)));
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
