import { isRecord } from "../base/json.ts";
import { type PageUrl, resolveHref } from "../urls/index.ts";
import type { ContentElement } from "./document/tree.ts";
import { removeInvisible } from "./text.ts";

/**
 * The maximum number of characters that all addresses of a page's links may have together; the same limit holds for
 * its content. Short references to a long base could take gigabytes: 100 000 links on a page of 2.6 MB took 2.7 GB.
 * Real pages stay below 1 MB.
 */
export const MAX_ADDRESS_CHARS = 20_000_000;

/** Resolves the addresses in one page's content. Those after the first 20 million characters are null. */
export class References {
  readonly #base: PageUrl | null;
  #chars = 0;

  /** @param base what relative references resolve against; null leaves them relative */
  constructor(base: PageUrl | null) {
    this.#base = base;
  }

  /** Resolves a link; null for addresses that nobody may follow from there. */
  link(href: string): string | null {
    return this.#counted(resolveHref(href, this.#base) ?? this.#relative(href));
  }

  /** Resolves the best source of an image; null when there is only a placeholder. */
  image(image: ContentElement): string | null {
    const source = bestImageSource(image);
    if (source === null) return null;
    const absolute = resolveHref(source, this.#base);
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

// No real picture has more sources, and reading all of them for each image would be quadratic.
const MAX_PICTURE_SOURCES = 32;

function pictureSources(image: ContentElement): ContentElement[] {
  if (image.parent?.name !== "PICTURE") return [];
  const sources: ContentElement[] = [];
  let element = image.parent.firstElementChild;
  for (let seen = 0; element && seen < MAX_PICTURE_SOURCES; seen++, element = element.nextElementSibling) {
    if (element.name === "SOURCE") sources.push(element);
  }
  return sources;
}

// This follows "parse a srcset attribute" of WHATWG HTML: a URL may contain commas, so it ends at white space or at
// commas followed by white space; its descriptor ends at the next comma. One pass is enough for any input.
function largestCandidate(srcset: string): string | null {
  let best: string | null = null;
  let bestSize = -1;
  for (let at = skip(srcset, 0, /[^\s,]/g); at < srcset.length; at = skip(srcset, at, /[^\s,]/g)) {
    const urlEnd = skip(srcset, at, /\s/g);
    const written = srcset.slice(at, urlEnd);
    const hasDescriptor = !written.endsWith(",");
    const url = hasDescriptor ? written : written.slice(0, lastNonComma(written) + 1);
    at = hasDescriptor ? skip(srcset, urlEnd, /,/g) : urlEnd;
    const descriptor = hasDescriptor ? srcset.slice(urlEnd, at).trim() : "";
    const size = descriptor === "" ? 1 : Number.parseFloat(descriptor) || 0;
    if (url === "" || url.startsWith("data:") || size <= bestSize) continue;
    best = url;
    bestSize = size;
  }
  return best;
}

/** Returns where the next match begins, or the end of the text. */
function skip(text: string, from: number, until: RegExp): number {
  until.lastIndex = from;
  return until.exec(text)?.index ?? text.length;
}

function lastNonComma(text: string): number {
  let last = text.length - 1;
  while (last >= 0 && text[last] === ",") last--;
  return last;
}

/**
 * Reads a length as pages write it (`1200`, `"1200"`, `"1200px"`, a QuantitativeValue); null for anything else.
 */
export function pixels(written: unknown): number | null {
  const value = isRecord(written) ? written.value : written;
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  const match = /^\s*(\d{1,6})(?:\.\d{1,6})?\s*(?:px)?\s*$/i.exec(text);
  return match && Number(match[1]) > 0 ? Number(match[1]) : null;
}
