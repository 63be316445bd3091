import { dirname } from "node:path";
import { Failure, type FailureRecord } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import {
  type BuildCounts,
  buildIndex,
  type DocumentEntry,
  type LeftOut,
  type SearchIndex,
  type StoredDocument,
} from "../search/index.ts";
import type { DocumentUrl } from "../urls/index.ts";
import { describeTenant, statusOf, type TenantDetail } from "./describe.ts";
import { LeftOutFiles, readLeftOut } from "./left-out.ts";
import { LiveIndex, type OpenIndexes, runTestQueries } from "./live-index.ts";
import { dueAt, takeSyncSlot, withoutFutureTimes } from "./schedule.ts";
import type { TenantSettings } from "./settings.ts";
import { openSource, type SourceParts } from "./source/open-source.ts";
import type { Source, SourceWatch, SyncCounts } from "./source/source.ts";
import { indexPathOf, makeStateDirectory, stateDirectoryOf } from "./state-file.ts";
import { describeIndexFailure, type SyncBook, type SyncRecord } from "./sync-book.ts";
import type { IndexBuilding, SearchAnswer, TenantSearchOptions, TenantStatus } from "./types.ts";

type TenantOptions = SourceParts & {
  readonly book: SyncBook;
  /** Whether some process builds and syncs the tenants: beside a mere command nobody builds anything. */
  readonly isLed: () => boolean;
  readonly openIndexes: OpenIndexes;
  readonly stateDirectory: string;
  readonly building: IndexBuilding;
  readonly isOffline: boolean;
  readonly log: Log;
};

const TEST_QUERY_MS = 5_000;
/** The number of syncs that a record keeps. */
const MAX_HISTORY = 50;
/** The time between two records of a sync's progress, in ms. */
const PROGRESS_EVERY_MS = 500;

type Work = {
  readonly signal: AbortSignal;
  /** Called when it has begun, and does not wait any more. */
  readonly onRunning: () => void;
};

const asFailure = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure("internal", String(error), { cause: error });

/** One tenant: its settings, its index, and for a folder the watch for changed files. */
export class Tenant implements AsyncDisposable {
  readonly detail: TenantDetail;
  readonly settings: TenantSettings;
  readonly #options: TenantOptions;
  readonly #log: Log;
  readonly #index: LiveIndex;
  /** Decided once, because a directory may become unwritable, and searches read where builds write. */
  readonly #indexPath: string;
  readonly #ending = new AbortController();
  readonly #source: Source;
  readonly #book: SyncBook;
  #watch: SourceWatch | null = null;
  #building: Promise<void> | null = null;

