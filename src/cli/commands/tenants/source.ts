import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { type App, openSources, openTenantApp, type Program } from "../../../app/index.ts";
import type { Log } from "../../../base/log.ts";
import { isDocument, type LeftOut, listDocuments } from "../../../search/index.ts";
import { extractionDefaults, type TenantFields, withTenant } from "../../../settings/index.ts";
import {
  countByReason,
  describeReasons,
  lookAtRepository,
  lookAtWebsite,
  type TenantSettings,
} from "../../../tenants/index.ts";
import { meantUrl, notPageUrl, type PageUrl, parsePageUrl, withoutCredentials } from "../../../urls/index.ts";
import type { Typed } from "../../arguments.ts";
import { placeDeployment } from "../../deployment.ts";
import { isFolder } from "../../input.ts";
import { wrongUsage } from "../../io.ts";
import { typedFields } from "./fields.ts";

/** The source of a tenant as it was typed. */
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
  /** Facts found about a website; empty for other sources. */
  readonly findings: Readonly<Record<string, boolean>>;
  /** Probable mistakes, such as a folder without documents. */
  readonly warnings: readonly string[];
};

const FORGES = new Set(["github.com", "gitlab.com", "codeberg.org", "bitbucket.org"]);

/**
 * Tells folders, repositories and websites apart: a folder is there, a repository's address ends in `.git`, has a scheme
 * of git, or is `owner/name` at a known forge; a folder that git keeps bare is a repository.
 * @throws Failure `invalid_usage` for anything else, and for credentials
 */
export function readSource(written: string): TypedSource {
  if (isBare(written)) return { kind: "git", url: pathToFileURL(resolve(written)).href };
  if (isFolder(written)) return { kind: "filesystem", directory: resolve(written) };
  const url = URL.parse(written);
  if (url && (url.username !== "" || url.password !== "") && url.protocol !== "ssh:")
    throw wrongUsage(
      `${withoutCredentials(written)}: a tenant's address has no credentials; git_auth_token_env names the variable of a token`,
    );
  if (isRepository(written, url)) return { kind: "git", url: written };
  const page = parsePageUrl(written);
  if (page) return { kind: "online", url: page };
  const meant = meantUrl(written);
  const guess = meant === null ? "" : `; did you mean ${meant} ?`;
  throw wrongUsage(`${notPageUrl(written)}, not a repository, and not an existing folder${guess}`);
}

/** Whether git keeps a repository in a folder without a copy of its files, which only git can read. */
const isBare = (directory: string): boolean =>
  ["HEAD", "objects", "refs"].every((name) => existsSync(join(directory, name)));

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
  readonly typed: Typed;
};

/** Describes a source as a tenant. @throws Failure of reaching it; `invalid_usage` when the file has it already */
export async function lookAt(source: TypedSource, options: LookOptions): Promise<FoundTenant> {
  const { path, text, log } = options;
  const deployment = placeDeployment(path, text);
  const codename = options.codename ?? codenameFor(source, deployment.tenants);
  const base = baseOf(source, path, codename);
  const entry = source.kind === "online" ? source.url : null;
  const wished = typedFields(options.typed, { source: source.kind, entry });
  const draft = withChanges(draftOf(source, base), wished);
  const place = { name: path, directory: dirname(resolve(path)) };
  const tenant = placeDeployment(path, withTenant(text, draft, place)).tenants.at(-1)!; // it was just added there
  await using app = openTenantApp(options.program, { deployment, log });
  await using sources = openSources(options.program, { deployment, app });
  const found = await complete(source, { draft, base, tenant, app, sources, ...options });
  // Typed fields override found fields, and follow them.
  const fields = withChanges(found.fields, wished);
  const { tenants, warnings } = placeDeployment(path, withTenant(text, fields, place));
  requireNewSource(tenants);
  const own = `tenants[${tenants.length - 1}]`;
  const unlikely = warnings.flatMap((line) => (line.startsWith(own) ? [line.slice(own.length + 1)] : []));
  return { ...found, fields, warnings: [...found.warnings, ...unlikely] };
}

