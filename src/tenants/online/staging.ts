import { rm } from "node:fs/promises";
import type { PageFingerprint } from "../../articles/index.ts";
import { createYieldWhenDue } from "../../base/event-loop.ts";
import { isRecord } from "../../base/json.ts";
import { contentHashOf, type PageSink } from "../../crawler/index.ts";
import { createFileStore, type Page, type PageStore } from "../../pages/index.ts";
import { type DocumentUrl, type PageUrl, parsePageUrl } from "../../urls/index.ts";
import { isSameSource, sitesOf, sourceOf } from "../source/identity.ts";
import { readState, writeState } from "../state-file.ts";
import { fingerprintOf, type KnownDocument } from "./judge.ts";
import type { OnlineParts } from "./plan.ts";

/** Crawled pages that have not been judged yet; they survive an interrupted sync. */
export class Staging {
  readonly #directory: string;
  readonly #published: PageStore;
  readonly #ledger: Ledger;
  readonly #fingerprints = new Map<PageUrl, PageFingerprint>();
  #staged: PageStore;

  private constructor(directory: string, published: PageStore, ledger: Ledger) {
    this.#directory = directory;
    this.#published = published;
    this.#ledger = ledger;
    this.#staged = createFileStore(directory);
  }

  /** Opens the directory, and reads what an interrupted sync has left there. */
  static async open(directory: string, published: PageStore, ledger: Ledger): Promise<Staging> {
    const staging = new Staging(directory, published, ledger);
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

/** A website tenant's memory from one sync to the next. */
export type Ledger = {
  readonly documents: ReadonlyMap<PageUrl, KnownDocument>;
  readonly quarantined: ReadonlySet<PageUrl>;
  /** When every page was last requested regardless of its sitemap, in ms since 1970. */
  readonly verifiedAt: number;
  /** Removed documents whose files still have to be deleted. */
  readonly garbage: readonly PageUrl[];
};

type LedgerFile = {
  readonly version: 2;
  /** See `sourceOf`. */
  readonly source: readonly string[];
  readonly documents: readonly (readonly [url: PageUrl, hash: string, misses: number])[];
  readonly quarantined: readonly PageUrl[];
  readonly verifiedAt: number;
  readonly garbage: readonly PageUrl[];
};

/**
 * Opens the ledger, or makes a new ledger from the pages when it is lost. Documents of sites that the tenant no longer
 * has, and pages of sites that it never had, are left out.
 */
export async function openLedger({ tenant, published, ledgerPath }: OnlineParts): Promise<Ledger> {
  const file = await readState(ledgerPath, isLedgerFile);
  const source = sourceOf(tenant);
  const isOwn = (other: readonly string[]): boolean => isSameSource(other, source);
  if (!file) return await recoverLedger(published, (url) => isOwn([tenant.source, ...sitesOf([url])]));
  if (!isOwn(file.source)) {
    const garbage = [...file.garbage, ...file.documents.map(([url]) => url)];
    return { documents: new Map(), quarantined: new Set(), verifiedAt: 0, garbage };
  }
  return {
    documents: new Map(file.documents.map(([url, hash, misses]) => [url, { hash, misses }])),
    quarantined: new Set(file.quarantined),
    verifiedAt: file.verifiedAt,
    garbage: file.garbage,
  };
}

/** @throws Failure `unwritable_output` */
export function writeLedger({ tenant, ledgerPath }: OnlineParts, ledger: Ledger): Promise<void> {
  const file: LedgerFile = {
    version: 2,
    source: sourceOf(tenant),
    documents: [...ledger.documents].map(([url, { hash, misses }]) => [url, hash, misses] as const),
    quarantined: [...ledger.quarantined],
    verifiedAt: ledger.verifiedAt,
    garbage: ledger.garbage,
  };
  return writeState(ledgerPath, file);
}

async function recoverLedger(store: PageStore, isOwn: (url: PageUrl) => boolean): Promise<Ledger> {
  const documents = new Map<PageUrl, KnownDocument>();
  for await (const page of store.list())
    if (isPageUrl(page.url) && isOwn(page.url))
      documents.set(page.url, { hash: contentHashOf(page), misses: 0 });
  return { documents, quarantined: new Set(), verifiedAt: 0, garbage: [] };
}

const isPageUrl = (url: DocumentUrl): url is PageUrl => !url.startsWith("docs:");

const isLedgerFile = (value: unknown): value is LedgerFile => isRecord(value) && value.version === 2;
