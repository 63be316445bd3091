import type { Extraction } from "../extraction/index.ts";
import type { FetchedPage } from "../fetching/index.ts";

/** A page as it answered, and all that one pass over it yields. */
export type PageVisit = {
  readonly page: FetchedPage;
  /** Null when the status alone says that there is no page, or (304) none but the one that is known. */
  readonly extraction: Extraction | null;
  readonly extractionMs: number;
  /** Warnings about how it was fetched. */
  readonly notes: readonly string[];
};
