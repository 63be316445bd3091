import { isDeepStrictEqual } from "node:util";
import { Failure } from "../base/failure.ts";
import { didYouMeanAny } from "../base/nearest.ts";
import { type LeftOut, requireValues } from "../search/index.ts";
import { carryOver } from "./carry-over.ts";
import type { TenantDetail } from "./describe.ts";
import { createTenantFinder, MAX_FOUND, type TenantFinder } from "./find.ts";
import {
  chooseLocked,
  chooseMentioned,
  chooseVersion,
  type LibraryChoice,
  type LockedPackage,
} from "./library.ts";
import { createOpenIndexes, type OpenIndexes } from "./live-index.ts";
import { type FetchedDocument, fetchFrom, Lead, leadOf, TenantSearcher } from "./search-tenants.ts";
import { haveSameSource, type TenantSettings } from "./settings.ts";
import type { SyncBook, TenantRecord } from "./sync-book.ts";
import { Tenant } from "./tenant.ts";
import type { SearchAnswer, TenantParts, TenantSearchOptions, TenantStatus } from "./types.ts";
import type { TenantWhereabouts } from "./why.ts";

type RegistryOptions = TenantParts & {
  readonly tenants: readonly TenantSettings[];
};

type FoundTenants = {
  readonly tenants: readonly TenantDetail[];
  /** Which version was chosen and why; null for a query that names none. */
  readonly resolved: string | null;
};

/** The codenames of tenants that a change of the settings concerns. */
type TenantChanges = Readonly<Record<"added" | "changed" | "removed", readonly string[]>>;

/**
 * The result of a request for a sync: `running` while one is under way or waits, `not_allowed` for a folder
 * whose index may not be built, since building the index is all that a sync of a folder does.
 */
type SyncRequestOutcome = "queued" | "running" | "not_allowed";