  constructor(settings: TenantSettings, options: TenantOptions) {
    this.settings = settings;
    this.#options = options;
    this.#log = options.log.with({ tenant: settings.codename });
    this.detail = describeTenant(settings);
    this.#source = openSource(settings, {
      ...options,
      stateDirectory: stateDirectoryOf(settings, options.stateDirectory),
      log: this.#log,
    });
    this.#book = options.book;
    this.#indexPath = indexPathOf(settings, options.stateDirectory);
    this.#index = new LiveIndex({
      openIndexes: options.openIndexes,
      path: this.#indexPath,
      settings: settings.search,
      log: this.#log,
      // The documents still exist, so the index can be built again.
      onUnusable: () => {
        if (settings.allowIndexBuilds) this.#requestSync();
      },
    });
  }

  get status(): TenantStatus {
    const { codename, search } = this.settings;
    const { builtAt, documentCount, failure } = this.#index;
    const none = new Failure("index_missing", "there is no search index");
    const missing = search.isEnabled && builtAt === null ? this.#describeIndexFailure(none) : null;
    return statusOf(this.settings, this.#book.read(codename), { builtAt, documentCount, failure, missing });
  }

  search(query: string, options: TenantSearchOptions): SearchAnswer {
    const started = performance.now();
    const { timeoutMs, isCounted = false, ...wish } = options;
    const search = { ...wish, explain: false, deadline: started + timeoutMs };
    const tenant = this.detail.codename;
    return this.withIndex((index) => ({
      hits: index.search(query, search).map((hit) => ({ ...hit, tenant })),
      counts: isCounted ? index.count(query, search) : null,
      tenants: [tenant],
      documentCount: index.pageCount,
      queryMs: performance.now() - started,
      failures: [],
    }));
  }

  /** The first document that the index has of these addresses. */
  fetch(addresses: Iterable<DocumentUrl>): StoredDocument | null {
    return this.withIndex((index) => {
      for (const url of addresses) {
        const found = index.fetch(url);
        if (found) return found;
      }
      return null;
    });
  }

  /** What the last build left out. */
  leftOut(): Promise<readonly LeftOut[]> {
    return readLeftOut(this.#indexPath);
  }

  /** See `SearchIndex.list`. */
  list(after: string | null, count: number): readonly DocumentEntry[] {
    return this.withIndex((index) => index.list(after, count));
  }

  /** Starts to watch the documents where indexes may be built; the leading process calls this. */
  lead(): void {
    const { codename, allowIndexBuilds, source } = this.settings;
    if (!allowIndexBuilds || this.#watch) return;
    this.#watch = this.#source.watch(() => this.#syncByItself());
    // Documents of an earlier sync may have an index that was never built, or is gone.
    const { syncedAt, needsBuild } = this.#book.read(codename);
    const isBehind = syncedAt !== null && (needsBuild || this.#index.builtAt === null);
    if (source !== "filesystem" && isBehind) void this.build().catch(() => {});
  }

  /** Leaves the tenant to another process; work under way ends. */
  follow(): void {
    this.#watch?.[Symbol.dispose]();
    this.#watch = null;
  }

  /** Syncs soon, whatever the record says; the leading process calls this. */
  syncSoon(): void {
    if (this.#isTaken) this.#requestSync();
    else if (this.#watch) this.#watch.lookAgain();
    else void this.#syncByItself();
  }

  /** Syncs when it is due; the leading process calls this every second or so. */
  syncWhenDue(now: number): void {
    const { codename } = this.settings;
    if (this.#building) return;
    const found = this.#book.read(codename);
    const correction = withoutFutureTimes(found, now);
    if (correction) this.#book.write(codename, correction);
    const record = { ...found, ...correction };
    const at = dueAt(this.settings, record, now);
    if (record.nextRunAt !== at) this.#book.write(codename, { nextRunAt: at });
    // Another process, a command beside the server, may be working on it.
    if (at !== null && at <= now && record.state !== "running") void this.#syncByItself();
  }

  /**
   * Syncs the documents, and builds the index where that is allowed; or waits while that is under way.
   * @param options.buildsAlways builds the index whatever the settings say, for a worker beside the server
   * @throws Failure
   */
  async sync({ buildsAlways = false }: { readonly buildsAlways?: boolean } = {}): Promise<void> {
    const { allowIndexBuilds, source } = this.settings;
    await this.#run(async (work) => {
      const isFolder = source === "filesystem";
      const needsBuild = isFolder || (await this.#syncDocuments(work));
      if (!needsBuild || !(allowIndexBuilds || buildsAlways)) this.#index.refresh(true);
      else if (isFolder) await this.#readFolder(work);
      else await this.#buildInTurn(work);
    });
  }

  /**
   * Builds the index of the present documents, or waits while that is under way.
   * @throws Failure
   */
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
      throw error.code.startsWith("index_") ? this.#describeIndexFailure(error) : error;
    }
  }

  #describeIndexFailure(error: Failure): Failure {
    const { codename } = this.settings;
    const builder = { isTaken: this.#book.isTaken(codename), isLed: this.#options.isLed() };
    return describeIndexFailure(error, this.settings, { ...this.#book.read(codename), ...builder });
  }

  /** Syncs without a waiting caller; failures go to the record and the log. */
  async #syncByItself(): Promise<void> {
    try {
      await this.sync();
    } catch {
      // The process that works on it may have read the documents before they changed. Once this one ends, its
      // database may be closed.
      if (!this.#ending.signal.aborted && this.#isTaken) this.#requestSync();
    }
  }

  /** Whether another process, a command beside the server, works on it. */
  get #isTaken(): boolean {
    return this.#building === null && this.#book.isTaken(this.settings.codename);
  }

  #requestSync(): void {
    try {
      this.#book.request(this.settings.codename);
    } catch (error) {
      // A search, which still gets its answer, or a timer requested this.
      this.#log.warning("no sync requested", { error: String(error) });
    }
  }

  async #run(work: (work: Work) => Promise<void>): Promise<void> {
    // A look at a folder may outlive the tenant.
    if (this.#ending.signal.aborted) throw new Failure("cancelled", "the tenant is closed");
    this.#building ??= this.#attempt(work).finally(() => {
      this.#building = null;
    });
    await this.#building;
  }

  async #attempt(work: (work: Work) => Promise<void>): Promise<void> {
    const { codename } = this.settings;
    await using begun = await this.#book.begin(codename);
    if (!begun)
      throw new Failure(
        "invalid_usage",
        `Tenant '${codename}' is being synced by another process; wait for it`,
      );
    this.#book.write(codename, { state: "queued" });
    const signal = AbortSignal.any([this.#ending.signal, begun.lost]);
    let hasBegun = false;
    const onRunning = (): void => {
      if (!hasBegun) this.#book.write(codename, { state: "running", lastStartedAt: Date.now() });
      hasBegun = true;
    };
    try {
      await work({ signal, onRunning });
      this.#book.write(codename, { state: "idle", lastCompletedAt: Date.now(), lastError: null });
    } catch (error) {
      const failure = asFailure(error);
      const isCalledOff = failure.code === "cancelled";
      // The process that has taken over the tenant writes its record.
      if (!begun.lost.aborted)
        this.#book.write(codename, { state: "idle", ...(!isCalledOff && { lastError: failure.toRecord() }) });
      if (!isCalledOff) this.#log.error("sync failed", { code: failure.code, error: failure.message });
      throw failure;
    }
  }

  /** @returns whether the index has to be built */
  async #syncDocuments({ signal, onRunning }: Work): Promise<boolean> {
    const { codename } = this.settings;
    const { leases, owner, onLeaseError: onError } = this.#book;
    if (this.#options.isOffline)
      throw new Failure("egress_refused", `Tenant '${codename}' is not synced: operation_mode is offline`);
    await using _ = await takeSyncSlot({ leases, owner, signal, onError });
    onRunning();
    const startedAt = Date.now();
    const before = this.#book.read(codename);
    const remember = (counts: SyncCounts | null, error: FailureRecord | null): Partial<SyncRecord> => ({
      history: [...before.history, { startedAt, endedAt: Date.now(), counts, error }].slice(-MAX_HISTORY),
    });
    try {
      this.#book.write(codename, { needsBuild: true });
      const counts = await this.#source.sync({ signal, onProgress: this.#progressWriter() });
      const isChanged = counts.fetched + counts.removed > 0;
      const needsBuild = before.needsBuild || isChanged || !this.#index.isUsable;
      const done = { counts, needsBuild, syncedAt: startedAt, failures: 0, failedAt: null };
      this.#book.write(codename, { ...done, ...remember(counts, null) });
      return needsBuild;
    } catch (error) {
      const failure = asFailure(error);
      if (failure.code !== "cancelled")
        this.#book.write(codename, {
          failures: before.failures + 1,
          failedAt: Date.now(),
          ...remember(null, failure.toRecord()),
        });
      throw failure;
    }
  }

  #progressWriter(): (counts: SyncCounts) => void {
    let writtenAt = 0;
    return (counts) => {
      if (performance.now() - writtenAt < PROGRESS_EVERY_MS) return;
      writtenAt = performance.now();
      this.#book.write(this.settings.codename, { counts });
    };
  }

  /** Nothing is fetched for a folder: a sync only reads it into the index. */
  async #readFolder(work: Work): Promise<void> {
    const { codename } = this.settings;
    const before = this.#book.read(codename);
    let startedAt = Date.now();
    const onRunning = (): void => {
      startedAt = Date.now();
      work.onRunning();
    };
    const remember = (counts: SyncCounts | null, error: FailureRecord | null): void =>
      this.#book.write(codename, {
        counts: counts ?? before.counts,
        history: [...before.history, { startedAt, endedAt: Date.now(), counts, error }].slice(-MAX_HISTORY),
      });
    try {
      const { documents, unchanged } = await this.#buildInTurn({ ...work, onRunning });
      const removed = Math.max(0, (before.documents ?? 0) - documents);
      const { skippedFiles } = this.#book.read(codename);
      remember({ fetched: documents - unchanged, unchanged, removed, failed: skippedFiles }, null);
    } catch (error) {
      const failure = asFailure(error);
      if (failure.code !== "cancelled") remember(null, failure.toRecord());
      throw failure;
    }
  }

  #buildInTurn({ signal, onRunning }: Work): Promise<BuildCounts> {
    return this.#options.building.turn(async () => {
      onRunning();
      this.#book.write(this.settings.codename, { isBuilding: true });
      try {
        return await this.#buildNow(signal);
      } finally {
        this.#book.write(this.settings.codename, { isBuilding: false });
      }
    });
  }

  async #buildNow(signal: AbortSignal): Promise<BuildCounts> {
    const { codename, search } = this.settings;
    const path = this.#indexPath;
    makeStateDirectory(dirname(path));
    const files = new LeftOutFiles(this.#log);
    const counts = await buildIndex(() => this.#source.documents({ onLeftOut: files.begin() }), {
      ...this.#options.building,
      path,
      profile: search.profile,
      language: search.language ?? undefined,
      slugStyle: await this.#source.slugStyle(),
      signal,
      onNotice: (notice) => files.note(notice),
    });
    this.#index.refresh(true);
    const leftOut = await files.save(path);
    this.#log.info("index built", { ...counts, skipped_files: leftOut.skippedFiles });
    const testQueries = search.isEnabled ? await this.#runTestQueries() : [];
    this.#book.write(codename, { documents: counts.documents, ...leftOut, needsBuild: false, testQueries });
    return counts;
  }

  #runTestQueries(): Promise<SyncRecord["testQueries"]> {
    const options = { size: 10, wordMatch: false, timeoutMs: TEST_QUERY_MS };
    const countHits = (query: string): number => this.search(query, options).hits.length;
    return runTestQueries(this.detail.testQueries, { countHits, log: this.#log });
  }
}
