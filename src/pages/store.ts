import type { DocumentUrl } from "../urls/index.ts";
import type { Page } from "./page.ts";

/**
 * Stores pages, one per URL. A reader never sees half a page. Calls may overlap; of two puts of one URL the
 * last to finish wins. Pages come back as `formatPage` normalises them.
 */
export type PageStore = {
  /**
   * Stores the page, replacing the one with the same URL.
   * @returns its flat file name, which stays the same for as long as the page is stored
   * @throws Failure `unwritable_output`
   */
  put(page: Page): Promise<string>;
  /** @throws Failure `unreadable_input` when the page exists but cannot be read */
  get(url: DocumentUrl): Promise<Page | null>;
  /**
   * Yields every page once, in the order of file names; pages that are stored or deleted meanwhile may be
   * missing.
   */
  list(): AsyncIterable<Page>;
  /**
   * Deletes a page; does nothing when there is none.
   * @throws Failure `unwritable_output`
   */
  delete(url: DocumentUrl): Promise<void>;
};