/** Opens the tenants; nothing is read before the first request. */
export function createTenantRegistry(options: RegistryOptions): TenantRegistry {
  const { book, deployment } = options;
  const openIndexes = createOpenIndexes(MAX_OPEN_INDEXES);
  const open = (settings: TenantSettings) => new Tenant(settings, options, openIndexes);
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
    const changed = present.filter((name) => before.has(name) && before.get(name) !== tenants.get(name));
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
  return new TenantRegistry(() => tenants, {
    book,
    isLed: async () => (await book.leases.holder(leadOf(deployment))) !== null,
    openIndexes,
    replace,
    rename: ({ settings }, codename, change) => carryOver(settings, codename, options, change),
    start: () => {
      lead ??= new Lead([...tenants.values()], options);
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

type RegistryParts = {
  readonly book: SyncBook;
  /** See `Tenant.explain`. */
  readonly isLed: () => Promise<boolean>;
  readonly openIndexes: OpenIndexes;
  readonly start: () => void;
  readonly replace: (tenants: readonly TenantSettings[]) => TenantChanges;
  readonly rename: (tenant: Tenant, codename: string, change: () => Promise<void>) => Promise<string | null>;
  readonly end: () => Promise<void>;
};

/** Data derived from the tenants, until they are replaced. */
type Derived = {
  readonly tenants: Tenants;
  readonly details: readonly TenantDetail[];
  readonly finder: TenantFinder;
};

/** The present tenants of a deployment, as MCP, HTTP and the terminal show them; it names no others. */
export class TenantRegistry implements AsyncDisposable {
  readonly #tenants: () => Tenants;
  readonly #parts: RegistryParts;
  readonly #searcher: TenantSearcher;
  #last: Derived | null = null;

  constructor(tenants: () => Tenants, parts: RegistryParts) {
    this.#tenants = tenants;
    this.#parts = parts;
    this.#searcher = new TenantSearcher(parts.openIndexes, (tenant, error) => this.#explain(tenant, error));
  }

  /** The tenants in the order of the deployment file. */
  list(): readonly TenantDetail[] {
    return this.#derived().details;
  }

  /** At most 10 matching tenants, the best first; those of a library's version that the query names come before. */
  find(query: string): FoundTenants {
    const { details, finder } = this.#derived();
    const choice = chooseMentioned(details, query);
    const chosen = details.filter(({ codename }) => choice?.codenames.includes(codename));
    const found = new Set([...chosen, ...finder(query)]);
    return { tenants: [...found].slice(0, MAX_FOUND), resolved: choice?.resolved ?? null };
  }

  chooseVersion(library: string, version: string | null): LibraryChoice {
    return chooseVersion(this.list(), library, version);
  }

  chooseLocked(packages: Iterable<LockedPackage>, library: string | null): readonly LibraryChoice[] {
    return chooseLocked(this.list(), packages, library);
  }

  /** @throws Failure `unknown_tenant` that names the nearest codenames */
  describe(codename: string): TenantDetail {
    return this.#tenantOf(codename).detail;
  }

  /** @throws Failure `unknown_tenant`, `search_disabled`, `index_missing`, `index_outdated`, `index_corrupt`, … */
  async search(codename: string, query: string, options: TenantSearchOptions): Promise<SearchAnswer> {
    const tenant = this.#tenantOf(codename);
    return await this.#using(tenant, () => tenant.search(query, options));
  }

  /**
   * Searches several tenants, or all, as if their documents were in one index. Those that cannot be searched
   * are in `failures`.
   * @param codenames null for all tenants
   * @throws Failure `unknown_tenant`, `timeout`; as `search`, when none of them can be searched;
   *   `invalid_usage` for a value of a filter that no document or tenant has
   */
  async searchTogether(
    codenames: readonly string[] | null,
    query: string,
    options: TenantSearchOptions,
  ): Promise<SearchAnswer> {
    const named = this.#named(codenames);
    const groups = options.filter?.group ?? [];
    if (options.filter)
      requireValues("group", options.filter, () => this.list().map(({ group }) => group ?? ""));
    const wanted = named.filter(({ detail }) => groups.length === 0 || groups.includes(detail.group ?? ""));
    const [only] = wanted;
    if (only && wanted.length === 1 && options.perTenant === undefined)
      return await this.#using(only, () => only.search(query, options));
    const answer = await this.#searcher.search(wanted, query, options);
    const [first] = answer.failures;
    if (first && answer.failures.length === wanted.length) throw first.failure;
    return answer;
  }

  /**
   * Returns an indexed document by its address; a fragment is ignored. The address may be written in another
   * way than the index has it: with a query, another ending, a slash at its end, the name of an index page.
   * @param codename null for the first tenant that has the document
   * @throws Failure as `search`, and `unknown_document`
   */
  async fetch(codename: string | null, uri: string): Promise<FetchedDocument> {
    const wanted = this.#named(codename === null ? null : [codename]);
    const [only] = wanted;
    const fetch = (): FetchedDocument | null => fetchFrom(wanted, uri);
    const found = only && wanted.length === 1 ? await this.#using(only, fetch) : fetch();
    if (found) return found;
    const owner = codename === null ? "No tenant has a document" : `Tenant '${codename}' has no document`;
    throw new Failure(
      "unknown_document",
      `${owner} ${JSON.stringify(uri.slice(0, MAX_SHOWN))}; take uri from the results of a search`,
    );
  }

  /** @throws Failure `unknown_tenant` */
  async status(codename: string): Promise<TenantStatus> {
    return await this.#statusOf(this.#tenantOf(codename));
  }

  /** The statuses of all tenants, as `list` has them. */
  statuses(): Promise<readonly TenantStatus[]> {
    return this.#statusesOf(this.#named(null));
  }

  /** Lists what the last build left out; the status has the counts. @throws Failure `unknown_tenant` */
  async leftOut(codename: string): Promise<readonly LeftOut[]> {
    return await this.#tenantOf(codename).leftOut();
  }

  /**
   * Explains for each tenant that a URL belongs to under which URL it is indexed, or why it is not; with a query, also its
   * rank. If any tenant has the URL, other tenants are left out.
   * @throws Failure of a search
   */
  async why(address: string, query: string | null): Promise<readonly TenantWhereabouts[]> {
    const found: TenantWhereabouts[] = [];
    for (const tenant of this.#named(null)) {
      const why = await tenant.why(address, (one) => urlIn(tenant, one));
      if (why === null) continue;
      const rank = why.url !== null && query !== null ? rankOf(tenant, why.url, query) : null;
      const place = rank === null ? `not among the first ${MAX_RANK} hits` : `found at rank ${rank}`;
      const sentence = why.url !== null && query !== null ? `${why.sentence}, and ${place}` : why.sentence;
      found.push({ tenant: tenant.detail.codename, ...why, sentence, rank });
    }
    const indexed = found.filter(({ state }) => state === "indexed");
    return indexed.length > 0 ? indexed : found;
  }

  /**
   * Returns the same registry with only the given tenants, for callers who may not see other tenants: neither lists nor
   * messages name them.
   * @param codenames unknown codenames are ignored
   */
  limitedTo(codenames: readonly string[]): TenantRegistry {
    let last: { readonly all: Tenants; readonly some: Tenants } | null = null;
    const some = (): Tenants => {
      const all = this.#tenants();
      if (last?.all !== all)
        last = { all, some: new Map([...all].filter(([codename]) => codenames.includes(codename))) };
      return last.some;
    };
    return new TenantRegistry(some, this.#parts);
  }

  /** Starts to watch documents and to build outdated indexes, where that is allowed and while no other process does. */
  start(): void {
    this.#parts.start();
  }

  /** Builds a tenant's index now, analysing what changed. @throws Failure of the build, `unknown_tenant` */
  async build(codename: string): Promise<TenantStatus> {
    const tenant = this.#tenantOf(codename);
    await tenant.build();
    return await this.#statusOf(tenant);
  }

  /**
   * Syncs a tenant now and builds its index, even if the settings allow no builds: this serves a worker
   * beside the server.
   * @throws Failure of the sync or the build, `unknown_tenant`, `invalid_usage` while another process does
   * the same
   */
  async sync(codename: string, onlyFailed = false): Promise<TenantStatus> {
    const tenant = this.#tenantOf(codename);
    await tenant.sync({ buildsAlways: true, onlyFailed });
    return await this.#statusOf(tenant);
  }

  /** Requests a sync of a tenant from whichever process leads. @throws Failure `unknown_tenant` */
  async requestSync(codename: string): Promise<SyncRequestOutcome> {
    const tenant = this.#tenantOf(codename);
    const { source, allowIndexBuilds } = tenant.settings;
    // Nothing is fetched for a folder, so without permission to build its index a sync changes nothing.
    if (source === "filesystem" && !allowIndexBuilds) return "not_allowed";
    if ((await this.#statusOf(tenant)).state !== "idle") return "running";
    await this.#parts.book.request(tenant.key);
    return "queued";
  }

  /** Gives a tenant another codename and what it has; see `carryOver`. @throws Failure `unknown_tenant`, of the change */
  rename(codename: string, next: string, change: () => Promise<void>): Promise<string | null> {
    return this.#parts.rename(this.#tenantOf(codename), next, change);
  }

  /**
   * Replaces the tenants. A tenant with the same settings keeps its open index and its running sync; a changed tenant is
   * opened again, and a new tenant is synced. A removed tenant's running sync is cancelled, and its files stay on the
   * disk.
   */
  replace(tenants: readonly TenantSettings[]): TenantChanges {
    return this.#parts.replace(tenants);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.end();
  }

  #derived(): Derived {
    const tenants = this.#tenants();
    if (this.#last?.tenants !== tenants) {
      const details = [...tenants.values()].map(({ detail }) => detail);
      this.#last = { tenants, details, finder: createTenantFinder(details) };
    }
    return this.#last;
  }

  #tenantOf(codename: string): Tenant {
    const tenants = this.#tenants();
    const tenant = tenants.get(codename);
    if (tenant) return tenant;
    const near = didYouMeanAny(codename, [...tenants.keys()]);
    throw new Failure("unknown_tenant", `Tenant '${codename.slice(0, MAX_SHOWN)}' not found${near}`);
  }

  #named(codenames: readonly string[] | null): readonly Tenant[] {
    return codenames?.map((codename) => this.#tenantOf(codename)) ?? [...this.#tenants().values()];
  }

  async #recordsOf(tenants: readonly Tenant[]): Promise<readonly [readonly TenantRecord[], isLed: boolean]> {
    const { book, isLed } = this.#parts;
    return await Promise.all([book.read(tenants.map(({ key }) => key)), isLed()]);
  }

  async #statusesOf(tenants: readonly Tenant[]): Promise<TenantStatus[]> {
    const [records, isLed] = await this.#recordsOf(tenants);
    return tenants.map((tenant, place) => tenant.statusFrom(records[place]!, isLed)); // a record for each
  }

  async #statusOf(tenant: Tenant): Promise<TenantStatus> {
    return (await this.#statusesOf([tenant]))[0]!;
  }

  async #explain(tenant: Tenant, error: Failure): Promise<Failure> {
    if (!error.code.startsWith("index_")) return error;
    try {
      const [records, isLed] = await this.#recordsOf([tenant]);
      return tenant.explain(error, records[0]!, isLed);
    } catch (unread) {
      // Other tenants are searched all the same.
      if (unread instanceof Failure) return error;
      throw unread;
    }
  }

  /** Uses the index of a tenant; where that is not possible, says why. */
  async #using<T>(tenant: Tenant, use: () => T): Promise<T> {
    try {
      return use();
    } catch (error) {
      throw error instanceof Failure ? await this.#explain(tenant, error) : error;
    }
  }
}

const MAX_SHOWN = 200;

/** The address under which a tenant's index has a document; null also without a usable index. */
function urlIn(tenant: Tenant, address: string): string | null {
  try {
    return fetchFrom([tenant], address)?.url ?? null;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

const MAX_RANK = 1000;
const RANKS_AT_ONCE = 100;
const RANK_TIME_MS = 10_000;

function rankOf(tenant: Tenant, url: string, query: string): number | null {
  for (let offset = 0; offset < MAX_RANK; offset += RANKS_AT_ONCE) {
    const wish = { size: RANKS_AT_ONCE, offset, wordMatch: false, timeoutMs: RANK_TIME_MS };
    const { hits } = tenant.search(query, wish);
    const place = hits.findIndex((hit) => hit.url === url);
    if (place >= 0) return offset + place + 1;
    if (hits.length < RANKS_AT_ONCE) return null;
  }
  return null;
}

/** With more tenants, indexes that are searched rarely are opened for each search. */
const MAX_OPEN_INDEXES = 32;
