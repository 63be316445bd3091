import type { ExtractionOptions } from "./types.ts";

/** What the reader of a result should know about it. */
export const warningsFor = (wordCount: number, { minWordCount }: ExtractionOptions): string[] =>
  wordCount < minWordCount ? [`Content below minimum word count (${wordCount} < ${minWordCount})`] : [];
