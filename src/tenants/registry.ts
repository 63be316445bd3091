import { isDeepStrictEqual } from "node:util";
import type { Database } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import { didYouMeanAny } from "../base/nearest.ts";
import { type DocumentEntry, type LeftOut, requireValues, type StoredDocument } from "../search/index.ts";
import { type DocumentUrl, parseDocumentUrl } from "../urls/index.ts";
import type { TenantDetail } from "./describe.ts";
import { createTenantFinder, MAX_FOUND } from "./find.ts";
import {
  chooseLocked,
  chooseMentioned,
  chooseVersion,
  type LibraryChoice,
  type LockedPackage,
} from "./library.ts";
import { createOpenIndexes, type OpenIndexes } from "./live-index.ts";
import { type Lead, leadOf, leadTenants, TenantSearcher } from "./search-tenants.ts";
import { haveSameSource, type TenantSettings } from "./settings.ts";
import type { SourceParts } from "./source/open-source.ts";
import { openSyncBook, type SyncBook } from "./sync-book.ts";
import { Tenant } from "./tenant.ts";
import type { IndexBuilding, SearchAnswer, TenantSearchOptions, TenantStatus } from "./types.ts";

export type RegistryOptions = SourceParts & {
  readonly tenants: readonly TenantSettings[];
  /** An absolute path; indexes without a place beside their documents are kept there. */
  readonly stateDirectory: string;
  /** The database of that directory, shared with all processes that serve the same tenants. */
  readonly database: Database;
  /** The deployment's name; of all processes with one name, one builds and syncs. */
  readonly deployment: string;
  readonly building: IndexBuilding;
  /** Whether there are no schedules and no outbound connections. */
  readonly isOffline: boolean;
  readonly log: Log;
};

export type FetchedDocument = StoredDocument & { readonly tenant: string };

export type FoundTenants = {
  readonly tenants: readonly TenantDetail[];
  /** Which version was chosen and why; null for a query that names none. */
  readonly resolved: string | null;
};

/** All tenants of a deployment, as MCP, HTTP and the terminal show them. */
export interface TenantRegistry extends AsyncDisposable {
  /** The tenants in the order of the deployment file. */
  list(): readonly TenantDetail[];
  /**
   * At most 10 tenants, the best first. Where there are no more than 10, those that do not match follow,
   * because a model chooses better among a few than it guesses other words. None for an empty query. A query
   * that names a library and a version begins with the tenants of that version.
   */
  find(query: string): FoundTenants;
  /** See `chooseVersion`. */
  chooseVersion(library: string, version: string | null): LibraryChoice;
  /** See `chooseLocked`. */
  chooseLocked(packages: Iterable<LockedPackage>, library: string | null): readonly LibraryChoice[];
  /** @throws Failure `unknown_tenant` that names the nearest codenames */
  describe(codename: string): TenantDetail;
  /**
   * @throws Failure `unknown_tenant`, `search_disabled`, `index_missing`, `index_outdated`, `index_corrupt`,
   *   `timeout`
   */
  search(codename: string, query: string, options: TenantSearchOptions): SearchAnswer;
  /**
   * Searches several tenants, or all, as if their documents were in one index. Those that cannot be searched
   * are in `failures`.
   * @param codenames null for all tenants
   * @throws Failure `unknown_tenant`, `timeout`; as `search`, when none of them can be searched;
   *   `invalid_usage` for a value of a filter that no document or tenant has
   */
  searchTogether(
    codenames: readonly string[] | null,
    query: string,
    options: TenantSearchOptions,
  ): SearchAnswer;
  /**
   * Returns an indexed document by its address; a fragment is ignored. The address may be written in another
   * way than the index has it: with a query, another ending, a slash at its end, the name of an index page.
   * @param codename null for the first tenant that has the document
   * @throws Failure as `search`, and `unknown_document`
   */
  fetch(codename: string | null, uri: string): FetchedDocument;
  /**
   * Lists indexed documents of a tenant, in the order of their addresses.
   * @param after the address before the first of them; null begins with the first of all
   * @throws Failure as `search`
   */
  documents(codename: string, after: string | null, count: number): readonly DocumentEntry[];
  /** @throws Failure `unknown_tenant` */
  status(codename: string): TenantStatus;
  /**
   * Lists the files that the last build of a tenant's index left out; the status has their counts.
   * @throws Failure `unknown_tenant`
   */
  leftOut(codename: string): Promise<readonly LeftOut[]>;
  /**
   * The same registry with only these tenants, for callers who may not see the others: neither lists nor
   * messages name those.
   * @param codenames those that there are not are left out
   */
  limitedTo(codenames: readonly string[]): TenantRegistry;
  /**
   * Starts to watch documents and to build outdated indexes, where that is allowed and while no other process
   * does.
   */
  start(): void;
  /**
   * Builds the index of a tenant now, analysing only changed documents.
   * @throws Failure of the build, `unknown_tenant`
   */
  build(codename: string): Promise<TenantStatus>;
  /**
   * Syncs a tenant now and builds its index, even if the settings allow no builds: this serves a worker
   * beside the server.
   * @throws Failure of the sync or the build, `unknown_tenant`, `invalid_usage` while another process does
   * the same
   */
  sync(codename: string): Promise<TenantStatus>;
  /**
   * Requests a sync of a tenant from whichever process leads.
   * @throws Failure `unknown_tenant`
   */
  requestSync(codename: string): SyncRequestOutcome;
  /**
   * Goes on with other tenants. Those whose settings are the same keep their open index and their running sync;
   * those that changed are opened again, and those that are new are synced. What a removed one has on the disk
   * stays, and its running sync is cancelled.
   */
  replace(tenants: readonly TenantSettings[]): TenantChanges;
}

