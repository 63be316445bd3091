import { normalize } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { EARLIER_FIELDS } from "../../base/earlier-names.ts";
import { Failure } from "../../base/failure.ts";
import { isRecord } from "../../base/json.ts";
import { didYouMean, didYouMeanAny } from "../../base/nearest.ts";
import { parseJsonc, withElement, withFieldsAt, withoutElement } from "./jsonc.ts";
import { checkDeployment, knownFields, partsOf, type SchemaProblem } from "./schema.ts";
import { type Deployment, translateDeployment } from "./translate.ts";

/** Longer files are a mistake; this limit has room for ten thousand tenants. */
export const MAX_DEPLOYMENT_BYTES = 32 * 1024 * 1024;

type ReadOptions = { readonly name: string; readonly directory: string };

/**
 * Reads the text of a `deployment.json`. It is strict at every level: unknown fields, wrong types, values out
 * of range and broken rules between fields are all reported at once.
 * @param options.name the file's name in messages
 * @param options.directory absolute; a relative `docs_root_dir` is resolved against it
 * @throws Failure `invalid_settings` with a line for each problem: the JSON path, then what it must be
 */
export function readDeployment(text: string, options: ReadOptions): Deployment {
  const json = parseJsonc(text, options.name);
  const checked = checkDeployment(json);
  // Rules between fields are checked on the raw JSON, so that they are reported together with the rest.
  const raw = json as RawDeployment;
  const problems = "problems" in checked ? checked.problems : [];
  const ofFields = problems.map((problem) => lineOf(problem, raw));
  const lines = [...ofFields, ...fallbackLines(raw), ...tenantLines(raw)];
  if (lines.length > 0 || !("file" in checked))
    throw new Failure("invalid_settings", lines.map((line) => `${options.name}: ${line}`).join("\n"));
  const prefersBrowser = raw.infrastructure?.crawler_browser_first !== undefined;
  return translateDeployment(checked.file, { directory: options.directory, prefersBrowser });
}

/** A file that has not been checked: any part may be missing or of another type. */
type RawDeployment = {
  readonly infrastructure?: {
    readonly article_extractor_fallback?: unknown;
    readonly crawler_browser_first?: unknown;
  };
  readonly tenants?: unknown;
};

type Path = readonly (string | number)[];

/** Writes a problem as one line: the JSON path, then what is wrong. */
function lineOf({ path, kind, expected, written }: SchemaProblem, json: RawDeployment): string {
  const where = showPath(path);
  const field = String(path.at(-1) ?? "");
  const tenant = tenantAt(json, path);
  if (kind === "unknown") {
    const earlier = EARLIER_FIELDS[path.filter((step) => typeof step === "string").join(".")];
    if (earlier && "say" in earlier) return `${where}: unknown field; ${earlier.say}`;
    return `${where}: unknown field${didYouMean(field, knownFields(path.slice(0, -1), tenant?.source_type))}`;
  }
  if (tenant && path.length === 3) {
    const name = `Tenant '${codenameOf(tenant)}'`;
    const isAsked = OWN_FIELDS[String(tenant.source_type)]?.includes(field);
    if (isAsked && (kind === "missing" || isEmpty(written))) return `${where}: ${name} must specify ${field}`;
    if (field === "refresh_schedule" && typeof written === "string")
      return `${where}: ${name} has an invalid refresh_schedule: ${expected}`;
  }
  if (kind === "missing") return `${where}: is required`;
  // People write the secret itself where its variable's name belongs.
  return `${where}: must ${expected}${field.endsWith("_env") ? "" : showWritten(written)}`;
}

const isEmpty = (written: unknown): boolean =>
  written === "" || (Array.isArray(written) && written.length === 0);

/** The fields that belong to one kind of tenant only. */
const OWN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  git: ["git_repo_url", "git_subpaths", "docs_root_dir"],
  filesystem: ["docs_root_dir"],
  online: ["docs_root_dir"],
};

const MAX_SHOWN = 80;

// A URL in the wrong place may hold a password.
const isSecret = (text: string): boolean => /:\/\/[^/]*@|token|secret|password/i.test(text);

function showWritten(written: unknown): string {
  if (typeof written === "string")
    return isSecret(written) ? "" : `, not ${JSON.stringify(written.slice(0, MAX_SHOWN))}`;
  if (written === null || typeof written === "number" || typeof written === "boolean")
    return `, not ${written}`;
  return `, not ${Array.isArray(written) ? "a list" : "an object"}`;
}

/** Writes a path as `tenants[0].search.ranking`; the whole file is `(file)`. */
function showPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$]*$/.test(step)) text += `${text === "" ? "" : "."}${step}`;
    else text += `[${JSON.stringify(step.slice(0, MAX_SHOWN))}]`;
  }
  return text === "" ? "(file)" : text;
}

type RawTenant = Readonly<Record<string, unknown>>;

const tenantsOf = (json: RawDeployment): readonly unknown[] =>
  isRecord(json) && Array.isArray(json.tenants) ? json.tenants : [];

function tenantAt(json: RawDeployment, path: Path): RawTenant | null {
  if (path[0] !== "tenants" || typeof path[1] !== "number") return null;
  const tenant = tenantsOf(json)[path[1]];
  return isRecord(tenant) ? tenant : null;
}

const codenameOf = (tenant: RawTenant): string =>
  typeof tenant.codename === "string" ? tenant.codename.slice(0, MAX_SHOWN) : "?";

