import type { Failure } from "../base/failure.ts";
import type { TenantSettings } from "./settings.ts";
import type { SyncRecord } from "./sync-book.ts";
import type { TenantStatus } from "./types.ts";

/** A tenant as lists show it. */
export type TenantSummary = { readonly codename: string; readonly description: string };

/** Everything that clients learn about a tenant. */
export type TenantDetail = TenantSummary & {
  readonly displayName: string;
  readonly library: string | null;
  readonly version: string | null;
  readonly group: string | null;
  readonly source: TenantSettings["source"];
  /** Natural questions first, then phrases, then words. */
  readonly testQueries: readonly string[];
  /** Prefixes of the URLs of the tenant's documents. */
  readonly urlPrefixes: readonly string[];
};

/** Longer descriptions of many tenants would crowd a client's context. */
const MAX_DESCRIPTION = 400;

/** Describes a tenant by its settings; without a description, one is generated from the rest. */
export function describeTenant(tenant: TenantSettings): TenantDetail {
  const urlPrefixes = urlPrefixesOf(tenant);
  const { natural, phrases, words } = tenant.testQueries;
  return {
    codename: tenant.codename,
    displayName: tenant.docsName,
    library: tenant.library,
    version: tenant.version,
    group: tenant.group,
    description: cut(oneLine(tenant.description ?? madeDescription(tenant, urlPrefixes))),
    source: tenant.source,
    testQueries: [...natural, ...phrases, ...words],
    urlPrefixes,
  };
}

function madeDescription(tenant: TenantSettings, urlPrefixes: readonly string[]): string {
  const hosts = [...new Set(urlPrefixes.map((prefix) => URL.parse(prefix)?.host ?? ""))].filter(
    (h) => h !== "",
  );
  if (tenant.source === "online") return `${tenant.docsName}, documentation of ${hosts.join(", ")}`;
  if (tenant.source === "git")
    return `${tenant.docsName}, documentation from ${repositoryName(tenant.repositoryUrl)}`;
  return `${tenant.docsName}, documentation from a folder`;
}

function urlPrefixesOf(tenant: TenantSettings): readonly string[] {
  if (tenant.source === "online") {
    if (tenant.allowPrefixes.length > 0) return tenant.allowPrefixes;
    const urls = [...tenant.entryUrls, ...tenant.sitemapUrls];
    return [...new Set(urls.map((url) => `${new URL(url).origin}/`))];
  }
  const tree = tenant.source === "git" ? forgeTree(tenant.repositoryUrl, tenant.revision) : null;
  return [tree ?? `docs://${tenant.codename}/`];
}

/**
 * Where a forge shows the files of a revision; null when the forge is unknown. GitHub, Gitea and Forgejo
 * differ after the repository's path; GitLab inserts `/-/`.
 */
export function forgeTree(repositoryUrl: string, revision: string): string | null {
  const url = URL.parse(repositoryUrl);
  if (url?.protocol !== "https:" && url?.protocol !== "ssh:") return null;
  // Over ssh another port is used than on the web.
  const host = url.protocol === "ssh:" ? url.hostname : url.host;
  const repository = `https://${host}${repositoryPath(url.pathname)}`;
  const name = revision.split("/").map(encodeURIComponent).join("/");
  if (host === "github.com") return `${repository}/blob/${name}/`;
  if (host === "gitlab.com" || host.startsWith("gitlab.")) return `${repository}/-/blob/${name}/`;
  return null;
}

/** `owner/name` of a repository's URL or of the short form of ssh, but not the path of a local repository. */
function repositoryName(repositoryUrl: string): string {
  const url = URL.parse(repositoryUrl);
  if (url?.protocol === "file:") return "a git repository";
  const path = url?.pathname ?? repositoryUrl.split(":").at(-1) ?? "";
  return repositoryPath(path).replace(/^\/+/, "") || "a git repository";
}

const repositoryPath = (path: string): string => path.replace(/(?<!\/)\/+$/, "").replace(/\.git$/, "");

const oneLine = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();

const cut = (text: string): string =>
  text.length <= MAX_DESCRIPTION ? text : `${[...text].slice(0, MAX_DESCRIPTION - 1).join("")}…`;

/** The state of a tenant's index. */
type IndexState = {
  readonly builtAt: Date | null;
  readonly bytes: number | null;
  readonly documentCount: number | null;
  /** Why the newest file cannot be used. */
  readonly failure: Failure | null;
  /** Why there is nothing to search; null where there is, or where nobody may search. */
  readonly missing: Failure | null;
};

/** The status of a tenant, from the record of its syncs and the state of its index. */
export function statusOf(
  { codename, source, search }: TenantSettings,
  { displayName, description }: TenantDetail,
  record: SyncRecord,
  { builtAt, bytes, documentCount, failure, missing }: IndexState,
): TenantStatus {
  const lastError = record.lastError ?? failure?.toRecord() ?? null;
  return {
    codename,
    displayName,
    description,
    source,
    state: record.state,
    lastStartedAt: dateOf(record.lastStartedAt),
    lastCompletedAt: dateOf(record.lastCompletedAt),
    nextRunAt: dateOf(record.nextRunAt),
    lastError,
    problem: lastError ?? missing?.toRecord() ?? null,
    counts: record.counts,
    history: record.history,
    documentCount: documentCount ?? record.documents,
    builtAt,
    indexBytes: bytes,
    isSearchEnabled: search.isEnabled,
    isBuilding: record.state === "running" && record.isBuilding,
    skippedFiles: record.skippedFiles,
    leftOut: record.leftOut,
    testQueries: record.testQueries,
  };
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
