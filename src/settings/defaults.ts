import type { ExtractionOptions } from "../extraction/index.ts";

/** What an extraction does where nobody says otherwise: the same in the shell, over HTTP and in crawls. */
export const DEFAULT_EXTRACTION: Omit<ExtractionOptions, "renderings"> = {
  minWordCount: 150,
  includeImages: true,
  includeCode: true,
  select: null,
  exclude: [],
};

/** What a crawl does where neither an option nor the environment says otherwise. */
export const DEFAULT_CRAWL = { maxDepth: 3 } as const;
