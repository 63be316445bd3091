import { clockFrom } from "../base/clock.ts";
import { Failure, type FailureRecord } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import {
  type BuildCounts,
  buildIndex,
  type LeftOut,
  type SearchIndex,
  type StoredDocument,
} from "../search/index.ts";
import type { DocumentUrl } from "../urls/index.ts";
import { describeTenant, type TenantDetail } from "./describe.ts";
import { LeftOutFiles, readLeftOut } from "./left-out.ts";
import { LiveIndex, type OpenIndexes, runTestQueries } from "./live-index.ts";
import { Place } from "./place.ts";
import { dueAt, takeSyncSlot, withoutFutureTimes } from "./schedule.ts";
import type { TenantSettings } from "./settings.ts";
import { openSource } from "./source/open-source.ts";
import type { Source, SourceWatch, SyncCounts } from "./source/source.ts";
import {
  describeIndexFailure,
  progressWriter,
  type SyncBook,
  type SyncRecord,
  type TenantRecord,
  withPast,
} from "./sync-book.ts";
import type {
  OnSynced,
  SearchAnswer,
  TenantParts,
  TenantSearchOptions,
  TenantStatus,
  Work,
} from "./types.ts";
import { type Whereabouts, whyNotIndexed } from "./why.ts";

type SyncWish = { readonly buildsAlways?: boolean; readonly onlyFailed?: boolean };

const TEST_QUERY_MS = 5_000;

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

const asFailure = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure("internal", String(error), { cause: error });

/** One tenant: its settings, its index, and for a folder the watch for changed files. */
export class Tenant implements AsyncDisposable {
  readonly detail: TenantDetail;
  readonly settings: TenantSettings;
  readonly #options: TenantParts;
  readonly #log: Log;
  readonly #index: LiveIndex;
  /** Decided once, because a directory may become unwritable, and searches read where builds write. */
  readonly #place: Place;
  readonly #ending = new AbortController();
  readonly #source: Source;
  readonly #book: SyncBook;
  #watch: SourceWatch | null = null;
  #building: Promise<void> | null = null;

