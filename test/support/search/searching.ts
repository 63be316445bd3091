import type { SearchSettings } from "../../../src/search/index.ts";
import { prepare, rescorePrepared, type SearchOptions, searchIndex } from "../../../src/search/searcher.ts";
import type { Segment } from "../../../src/search/segment/segment.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";

export const OPTIONS: SearchOptions = {
  size: 10,
  wordMatch: false,
  explain: false,
  deadline: Number.POSITIVE_INFINITY,
};

type Variation = { readonly settings?: Partial<SearchSettings>; readonly options?: Partial<SearchOptions> };

const partsOf = (reader: Segment, { settings }: Variation) => ({
  reader,
  settings: { ...DEFAULT_SEARCH, ...settings },
});

/** The hits of a query with the default settings, but for what is varied. */
export const searchIn = (reader: Segment, query: string, variation: Variation = {}) =>
  searchIndex(partsOf(reader, variation), query, { ...OPTIONS, ...variation.options });

/** Addresses and scores of all that a query finds. */
export const rankIn = (reader: Segment, query: string, variation: Variation = {}) =>
  rank(partsOf(reader, variation), query, { ...OPTIONS, ...variation.options }).map(
    ({ document, score }) => ({ url: String(reader.document(document).url), score }),
  );

const rank = (parts: ReturnType<typeof partsOf>, query: string, options: SearchOptions) =>
  rescorePrepared(prepare(parts, query, options, null), options, null);
