import type { Failure } from "../../../base/failure.ts";
import {
  ANALYZER_PROFILES,
  type AnalyzerProfile,
  indexFileOf,
  parseFilter,
  type SearchFilter,
} from "../../../search/index.ts";
import type { Typed } from "../../arguments.ts";
import { wrongUsage } from "../../io.ts";
import { optionValue } from "../../option-values.ts";

export type FolderIndex = { readonly kind: "folder"; readonly profile: AnalyzerProfile } & FolderPlaces;
export type TenantIndex = { readonly kind: "tenants"; readonly isJson: boolean } & TenantChoice;

/** The tenants; `all` means all of the deployment when none is named. */
export type TenantChoice = { readonly codenames: readonly string[] | "all" };

type FolderPlaces = { readonly folder: string; readonly indexFile: string };

type SearchWish = {
  readonly query: string;
  readonly size: number;
  readonly offset: number;
  readonly filter: SearchFilter;
  readonly isCounted: boolean;
  readonly isWordMatch: boolean;
  readonly isExplained: boolean;
  readonly isJson: boolean;
};

export type FolderSearch = { readonly kind: "folder" } & FolderPlaces & SearchWish;
export type TenantSearch = { readonly kind: "tenants" } & TenantChoice & SearchWish & LibraryWish;

/** The choice of tenants by their library; no choice if both are null. */
type LibraryWish = {
  readonly library: { readonly name: string; readonly version: string | null } | null;
  readonly lockFile: string | null;
};

/** `fetch`, ready to run. */
export type FetchCommand = Readonly<ReturnType<typeof readFetchCommand>>;

const DEFAULT_SIZE = 10;
const MAX_SIZE = 100;
const MAX_OFFSET = 900;

const OF_EXPORT = ["name", "library-version", "licence", "source"];

/** Whether `index` packs or unpacks documents. @throws Failure `invalid_usage` for options of these without them */
export function isTravel(typed: Typed): boolean {
  const action = typed.positionals[0] ?? "";
  for (const name of [...OF_EXPORT, "yes"]) {
    const goesWith = name === "yes" ? "import" : "export";
    if (typed.has(name) && action !== goesWith) throw wrongUsage(`--${name} goes with index ${goesWith}`);
  }
  return action === "export" || action === "import";
}

/** @throws Failure `invalid_usage` */
export function readIndexCommand(typed: Typed): FolderIndex | TenantIndex {
  const { positionals } = typed;
  const places = readPlaces(typed, ["json"]);
  if (places) {
    if (positionals.length > 0) throw wrongUsage("index --dir takes no tenants");
    const profile = optionValue.choice(typed, "profile", ANALYZER_PROFILES) ?? "default";
    return { kind: "folder", ...places, profile };
  }
  if (typed.has("profile"))
    throw wrongUsage("--profile goes with --dir; a tenant's stands in the deployment file");
  if (positionals.length === 0 && !typed.has("all"))
    throw wrongUsage("index needs tenants of the deployment file, --all, or --dir DIR");
  if (positionals.length > 0 && typed.has("all")) throw wrongUsage("index takes tenants or --all, not both");
  const codenames = typed.has("all") ? "all" : positionals;
  return { kind: "tenants", codenames, isJson: typed.has("json") };
}

/** @throws Failure `invalid_usage` */
export function readSearchCommand(typed: Typed): FolderSearch | TenantSearch {
  const places = readPlaces(typed, ["library", "from-lockfile"]);
  const isAll = typed.has("all");
  const byLibrary = readLibraryWish(typed);
  const isChosen = byLibrary.library !== null || byLibrary.lockFile !== null;
  if (isAll && isChosen) throw wrongUsage("search takes --all or a library, not both");
  const isWithoutTenant = places || isAll || isChosen;
  const [codename = "", ...words] = isWithoutTenant ? ["", ...typed.positionals] : typed.positionals;
  const query = words.join(" ");
  if (query.trim() === "") throw missingQuery(codename, { isFolder: places !== null, isLibrary: isChosen });
  const wish: SearchWish = {
    query,
    size: optionValue.integer(typed, "size", { min: 1, max: MAX_SIZE }) ?? DEFAULT_SIZE,
    offset: optionValue.integer(typed, "offset", { min: 0, max: MAX_OFFSET }) ?? 0,
    filter: parseFilter(optionValue.texts(typed, "filter").join(" ")),
    isCounted: typed.has("facets"),
    isWordMatch: typed.has("word-match"),
    isExplained: typed.has("explain"),
    isJson: typed.has("json"),
  };
  if (places && wish.filter.group.length > 0)
    throw wrongUsage("--filter group: goes with tenants, not with --dir");
  if (places) return { kind: "folder", ...places, ...wish };
  return { kind: "tenants", codenames: isAll ? "all" : [codename], ...byLibrary, ...wish };
}

function missingQuery(
  codename: string,
  { isFolder, isLibrary }: { readonly isFolder: boolean; readonly isLibrary: boolean },
): Failure {
  if (isFolder) return wrongUsage("search needs a query: article-extractor search --dir DIR QUERY");
  if (isLibrary) return wrongUsage("search needs a query: search --library NAME QUERY");
  const asked = codename === "" ? "a tenant and a query" : "a query after the tenant";
  return wrongUsage(
    `search needs ${asked}: search TENANT QUERY, search --all QUERY, or search --dir DIR QUERY`,
  );
}

function readLibraryWish(typed: Typed): LibraryWish {
  const typedLibrary = optionValue.text(typed, "library");
  const lockFile = optionValue.text(typed, "from-lockfile");
  if (typedLibrary === null) return { library: null, lockFile };
  // npm's scopes begin with the sign that separates the version.
  const [, name = "", version = null] = /^(@?[^@=]+)(?:(?:@|===?)(.*))?$/s.exec(typedLibrary.trim()) ?? [];
  if (name === "" || version === "")
    throw wrongUsage("--library takes a name, or a name and a version: react@18.2");
  if (lockFile !== null && version !== null)
    throw wrongUsage("--from-lockfile gives the version: leave it out of --library");
  return { library: { name, version }, lockFile };
}

/** @throws Failure `invalid_usage` */
export function readFetchCommand(typed: Typed) {
  const [codename, uri, ...rest] = typed.positionals;
  if (codename === undefined || uri === undefined || rest.length > 0)
    throw wrongUsage("fetch takes a tenant and an address that a search has given: fetch TENANT URI");
  return { codename, uri, isJson: typed.has("json") };
}

/** Reads the folder and its index; null without `--dir`. @param ofTenants more options that do not go with a folder */
function readPlaces(typed: Typed, ofTenants: readonly string[]): FolderPlaces | null {
  const folder = optionValue.text(typed, "dir");
  if (folder === null) {
    if (typed.has("index-file")) throw wrongUsage("--index-file goes with --dir");
    return null;
  }
  for (const name of ["all", "config", ...ofTenants])
    if (typed.has(name)) throw wrongUsage(`--${name} goes with tenants, not with --dir`);
  return { folder, indexFile: optionValue.text(typed, "index-file") ?? indexFileOf(folder) };
}