  constructor(settings: TenantSettings, options: TenantParts, openIndexes: OpenIndexes) {
    this.settings = settings;
    this.#options = options;
    this.#log = options.log.with({ tenant: settings.codename });
    this.detail = describeTenant(settings);
    this.#place = new Place(settings, options);
    this.#source = openSource(settings, {
      extractHtml: options.extractHtml,
      access: options.access,
      stateDirectory: this.#place.directory,
      log: this.#log,
    });
    this.#book = options.book;
    this.#index = new LiveIndex({
      openIndexes,
      place: this.#place,
      settings: settings.search,
      log: this.#log,
      // The documents still exist, so the index can be built again.
      onUnusable: () => {
        if (settings.allowIndexBuilds) void this.#requestSync();
      },
    });
  }

  /** See `Place.key`. */
  get key(): string {
    return this.#place.key;
  }

  /** Returns the status that follows from its record. @param isLed see `explain` */
  statusFrom(record: TenantRecord, isLed: boolean): TenantStatus {
    const { builtAt, bytes, documentCount, failure } = this.#index;
    const { codename, source, search } = this.settings;
    const none = new Failure("index_missing", "there is no search index");
    const isMissing = search.isEnabled && builtAt === null && failure === null;
    const lastError = record.lastError ?? failure?.toRecord() ?? null;
    return {
      codename,
      displayName: this.detail.displayName,
      description: this.detail.description,
      source,
      state: record.state,
      lastStartedAt: dateOf(record.lastStartedAt),
      lastCompletedAt: dateOf(record.lastCompletedAt),
      nextRunAt: dateOf(record.nextRunAt),
      lastError,
      problem:
        lastError ??
        (isMissing ? this.explain(none, record, isLed).toRecord() : lossesOf(record.history, this.settings)),
      counts: record.counts,
      history: record.history,
      documentCount: documentCount ?? record.documents,
      builtAt,
      indexBytes: bytes,
      isSearchEnabled: search.isEnabled,
      isBuilding: record.state === "running" && record.isBuilding,
      skippedFiles: record.skippedFiles,
      leftOut: record.leftOut,
      testQueries: record.testQueries,
    };
  }

  /**
   * Says why the index cannot be used, and what to do about it.
   * @param isLed whether some process builds and syncs the tenants: beside a mere command nobody builds anything
   */
  explain(error: Failure, record: TenantRecord, isLed: boolean): Failure {
    return describeIndexFailure(error, this.settings, record, isLed);
  }

  search(query: string, options: TenantSearchOptions): SearchAnswer {
    const started = performance.now();
    const { timeoutMs, isCounted = false, ...wish } = options;
    const search = { ...wish, explain: wish.explain ?? false, deadline: started + timeoutMs };
    const tenant = this.detail.codename;
    return this.withIndex((index) => {
      const hits = index.search(query, search);
      return {
        hits: hits.map((hit) => ({ ...hit, tenant })),
        counts: isCounted ? index.count(query, { ...search, isLoose: hits[0]?.isLoose }) : null,
        tenants: [tenant],
        documentCount: index.pageCount,
        queryMs: performance.now() - started,
        failures: [],
      };
    });
  }

  /** Returns the first document of the given URLs that the index has. */
  fetch(addresses: Iterable<DocumentUrl>): StoredDocument | null {
    return this.withIndex((index) => {
      for (const url of addresses) {
        const found = index.fetch(url);
        if (found) return found;
      }
      return null;
    });
  }

  /** See `TenantRegistry.why`; null when the address is none of the tenant's. @param address the index's own */
  async why(written: string, indexedAs: (address: string) => string | null): Promise<Whereabouts | null> {
    const url = indexedAs(written);
    if (url !== null) return { state: "indexed", sentence: `it is indexed as ${url}`, url };
    const [record, leftOut] = await Promise.all([this.#readRecord(), this.leftOut()]);
    const { directory } = this.#place;
    return await whyNotIndexed(this.settings, written, {
      record,
      leftOut,
      indexedAs,
      stateDirectory: directory,
    });
  }

  /** Returns the documents that the last build left out. */
  async leftOut(): Promise<readonly LeftOut[]> {
    return this.#place.refusal() === null ? await readLeftOut(this.#place.indexPath) : [];
  }

  /** Starts to watch the documents where indexes may be built; the leading process calls this. */
  async lead(): Promise<void> {
    const { allowIndexBuilds, source } = this.settings;
    if (!allowIndexBuilds || this.#watch) return;
    this.#watch = this.#source.watch(() => this.#syncByItself());
    // Documents of an earlier sync may have an index that was never built, or is gone.
    const { syncedAt, needsBuild } = await this.#readRecord();
    const isBehind = syncedAt !== null && (needsBuild || this.#index.builtAt === null);
    if (source !== "filesystem" && isBehind) void this.build().catch(() => {});
  }

  /** Leaves the tenant to another process; work under way ends. */
  follow(): void {
    this.#watch?.[Symbol.dispose]();
    this.#watch = null;
  }

  /** Syncs soon, whatever the record says; the leading process calls this. */
  async syncSoon(): Promise<void> {
    if (await this.#isTaken()) await this.#book.request(this.key);
    else if (this.#watch) this.#watch.lookAgain();
    else void this.#syncByItself();
  }

  /** Syncs when it is due; the leading process calls this every second or so with its record. */
  async syncWhenDue(found: TenantRecord, now: number): Promise<void> {
    if (this.#building) return;
    const correction = withoutFutureTimes(found, now);
    const at = dueAt(this.settings, { ...found, ...correction }, now);
    if (correction || found.nextRunAt !== at)
      await this.#book.write(this.key, { ...correction, nextRunAt: at });
    // Another process, a command beside the server, may be working on it.
    if (at !== null && at <= now && found.state !== "running") void this.#syncByItself();
  }

  /**
   * Syncs the documents, and builds the index where that is allowed; or waits while that is under way.
   * @param options.buildsAlways builds the index whatever the settings say, for a worker beside the server
   * @param options.onlyFailed see `SyncContext`
   * @throws Failure
   */
  async sync({ buildsAlways = false, onlyFailed = false }: SyncWish = {}): Promise<void> {
    const { allowIndexBuilds, source } = this.settings;
    await this.#run(async (work) => {
      const isFolder = source === "filesystem";
      const needsBuild = isFolder || (await this.#syncDocuments(work, onlyFailed));
      if (!needsBuild || !(allowIndexBuilds || buildsAlways)) this.#index.refresh(true);
      else if (isFolder) await this.#readFolder(work);
      else await this.#buildInTurn(work);
    }, this.#options.onSynced);
  }

  /** Builds the index of the present documents, or waits while that is under way. @throws Failure */
  async build(): Promise<void> {
    await this.#run(async (work) => void (await this.#buildInTurn(work)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.follow();
    this.#ending.abort();
    await this.#building?.catch(() => {});
    this.#index[Symbol.dispose]();
  }

  /** Uses the open index, and gives it up when it turns out to be damaged; throws as `search`. */
  withIndex<T>(use: (index: SearchIndex) => T): T {
    const { codename, search } = this.settings;
    if (!search.isEnabled)
      throw new Failure("search_disabled", `Search is disabled for tenant '${codename}'`);
    try {
      return use(this.#index.get());
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.code === "index_corrupt") this.#index.giveUp(error);
      throw error;
    }
  }

  async #readRecord(): Promise<TenantRecord> {
    const [record] = await this.#book.read([this.key]);
    return record!; // there is one for each codename
  }

  /** Syncs without a waiting caller; failures go to the record and the log. */
  async #syncByItself(): Promise<void> {
    try {
      await this.sync();
    } catch {
      // The process that works on it may have read the documents before they changed. Once this one ends, its
      // database may be closed.
      if (!this.#ending.signal.aborted) await this.#requestSync(true);
    }
  }

  /** Whether another process, a command beside the server, works on it. */
  async #isTaken(): Promise<boolean> {
    return this.#building === null && (await this.#readRecord()).isTaken;
  }

  /** Requests a sync without a waiting caller, if asked to only where another process works on the tenant. */
  async #requestSync(onlyWhereTaken = false): Promise<void> {
    try {
      if (!onlyWhereTaken || (await this.#isTaken())) await this.#book.request(this.key);
    } catch (error) {
      // A search, which still gets its answer, or a timer requested this.
      this.#log.warning("no sync requested", { error: String(error) });
    }
  }

  async #run(work: (work: Work) => Promise<void>, onEnd?: OnSynced): Promise<void> {
    // A look at a folder may outlive the tenant.
    if (this.#ending.signal.aborted) throw new Failure("cancelled", "the tenant is closed");
    this.#building ??= this.#attempt(work, onEnd).finally(() => {
      this.#building = null;
    });
    await this.#building;
  }

  async #attempt(work: (work: Work) => Promise<void>, onEnd?: OnSynced): Promise<void> {
    const { codename } = this.settings;
    await using begun = await this.#book.begin(this.key);
    if (!begun)
      throw new Failure(
        "invalid_usage",
        `Tenant '${codename}' is being synced by another process; wait for it`,
      );
    const write = (change: Partial<SyncRecord>): Promise<void> => begun.write(change);
    await write({ state: "queued" });
    const signal = AbortSignal.any([this.#ending.signal, begun.lost]);
    const now = clockFrom(Date.now());
    let hasBegun = false;
    const onRunning = async (): Promise<void> => {
      if (hasBegun) return;
      hasBegun = true;
      await write({ state: "running", lastStartedAt: now() });
    };
    try {
      await work({ signal, now, onRunning, write });
      await write({ state: "idle", lastCompletedAt: now(), lastError: null });
      onEnd?.(codename, "success");
    } catch (error) {
      const failure = asFailure(error);
      const isCalledOff = failure.code === "cancelled";
      // The process that has taken over the tenant writes its record.
      if (!begun.lost.aborted)
        await write(isCalledOff ? { state: "idle" } : { state: "idle", lastError: failure.toRecord() });
      if (isCalledOff) throw failure;
      this.#log.error("sync failed", { code: failure.code, error: failure.message });
      onEnd?.(codename, "failure");
      throw failure;
    }
  }

  /** @returns whether the index has to be built */
  async #syncDocuments({ signal, now, onRunning, write }: Work, onlyFailed: boolean): Promise<boolean> {
    const { codename } = this.settings;
    if (this.#options.isOffline)
      throw new Failure("egress_refused", `Tenant '${codename}' is not synced: operation_mode is offline`);
    await using _ = await takeSyncSlot(this.#book, signal);
    await onRunning();
    const startedAt = now();
    const before = await this.#readRecord();
    try {
      await this.#place.claim();
      await write({ needsBuild: true });
      const counts = await this.#source.sync({ signal, onlyFailed, onProgress: progressWriter(write) });
      const isChanged = counts.fetched + counts.removed > 0;
      const needsBuild = before.needsBuild || isChanged || !this.#index.isUsable;
      const done = { counts, needsBuild, syncedAt: startedAt, failures: 0, failedAt: null };
      const sync = { startedAt, endedAt: now(), counts, error: null };
      await write({ ...done, history: withPast(before.history, sync) });
      return needsBuild;
    } catch (error) {
      const failure = asFailure(error);
      const sync = { startedAt, endedAt: now(), counts: null, error: failure.toRecord() };
      const history = withPast(before.history, sync);
      if (failure.code !== "cancelled")
        await write({ failures: before.failures + 1, failedAt: Date.now(), history });
      throw failure;
    }
  }

  /** Nothing is fetched for a folder: a sync only reads it into the index. */
  async #readFolder(work: Work): Promise<void> {
    const before = await this.#readRecord();
    let startedAt = work.now();
    const onRunning = (): Promise<void> => {
      startedAt = work.now();
      return work.onRunning();
    };
    const remember = (counts: SyncCounts | null, error: FailureRecord | null): Promise<void> =>
      work.write({
        counts: counts ?? before.counts,
        history: withPast(before.history, { startedAt, endedAt: work.now(), counts, error }),
      });
    try {
      const { signal, write } = work;
      const { documents, unchanged } = await this.#buildInTurn({ signal, onRunning, write });
      const removed = Math.max(0, (before.documents ?? 0) - documents);
      const { skippedFiles } = await this.#readRecord();
      await remember({ fetched: documents - unchanged, unchanged, removed, failed: skippedFiles }, null);
    } catch (error) {
      const failure = asFailure(error);
      if (failure.code !== "cancelled") await remember(null, failure.toRecord());
      throw failure;
    }
  }

  #buildInTurn({ signal, onRunning, write }: Omit<Work, "now">): Promise<BuildCounts> {
    return this.#options.building.turn(async () => {
      await onRunning();
      await write({ isBuilding: true });
      try {
        return await this.#buildNow(signal, write);
      } finally {
        await write({ isBuilding: false });
      }
    });
  }

  async #buildNow(signal: AbortSignal, write: Work["write"]): Promise<BuildCounts> {
    const { search } = this.settings;
    const { workerUrl, memoryBytes, documentLimitMs } = this.#options.building;
    const { indexPath: path, owner } = this.#place;
    await this.#place.claim();
    const files = new LeftOutFiles(this.#log);
    const counts = await buildIndex(() => this.#source.documents(files.begin()), {
      workerUrl,
      memoryBytes,
      documentLimitMs,
      path,
      owner,
      profile: search.profile,
      language: search.language ?? undefined,
      slugStyle: await this.#source.slugStyle(),
      signal,
      onNotice: (notice) => files.note(notice),
    });
    this.#index.refresh(true);
    const leftOut = await files.save(path);
    this.#log.info("index built", { ...counts, skipped_files: leftOut.skippedFiles });
    const options = { size: 10, wordMatch: false, timeoutMs: TEST_QUERY_MS };
    const countHits = (query: string): number => this.search(query, options).hits.length;
    const queries = search.isEnabled ? this.detail.testQueries : [];
    const testQueries = await runTestQueries(queries, countHits, this.#log);
    await write({ documents: counts.documents, ...leftOut, needsBuild: false, testQueries });
    return counts;
  }
}

/** Returns the last sync's losses if they exceed the deployment's limit; a running sync has not lost anything yet. */
function lossesOf(
  history: TenantRecord["history"],
  { codename, maxFailedPercent }: TenantSettings,
): FailureRecord | null {
  const { fetched = 0, unchanged = 0, failed = 0 } = history.at(-1)?.counts ?? {};
  const tried = fetched + unchanged + failed;
  if (failed * 100 <= maxFailedPercent * tried) return null;
  const message = `the last sync failed for ${failed} of ${tried} pages or files, more than max_failed_percent (${maxFailedPercent}) allows; try them again with: article-extractor sync ${codename}`;
  return { code: "pages_lost", message };
}
