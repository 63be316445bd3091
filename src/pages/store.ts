import type { DocumentUrl } from "../urls/index.ts";
import type { Page } from "./page.ts";

/**
 * Where pages are kept, one per URL. A reader never sees half a page. Calls may overlap; of two puts of
 * one URL the last to finish stays. What comes back is the page as `formatPage` normalises it.
 */
export type PageStore = {
  /**
   * Stores the page, replacing the one of the same URL.
   * @returns its flat file name, the same for as long as the page is stored
   * @throws Failure `unwritable_output`
   */
  put(page: Page): Promise<string>;
  /** @throws Failure `unreadable_input` when the page is there but cannot be read */
  get(url: DocumentUrl): Promise<Page | null>;
  /** Every page once, in the order of file names; a page stored or deleted meanwhile may show or not. */
  list(): AsyncIterable<Page>;
  /** Does nothing when there is no such page. @throws Failure `unwritable_output` */
  delete(url: DocumentUrl): Promise<void>;
};
