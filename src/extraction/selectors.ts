import { parseDocument, selectAll } from "./parse.ts";
import type { ExtractionOptions } from "./types.ts";

/** The rest of a page after selectors were applied. */
type Selected = {
  /**
   * The elements that `select` matches, or the page without its excluded elements; null when nothing is left.
   */
  readonly html: string | null;
  /** The number of elements that `select` matches. */
  readonly elements: number;
  /** The selectors of `exclude` that match nothing. */
  readonly unmatched: readonly string[];
};

/**
 * Applies CSS selectors to a page.
 * @throws Failure `invalid_usage` for a text that is no selector, `too_large` and `too_complex` as `parseDocument`
 */
export function applySelectors(
  html: string,
  { select, exclude }: Pick<ExtractionOptions, "select" | "exclude">,
): Selected {
  const document = parseDocument(html);
  const unmatched = removeExcluded(document, exclude);
  // An exclusion may have removed the whole page.
  if (document.documentElement === null || document.body === null)
    return { html: null, elements: 0, unmatched };
  if (select === null) return { html: sourceOf(document.documentElement), elements: 0, unmatched };
  const selected = selectAll(document, select, "select");
  const parts = outermost(selected).map(sourceOf);
  return { html: parts.length === 0 ? null : parts.join("\n"), elements: selected.length, unmatched };
}

/** Returns the matches that are not inside another match, which already contains them. */
function outermost(selected: readonly Element[]): readonly Element[] {
  const matches = new Set<Element>(selected);
  return selected.filter((element) => {
    let at = element.parentElement;
    while (at !== null && !matches.has(at)) at = at.parentElement;
    return at === null;
  });
}

/**
 * Serialises an element so that it parses to the same tree again; linkedom leaves ampersands in attributes unescaped.
 */
function sourceOf(root: Element): string {
  for (const element of [root, ...root.querySelectorAll("*")]) {
    for (const { name, value } of element.attributes)
      if (value.includes("&")) element.setAttribute(name, value.replaceAll("&", "&amp;"));
  }
  return root.outerHTML;
}

/**
 * Removes what the selectors match, all judged on the unchanged page, so that their order does not matter. Returns
 * the selectors that match nothing.
 */
function removeExcluded(document: Document, exclude: readonly string[]): readonly string[] {
  const matches = exclude.map((selector) => selectAll(document, selector, "exclude"));
  for (const element of matches.flat()) element.remove();
  return exclude.filter((_, index) => matches[index]?.length === 0);
}
