import { onAbort } from "../../../../base/abort.ts";
import type { JobQueue, JobRecord, StoredEvent } from "../../../../crawler/index.ts";
import type { CrawlSpec } from "./spec.ts";

/**
 * What the watchers in this process see of jobs. One query asks for all watched jobs together, and watchers at the
 * same place share what they read, so that a thousand event streams cost the queue as much as one.
 */
export interface JobNews extends Disposable {
  /**
   * Watches a job until the watch is disposed of.
   * @param found the job as the queue has just told it
   */
  watch(found: JobRecord): JobWatch;
}

/** One watcher's view of a job. */
export interface JobWatch extends Disposable {
  /** Returns the job as it was found last; null once it is forgotten. */
  latest(): JobRecord | null;
  /** Returns stored events after that number up to the latest record's, oldest first and not all at once. */
  eventsAfter(number: number): Promise<readonly StoredEvent[]>;
  /** Waits until the job is no longer as in this record, for this many ms at most. */
  change(since: JobRecord | null, ms: number, signal: AbortSignal): Promise<void>;
}

/** How many events are read at once. */
const BATCH = 100;

type Watched = {
  watchers: number;
  record: JobRecord | null;
  /** What was read since the record was found, by the number that was asked for. */
  readonly reads: Map<number, Promise<readonly StoredEvent[]>>;
  changed: PromiseWithResolvers<void>;
};

export function openJobNews(queue: JobQueue<CrawlSpec>): JobNews {
  const jobs = new Map<string, Watched>();
  const wanted = new Set<string>();
  let isLooking = false;
  let timer: ReturnType<typeof setInterval> | undefined;

  const take = (id: string, record: JobRecord | null): void => {
    const job = jobs.get(id);
    if (!job || Bun.deepEquals(job.record, record)) return;
    job.record = record;
    job.reads.clear();
    job.changed.resolve();
    job.changed = Promise.withResolvers();
  };
  // One look at a time, or a late answer would bring back an old record.
  const lookAtWanted = async (): Promise<void> => {
    while (wanted.size > 0) {
      const ids = [...wanted];
      wanted.clear();
      const found = new Map((await queue.find(ids)).map((record) => [record.id, record]));
      for (const id of ids) take(id, found.get(id) ?? null);
    }
  };
  const lookAt = (ids: Iterable<string>): void => {
    for (const id of ids) wanted.add(id);
    if (isLooking) return;
    isLooking = true;
    lookAtWanted()
      // The next beat asks again; until then the watchers wait.
      .catch(() => {})
      .finally(() => {
        isLooking = false;
      });
  };
  const hints = queue.onChange((id) => {
    if (id === null) lookAt(jobs.keys());
    else if (jobs.has(id)) lookAt([id]);
  });
  const begin = (record: JobRecord): Watched => {
    const job = { watchers: 0, record, reads: new Map(), changed: Promise.withResolvers<void>() };
    if (jobs.size === 0) timer = setInterval(() => lookAt(jobs.keys()), queue.beatMs);
    jobs.set(record.id, job);
    return job;
  };
  const end = (id: string): void => {
    jobs.delete(id);
    if (jobs.size === 0) clearInterval(timer);
  };
  return {
    watch(found) {
      const { id } = found;
      const job = jobs.get(id) ?? begin(found);
      job.watchers++;
      let isWatching = true;
      return {
        latest: () => job.record,
        eventsAfter: (number) => readOnce(job, number, () => queue.eventsAfter(id, number, BATCH)),
        change: (since, ms, signal) =>
          job.record === since ? within(job.changed.promise, ms, signal) : Promise.resolve(),
        [Symbol.dispose]() {
          if (!isWatching) return;
          isWatching = false;
          job.watchers--;
          if (job.watchers === 0) end(id);
        },
      };
    },
    [Symbol.dispose]() {
      hints[Symbol.dispose]();
      clearInterval(timer);
    },
  };
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

async function within(event: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  using _ = onAbort(signal, over.resolve);
  await Promise.race([event, over.promise]);
  clearTimeout(timer);
}