/** The codenames of tenants that a change of the settings concerns. */
export type TenantChanges = Readonly<Record<"added" | "changed" | "removed", readonly string[]>>;

/**
 * The result of a request for a sync: `running` while one is under way or waits, `not_allowed` for a folder
 * whose index may not be built, since building the index is all that a sync of a folder does.
 */
export type SyncRequestOutcome = "queued" | "running" | "not_allowed";

/** Opens the tenants; nothing is read before the first request. */
export function createTenantRegistry(options: RegistryOptions): TenantRegistry {
  const book = openSyncBook(options.database, options.log);
  const openIndexes = createOpenIndexes(MAX_OPEN_INDEXES);
  const isLed = (): boolean => book.leases.holderNow(leadOf(options.deployment)) !== null;
  const open = (settings: TenantSettings) => new Tenant(settings, { ...options, book, isLed, openIndexes });
  let tenants: Tenants = new Map(options.tenants.map((settings) => [settings.codename, open(settings)]));
  /** By codename, the ends of tenants that were replaced, and those whose documents must be fetched soon. */
  const leaving = new Map<string, Promise<void>>();
  const unfetched = new Set<string>();
  let lead: Lead | null = null;

  const exchange = async (codename: string, before: Tenant | undefined): Promise<void> => {
    const earlier = leaving.get(codename);
    if (before) lead?.dismiss(before);
    // Two of one codename would work on the same files.
    await Promise.all([earlier, before?.[Symbol.asyncDispose]()]);
    const present = tenants.get(codename);
    if (present) lead?.take(present, unfetched.delete(codename));
  };
  const replace = (wanted: readonly TenantSettings[]): TenantChanges => {
    const before = tenants;
    tenants = new Map(
      wanted.map((settings) => {
        const present = before.get(settings.codename);
        const isSame = present && isDeepStrictEqual(present.settings, settings);
        return [settings.codename, isSame ? present : open(settings)];
      }),
    );
    const present = [...tenants.keys()];
    const removed = [...before.keys()].filter((codename) => !tenants.has(codename));
    const added = present.filter((codename) => !before.has(codename));
    const changed = present.filter(
      (codename) => before.has(codename) && before.get(codename) !== tenants.get(codename),
    );
    for (const { settings } of tenants.values()) {
      const earlier = before.get(settings.codename)?.settings;
      if (!earlier || !haveSameSource(earlier, settings)) unfetched.add(settings.codename);
    }
    for (const codename of [...removed, ...changed, ...added]) {
      const exchanged = exchange(codename, before.get(codename)).finally(() => {
        if (leaving.get(codename) === exchanged) leaving.delete(codename);
      });
      leaving.set(codename, exchanged);
    }
    return { added, changed, removed };
  };
  return showTenants(() => tenants, {
    book,
    openIndexes,
    replace,
    start: () => {
      lead ??= leadTenants([...tenants.values()], { ...options, book });
    },
    end: async () => {
      await lead?.[Symbol.asyncDispose]();
      await Promise.all([...tenants.values()].map((tenant) => tenant[Symbol.asyncDispose]()));
      await Promise.all(leaving.values());
    },
  });
}

