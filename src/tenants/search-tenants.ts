import { contendForLead } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import { IndexGroup, type SearchIndex, type StoredDocument } from "../search/index.ts";
import { type DocumentUrl, parseDocumentUrl } from "../urls/index.ts";
import type { OpenIndexes } from "./live-index.ts";
import type { DeploymentId } from "./place.ts";
import type { Tenant } from "./tenant.ts";
import type { SearchAnswer, TenantParts, TenantSearchOptions } from "./types.ts";

type Usable = { readonly tenant: Tenant; readonly index: SearchIndex };

/** Searches several tenants as if their documents were in one index. */
export class TenantSearcher {
  readonly #openIndexes: OpenIndexes;
  readonly #explain: Explain;
  /** The group of the last search, whose tables the next one of the same indexes needs. */
  #group: IndexGroup | null = null;

  constructor(openIndexes: OpenIndexes, explain: Explain) {
    this.#openIndexes = openIndexes;
    this.#explain = explain;
  }

  /**
   * Tenants that cannot be searched are left out, and named in `failures`.
   * @throws Failure `timeout`; `invalid_usage` for a value of a filter that no document has
   */
  async search(
    tenants: readonly Tenant[],
    query: string,
    options: TenantSearchOptions,
  ): Promise<SearchAnswer> {
    const started = performance.now();
    const { unusable, answer } = this.#openIndexes.together(() => {
      const { usable, unusable } = openAll(tenants);
      try {
        return { unusable, answer: this.#search(usable, query, options, started) };
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== "index_corrupt") throw error;
      }
      // A search of each tenant alone could read other parts of its file than the search of all.
      const whole = usable.filter(({ tenant }) => isIntact(tenant, unusable));
      return { unusable, answer: this.#search(whole, query, options, started) };
    });
    const failures = await Promise.all(
      unusable.map(async ({ tenant, error }) => ({
        tenant: tenant.detail.codename,
        failure: await this.#explain(tenant, error),
      })),
    );
    return { ...answer, failures };
  }

  #search(
    usable: readonly Usable[],
    query: string,
    { timeoutMs, isCounted = false, perTenant, ...wish }: TenantSearchOptions,
    started: number,
  ): Omit<SearchAnswer, "failures"> {
    const group = this.#groupOf(usable.map(({ index }) => index));
    const search = {
      ...wish,
      perIndex: perTenant,
      explain: wish.explain ?? false,
      deadline: started + timeoutMs,
    };
    const tenants = usable.map(({ tenant }) => tenant.detail.codename);
    const hits = group.search(query, search);
    return {
      hits: hits.map(({ index, ...hit }) => ({ ...hit, tenant: tenants[index]! })),
      counts: isCounted ? group.count(query, { ...search, isLoose: hits[0]?.isLoose }) : null,
      tenants,
      documentCount: usable.reduce((sum, { index }) => sum + index.pageCount, 0),
      queryMs: performance.now() - started,
    };
  }

  #groupOf(indexes: readonly SearchIndex[]): IndexGroup {
    const before = this.#group?.indexes;
    const isSame =
      before?.length === indexes.length && before.every((index, place) => index === indexes[place]);
    if (!isSame || this.#group === null) this.#group = new IndexGroup(indexes);
    return this.#group;
  }
}

type Unusable = { readonly tenant: Tenant; readonly error: Failure };

/** Says why a tenant cannot be searched; see `Tenant.explain`. */
type Explain = (tenant: Tenant, error: Failure) => Promise<Failure>;

function openAll(tenants: readonly Tenant[]): { readonly usable: Usable[]; readonly unusable: Unusable[] } {
  const usable: Usable[] = [];
  const unusable: Unusable[] = [];
  for (const tenant of tenants) {
    try {
      usable.push({ tenant, index: tenant.withIndex((index) => index) });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      unusable.push({ tenant, error });
    }
  }
  return { usable, unusable };
}

function isIntact(tenant: Tenant, unusable: Unusable[]): boolean {
  try {
    tenant.withIndex(({ reader }) => reader.verifyAll());
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    unusable.push({ tenant, error });
    return false;
  }
}

export type FetchedDocument = StoredDocument & { readonly tenant: string };

