import { resolve } from "node:path";
import type { PathRules } from "../../search/index.ts";
import type { TenantSearch, TenantSettings } from "../../tenants/index.ts";
import { compileUrlRules, type PageUrl, parsePageUrl, parseUrlPrefix } from "../../urls/index.ts";
import { type DeploymentFile, partsOf, type TenantFile } from "./schema.ts";

type FilePlace = {
  readonly directory: string;
  /** Whether the file itself says if the browser goes first. */
  readonly prefersBrowser: boolean;
};

/** Translates a checked file into the program's own terms. */
export function translateDeployment(file: DeploymentFile, place: FilePlace): Deployment {
  const { directory } = place;
  const tenants = file.tenants.map((tenant) => toTenant(tenant, file, directory));
  return {
    name: file.name,
    infrastructure: toInfrastructure(file.infrastructure, place),
    infrastructureFields: file.infrastructure,
    tenants,
    warnings: warningsOf(file),
  };
}

function toInfrastructure(file: DeploymentFile["infrastructure"], { directory, prefersBrowser }: FilePlace) {
  return {
    host: file.mcp_host,
    port: file.mcp_port,
    defaultClientModel: file.default_client_model,
    maxConcurrentRequests: file.max_concurrent_requests,
    workers: file.uvicorn_workers,
    /** The maximum number of simultaneous requests. */
    maxConnections: file.uvicorn_limit_concurrency,
    logLevel: file.log_level,
    /** Whether the tenant is offline: it makes no outbound connection at all. */
    isOffline: file.operation_mode === "offline",
    httpTimeoutMs: file.http_timeout * 1000,
    searchTimeoutMs: file.search_timeout * 1000,
    includeStats: file.search_include_stats,
    fetchMode: file.default_fetch_mode,
    fetchSurroundingChars: file.default_fetch_surrounding_chars,
    maxFetchChars: file.max_fetch_chars,
    /** Null where nobody has said so, so that it is learned where the browser changes something. */
    preferBrowser: prefersBrowser ? file.crawler_browser_first : null,
    /** Whether models may read any page through the server. */
    allowPageFetches: file.allow_page_fetches,
    /** For how many days it is counted what people search for; 0 counts nothing. */
    queryLogDays: file.query_log_days,
    /** The absolute path of the file with the keys of callers; null without one. */
    keysFile: file.keys_file === null ? null : resolve(directory, file.keys_file),
    /** Whose tokens callers may send; null where none are taken. */
    oauth: file.oauth && {
      issuer: file.oauth.issuer,
      audience: file.oauth.audience,
      /** Null asks the issuer where its keys are. */
      jwksUrl: file.oauth.jwks_url,
      /** The claim that names the tenants of a token; null gives every token all of them. */
      tenantsClaim: file.oauth.tenants_claim,
    },
    /** Null when the fallback is switched off. */
    fallback: toFallback(file.article_extractor_fallback),
  };
}

function toFallback(file: DeploymentFile["infrastructure"]["article_extractor_fallback"]) {
  const endpoint = file.endpoint === null ? null : parsePageUrl(file.endpoint);
  if (!file.enabled || endpoint === null) return null;
  return {
    endpoint,
    timeoutMs: file.timeout_seconds * 1000,
    batchSize: file.batch_size,
    maxRetries: file.max_retries,
    /** The name of the environment variable that holds the bearer token. */
    apiKeyVariable: file.api_key_env,
  };
}

