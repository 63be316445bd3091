import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { createFileStore, formatPageText } from "../../pages/index.ts";
import type { SourceDocument } from "../../search/index.ts";
import type { PageUrl } from "../../urls/index.ts";
import type { OnlineTenant } from "../settings.ts";
import type { Source } from "../source/source.ts";
import { describeQuarantine } from "./judge.ts";
import { readLedger, recoverLedger } from "./ledger.ts";
import type { OnlineParts, OnlineSourceOptions } from "./parts.ts";
import { syncWebsite } from "./sync.ts";

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
    watch: () => null,
  };
}

async function* readDocuments({
  tenant,
  published,
  ledgerPath,
}: OnlineParts): AsyncGenerator<SourceDocument> {
  const ledger = (await readLedger(ledgerPath)) ?? (await recoverLedger(published));
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
    yield { url: page.url, title: page.title, markdown: formatPageText(page) };
  }
}
