const LAZY_ATTRIBUTES = ["data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src"];

/**
 * The image that a reader would see in the end: the largest of `srcset`, else the lazy attribute that a
 * script would copy into `src`, else `src` itself; null when there is only a placeholder.
 */
export function bestImageSource(image: Element): string | null {
  const pictureSources =
    image.parentElement?.tagName === "PICTURE" ? [...image.parentElement.querySelectorAll("source")] : [];
  for (const element of [image, ...pictureSources]) {
    const set = element.getAttribute("srcset") ?? element.getAttribute("data-srcset");
    const largest = set ? largestCandidate(set) : null;
    if (largest !== null) return largest;
  }
  const source = image.getAttribute("src")?.trim() ?? "";
  const lazy = LAZY_ATTRIBUTES.map((name) => image.getAttribute(name)?.trim()).find(Boolean);
  if (lazy && !lazy.startsWith("data:")) return lazy;
  return source === "" || source.startsWith("data:") ? null : source;
}

// A URL in `srcset` may hold commas, so candidates are split at a comma that white space follows or
// precedes (WHATWG HTML, "parse a srcset attribute", in the forms that pages use).
function largestCandidate(srcset: string): string | null {
  let best: string | null = null;
  let bestSize = -1;
  for (const candidate of srcset.trim().split(/\s*,\s+|\s+,\s*|,(?=https?:|\/)/)) {
    const [url = "", descriptor = "1x"] = candidate.trim().split(/\s+/);
    const size = Number.parseFloat(descriptor) || 0;
    if (url === "" || url.startsWith("data:") || size <= bestSize) continue;
    best = url.replace(/,$/, "");
    bestSize = size;
  }
  return best;
}
