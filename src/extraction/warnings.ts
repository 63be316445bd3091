import type { Choice } from "./classification/choose.ts";
import type { ExtractionOptions } from "./types.ts";

/**
 * A warning is given when less than this share of the page's main part is kept and at least this many of its words
 * are left out.
 */
const LEAST_SHARE = 0.5;
const MANY_WORDS = 100;

type Extent = { readonly wordCount: number; readonly mainPart: Choice["mainPart"] };

/** Collects the warnings about a result. */
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

/** Formats the warning about a selector of `exclude` that matches nothing on a page. */
export const unmatchedExclusion = (selector: string): string =>
  `No element matches the excluded selector ${JSON.stringify(selector)}`;