function toTenant(tenant: TenantFile, file: DeploymentFile, directory: string): TenantSettings {
  const common = {
    codename: tenant.codename,
    docsName: tenant.docs_name,
    group: tenant.group,
    description: tenant.description,
    library: tenant.library,
    version: tenant.version,
    rootDir: resolve(directory, tenant.docs_root_dir),
    allowIndexBuilds: tenant.allow_index_builds ?? file.infrastructure.allow_index_builds,
    maxFailedPercent: file.infrastructure.max_failed_percent,
    testQueries: tenant.test_queries ?? { natural: [], phrases: [], words: [] },
    search: toSearch(tenant),
  };
  if (tenant.source_type === "filesystem") return { ...common, source: "filesystem", rules: rulesOf(tenant) };
  if (tenant.source_type === "git")
    return {
      ...common,
      source: "git",
      repositoryUrl: tenant.git_repo_url,
      revision: tenant.git_branch,
      subpaths: tenant.git_subpaths,
      rules: rulesOf(tenant),
      stripPrefix: tenant.git_strip_prefix,
      tokenVariable: tenant.git_auth_token_env,
      sshKeyFile: tenant.git_ssh_key_file === null ? null : resolve(directory, tenant.git_ssh_key_file),
      schedule: tenant.refresh_schedule,
      syncIntervalMinutes: tenant.git_sync_interval_minutes,
    };
  return {
    ...common,
    source: "online",
    sitemapUrls: pageUrls(tenant.docs_sitemap_url),
    entryUrls: pageUrls(tenant.docs_entry_url),
    allowPrefixes: prefixes(tenant.url_whitelist_prefixes),
    denyPrefixes: prefixes(tenant.url_blacklist_prefixes),
    followLinks: tenant.enable_crawler,
    maxPages: tenant.max_crawl_pages,
    schedule: tenant.refresh_schedule,
  };
}

const rulesOf = ({ include, exclude }: PathRules): PathRules => ({ include, exclude });

// The schema has checked every part, so nothing is dropped here.
const pageUrls = (list: string): PageUrl[] => partsOf(list).flatMap((part) => parsePageUrl(part) ?? []);
const prefixes = (list: string): string[] => partsOf(list).flatMap((part) => parseUrlPrefix(part) ?? []);

function toSearch({ search: file, boost, deboost, version, language }: TenantFile): TenantSearch {
  return {
    isEnabled: file.enabled,
    profile: file.analyzer_profile,
    language,
    ranking: { k1: file.ranking.bm25_k1, b: file.ranking.bm25_b, boosts: file.boosts },
    snippet: {
      style: file.snippet.style,
      fragmentChars: file.snippet.fragment_char_limit,
      maxFragments: file.snippet.max_fragments,
      contextChars: file.snippet.surrounding_context_chars,
    },
    synonyms: {
      abbreviations: file.synonyms.abbreviations,
      groups: file.synonyms.groups,
      oneWay: file.synonyms.one_way,
    },
    preferences: { boost, deboost },
    assumed: { language: language ?? "", version: version ?? "" },
  };
}

const warningsOf = ({ infrastructure, tenants }: DeploymentFile): string[] => [
  ...(tenants.length === 0 ? ["tenants: there are none, so nothing can be searched"] : []),
  ...infrastructureWarnings(infrastructure).map((warning) => `infrastructure.${warning}`),
  ...tenants.flatMap((tenant, index) =>
    tenantWarnings(tenant).map((warning) => `tenants[${index}]${warning}`),
  ),
];

function infrastructureWarnings({
  allow_page_fetches: allowsPages,
  operation_mode: mode,
  oauth,
}: DeploymentFile["infrastructure"]): string[] {
  const warnings: string[] = [];
  if (allowsPages && mode === "offline")
    warnings.push("allow_page_fetches: no page is fetched in offline mode");
  if (oauth && mode === "offline")
    warnings.push(
      "oauth: the issuer's keys cannot be read in offline mode, so no token is taken (503); use keys_file",
    );
  if (oauth && oauth.tenants_claim === null)
    warnings.push(
      "oauth: without tenants_claim every token of the issuer for this audience opens all tenants",
    );
  return warnings;
}

function tenantWarnings(tenant: TenantFile): string[] {
  const name = `Tenant '${tenant.codename}'`;
  const warnings =
    tenant.version !== null && tenant.library === null
      ? [".version: without library nothing asks for it"]
      : [];
  if (tenant.source_type === "online") {
    if (!tenant.enable_crawler && partsOf(tenant.docs_sitemap_url).length === 0)
      warnings.push(`: ${name} has neither a sitemap nor enable_crawler: only its entry pages are fetched`);
    for (const entry of excludedEntries(tenant))
      warnings.push(`.docs_entry_url: ${name} excludes ${entry} by its own prefixes: it is not fetched`);
    if (listsOnlyExcluded(tenant))
      warnings.push(
        `.url_whitelist_prefixes: ${name} allows no page of a sitemap's site: a sitemap lists pages of its own site`,
      );
  }
  if (tenant.source_type === "git") {
    warnings.push(...subpathProblems(tenant).map((problem) => `.${problem}`));
    if (tenant.refresh_schedule !== null && tenant.git_sync_interval_minutes !== null)
      warnings.push(`.refresh_schedule: ${name} has git_sync_interval_minutes, which replaces it`);
  }
  return warnings;
}