function fallbackLines(json: RawDeployment): string[] {
  const fallback =
    isRecord(json) && isRecord(json.infrastructure) ? json.infrastructure.article_extractor_fallback : null;
  if (!isRecord(fallback) || fallback.enabled !== true || (fallback.endpoint ?? null) !== null) return [];
  return ["infrastructure.article_extractor_fallback.endpoint: is required when enabled is true"];
}

function tenantLines(json: RawDeployment): string[] {
  const firstUse = new Map<string, number>();
  const firstSync = new Map<string, string>();
  return tenantsOf(json).flatMap((tenant, index) => {
    if (!isRecord(tenant)) return [];
    const lines: string[] = [];
    const name = codenameOf(tenant);
    const first = firstUse.get(name);
    if (first !== undefined)
      lines.push(`tenants[${index}].codename: must be unique, but tenants[${first}] is '${name}' too`);
    else if (typeof tenant.codename === "string") firstUse.set(name, index);
    if (tenant.source_type === "online" && isBlank(tenant.docs_sitemap_url) && isBlank(tenant.docs_entry_url))
      lines.push(
        `tenants[${index}]: Tenant '${name}' must specify either docs_sitemap_url or docs_entry_url`,
      );
    if (tenant.source_type === "filesystem" && (tenant.refresh_schedule ?? null) !== null)
      lines.push(
        `tenants[${index}].refresh_schedule: Tenant '${name}' is a folder, which needs no schedule: it is rescanned when it changes`,
      );
    lines.push(...sharedDirectoryLines(tenant, index, firstSync));
    return lines;
  });
}

// Two tenants in one directory would each take the other's documents for deleted ones of its own.
function sharedDirectoryLines(tenant: RawTenant, index: number, firstSync: Map<string, string>): string[] {
  if (tenant.source_type === "filesystem" || typeof tenant.docs_root_dir !== "string") return [];
  const directory = normalize(`${tenant.docs_root_dir.trim()}/`);
  const name = codenameOf(tenant);
  const other = firstSync.get(directory);
  if (other === undefined) firstSync.set(directory, name);
  const where = `tenants[${index}].docs_root_dir`;
  return other === undefined ? [] : [`${where}: Tenant '${name}' cannot share the directory of '${other}'`];
}

const isBlank = (field: unknown): boolean =>
  field === undefined || (typeof field === "string" && partsOf(field).length === 0);

/** A tenant with the names that `deployment.json` has for its fields. */
export type TenantFields = Readonly<Record<string, unknown>> & { readonly codename: string };

const TENANTS = "tenants";

/**
 * Adds a tenant to the text of a `deployment.json`, after the others and in their style; comments stay.
 * @throws Failure `invalid_settings` when the text is not a deployment, or would not be one with the tenant
 */
export function withTenant(text: string, tenant: TenantFields, options: ReadOptions): string {
  const { tenants } = readDeployment(text, options);
  if (tenants.some(({ codename }) => codename === tenant.codename))
    throw new Failure(
      "invalid_usage",
      `${options.name} has a tenant '${tenant.codename}' already; name another codename`,
    );
  const next = withElement(text, TENANTS, tenant);
  return requireChange(next, [...rawTenants(text, options), tenant], options);
}

/**
 * Takes a tenant out of the text of a `deployment.json`; all else stays, comments beside the tenant included.
 * @throws Failure `invalid_settings` when the text is not a deployment; `unknown_tenant` that names the nearest
 */
export function withoutTenant(text: string, codename: string, options: ReadOptions): string {
  const index = indexOfTenant(text, codename, options);
  const next = withoutElement(text, TENANTS, index);
  return requireChange(next, rawTenants(text, options).toSpliced(index, 1), options);
}

/**
 * Changes fields of a tenant in the text of a `deployment.json`; all else stays, comments included.
 * @param fields undefined takes a field out
 * @throws Failure as `withoutTenant`; `invalid_settings` when a value is not allowed
 */
export function withFields(
  text: string,
  codename: string,
  fields: Readonly<Record<string, unknown>>,
  options: ReadOptions,
): string {
  const index = indexOfTenant(text, codename, options);
  const next = withFieldsAt(text, [TENANTS, index], fields);
  const tenants = rawTenants(text, options);
  const changed = JSON.parse(JSON.stringify({ ...(tenants[index] as TenantFields), ...fields }));
  return requireChange(next, tenants.with(index, changed), options);
}

/** @throws Failure `invalid_settings`; `unknown_tenant` that names the nearest */
function indexOfTenant(text: string, codename: string, options: ReadOptions): number {
  const codenames = readDeployment(text, options).tenants.map((tenant) => tenant.codename);
  const index = codenames.indexOf(codename);
  if (index >= 0) return index;
  throw new Failure(
    "unknown_tenant",
    `${options.name} has no tenant '${codename.slice(0, 100)}'${didYouMeanAny(codename, codenames)}`,
  );
}

const rawTenants = (text: string, { name }: ReadOptions): readonly unknown[] =>
  (parseJsonc(text, name) as { readonly tenants: readonly unknown[] }).tenants;

/** @throws Failure `invalid_settings` when another change was made, as in a file that has its list twice */
function requireChange(next: string, tenants: readonly unknown[], options: ReadOptions): string {
  readDeployment(next, options);
  if (isDeepStrictEqual(rawTenants(next, options), tenants)) return next;
  throw new Failure(
    "invalid_settings",
    `${options.name}: its list of tenants cannot be changed; change it by hand`,
  );
}
