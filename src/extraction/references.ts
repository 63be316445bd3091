import { type PageUrl, resolveHref } from "../urls/index.ts";
import type { ContentElement } from "./document/tree.ts";
import { bestImageSource } from "./images.ts";
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
