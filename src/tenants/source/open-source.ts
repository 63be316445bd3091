import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { createFileStore, pageText } from "../../pages/index.ts";
import {
  type DocumentExtractor,
  readDocumentFolder,
  type SourceDocument,
  slugStyleOfFolder,
} from "../../search/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import { FolderWatch } from "../folder-watch.ts";
import type { GitAccess } from "../git/access.ts";
import { gitSource } from "../git/source.ts";
import { describeQuarantine } from "../online/judge.ts";
import type { OnlineParts, OnlineSourceOptions, WebAccess } from "../online/plan.ts";
import { openLedger } from "../online/staging.ts";
import { syncWebsite } from "../online/sync.ts";
import type { FilesystemTenant, OnlineTenant, TenantSettings } from "../settings.ts";
import type { Source, SyncCounts } from "./source.ts";

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
    documents: ({ onLeftOut }) => readDocumentFolder(rootDir, { codename, rules, extractHtml, onLeftOut }),
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
