import { basename, dirname, relative, resolve, sep } from "node:path";
import { openSources, openTenantApp, type Program } from "../../../app/index.ts";
import type { Log } from "../../../base/log.ts";
import { isDocument, listDocuments } from "../../../search/index.ts";
import { type TenantFields, withTenant } from "../../../settings/index.ts";
import { lookAtRepository, lookAtWebsite, type TenantSettings } from "../../../tenants/index.ts";
import { meantUrl, notPageUrl, type PageUrl, parsePageUrl, withoutCredentials } from "../../../urls/index.ts";
import { placeDeployment } from "../../deployment.ts";
import { isFolder } from "../../input.ts";
import { wrongUsage } from "../../io.ts";

/** What was typed as the source of a tenant. */
type TypedSource =
  | { readonly kind: "filesystem"; readonly directory: string }
  | { readonly kind: "git"; readonly url: string }
  | { readonly kind: "online"; readonly url: PageUrl };

/** A tenant for `deployment.json`, and what it would begin with. */
export type FoundTenant = {
  readonly fields: TenantFields;
  /** Addresses of pages, or paths of files. */
  readonly documents: readonly string[];
  /** The number of further files, such as JSON, of which only the text tells whether they are documents. */
  readonly undecided: number;
  /** What was found out about a website; empty for others. */
  readonly findings: Readonly<Record<string, boolean>>;
};

const FORGES = new Set(["github.com", "gitlab.com", "codeberg.org", "bitbucket.org"]);

/**
 * Tells folders, repositories and websites apart: a folder is there, a repository's address ends in `.git`, has a scheme
 * of git, or is `owner/name` at a known forge.
 * @throws Failure `invalid_usage` for anything else, and for credentials
 */
export function readSource(written: string): TypedSource {
  if (isFolder(written)) return { kind: "filesystem", directory: resolve(written) };
  const url = URL.parse(written);
  if (url && (url.username !== "" || url.password !== "") && url.protocol !== "ssh:")
    throw wrongUsage(
      `${withoutCredentials(written)}: a tenant's address has no credentials; git_auth_token_env names a token's variable`,
    );
  if (isRepository(written, url)) return { kind: "git", url: written };
  const page = parsePageUrl(written);
  if (page) return { kind: "online", url: page };
  const meant = meantUrl(written);
  const guess = meant === null ? "" : `; did you mean ${meant} ?`;
  throw wrongUsage(`${notPageUrl(written)}, no repository's, and no folder that is there${guess}`);
}

function isRepository(written: string, url: URL | null): boolean {
  if (url === null) return /^[\w.-]+@[\w.-]+:[\w./~-]+$/.test(written);
  if (["ssh:", "git:", "file:"].includes(url.protocol)) return true;
  const path = url.pathname.replace(/\/$/, "");
  return path.endsWith(".git") || (FORGES.has(url.hostname) && /^\/[^/]+\/[^/]+$/.test(path));
}

type LookOptions = {
  readonly program: Program;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The deployment file that the tenant is for, and its text. */
  readonly path: string;
  readonly text: string;
  /** The typed codename; null for one that is made of the source's name. */
  readonly codename: string | null;
};

/** Describes a source as a tenant. @throws Failure of reaching it; `invalid_usage` when the file has it already */
export async function lookAt(source: TypedSource, options: LookOptions): Promise<FoundTenant> {
  const { path, text, log } = options;
  const deployment = placeDeployment(path, text);
  const codename = options.codename ?? codenameFor(source, deployment.tenants);
  const base = baseOf(source, path, codename);
  const draft = draftOf(source, base);
  const place = { name: path, directory: dirname(resolve(path)) };
  const tenant = placeDeployment(path, withTenant(text, draft, place)).tenants.at(-1)!; // it was just added there
  await using app = openTenantApp(options.program, { deployment, log });
  await using sources = openSources(options.program, { deployment, app });
  const found = await complete(source, { draft, base, tenant, sources, ...options });
  requireNewSource(placeDeployment(path, withTenant(text, found.fields, place)).tenants);
  return found;
}

type Base = Pick<TenantFields, "codename"> & { readonly docs_name: string; readonly docs_root_dir: string };

function baseOf(source: TypedSource, path: string, codename: string): Base {
  const docs_name = nameOf(source);
  if (source.kind !== "filesystem") return { codename, docs_name, docs_root_dir: `data/${codename}` };
  const below = relative(dirname(resolve(path)), source.directory);
  const isBelow = below !== ".." && !below.startsWith(`..${sep}`) && resolve(below) !== below;
  return { codename, docs_name, docs_root_dir: isBelow ? below || "." : source.directory };
}

function draftOf(source: TypedSource, base: Base): TenantFields {
  if (source.kind === "git")
    return { source_type: "git", ...base, git_repo_url: source.url, git_subpaths: ["."] };
  if (source.kind === "online") return { source_type: "online", ...base, docs_entry_url: source.url };
  return { source_type: "filesystem", ...base };
}