/** @throws Failure of the tenant, if there is only one */
export function fetchFrom(tenants: readonly Tenant[], uri: string): FetchedDocument | null {
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

const PARTS = /^([a-z]+:\/\/[^/?#]+)([^?#]*)(\?[^#]*)?/i;
const ENDING = /\.(?:html?|mdx?|markdown|rst|adoc|txt)$/i;
const INDEX = /\/(?:index|readme)$/i;

/** Endings of one page's URLs in documentation: nothing, a slash, a file extension, or the name of an index page. */
const TAILS = ["", ..."/ .html .md .mdx .rst /index.html /index.md /index.mdx /README.md".split(" ")];

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
      for (const tail of new Set([query, ...TAILS])) {
        const found = parseDocumentUrl(`${start}${one}${tail}`);
        if (found) yield found;
      }
    }
  }
}

function originsOf(origin: string): readonly string[] {
  if (/^https:/i.test(origin)) return [origin, `http${origin.slice(5)}`];
  return /^http:/i.test(origin) ? [origin, `https${origin.slice(4)}`] : [origin];
}

/** How long the other processes wait for a silent leader, in ms. */
const LEAD_MS = 4_000;
/** How soon a request from another process is noticed, in ms. */
const REQUESTS_EVERY_MS = 250;

/** How often the schedules are checked, in ms. */
const SCHEDULES_EVERY_MS = 1000;

/** The name of the lease of whoever leads. */
export const leadOf = ({ name, file }: DeploymentId): string =>
  `scheduler:${name === null ? "" : `${name} `}${file}`;

/** Runs watches, schedules and builds of the tenants while this process leads. */
export class Lead implements AsyncDisposable {
  readonly #tenants: Map<string, Tenant>;
  readonly #parts: TenantParts;
  readonly #contention: AsyncDisposable;
  #isLeading = false;
  #isTroubled = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(first: readonly Tenant[], parts: TenantParts) {
    this.#tenants = new Map(first.map((tenant) => [tenant.key, tenant]));
    this.#parts = parts;
    const { book, deployment, log } = parts;
    this.#contention = contendForLead({
      leases: book.leases,
      name: leadOf(deployment),
      owner: book.owner,
      ttlMs: LEAD_MS,
      onGained: () => {
        this.#isLeading = true;
        log.info("this process builds and syncs");
        this.#timer = setInterval(() => this.#lookAgain(), REQUESTS_EVERY_MS);
        this.#timer.unref?.();
        for (const tenant of this.#tenants.values()) void this.#guarded(() => tenant.lead());
      },
      onLost: () => {
        log.warning("another process builds and syncs now");
        this.#follow();
      },
      onError: book.onLeaseError,
    });
  }

  /** @param isNew whether its documents have to be fetched soon, whatever its schedule says */
  take(tenant: Tenant, isNew: boolean): void {
    this.#tenants.set(tenant.key, tenant);
    if (!this.#isLeading) return;
    void this.#guarded(async () => {
      await tenant.lead();
      if (isNew && !this.#parts.isOffline && tenant.settings.source !== "filesystem") await tenant.syncSoon();
    });
  }

  dismiss(tenant: Tenant): void {
    if (this.#tenants.get(tenant.key) === tenant) this.#tenants.delete(tenant.key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#follow();
    await this.#looking;
    await this.#contention[Symbol.asyncDispose]();
  }

  #lookAgain(): void {
    this.#looking ??= this.#guarded(() => this.#lookAfter()).finally(() => {
      this.#looking = null;
    });
  }

  async #lookAfter(): Promise<void> {
    const { book, isOffline } = this.#parts;
    const tenants = this.#tenants;
    const keys = [...tenants.keys()];
    for (const key of await book.takeRequests(keys)) await tenants.get(key)?.syncSoon();
    if (isOffline || performance.now() - this.#lookedAt < SCHEDULES_EVERY_MS) return;
    this.#lookedAt = performance.now();
    for (const [place, record] of (await book.read(keys)).entries())
      if (this.#isLeading) await tenants.get(keys[place]!)?.syncWhenDue(record, Date.now());
  }

  // State that cannot be read or written just now (a full disk, another process's long write) must not end a
  // server that can still answer.
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#isTroubled = false;
    } catch (error) {
      if (!this.#isTroubled) this.#parts.log.error("syncs are not looked after", { error: String(error) });
      this.#isTroubled = true;
    }
  }

  #follow(): void {
    this.#isLeading = false;
    clearInterval(this.#timer);
    for (const tenant of this.#tenants.values()) tenant.follow();
  }
}
