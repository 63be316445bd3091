import { pause } from "../../../../base/abort.ts";
import type { JobQueue, JobRecord, StoredEvent } from "../../../../crawler/index.ts";
import type { CrawlSpec } from "./spec.ts";

/** How many events are read at once. */
const BATCH = 100;

type Watched = {
  watchers: number;
  record: JobRecord | null;
  /** Events read since the record was found, by the requested number. */
  readonly reads: Map<number, Promise<readonly StoredEvent[]>>;
  changed: PromiseWithResolvers<void>;
};

/**
 * News about jobs for the watchers in this process. One query asks for all watched jobs together, and watchers at the
 * same position share the events read, so that a thousand event streams cost the queue as much as one.
 */
export class JobNews implements Disposable {
  readonly #queue: JobQueue<CrawlSpec>;
  readonly #jobs = new Map<string, Watched>();
  readonly #wanted = new Set<string>();
  readonly #hints: Disposable;
  #isLooking = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(queue: JobQueue<CrawlSpec>) {
    this.#queue = queue;
    this.#hints = queue.onChange((id) => {
      if (id === null) this.#lookAt(this.#jobs.keys());
      else if (this.#jobs.has(id)) this.#lookAt([id]);
    });
  }

  /** Watches a job until the watch is disposed of. @param found the job as the queue has just told it */
  watch(found: JobRecord) {
    const { id } = found;
    const job = this.#jobs.get(id) ?? this.#begin(found);
    job.watchers++;
    let isWatching = true;
    return {
      /** Returns the job as it was found last; null once it is forgotten. */
      latest: () => job.record,
      /** Returns stored events after that number up to the latest record's, oldest first and not all at once. */
      eventsAfter: (number: number) =>
        readOnce(job, number, () => this.#queue.eventsAfter(id, number, BATCH)),
      /** Waits until the job is no longer as in this record, for this many ms at most. */
      change: async (since: JobRecord | null, ms: number, signal: AbortSignal) => {
        if (job.record === since) await pause(ms, signal, job.changed.promise);
      },
      [Symbol.dispose]: () => {
        if (!isWatching) return;
        isWatching = false;
        if (--job.watchers > 0) return;
        this.#jobs.delete(id);
        if (this.#jobs.size === 0) clearInterval(this.#timer);
      },
    };
  }

  #begin(record: JobRecord): Watched {
    const job = { watchers: 0, record, reads: new Map(), changed: Promise.withResolvers<void>() };
    if (this.#jobs.size === 0)
      this.#timer = setInterval(() => this.#lookAt(this.#jobs.keys()), this.#queue.beatMs);
    this.#jobs.set(record.id, job);
    return job;
  }

  #lookAt(ids: Iterable<string>): void {
    for (const id of ids) this.#wanted.add(id);
    // One look at a time, or a late answer would bring back an old record.
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#lookAtWanted()
      // The next beat asks again; until then the watchers wait.
      .catch(() => {})
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #lookAtWanted(): Promise<void> {
    while (this.#wanted.size > 0) {
      const ids = [...this.#wanted];
      this.#wanted.clear();
      const found = new Map((await this.#queue.find(ids)).map((record) => [record.id, record]));
      for (const id of ids) this.#take(id, found.get(id) ?? null);
    }
  }

  #take(id: string, record: JobRecord | null): void {
    const job = this.#jobs.get(id);
    if (!job || Bun.deepEquals(job.record, record)) return;
    job.record = record;
    job.reads.clear();
    job.changed.resolve();
    job.changed = Promise.withResolvers();
  }

  [Symbol.dispose](): void {
    this.#hints[Symbol.dispose]();
    clearInterval(this.#timer);
  }
}

async function readOnce(
  { record, reads }: Watched,
  number: number,
  read: () => Promise<readonly StoredEvent[]>,
): Promise<readonly StoredEvent[]> {
  if (record === null || record.lastEvent <= number) return [];
  const known = reads.get(number);
  if (known) return await known;
  const reading = read();
  reads.set(number, reading);
  try {
    const events = await reading;
    // Only the newest events are wanted by many at once; the rest is not worth the memory.
    if (events.length === BATCH) reads.delete(number);
    return events;
  } catch (error) {
    reads.delete(number);
    throw error;
  }
}