/** Whether no page of any sitemap's site can be allowed. */
function listsOnlyExcluded(tenant: Extract<TenantFile, { source_type: "online" }>): boolean {
  const sites = pageUrls(tenant.docs_sitemap_url).map(siteOf);
  const allowed = prefixes(tenant.url_whitelist_prefixes).map(siteOf);
  return sites.length > 0 && allowed.length > 0 && !allowed.some((site) => sites.includes(site));
}

/** A host without `www.`, since many sites list pages of the one in a sitemap of the other. */
const siteOf = (url: string): string => new URL(url).hostname.replace(/^www\./, "");

/** Likely mistakes in the subpaths of a repository, found without reading the repository. */
function subpathProblems(tenant: Extract<TenantFile, { source_type: "git" }>): string[] {
  const { codename, git_subpaths: subpaths, git_branch: branch, git_strip_prefix: prefix } = tenant;
  const name = `Tenant '${codename}'`;
  const problems = subpaths.flatMap((subpath, index) => {
    const place = `git_subpaths[${index}]: ${name}: ${JSON.stringify(subpath)}`;
    const path = subpath.replaceAll("\\", "/").replace(/^\.\//, "");
    if (/[*?{[]/.test(path.replace(/\/\*{1,2}$/, "")))
      return [`${place} is a path, not a pattern; use include`];
    if (path.includes("://")) return [`${place} is an address; a path inside the repository is needed`];
    if (/^(?:-\/)?(?:tree|blob|raw)\//.test(path) && path.includes(`/${branch}/`))
      return [`${place} has the branch in it, as addresses of a forge do; the path begins after it`];
    if (path.split("/").some((part) => part.startsWith(".") && part !== "."))
      return [`${place} has a name that begins with a dot; such files are left out`];
    return [];
  });
  const covers = (subpath: string): boolean =>
    isBelow(subpath, prefix ?? "") || isBelow(prefix ?? "", subpath);
  if (prefix !== null && !subpaths.some(covers))
    problems.push(
      `git_strip_prefix: ${name}: no subpath is below ${JSON.stringify(prefix)}, so nothing is stripped`,
    );
  if (tenant.git_ssh_key_file !== null && !tenant.git_repo_url.startsWith("ssh:"))
    problems.push(
      `git_ssh_key_file: ${name}: the repository is not reached over ssh, so the key is not used`,
    );
  return problems;
}

const isBelow = (path: string, folder: string): boolean => {
  const [inner, outer] = [path, folder].map((one) => one.replace(/^\.\//, "").replace(/(?<!\/)\/+$/, ""));
  return outer === "." || outer === "" || inner === outer || (inner ?? "").startsWith(`${outer}/`);
};

function excludedEntries(tenant: Extract<TenantFile, { source_type: "online" }>): readonly PageUrl[] {
  const refusalOf = compileUrlRules({
    allowPrefixes: prefixes(tenant.url_whitelist_prefixes),
    denyPrefixes: prefixes(tenant.url_blacklist_prefixes),
  });
  return pageUrls(tenant.docs_entry_url).filter((url) => refusalOf(url, null) !== null);
}

/** A checked `deployment.json` (docs/tenants.md). */
export type Deployment = {
  /** Name that distinguishes it from other deployments; null: the path of its file does. */
  readonly name: string | null;
  /** The server's part of the file, in the program's own terms. */
  readonly infrastructure: Readonly<ReturnType<typeof toInfrastructure>>;
  /** The same fields under the file's names, with defaults for fields that the file leaves out. */
  readonly infrastructureFields: DeploymentFile["infrastructure"];
  readonly tenants: readonly TenantSettings[];
  /** Values that are allowed but probably not meant, one line each. */
  readonly warnings: readonly string[];
};

export type FallbackSettings = Readonly<NonNullable<ReturnType<typeof toFallback>>>;
