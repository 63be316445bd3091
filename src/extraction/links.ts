import { originOf, type PageUrl, parsePageUrl } from "../urls/index.ts";
import { cut, detachedAll, visibleLine } from "./meta-tags.ts";
import type { PageFacts } from "./page/page-model.ts";
import { MAX_ADDRESS_CHARS } from "./references.ts";
import type { Link, MetaRobots } from "./types.ts";

const MAX_ANCHOR_TEXT = 200;

/** Returns the base of the page's relative references: `<base href>`, or else the page's URL. */
export function baseOf(facts: PageFacts, url: PageUrl | null): PageUrl | null {
  if (!facts.baseHref) return url;
  return parsePageUrl(facts.baseHref, url ?? undefined) ?? url;
}

/**
 * Lists the page's http and https links in page order, each target once. Links after the first 20 million characters
 * of addresses are left out.
 */
export function linksOf(facts: PageFacts, base: PageUrl | null): Link[] {
  const resolver = new LinkResolver(base);
  const numbers = new Map<PageUrl, number>();
  const texts: string[] = [];
  const areNofollow: boolean[] = [];
  let chars = 0;
  for (const { href, text, isNofollow } of facts.links) {
    // A bare fragment is a place on this page, not a link to another.
    const reference = href.trim();
    if (reference.startsWith("#")) continue;
    const url = resolver.resolve(reference);
    if (!url) continue;
    const known = numbers.get(url);
    if (known === undefined) {
      chars += url.length;
      if (chars > MAX_ADDRESS_CHARS) break;
      numbers.set(url, texts.length);
      texts.push(cut(visibleLine(text), MAX_ANCHOR_TEXT));
      areNofollow.push(isNofollow);
    } else if (!isNofollow) areNofollow[known] = false;
  }
  const own = detachedAll(texts);
  // `detachedAll` returns as many strings as it was given, in the same order.
  const urls = detachedAll([...numbers.keys()]) as PageUrl[];
  return urls.map((url, number) => ({ url, text: own[number]!, isNofollow: areNofollow[number]! }));
}

/** Resolves each reference of a page once, because menus repeat their links. */
class LinkResolver {
  readonly #base: PageUrl | null;
  readonly #origin: string | null;
  readonly #resolved = new Map<string, PageUrl>();

  constructor(base: PageUrl | null) {
    this.#base = base;
    this.#origin = base === null ? null : originOf(base);
  }

  resolve(reference: string): PageUrl | null {
    const plain = this.#canonical(reference);
    if (plain !== null) return plain;
    const known = this.#resolved.get(reference);
    if (known !== undefined) return known;
    const url = parsePageUrl(reference, this.#base ?? undefined);
    if (url !== null) this.#resolved.set(reference, url);
    return url;
  }

  /** Returns the URL of a reference that is already canonical, as most are; null for any other. */
  #canonical(reference: string): PageUrl | null {
    if (reference.length > MAX_PLAIN_LENGTH) return null;
    // This equals what `parsePageUrl` would return; a test compares the two.
    if (this.#origin !== null && reference.charCodeAt(0) === SLASH && reference.charCodeAt(1) !== SLASH) {
      return isPlainPath(reference, 0) ? ((this.#origin + reference) as PageUrl) : null;
    }
    const host = PLAIN_HOST.exec(reference);
    return host && isPlainPath(reference, host[0].length - 1) ? (reference as PageUrl) : null;
  }
}

const MAX_PLAIN_LENGTH = 2000;
const SLASH = 47;
const DOT = 46;
/**
 * Matches a host name that a URL parser would leave unchanged. Its last label consists of letters, so it is not an IP
 * address.
 */
const PLAIN_HOST = /^https?:\/\/(?![^/]{0,300}--)[a-z0-9][a-z0-9.-]{0,252}\.[a-z]{2,30}\//;

const PLAIN = new Uint8Array(128);
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/+,=:;&") {
  PLAIN[character.charCodeAt(0)] = 1;
}

/** Tells whether a path has no query, no dot segments and nothing that a URL parser would rewrite. */
function isPlainPath(reference: string, start: number): boolean {
  let before = 0;
  for (let at = start; at < reference.length; at++) {
    const code = reference.charCodeAt(at);
    if (code > 127 || PLAIN[code] === 0 || (code === DOT && before === SLASH)) return false;
    before = code;
  }
  return true;
}

/** Combines the directives of all `<meta name="robots">` elements; `none` sets both. */
export function robotsOf(facts: PageFacts): MetaRobots {
  const tokens = new Set(facts.robots.flatMap((content) => content.toLowerCase().split(/[\s,]+/)));
  const isNone = tokens.has("none");
  return { noindex: isNone || tokens.has("noindex"), nofollow: isNone || tokens.has("nofollow") };
}

/** Resolves `<link rel="canonical">`; null when it is absent or not an http URL. */
export const canonicalOf = (facts: PageFacts, base: PageUrl | null): PageUrl | null =>
  facts.canonicalHref === null ? null : parsePageUrl(facts.canonicalHref, base ?? undefined);

/** A page that refreshes only after more than this many seconds is meant to be read. */
const MAX_REFRESH_SECONDS = 5;

/**
 * Reads where `<meta http-equiv="refresh">` leads, as the HTML standard parses it ("shared declarative refresh
 * steps").
 * @returns null when absent, when the page stays longer than 5 s, or when it leads to the page itself or to no
 * http URL
 */
export function refreshOf(
  facts: PageFacts,
  { url, base }: { readonly url: PageUrl | null; readonly base: PageUrl | null },
): PageUrl | null {
  const [, digits = "", rest = ""] = /^\s*(\d*)(.*)$/s.exec(facts.refresh ?? "") ?? [];
  if (digits === "" && !rest.startsWith(".")) return null;
  if (Number(digits) > MAX_REFRESH_SECONDS) return null;
  const afterTime = rest.replace(/^[\d.]+/, "");
  if (!/^[\s;,]/.test(afterTime)) return null;
  const named = afterTime.replace(/^\s*[;,]?\s*/, "").replace(/^url\s*=\s*/i, "");
  const quote = /^["']/.exec(named)?.[0];
  const reference = quote === undefined ? named : (named.slice(1).split(quote)[0] ?? "");
  const target = reference.trim() === "" ? null : parsePageUrl(reference.trim(), base ?? undefined);
  return target === url ? null : target;
}
