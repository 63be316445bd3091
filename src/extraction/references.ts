import { isRecord } from "../base/json.ts";
import { type PageUrl, resolveHref } from "../urls/index.ts";
import type { ContentElement } from "./document/tree.ts";
import { removeInvisible } from "./text.ts";

/**
 * Characters of all addresses together that a page's links may have, and those of its content. Short references
 * to a long base may take gigabytes: 100 000 links of a page of 2.6 MB took 2.7. Real pages stay below 1 MB.
 */
export const MAX_ADDRESS_CHARS = 20_000_000;

/** The addresses in one page's content; those after the first 20 million characters are null. */
export class References {
  readonly #base: PageUrl | null;
  #chars = 0;

  /** @param base what relative references resolve against; null leaves them relative */
  constructor(base: PageUrl | null) {
    this.#base = base;
  }

  /** Where a link leads; null for addresses that nobody may follow from there. */
  link(href: string): string | null {
    return this.#counted(resolveHref(href, this.#base) ?? this.#relative(href));
  }

  /** The best source of an image; null when there is none but a placeholder. */
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

// Without a base a relative reference cannot be resolved, but it is still what the page says. Only the
// URL parser knows what is relative: browsers read `java\nscript:` as a scheme.
function relativeReference(value: string): string | null {
  const isRelative = URL.parse(value) === null && URL.parse(value, SOME_PAGE)?.protocol === "https:";
  return isRelative ? removeInvisible(value.trim()).replace(/\s/g, "%20") : null;
}

/** Whether an image is there to be counted, not to be seen. */
export const isTrackingPixel = (image: ContentElement): boolean =>
  ["width", "height"].every((side) => /^[01](?:px)?$/.test(image.getAttribute(side) ?? ""));

const LAZY_ATTRIBUTES = ["data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src"];

/**
 * The image that a reader would see in the end: the largest of `srcset`, else the lazy attribute that a
 * script would copy into `src`, else `src` itself; null when there is only a placeholder.
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

// No picture has so many sources; looking at all of them for each image would be quadratic.
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

// WHATWG HTML, "parse a srcset attribute": a URL may hold commas, so it ends at white space or at commas
// that white space follows; its descriptor ends at the next comma. One pass, whatever the page wrote.
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

/** Where the next match begins, else the end of the text. */
function skip(text: string, from: number, until: RegExp): number {
  until.lastIndex = from;
  return until.exec(text)?.index ?? text.length;
}

function lastNonComma(text: string): number {
  let last = text.length - 1;
  while (last >= 0 && text[last] === ",") last--;
  return last;
}

/** A length as pages write it (`1200`, `"1200"`, `"1200px"`, a QuantitativeValue); null for any other. */
export function pixels(written: unknown): number | null {
  const value = isRecord(written) ? written.value : written;
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  const match = /^\s*(\d{1,6})(?:\.\d{1,6})?\s*(?:px)?\s*$/i.exec(text);
  return match && Number(match[1]) > 0 ? Number(match[1]) : null;
}
