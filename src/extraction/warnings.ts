import type { ExtractionOptions } from "./types.ts";

/** What the reader of a result should know about it. */
export const warningsFor = (wordCount: number, { minWordCount }: ExtractionOptions): string[] =>
  wordCount < minWordCount ? [`Content below minimum word count (${wordCount} < ${minWordCount})`] : [];

/** The warning about a selector of `exclude` that matches nothing on a page. */
export const unmatchedExclusion = (selector: string): string =>
  `No element matches the excluded selector ${JSON.stringify(selector)}`;