type Complete = LookOptions & {
  readonly draft: TenantFields;
  readonly base: Base;
  readonly tenant: TenantSettings;
  readonly sources: ReturnType<typeof openSources>;
};

/** How often documentation is synced unless somebody says otherwise: a website at night, a repository each hour. */
const NIGHTLY = "15 3 * * *";
const HOURLY = 60;

async function complete(
  source: TypedSource,
  { draft, base, tenant, sources, signal }: Complete,
): Promise<FoundTenant> {
  if (tenant.source === "filesystem") {
    const documents = await Array.fromAsync(listDocuments(tenant.rootDir, { rules: tenant.rules }));
    return { fields: draft, ...byName(documents), findings: {} };
  }
  if (tenant.source === "git") {
    const { revision, subpaths, documents } = await lookAtRepository(tenant, { access: sources.git, signal });
    const chosen = { git_branch: revision, git_subpaths: subpaths, git_sync_interval_minutes: HOURLY };
    return { fields: { ...draft, ...chosen }, ...byName(documents), findings: {} };
  }
  const { url } = source as Extract<TypedSource, { kind: "online" }>; // the others were handled
  const { wanted, pages, ...findings } = await lookAtWebsite(url, { access: sources.web, signal });
  const { sitemapUrls, entryUrls, allowPrefixes, followLinks } = wanted;
  const fields = {
    source_type: "online",
    ...base,
    ...(sitemapUrls.length > 0 && { docs_sitemap_url: sitemapUrls.join(", ") }),
    docs_entry_url: entryUrls.join(", "),
    ...(allowPrefixes.length > 0 && { url_whitelist_prefixes: allowPrefixes.join(", ") }),
    ...(followLinks && { enable_crawler: true }),
    refresh_schedule: NIGHTLY,
  };
  return { fields, documents: pages, undecided: 0, findings };
}

/** Tells documents from files of which only the text would tell. */
function byName(paths: readonly string[]): Pick<FoundTenant, "documents" | "undecided"> {
  const documents = paths.filter(isDocument);
  return { documents, undecided: paths.length - documents.length };
}

/** Two tenants of one source would only give each result twice. */
function requireNewSource(tenants: readonly TenantSettings[]): void {
  const added = tenants.at(-1);
  const other = added && tenants.slice(0, -1).find((one) => placeOf(one) === placeOf(added));
  if (other) throw wrongUsage(`the tenant '${other.codename}' has this source already`);
}

const placeOf = (tenant: TenantSettings): string => {
  if (tenant.source === "filesystem") return tenant.rootDir;
  if (tenant.source === "git")
    return `${tenant.repositoryUrl}\n${tenant.revision}\n${tenant.subpaths.join("\n")}`;
  return tenant.entryUrls.join("\n");
};

/** Names that say nothing of what a folder or a repository documents. */
const GENERIC = new Set(["docs", "doc", "documentation", "content", "pages", "site", "website"]);

/** A codename that no tenant has, made of the host's, the repository's or the folder's name. */
function codenameFor(source: TypedSource, tenants: readonly TenantSettings[]): string {
  const word = wordOf(source)
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^-|-$/g, "");
  const stem = (/^[a-z]/.test(word) && word.length > 1 ? word : `docs-${word}`).slice(0, MAX_STEM);
  const taken = new Set(tenants.map(({ codename }) => codename));
  let codename = stem.replace(/-$/, "");
  for (let number = 2; taken.has(codename); number++) codename = `${stem}-${number}`;
  return codename;
}

/** A codename has 64 characters, of which a number takes some. */
const MAX_STEM = 56;

function wordOf(source: TypedSource): string {
  if (source.kind === "online") return nameOfHost(new URL(source.url).hostname);
  const parts =
    source.kind === "git"
      ? repositoryParts(source.url)
      : source.directory.split(sep).filter((part) => part !== "");
  const last = parts.at(-1) ?? "";
  return GENERIC.has(last.toLowerCase()) ? (parts.at(-2) ?? last) : last;
}

const repositoryParts = (url: string): string[] =>
  url
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\.git$/, "")
    .split(/[/:]/);

/** `docs.example.org` is `example`; an address in digits stays whole. */
function nameOfHost(host: string): string {
  if (/^[\d.]+$|^\[/.test(host)) return host;
  const labels = host.replace(/^(?:www|docs?|developers?|help)\.(?=.*\.)/, "").split(".");
  return (labels.length > 1 ? labels.slice(0, -1) : labels).join("-");
}

function nameOf(source: TypedSource): string {
  if (source.kind === "filesystem") return basename(source.directory) || "Files";
  if (source.kind === "git") return repositoryParts(source.url).slice(-2).join("/");
  const { host, pathname } = new URL(source.url);
  return `${host}${pathname === "/" ? "" : pathname}`;
}
