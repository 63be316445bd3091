import { parseDocument, selectAll } from "./parse.ts";
import type { ExtractionOptions } from "./types.ts";

/** What selectors leave of a page. */
type Selected = {
  /** The elements that `select` matches, or the page without what is excluded; null where nothing is left. */
  readonly html: string | null;
  /** Number of elements that `select` matches. */
  readonly elements: number;
  /** Selectors of `exclude` that match nothing. */
  readonly unmatched: readonly string[];
};

/**
 * Takes a page apart by CSS selectors.
 * @throws Failure `invalid_usage` for a text that is no selector, `too_large` and `too_complex` as `parseDocument`
 */
export function applySelectors(
  html: string,
  { select, exclude }: Pick<ExtractionOptions, "select" | "exclude">,
): Selected {
  const document = parseDocument(html);
  const unmatched = removeExcluded(document, exclude);
  // An exclusion may have taken the whole page.
  if (document.documentElement === null || document.body === null)
    return { html: null, elements: 0, unmatched };
  if (select === null) return { html: sourceOf(document.documentElement), elements: 0, unmatched };
  const selected = selectAll(document, select, "--select");
  const parts = outermost(selected).map(sourceOf);
  return { html: parts.length === 0 ? null : parts.join("\n"), elements: selected.length, unmatched };
}

/** The matches that stand in no other match, which holds them already. */
function outermost(selected: readonly Element[]): readonly Element[] {
  const matches = new Set<Element>(selected);
  return selected.filter((element) => {
    let at = element.parentElement;
    while (at !== null && !matches.has(at)) at = at.parentElement;
    return at === null;
  });
}

/** An element as HTML that is read as the same again: linkedom leaves ampersands in attributes as they are. */
function sourceOf(root: Element): string {
  for (const element of [root, ...root.querySelectorAll("*")]) {
    for (const { name, value } of element.attributes)
      if (value.includes("&")) element.setAttribute(name, value.replaceAll("&", "&amp;"));
  }
  return root.outerHTML;
}

/** Removes what the selectors match on the page as it is, whatever their order; returns those that match nothing. */
function removeExcluded(document: Document, exclude: readonly string[]): readonly string[] {
  const matches = exclude.map((selector) => selectAll(document, selector, "--exclude"));
  for (const element of matches.flat()) element.remove();
  return exclude.filter((_, index) => matches[index]?.length === 0);
}
