import { isDeepStrictEqual } from "node:util";
import { Failure } from "../base/failure.ts";
import { didYouMeanAny } from "../base/nearest.ts";
import { type DocumentEntry, type LeftOut, requireValues } from "../search/index.ts";
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
import {
  type FetchedDocument,
  fetchFrom,
  type Lead,
  leadOf,
  leadTenants,
  TenantSearcher,
} from "./search-tenants.ts";
import { haveSameSource, type TenantSettings } from "./settings.ts";
import type { SyncBook } from "./sync-book.ts";
import { Tenant } from "./tenant.ts";
import type { TenantParts } from "./tenant-parts.ts";
import type { SearchAnswer, TenantSearchOptions, TenantStatus } from "./types.ts";

export type RegistryOptions = TenantParts & {
  readonly tenants: readonly TenantSettings[];
};

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
   * At most 10 tenants that match, the best first. A query that names a library and a version begins with the
   * tenants of that version.
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
  search(codename: string, query: string, options: TenantSearchOptions): Promise<SearchAnswer>;
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
  ): Promise<SearchAnswer>;
  /**
   * Returns an indexed document by its address; a fragment is ignored. The address may be written in another
   * way than the index has it: with a query, another ending, a slash at its end, the name of an index page.
   * @param codename null for the first tenant that has the document
   * @throws Failure as `search`, and `unknown_document`
   */
  fetch(codename: string | null, uri: string): Promise<FetchedDocument>;
  /**
   * Lists indexed documents of a tenant, in the order of their addresses.
   * @param after the address before the first of them; null begins with the first of all
   * @throws Failure as `search`
   */
  documents(codename: string, after: string | null, count: number): Promise<readonly DocumentEntry[]>;
  /** @throws Failure `unknown_tenant` */
  status(codename: string): Promise<TenantStatus>;
  /** The statuses of all tenants, as `list` has them. */
  statuses(): Promise<readonly TenantStatus[]>;
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
  requestSync(codename: string): Promise<SyncRequestOutcome>;
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
  const { book, deployment } = options;
  const openIndexes = createOpenIndexes(MAX_OPEN_INDEXES);
  const open = (settings: TenantSettings) => new Tenant(settings, { ...options, openIndexes });
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
    isLed: async () => (await book.leases.holder(leadOf(deployment))) !== null,
    openIndexes,
    replace,
    start: () => {
      lead ??= leadTenants([...tenants.values()], options);
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
  /** See `Tenant.explain`. */
  readonly isLed: () => Promise<boolean>;
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
  const { book, openIndexes, isLed } = parts;
  const detailsOf = derived(present, (tenants) => [...tenants.values()].map(({ detail }) => detail));
  const finderOf = derived(present, () => createTenantFinder(detailsOf()));
  const statusesOf = async (tenants: readonly Tenant[]): Promise<TenantStatus[]> => {
    await settled(tenants);
    const keys = tenants.map(({ key }) => key);
    const [records, led] = await Promise.all([book.read(keys), isLed()]);
    return tenants.map((tenant, place) => tenant.statusFrom(records[place]!, led)); // a record for each
  };
  const statusOf = async (tenant: Tenant): Promise<TenantStatus> => (await statusesOf([tenant]))[0]!;
  const explain = async (tenant: Tenant, error: Failure): Promise<Failure> => {
    if (!error.code.startsWith("index_")) return error;
    try {
      const [records, led] = await Promise.all([book.read([tenant.key]), isLed()]);
      return tenant.explain(error, records[0]!, led);
    } catch (unread) {
      // Other tenants are searched all the same.
      if (unread instanceof Failure) return error;
      throw unread;
    }
  };
  /** Uses the index of a tenant; where that is not possible, says why. */
  const using = async <T>(tenant: Tenant, use: () => T): Promise<T> => {
    await tenant.settle();
    try {
      return use();
    } catch (error) {
      throw error instanceof Failure ? await explain(tenant, error) : error;
    }
  };
  const searchOne = (tenant: Tenant, query: string, search: TenantSearchOptions): Promise<SearchAnswer> =>
    using(tenant, () => tenant.search(query, search));
  const searcher = new TenantSearcher(openIndexes, explain);
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
      const found = new Set([...chosen, ...finderOf().find(query)]);
      return { tenants: [...found].slice(0, MAX_FOUND), resolved: choice?.resolved ?? null };
    },
    chooseVersion: (library, version) => chooseVersion(detailsOf(), library, version),
    chooseLocked: (packages, library) => chooseLocked(detailsOf(), packages, library),
    describe: (codename) => tenantOf(codename).detail,
    search: async (codename, query, search) => searchOne(tenantOf(codename), query, search),
    searchTogether: async (codenames, query, search) => {
      const named = codenames?.map(tenantOf) ?? [...present().values()];
      const groups = search.filter?.group ?? [];
      if (search.filter)
        requireValues("group", search.filter, () => detailsOf().map(({ group }) => group ?? ""));
      const wanted = named.filter(({ detail }) => groups.length === 0 || groups.includes(detail.group ?? ""));
      const [only] = wanted;
      if (only && wanted.length === 1 && search.perTenant === undefined)
        return await searchOne(only, query, search);
      await settled(wanted);
      const answer = await searcher.search(wanted, query, search);
      const [first] = answer.failures;
      if (first && answer.failures.length === wanted.length) throw first.failure;
      return answer;
    },
    fetch: async (codename, uri) => {
      const wanted = codename === null ? [...present().values()] : [tenantOf(codename)];
      const [only] = wanted;
      await settled(wanted);
      const found =
        only && wanted.length === 1
          ? await using(only, () => fetchFrom(wanted, uri))
          : fetchFrom(wanted, uri);
      if (found) return found;
      const owner = codename === null ? "No tenant has a document" : `Tenant '${codename}' has no document`;
      throw new Failure(
        "unknown_document",
        `${owner} ${JSON.stringify(uri.slice(0, MAX_SHOWN))}; take uri from the results of a search`,
      );
    },
    documents: async (codename, after, count) => {
      const tenant = tenantOf(codename);
      return await using(tenant, () => tenant.list(after, count));
    },
    status: async (codename) => await statusOf(tenantOf(codename)),
    statuses: () => statusesOf([...present().values()]),
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
      return await statusOf(tenant);
    },
    sync: async (codename) => {
      const tenant = tenantOf(codename);
      await tenant.sync({ buildsAlways: true });
      return await statusOf(tenant);
    },
    requestSync: async (codename) => {
      const tenant = tenantOf(codename);
      if (isIdleFolder(tenant.settings)) return "not_allowed";
      if ((await statusOf(tenant)).state !== "idle") return "running";
      await book.request(tenant.key);
      return "queued";
    },
    [Symbol.asyncDispose]: parts.end,
  };
}

const settled = (tenants: readonly Tenant[]): Promise<unknown> =>
  Promise.all(tenants.map((tenant) => tenant.settle()));

/** Nothing is fetched for a folder, so without permission to build its index a sync changes nothing. */
const isIdleFolder = ({ source, allowIndexBuilds }: TenantSettings): boolean =>
  source === "filesystem" && !allowIndexBuilds;

const MAX_SHOWN = 200;

/** With more tenants, indexes that are searched rarely are opened for each search. */
const MAX_OPEN_INDEXES = 32;
