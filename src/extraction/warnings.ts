import type { Choice } from "./choice/choose.ts";
import type { ExtractionOptions } from "./types.ts";

/** A smaller share of the page's main part, with at least as many words left out, is worth a warning. */
const LEAST_SHARE = 0.5;
const MANY_WORDS = 100;

type Extent = { readonly wordCount: number; readonly mainPart: Choice["mainPart"] };

/** What the reader of a result should know about it. */
export function warningsFor({ wordCount, mainPart }: Extent, { minWordCount }: ExtractionOptions): string[] {
  const warnings: string[] = [];
  if (wordCount < minWordCount)
    warnings.push(`Content below minimum word count (${wordCount} < ${minWordCount})`);
  if (mainPart !== null && isPartial(mainPart))
    warnings.push(`partial content (${mainPart.kept} of ${mainPart.total} words of the page's main part)`);
  return warnings;
}

const isPartial = ({ kept, total }: NonNullable<Choice["mainPart"]>): boolean =>
  kept < LEAST_SHARE * total && total - kept > MANY_WORDS;

/** The warning about a selector of `exclude` that matches nothing on a page. */
export const unmatchedExclusion = (selector: string): string =>
  `No element matches the excluded selector ${JSON.stringify(selector)}`;