/** Tenants by codename; never changed, but replaced as a whole. */
type Tenants = ReadonlyMap<string, Tenant>;

type ShownParts = {
  readonly book: SyncBook;
  readonly openIndexes: OpenIndexes;
  readonly start: () => void;
  readonly end: () => Promise<void>;
} & Pick<TenantRegistry, "replace">;

/** Derives something from the present tenants, again only after they were replaced. */
function derived<T>(present: () => Tenants, derive: (tenants: Tenants) => T): () => T {
  let last: { readonly tenants: Tenants; readonly value: T } | null = null;
  return () => {
    const tenants = present();
    if (last?.tenants !== tenants) last = { tenants, value: derive(tenants) };
    return last.value;
  };
}

/** The registry of the present tenants, which names no others, also when they exist. */
function showTenants(present: () => Tenants, parts: ShownParts): TenantRegistry {
  const { book, openIndexes } = parts;
  const detailsOf = derived(present, (tenants) => [...tenants.values()].map(({ detail }) => detail));
  const finderOf = derived(present, () => createTenantFinder(detailsOf()));
  const searcher = new TenantSearcher(openIndexes);
  const tenantOf = (codename: string): Tenant => {
    const tenant = present().get(codename);
    if (tenant) return tenant;
    const near = didYouMeanAny(codename, [...present().keys()]);
    throw new Failure("unknown_tenant", `Tenant '${codename.slice(0, MAX_SHOWN)}' not found${near}`);
  };
  return {
    list: detailsOf,
    find: (query) => {
      const details = detailsOf();
      const choice = chooseMentioned(details, query);
      const chosen = details.filter(({ codename }) => choice?.codenames.includes(codename));
      const isComplete = details.length > MAX_FOUND || query.trim() === "";
      const found = new Set([...chosen, ...finderOf().find(query), ...(isComplete ? [] : details)]);
      return { tenants: [...found].slice(0, MAX_FOUND), resolved: choice?.resolved ?? null };
    },
    chooseVersion: (library, version) => chooseVersion(detailsOf(), library, version),
    chooseLocked: (packages, library) => chooseLocked(detailsOf(), packages, library),
    describe: (codename) => tenantOf(codename).detail,
    search: (codename, query, search) => tenantOf(codename).search(query, search),
    searchTogether: (codenames, query, search) => {
      const named = codenames?.map(tenantOf) ?? [...present().values()];
      const groups = search.filter?.group ?? [];
      if (search.filter)
        requireValues("group", search.filter, () => detailsOf().map(({ group }) => group ?? ""));
      const wanted = named.filter(({ detail }) => groups.length === 0 || groups.includes(detail.group ?? ""));
      const [only] = wanted;
      if (only && wanted.length === 1) return only.search(query, search);
      const answer = searcher.search(wanted, query, search);
      const [failure] = answer.failures;
      if (failure && answer.failures.length === wanted.length) throw failure;
      return answer;
    },
    fetch: (codename, uri) => {
      const wanted = codename === null ? [...present().values()] : [tenantOf(codename)];
      const found = fetchFrom(wanted, uri);
      if (found) return found;
      const owner = codename === null ? "No tenant has a document" : `Tenant '${codename}' has no document`;
      throw new Failure(
        "unknown_document",
        `${owner} ${JSON.stringify(uri.slice(0, MAX_SHOWN))}; take uri from the results of a search`,
      );
    },
    documents: (codename, after, count) => tenantOf(codename).list(after, count),
    status: (codename) => tenantOf(codename).status,
    leftOut: async (codename) => await tenantOf(codename).leftOut(),
    limitedTo: (codenames) =>
      showTenants(
        derived(
          present,
          (tenants) => new Map([...tenants].filter(([codename]) => codenames.includes(codename))),
        ),
        parts,
      ),
    start: parts.start,
    replace: parts.replace,
    build: async (codename) => {
      const tenant = tenantOf(codename);
      await tenant.build();
      return tenant.status;
    },
    sync: async (codename) => {
      const tenant = tenantOf(codename);
      await tenant.sync({ buildsAlways: true });
      return tenant.status;
    },
    requestSync: (codename) => {
      const tenant = tenantOf(codename);
      if (isIdleFolder(tenant.settings)) return "not_allowed";
      if (tenant.status.state !== "idle") return "running";
      book.request(codename);
      return "queued";
    },
    [Symbol.asyncDispose]: parts.end,
  };
}

