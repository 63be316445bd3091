import { type FSWatcher, statSync, watch } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { createFileStore, pageText } from "../../pages/index.ts";
import {
  type DocumentExtractor,
  listDocuments,
  type PathRules,
  readDocumentFolder,
  type SourceDocument,
  slugStyleOfFolder,
} from "../../search/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { GitAccess } from "../git/access.ts";
import { gitSource } from "../git/source.ts";
import { describeQuarantine } from "../online/judge.ts";
import type { OnlineParts, OnlineSourceOptions, WebAccess } from "../online/plan.ts";
import { openLedger } from "../online/staging.ts";
import { syncWebsite } from "../online/sync.ts";
import type { FilesystemTenant, OnlineTenant, TenantSettings } from "../settings.ts";
import type { Source, SourceWatch, SyncCounts } from "./source.ts";

export type SourceParts = {
  /** Extracts a page from a file. */
  readonly extractHtml: DocumentExtractor;
  /** How remote sources are reached. */
  readonly access: { readonly git: GitAccess; readonly web: WebAccess };
};

type SourceOptions = SourceParts & {
  /** The tenant's state directory. */
  readonly stateDirectory: string;
  readonly log: Log;
};

/** Opens the source of a tenant. */
export function openSource(settings: TenantSettings, options: SourceOptions): Source {
  const { extractHtml, access, stateDirectory, log } = options;
  if (settings.source === "filesystem") return filesystemSource(settings, extractHtml);
  if (settings.source === "git")
    return gitSource(settings, { access: access.git, stateDirectory, extractHtml, log });
  return onlineSource(settings, { access: access.web, stateDirectory, log, now: Date.now });
}

/** How often to look at a folder that reports no changes, in ms. */
const LOOK_EVERY_MS = 30_000;

const NOTHING: SyncCounts = { fetched: 0, unchanged: 0, removed: 0, failed: 0 };

/** A folder that somebody else fills: it is only read, there is nothing to sync. */
export function filesystemSource(
  { rootDir, codename, rules }: FilesystemTenant,
  extractHtml: DocumentExtractor,
): Source {
  return {
    sync: async () => NOTHING,
    documents: (onLeftOut) => readDocumentFolder(rootDir, { codename, rules, extractHtml, onLeftOut }),
    slugStyle: () => slugStyleOfFolder(rootDir),
    watch: (onChange) => new FolderWatch({ folder: rootDir, rules, onChange, intervalMs: LOOK_EVERY_MS }),
  };
}

/**
 * The documents of a website. A sync crawls into a staging area and judges the result as a whole, so that
 * error pages replace nothing and no document is removed before its absence is certain.
 */
export function onlineSource(tenant: OnlineTenant, options: OnlineSourceOptions): Source {
  const parts: OnlineParts = {
    tenant,
    options,
    published: createFileStore(tenant.rootDir),
    ledgerPath: join(options.stateDirectory, "website.json"),
  };
  return {
    sync: (context) => syncWebsite(parts, context),
    documents: () => readDocuments(parts),
    slugStyle: async () => undefined,
    watch: () => null,
  };
}

async function* readDocuments(parts: OnlineParts): AsyncGenerator<SourceDocument> {
  const { tenant, published } = parts;
  const ledger = await openLedger(parts);
  if (ledger.documents.size === 0) {
    const { size } = ledger.quarantined;
    const why =
      size > 0
        ? `has no documents: ${describeQuarantine(size)}`
        : "was not synced yet: there are no documents";
    throw new Failure("unreadable_input", `Tenant '${tenant.codename}' ${why}`);
  }
  for await (const page of published.list()) {
    // Web addresses are pages' addresses; a docs:// address is in no ledger.
    if (!ledger.documents.has(page.url as PageUrl)) continue;
    const { text, anchors = [] } = pageText(page);
    const { url, title, language, date } = page;
    yield { url, title, markdown: text, declared: { language, date }, anchors };
  }
}

type FolderWatchOptions = {
  readonly folder: string;
  readonly rules: PathRules;
  /** Called when the folder's documents have changed since the last look; calls never overlap. */
  readonly onChange: () => Promise<void>;
  /** The longest time between two looks, in ms, because not every file system reports changes. */
  readonly intervalMs: number;
};

/** Changes come in bursts, so a look waits this long after the first one, in ms. */
const SETTLE_MS = 300;
/** How soon to look again for a missing folder, in ms. */
const MISSING_MS = 1000;

/** Watches a folder for changed documents. It compares their paths, sizes and times and does not read them. */
class FolderWatch implements SourceWatch {
  readonly #options: FolderWatchOptions;
  #watcher: FSWatcher | null = null;
  /** Device and inode number of the watched folder; null when none is watched. */
  #watched: string | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isLooking = false;
  #isDisposed = false;
  #isDirty = false;
  /** Null before the first look, which always finds a change. */
  #signature: string | null = null;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
    this.#watch();
    this.#schedule(0);
  }

  /** Looks now and treats the folder as changed. */
  lookAgain(): void {
    this.#signature = null;
    this.#schedule(0);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#watcher?.close();
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** Watches the folder again if another one has replaced it, because a replaced folder reports no changes. */
  #watch(): void {
    const identity = identityOf(this.#options.folder);
    if (identity === this.#watched) return;
    this.#watcher?.close();
    this.#watched = null;
    if (identity === null) return;
    try {
      this.#watcher = watch(this.#options.folder, { recursive: true }, () => {
        this.#isDirty = true;
        if (!this.#isLooking) this.#schedule(SETTLE_MS);
      });
      this.#watched = identity;
      // When the folder disappears, the regular looks continue.
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // This file system does not report changes.
    }
  }

  #schedule(afterMs: number): void {
    if (this.#isDisposed) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), afterMs);
    this.#timer.unref?.();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#isDirty = false;
    this.#watch();
    try {
      const signature = await signatureOf(this.#options);
      if (signature !== this.#signature) {
        this.#signature = signature;
        await this.#options.onChange();
      }
    } finally {
      this.#isLooking = false;
      this.#schedule(this.#nextLookMs());
    }
  }

  #nextLookMs(): number {
    if (this.#isDirty || this.#signature === null) return SETTLE_MS;
    return this.#signature === UNREADABLE ? MISSING_MS : this.#options.intervalMs;
  }
}

const UNREADABLE = "unreadable";

function identityOf(folder: string): string | null {
  try {
    const { dev, ino } = statSync(folder);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

/** Identifies the documents and their state; `UNREADABLE` when there is no folder. */
async function signatureOf({ folder, rules }: FolderWatchOptions): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  try {
    for await (const path of listDocuments(folder, { rules })) {
      const found = await lstat(join(folder, path)).catch(() => null);
      hasher.update(`${path}\0${found?.size}\0${found?.mtimeMs}\0${found?.ino}\n`);
    }
    return hasher.digest("hex");
  } catch {
    return UNREADABLE;
  }
}
