import { isRecord } from "../base/json.ts";
import { encodeQuery, type PageUrl, parsePageUrl, resolveHref } from "../urls/index.ts";
import type { ContentElement } from "./document/tree.ts";
import type { PageFacts } from "./page/page-model.ts";
import { cut, detached, detachedAll, nextMatch, removeInvisible, visibleLine } from "./text.ts";
import type { Link, MarkdownPointers, MetaRobots, Translation } from "./types.ts";

const MAX_ANCHOR_TEXT = 200;

/** Returns the base of the page's relative references: `<base href>`, or else the page's URL. */
export function baseOf(facts: PageFacts, url: PageUrl | null): PageUrl | null {
  if (!facts.baseHref) return url;
  return parsePageUrl(facts.baseHref, url ?? undefined) ?? url;
}

/** Lists the http and https links in page order, each once, out of 20 million characters of addresses. */
export function linksOf(facts: Pick<PageFacts, "links">, base: PageUrl | null, encoding = "utf-8"): Link[] {
  // Menus repeat their links.
  const resolved = new Map<string, PageUrl | null>();
  const numbers = new Map<PageUrl, number>();
  const texts: string[] = [];
  const areNofollow: boolean[] = [];
  let chars = 0;
  for (const { href, text, isNofollow } of facts.links) {
    // A bare fragment is a place on this page, not a link to another.
    const reference = href.trim();
    if (reference.startsWith("#")) continue;
    const url = resolved.get(reference) ?? parsePageUrl(encodeQuery(reference, encoding), base ?? undefined);
    resolved.set(reference, url);
    if (url === null) continue;
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

/** Combines the directives of all `<meta name="robots">` elements; `none` sets both. */
export function robotsOf(facts: PageFacts): MetaRobots {
  const tokens = new Set(facts.robots.flatMap((content) => content.toLowerCase().split(/[\s,]+/)));
  const isNone = tokens.has("none");
  return { noindex: isNone || tokens.has("noindex"), nofollow: isNone || tokens.has("nofollow") };
}

/** Resolves `<link rel="canonical">`; null when it is absent or not an http URL. */
export const canonicalOf = (facts: PageFacts, base: PageUrl | null): PageUrl | null =>
  facts.canonicalHref === null ? null : parsePageUrl(facts.canonicalHref, base ?? undefined);

/** The page in other languages, by `hreflang`; undefined for most pages, which name none. */
export function translationsOf(
  { translations }: PageFacts,
  base: PageUrl | null,
): readonly Translation[] | undefined {
  if (translations.length === 0) return undefined;
  return translations.flatMap(({ href, language }) => {
    const url = parsePageUrl(href, base ?? undefined);
    return url === null ? [] : [{ url, language: detached(language) }];
  });
}

/** Where the page says that its Markdown is; undefined when it says nothing. */
export function markdownPointersOf(
  { markdownHref, describedByHref }: PageFacts,
  base: PageUrl | null,
): MarkdownPointers | undefined {
  if (markdownHref === null && describedByHref === null) return undefined;
  const resolve = (href: string | null) => (href === null ? null : parsePageUrl(href, base ?? undefined));
  return { twin: resolve(markdownHref), index: resolve(describedByHref) };
}

/** A page that refreshes only after more than this many seconds is meant to be read. */
const MAX_REFRESH_SECONDS = 5;

/**
 * Reads where a `Refresh:` header or a `<meta http-equiv="refresh">` leads, as the HTML standard parses it ("shared declarative refresh
 * steps").
 * @returns null when absent, when the page stays longer than 5 s, or when it leads to the page itself or to no
 * http URL
 */
export function refreshOf(
  content: string | null,
  { url, base }: { readonly url: PageUrl | null; readonly base: PageUrl | null },
): PageUrl | null {
  const [, digits = "", rest = ""] = /^\s*(\d*)(.*)$/s.exec(content ?? "") ?? [];
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

/**
 * The maximum number of characters that all addresses of a page's links may have together; the same limit holds for
 * its content. Short references to a long base could take gigabytes: 100 000 links on a page of 2.6 MB took 2.7 GB.
 * Real pages stay below 1 MB.
 */
const MAX_ADDRESS_CHARS = 20_000_000;

/** Resolves the addresses in one page's content. Those after the first 20 million characters are null. */
export class References {
  readonly #base: PageUrl | null;
  readonly #encoding: string;
  readonly #keepsDataPictures: boolean;
  #chars = 0;

  /**
   * @param base what relative references resolve against; null leaves them relative
   * @param encoding that of the page, which the queries get
   * @param keepsDataPictures as of `ExtractionOptions`
   */
  constructor(base: PageUrl | null, encoding: string, keepsDataPictures: boolean) {
    this.#base = base;
    this.#encoding = encoding;
    this.#keepsDataPictures = keepsDataPictures;
  }

  /** Resolves a link; null for addresses that nobody may follow from there. */
  link(href: string): string | null {
    const address = resolveHref(encodeQuery(href, this.#encoding), this.#base);
    return this.#counted(address === null ? this.#relative(href) : unwrapped(address));
  }

  /** Resolves the best source of an image; null when there is only a placeholder. */
  image(image: ContentElement): string | null {
    const source = bestImageSource(image);
    if (source === null) return this.#keepsDataPictures ? this.#counted(dataPictureOf(image)) : null;
    const absolute = resolveHref(encodeQuery(source, this.#encoding), this.#base);
    if (absolute === null) return this.#counted(this.#relative(source));
    return /^https?:/.test(absolute) ? this.#counted(absolute) : null;
  }

  #relative(reference: string): string | null {
    return this.#base === null ? relativeReference(reference) : null;
  }

  #counted(address: string | null): string | null {
    if (address === null) return null;
    this.#chars += address.length;
    return this.#chars > MAX_ADDRESS_CHARS ? null : address;
  }
}

/** A page that only sends its visitors on, and what it names the address. */
const WRAPPER =
  /^https?:\/\/[^/?#]{1,255}\/(?:[^?#]{0,100}\/)?(?:url|l\.php|redir(?:ect)?|out|away(?:\.php)?|linkout|leave|exit)\/?\?/i;
const WRAPPED = ["q", "url", "u", "to", "target", "dest", "destination"];

/** The address that a link leads to by way of a page that counts clicks; the link's own where it leads there itself. */
function unwrapped(address: string): string {
  if (!WRAPPER.test(address)) return address;
  const { searchParams, host } = new URL(address);
  const named = WRAPPED.map((name) => searchParams.get(name)).find((value) => value !== null);
  const target = named !== undefined && /^https?:\/\//i.test(named ?? "") ? parsePageUrl(named!) : null;
  return target === null || new URL(target).host === host ? address : target;
}

const SOME_PAGE = "https://relative.invalid/a/b";

// Without a base, a relative reference stays as the page wrote it. Only the URL parser can tell what is relative:
// browsers read `java\nscript:` as a scheme.
function relativeReference(value: string): string | null {
  const isRelative = URL.parse(value) === null && URL.parse(value, SOME_PAGE)?.protocol === "https:";
  return isRelative ? removeInvisible(value.trim()).replace(/\s/g, "%20") : null;
}

/** Tells whether an image is a tracking pixel, which is there to be counted and not to be seen. */
export const isTrackingPixel = (image: ContentElement): boolean =>
  ["width", "height"].every((side) => /^[01](?:px)?$/.test(image.getAttribute(side) ?? ""));

const LAZY_ATTRIBUTES = ["data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src"];

/**
 * Chooses the image that a reader would finally see: the largest of `srcset`, or else the lazy attribute that a
 * script would copy into `src`, or else `src` itself; null when there is only a placeholder.
 */
export function bestImageSource(image: ContentElement): string | null {
  for (const element of [image, ...pictureSources(image)]) {
    for (const attribute of ["srcset", "data-srcset"]) {
      const largest = largestCandidate(element.getAttribute(attribute) ?? "");
      if (largest !== null) return largest;
    }
  }
  const source = image.getAttribute("src")?.trim() ?? "";
  const lazy = LAZY_ATTRIBUTES.map((name) => image.getAttribute(name)?.trim()).find(Boolean);
  if (lazy && !lazy.startsWith("data:")) return lazy;
  return source === "" || source.startsWith("data:") ? null : source;
}

/** Placeholders are shorter. What is longer, Markdown does not read as an address. */
const DATA_PICTURE_CHARS = { min: 1000, max: 190_000 };

/** The picture that is written in the address of an image; null for none, and for a placeholder. */
function dataPictureOf(image: ContentElement): string | null {
  const source = image.getAttribute("src")?.trim() ?? "";
  const { min, max } = DATA_PICTURE_CHARS;
  if (source.length < min || source.length > max) return null;
  return /^data:image\/[a-z.+-]{1,20};base64,[\w+/-]+={0,2}$/i.test(source) ? source : null;
}

// No real picture has more sources, and reading all of them for each image would be quadratic.
const MAX_PICTURE_SOURCES = 32;

function pictureSources(image: ContentElement): ContentElement[] {
  if (image.parent?.name !== "PICTURE") return [];
  const sources: ContentElement[] = [];
  let element = image.parent.firstElementChild;
  for (let seen = 0; element && seen < MAX_PICTURE_SOURCES; seen++, element = element.nextElementSibling)
    if (element.name === "SOURCE") sources.push(element);
  return sources;
}

// This follows "parse a srcset attribute" of WHATWG HTML: a URL may contain commas, so it ends at white space or at
// commas followed by white space; its descriptor ends at the next comma. One pass is enough for any input.
function largestCandidate(srcset: string): string | null {
  let best: string | null = null;
  let bestSize = -1;
  for (let at = nextMatch(srcset, 0, /[^\s,]/g); at < srcset.length; at = nextMatch(srcset, at, /[^\s,]/g)) {
    const urlEnd = nextMatch(srcset, at, /\s/g);
    const written = srcset.slice(at, urlEnd);
    const hasDescriptor = !written.endsWith(",");
    const url = hasDescriptor ? written : written.slice(0, lastNonComma(written) + 1);
    at = hasDescriptor ? nextMatch(srcset, urlEnd, /,/g) : urlEnd;
    const descriptor = hasDescriptor ? srcset.slice(urlEnd, at).trim() : "";
    const size = descriptor === "" ? 1 : Number.parseFloat(descriptor) || 0;
    if (url === "" || url.startsWith("data:") || size <= bestSize) continue;
    best = url;
    bestSize = size;
  }
  return best;
}

function lastNonComma(text: string): number {
  let last = text.length - 1;
  while (last >= 0 && text[last] === ",") last--;
  return last;
}

/** Reads a length as pages write it (`1200`, `"1200"`, `"1200px"`, a QuantitativeValue); otherwise null. */
export function pixels(written: unknown): number | null {
  const value = isRecord(written) ? written.value : written;
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  const match = /^\s*(\d{1,6})(?:\.\d{1,6})?\s*(?:px)?\s*$/i.exec(text);
  return match && Number(match[1]) > 0 ? Number(match[1]) : null;
}