/** Nothing is fetched for a folder, so without permission to build its index a sync changes nothing. */
const isIdleFolder = ({ source, allowIndexBuilds }: TenantSettings): boolean =>
  source === "filesystem" && !allowIndexBuilds;

/** @throws Failure of the tenant, if there is only one */
function fetchFrom(tenants: readonly Tenant[], uri: string): FetchedDocument | null {
  for (const tenant of tenants) {
    try {
      const document = tenant.fetch(documentAddresses(uri));
      if (document) return { ...document, tenant: tenant.detail.codename };
    } catch (error) {
      if (!(error instanceof Failure) || tenants.length === 1) throw error;
    }
  }
  return null;
}

const MAX_SHOWN = 200;

/** With more tenants, indexes that are searched rarely are opened for each search. */
const MAX_OPEN_INDEXES = 32;

const PARTS = /^([a-z]+:\/\/[^/?#]+)([^?#]*)(\?[^#]*)?/i;
const ENDING = /\.(?:html?|mdx?|markdown|rst|adoc|txt)$/i;
const INDEX = /\/(?:index|readme)$/i;

/** What documentation appends to an address: nothing, a slash, an ending, or the name of an index page. */
const TAILS = [
  "",
  "/",
  ".html",
  ".md",
  ".mdx",
  ".rst",
  "/index.html",
  "/index.md",
  "/index.mdx",
  "/README.md",
] as const;

/**
 * The addresses under which an index may hold the document of an address, the likeliest first: as it is, and
 * without its query or with another ending, since generators and people write a page's address in several ways.
 * @param address of a page or a document, possibly with a fragment; other text has none
 */
function* documentAddresses(address: string): Generator<DocumentUrl> {
  const [written = "", origin, path = "", query = ""] = PARTS.exec(address.trim()) ?? [];
  if (origin === undefined) return;
  const exact = parseDocumentUrl(written);
  if (exact) yield exact;
  const bare = path.replace(/(?<!\/)\/+$/, "");
  const stem = bare.replace(ENDING, "");
  const stems = new Set([bare, stem, stem.replace(INDEX, "")]);
  for (const start of originsOf(origin)) {
    for (const one of stems) {
      for (const tail of TAILS) {
        const found = parseDocumentUrl(`${start}${one}${tail}${tail === "" ? query : ""}`);
        if (found) yield found;
        const plain = query === "" ? null : parseDocumentUrl(`${start}${one}${tail}`);
        if (plain) yield plain;
      }
    }
  }
}

function originsOf(origin: string): readonly string[] {
  if (/^https:/i.test(origin)) return [origin, `http${origin.slice(5)}`];
  return /^http:/i.test(origin) ? [origin, `https${origin.slice(4)}`] : [origin];
}
