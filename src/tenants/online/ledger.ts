import { contentHashOf } from "../../crawler/index.ts";
import type { PageStore } from "../../pages/index.ts";
import type { DocumentUrl, PageUrl } from "../../urls/index.ts";
import { readState, writeState } from "../state-file.ts";
import type { KnownDocument } from "./judge.ts";

/** What a website's tenant remembers from one sync to the next. */
export type Ledger = {
  readonly documents: ReadonlyMap<PageUrl, KnownDocument>;
  readonly quarantined: ReadonlySet<PageUrl>;
  /** When every page was last requested regardless of its sitemap, in ms since 1970. */
  readonly verifiedAt: number;
  /** Removed documents whose files still have to be deleted. */
  readonly garbage: readonly PageUrl[];
};

type LedgerFile = {
  readonly version: 1;
  readonly documents: readonly (readonly [url: PageUrl, hash: string, misses: number])[];
  readonly quarantined: readonly PageUrl[];
  readonly verifiedAt: number;
  readonly garbage: readonly PageUrl[];
};

/** Returns null before the first complete sync. */
export async function readLedger(path: string): Promise<Ledger | null> {
  const file = await readState(path, isLedgerFile);
  if (!file) return null;
  return {
    documents: new Map(file.documents.map(([url, hash, misses]) => [url, { hash, misses }])),
    quarantined: new Set(file.quarantined),
    verifiedAt: file.verifiedAt,
    garbage: file.garbage,
  };
}

/** @throws Failure `unwritable_output` */
export function writeLedger(path: string, ledger: Ledger): Promise<void> {
  const file: LedgerFile = {
    version: 1,
    documents: [...ledger.documents].map(([url, { hash, misses }]) => [url, hash, misses] as const),
    quarantined: [...ledger.quarantined],
    verifiedAt: ledger.verifiedAt,
    garbage: ledger.garbage,
  };
  return writeState(path, file);
}

/** Makes a ledger from the pages when the ledger itself is lost. */
export async function recoverLedger(store: PageStore): Promise<Ledger> {
  const documents = new Map<PageUrl, KnownDocument>();
  for await (const { url, title, markdown } of store.list())
    if (isPageUrl(url)) documents.set(url, { hash: contentHashOf(title, markdown), misses: 0 });
  return { documents, quarantined: new Set(), verifiedAt: 0, garbage: [] };
}

const isPageUrl = (url: DocumentUrl): url is PageUrl => !url.startsWith("docs:");

const isLedgerFile = (value: unknown): value is LedgerFile =>
  typeof value === "object" && value !== null && "version" in value && value.version === 1;
