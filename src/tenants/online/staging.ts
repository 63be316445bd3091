import { rm } from "node:fs/promises";
import { createYieldWhenDue } from "../../base/event-loop.ts";
import type { PageSink } from "../../crawler/index.ts";
import { createFileStore, type Page, type PageStore } from "../../pages/index.ts";
import { type PageUrl, parsePageUrl } from "../../urls/index.ts";
import type { Ledger } from "./ledger.ts";
import { fingerprintOf, type PageFingerprint } from "./soft-404.ts";

type StagingParts = { readonly published: PageStore; readonly ledger: Ledger };

/** Crawled pages that have not been judged yet; they survive an interrupted sync. */
export class Staging {
  readonly #directory: string;
  readonly #published: PageStore;
  readonly #ledger: Ledger;
  readonly #fingerprints = new Map<PageUrl, PageFingerprint>();
  #staged: PageStore;

  private constructor(directory: string, { published, ledger }: StagingParts) {
    this.#directory = directory;
    this.#published = published;
    this.#ledger = ledger;
    this.#staged = createFileStore(directory);
  }

  /** Opens the directory, and reads what an interrupted sync has left there. */
  static async open(directory: string, parts: StagingParts): Promise<Staging> {
    const staging = new Staging(directory, parts);
    const yieldWhenDue = createYieldWhenDue();
    for await (const page of staging.#staged.list()) {
      staging.#note(page);
      await yieldWhenDue();
    }
    return staging;
  }

  readonly sink: PageSink = {
    put: async ({ page }) => {
      const name = await this.#staged.put(page);
      this.#note(page);
      return name;
    },
    has: (url) => this.#has(url),
  };

  /** Fingerprints of the staged pages. */
  get fingerprints(): Iterable<PageFingerprint> {
    return this.#fingerprints.values();
  }

  get(url: PageUrl): Promise<Page | null> {
    return this.#staged.get(url);
  }

  async clear(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
    this.#fingerprints.clear();
    this.#staged = createFileStore(this.#directory);
  }

  #note(page: Page): void {
    const url = parsePageUrl(page.url);
    if (url) this.#fingerprints.set(url, fingerprintOf(url, page));
  }

  async #has(url: PageUrl): Promise<boolean> {
    // A page that looked like an error page is requested unconditionally.
    if (this.#ledger.quarantined.has(url)) return false;
    if (this.#ledger.documents.has(url)) {
      if ((await this.#published.get(url)) !== null) return true;
    }
    return (await this.#staged.get(url)) !== null;
  }
}
