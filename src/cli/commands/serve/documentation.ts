import { existsSync } from "node:fs";
import type { App } from "../../../app/index.ts";
import { VERSION } from "../../../base/version.ts";
import { countCalls, type DocumentationOptions, type McpOptions } from "../../../server/index.ts";
import { type Deployment, extractionDefaults, type Settings } from "../../../settings/index.ts";
import type { TenantRegistry } from "../../../tenants/index.ts";
import type { Notices } from "../../terminal/notices.ts";

// What every server of documentation does with its deployment file.

/** How the tools over the tenants answer. */
export function toolOptions(
  { infrastructure }: Deployment,
  {
    registry,
    app,
    settings,
  }: { readonly registry: TenantRegistry; readonly app: App; readonly settings: Settings },
): DocumentationOptions & Pick<McpOptions, "name" | "version" | "onCall"> {
  const mayRead = infrastructure.allowPageFetches && !infrastructure.isOffline;
  // The request itself ends a moment later.
  const maxSeconds = (infrastructure.httpTimeoutMs / 1000) * 0.9;
  return {
    name: "article-extractor",
    version: VERSION,
    registry,
    searchTimeoutMs: infrastructure.searchTimeoutMs,
    includeStats: infrastructure.includeStats,
    fetchMode: infrastructure.fetchMode,
    fetchSurroundingChars: infrastructure.fetchSurroundingChars,
    pages: mayRead ? { app, extraction: extractionDefaults(settings), maxSeconds } : null,
    onCall: countCalls(app.metrics),
  };
}

/** Such a tenant answers no search until somebody builds its index, and nothing here will. */
export function warnOfMissingIndexes(
  { tenants }: Deployment,
  { registry, notices }: { readonly registry: TenantRegistry; readonly notices: Notices },
): void {
  const waiting = tenants.filter(
    ({ codename, allowIndexBuilds, search }) =>
      search.isEnabled && !allowIndexBuilds && registry.status(codename).builtAt === null,
  );
  if (waiting.length === 0) return;
  const names = waiting.map(({ codename, rootDir, source }) =>
    // The others make theirs when they are synced.
    source === "filesystem" && !existsSync(rootDir)
      ? `${codename} (docs_root_dir ${rootDir} does not exist)`
      : codename,
  );
  const codenames = waiting.map(({ codename }) => codename).join(" ");
  notices.warn(
    `no search index, and this server may not build one (allow_index_builds is false): ${names.join(", ")}; build with: article-extractor index ${codenames}`,
  );
}