/** Returns tenant fields after a change, without the fields that the change removes. */
function withChanges(fields: TenantFields, changes: Readonly<Record<string, unknown>>): TenantFields {
  const all = Object.entries({ ...fields, ...changes }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(all), codename: fields.codename };
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
  readonly app: App;
  readonly sources: ReturnType<typeof openSources>;
};

const MAX_NAME = 100;
const MAX_DESCRIPTION = 200;

const shortened = (text: string): string =>
  text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION).replace(/\s+\S*$/, "")} …`;

/** How often documentation is synced unless somebody says otherwise: a website at night, a repository each hour. */
const NIGHTLY = "15 3 * * *";
const HOURLY = 60;

async function complete(
  source: TypedSource,
  { draft, base, tenant, app, sources, program, signal }: Complete,
): Promise<FoundTenant> {
  if (tenant.source === "filesystem") {
    const leftOut: LeftOut[] = [];
    const options = { rules: tenant.rules, onLeftOut: (file: LeftOut) => void leftOut.push(file) };
    const documents = await Array.fromAsync(listDocuments(tenant.rootDir, options));
    const reasons = describeReasons(countByReason(leftOut));
    const why = reasons === "" ? "the folder is empty" : `left out: ${reasons}`;
    const warnings = documents.length > 0 ? [] : [`no documents are in ${tenant.rootDir}: ${why}`];
    return { fields: draft, ...byName(documents), findings: {}, warnings };
  }
  if (tenant.source === "git") {
    const { revision, subpaths, documents } = await lookAtRepository(tenant, { access: sources.git, signal });
    const chosen = { git_branch: revision, git_subpaths: subpaths, git_sync_interval_minutes: HOURLY };
    return { fields: { ...draft, ...chosen }, ...byName(documents), findings: {}, warnings: [] };
  }
  const { url } = source as Extract<TypedSource, { kind: "online" }>; // the others were handled
  const { wanted, pages, start, ...findings } = await lookAtWebsite(url, {
    access: sources.web,
    signal,
    denyPrefixes: tenant.denyPrefixes,
    maxPages: tenant.maxPages,
  });
  const { sitemapUrls, entryUrls, allowPrefixes, followLinks } = wanted;
  const fields = {
    source_type: "online",
    ...base,
    ...(start !== null && (await introduce(start, url, { app, program }))),
    ...(sitemapUrls.length > 0 && { docs_sitemap_url: sitemapUrls.join(", ") }),
    docs_entry_url: entryUrls.join(", "),
    ...(allowPrefixes.length > 0 && { url_whitelist_prefixes: allowPrefixes.join(", ") }),
    ...(followLinks && { enable_crawler: true }),
    refresh_schedule: NIGHTLY,
  };
  return { fields, documents: pages, undecided: 0, findings, warnings: [] };
}

/** The name of a site and what it is about, as far as its first page says so. */
async function introduce(html: string, url: PageUrl, { app, program }: Pick<Complete, "app" | "program">) {
  const options = { ...extractionDefaults(program.settings), renderings: [] };
  const { article } = await app.extractor.extract({ kind: "html", body: html, url, options });
  const { title = null, siteName = null, excerpt = null } = article ?? {};
  // A single word such as "Home" says less than the address.
  const name = siteName ?? (title !== null && /\S\s+\S/.test(title) ? title : null);
  return {
    ...(name !== null && { docs_name: name.slice(0, MAX_NAME) }),
    ...(excerpt !== null && { description: shortened(excerpt) }),
  };
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
  // Of a repository on this disk the folder above it says nothing.
  if (source.kind === "git")
    return repositoryParts(source.url)
      .slice(source.url.startsWith("file:") ? -1 : -2)
      .join("/");
  const { host, pathname } = new URL(source.url);
  return `${host}${pathname === "/" ? "" : pathname}`;
}
