import type { TenantSettings } from "./settings.ts";
import { repositoryOf } from "./source/identity.ts";

/** Everything that clients learn about a tenant. */
export type TenantDetail = {
  readonly codename: string;
  readonly description: string;
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
  const hosts = [...new Set(urlPrefixes.flatMap((prefix) => URL.parse(prefix)?.host || []))];
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
 * Returns the URL at which a forge shows the files of a revision; null when the forge is unknown. GitHub, Gitea and
 * Forgejo differ after the repository's path; GitLab inserts `/-/`.
 */
export function forgeTree(repositoryUrl: string, revision: string): string | null {
  const url = URL.parse(repositoryUrl);
  if (url?.protocol !== "https:" && url?.protocol !== "ssh:") return null;
  // Over ssh another port is used than on the web.
  const host = url.protocol === "ssh:" ? url.hostname : url.host;
  const repository = `https://${host}${repositoryOf(url.pathname)}`;
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
  return repositoryOf(path).replace(/^\/+/, "") || "a git repository";
}

const oneLine = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();

const cut = (text: string): string =>
  text.length <= MAX_DESCRIPTION ? text : `${[...text].slice(0, MAX_DESCRIPTION - 1).join("")}…`;
