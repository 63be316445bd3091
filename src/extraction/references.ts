import { type PageUrl, resolveHref } from "../urls/index.ts";
import { bestImageSource } from "./images.ts";
import { removeInvisible } from "./text.ts";

/** Where a link of the content leads; null for addresses that nobody may follow from there. */
export const linkReference = (href: string, base: PageUrl | null): string | null =>
  resolveHref(href, base) ?? (base === null ? relativeReference(href) : null);

/** The best source of an image; null when there is none but a placeholder. */
export function imageReference(image: Element, base: PageUrl | null): string | null {
  const source = bestImageSource(image);
  if (source === null) return null;
  const absolute = resolveHref(source, base);
  if (absolute !== null) return /^https?:/.test(absolute) ? absolute : null;
  return base === null ? relativeReference(source) : null;
}

const SOME_PAGE = "https://relative.invalid/a/b";

// Without a base a relative reference cannot be resolved, but it is still what the page says. Only the
// URL parser knows what is relative: browsers read `java\nscript:` as a scheme.
function relativeReference(value: string): string | null {
  const isRelative = URL.parse(value) === null && URL.parse(value, SOME_PAGE)?.protocol === "https:";
  return isRelative ? removeInvisible(value.trim()).replace(/\s/g, "%20") : null;
}

/** Whether an image is there to be counted, not to be seen. */
export const isTrackingPixel = (image: Element): boolean =>
  ["width", "height"].every((side) => /^[01](?:px)?$/.test(image.getAttribute(side) ?? ""));
