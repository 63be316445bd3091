import { rm } from "node:fs/promises";
import type { PageSink } from "../../crawler/index.ts";
import { createFileStore, type Page, type PageStore } from "../../pages/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { Ledger } from "./ledger.ts";

/** Pages that were crawled and are not judged yet; they outlive a sync that is cut off. */
export class Staging {
  readonly #directory: string;
  readonly #published: PageStore;
  readonly #ledger: Ledger;
  #staged: PageStore;

  constructor(
    directory: string,
    { published, ledger }: { readonly published: PageStore; readonly ledger: Ledger },
  ) {
    this.#directory = directory;
    this.#published = published;
    this.#ledger = ledger;
    this.#staged = createFileStore(directory);
  }

  readonly sink: PageSink = {
    put: ({ page }) => this.#staged.put(page),
    has: (url) => this.#has(url),
  };

  pages(): AsyncIterable<Page> {
    return this.#staged.list();
  }

  async clear(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
    this.#staged = createFileStore(this.#directory);
  }

  async #has(url: PageUrl): Promise<boolean> {
    // What looked like an error page is asked for anew, without "if it has changed".
    if (this.#ledger.quarantined.has(url)) return false;
    if (this.#ledger.documents.has(url)) {
      if ((await this.#published.get(url)) !== null) return true;
    }
    return (await this.#staged.get(url)) !== null;
  }
}
