import type { Extraction } from "../extraction/index.ts";
import type { FetchedPage } from "../fetching/index.ts";

/** A page's answer, and everything that one pass over it yields. */
export type PageVisit = {
  readonly page: FetchedPage;
  /** Null when the status alone says that there is no page or, for 304, that the known one is still valid. */
  readonly extraction: Extraction | null;
  readonly extractionMs: number;
  /** Warnings about fetching the page. */
  readonly notes: readonly string[];
};
