import {
  CALLED_OFF,
  type ClaimedJob,
  CRASHED,
  EVENT_AGE_MS,
  type JobEnd,
  type JobLease,
  type JobListOptions,
  type JobQueue,
  type JobQueueLimits,
  type JobRecord,
  type JobReport,
  type JobRow,
  MAX_CRASHES,
  MAX_EVENTS,
  MAX_FINISHED,
  MAX_HAND_BACK_MS,
  MIN_EVENTS,
  type NewJob,
  type StoredEvent,
  TRIM_MS,
  toRecord,
} from "./jobs.ts";

/** Runs one statement of the SQL that both engines understand, with `$1` for parameters, and returns its rows. */
export type RunSql = <Row = unknown>(
  sql: string,
  parameters?: readonly (string | number | null)[],
) => Promise<Row[]>;

/** The parts of statements that the engines say differently. */
export type QueueWords = {
  /** The columns of a job's place and of its claim's name, and the table of events. */
  readonly place: string;
  readonly claim: string;
  readonly events: string;
  /** SQL for the time in `ms` milliseconds, for columns that a record shows (`stamp`) and for other columns. */
  readonly stamp: (ms?: number) => string;
  readonly now: (ms?: number | string) => string;
  /** SQL assignments that keep a job for `ms` milliseconds. */
  readonly lease: (ms: string) => string;
  /** The rows of a list in JSON: its texts as `value`. */
  readonly values: (json: string) => string;
  /** The rows of a list of pairs in JSON: the number of each from 1 (`nth`), `kind` and `body`. */
  readonly pairs: (json: string) => string;
  /** Whether a running job's process may be gone, which `QueueEngine.isLeft` decides. */
  readonly mayBeLeft: string;
};

/** The storage of jobs. */
export interface QueueEngine {
  readonly words: QueueWords;
  readonly run: RunSql;
  /**
   * Runs the work in one transaction, which may happen again when it is unknown whether it took effect.
   * @param isDurable whether its result must survive a power cut
   */
  transaction<T>(work: (run: RunSql) => Promise<T>, isDurable?: boolean): Promise<T>;
  /** Lets what counts jobs before it adds to them take its turn, or the limits would be passed. */
  takeTurn(run: RunSql): Promise<unknown>;
  /** Tells the other processes that a job has changed; null: any of them. */
  tell(run: RunSql, id: string | null, isCancelled?: boolean): Promise<unknown>;
  /** Makes sure that nothing of an ended job's request can be read any more. */
  erase(): void;
  /** A name for a claim that there never was before. */
  newClaim(): string;
  isLeft(job: { readonly claim: string | null; readonly lease_until: unknown }): boolean;
}

type ClaimRow = Pick<JobRow, "id" | "last_event"> & {
  readonly fence: number;
  readonly spec: string | null;
  readonly has_begun: boolean | number;
};

const COUNTS = ["progress", "total", "successful", "failed", "skipped"] as const;
const CLAIMED = "id, fence, spec, has_begun, last_event";
const HELD = "id = $1 AND fence = $2 AND state = 'running'";
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CANCELLED = { state: "failed", error: CALLED_OFF } as const;

/** The one state machine of jobs; what differs between the engines is in `QueueEngine`. */
export abstract class SqlJobQueue<Spec> implements JobQueue<Spec> {
  abstract readonly beatMs: number;
  abstract readonly isShared: boolean;
  readonly #engine: QueueEngine;
  readonly #limits: JobQueueLimits;
  readonly #record: string;
  readonly #requeued: string;
  #trimmedAt = Number.NEGATIVE_INFINITY;

  constructor(engine: QueueEngine, limits: JobQueueLimits) {
    this.#engine = engine;
    this.#limits = limits;
    const { place, claim } = engine.words;
    this.#record = `id, state, ${place} AS place, shown, created_at, started_at, completed_at, progress, total,
      successful, failed, skipped, error, warnings, is_cancelled, last_event`;
    this.#requeued = `state = 'queued', ${claim} = NULL, lease_until = NULL, started_at = NULL`;
  }

  abstract onChange(listener: (id: string | null, isCancelled: boolean) => void): Disposable;

  abstract [Symbol.asyncDispose](): Promise<void>;

  submit(job: NewJob<Spec>): Promise<JobRecord | "full" | "in_use"> {
    const id = crypto.randomUUID();
    const { place, stamp } = this.#engine.words;
    return this.#engine.transaction(async (run) => {
      await this.#engine.takeTurn(run);
      const [known] = await run<JobRow>(`SELECT ${this.#record} FROM job WHERE id = $1`, [id]);
      if (known) return toRecord(known);
      const [open] = await run<{ queued: number; rivals: number }>(
        `SELECT count(*) FILTER (WHERE state = 'queued') AS queued, count(*) FILTER (WHERE ${place} = $1) AS rivals
           FROM job WHERE state IN ('queued', 'running')`,
        [job.place],
      );
      if ((open?.queued ?? 0) >= this.#limits.maxQueued) return "full";
      if ((open?.rivals ?? 0) > 0) return "in_use";
      const [row] = await run<JobRow>(
        `INSERT INTO job (id, ${place}, shown, spec, created_at) VALUES ($1, $2, $3, $4, ${stamp()})
           RETURNING ${this.#record}`,
        [id, job.place, JSON.stringify(job.shown), JSON.stringify(job.spec)],
      );
      await this.#forgetOldest(run);
      await this.#engine.tell(run, null);
      return toRecord(row as JobRow); // just inserted
    }, true);
  }

  async get(id: string): Promise<JobRecord | null> {
    const [record] = await this.find([id]);
    return record ?? null;
  }

  async find(ids: readonly string[]): Promise<JobRecord[]> {
    const known = ids.filter((id) => UUID.test(id));
    if (known.length === 0) return [];
    const { values } = this.#engine.words;
    const rows = await this.#engine.run<JobRow>(
      `SELECT ${this.#record} FROM job WHERE id IN (SELECT value::uuid FROM ${values("$1")})`,
      [JSON.stringify(known)],
    );
    return rows.map(toRecord);
  }

  async list({ limit, state }: JobListOptions): Promise<JobRecord[]> {
    const rows = await this.#engine.run<JobRow>(
      `SELECT ${this.#record} FROM job WHERE $1::text IS NULL OR state = $1 ORDER BY number DESC LIMIT $2`,
      [state, limit],
    );
    return rows.map(toRecord);
  }

  async counts(): Promise<{ readonly queued: number; readonly running: number }> {
    const [counts] = await this.#engine.run<{ queued: number; running: number }>(
      `SELECT count(*) FILTER (WHERE state = 'queued') AS queued,
         count(*) FILTER (WHERE state = 'running') AS running
         FROM job WHERE state IN ('queued', 'running')`,
    );
    return counts ?? { queued: 0, running: 0 };
  }

  async cancel(id: string): Promise<JobRecord | null> {
    if (!UUID.test(id)) return null;
    await this.#engine.transaction(async (run) => {
      const marked = await run(
        `UPDATE job SET is_cancelled = true
           WHERE id = $1 AND state IN ('queued', 'running') AND NOT is_cancelled RETURNING id`,
        [id],
      );
      await this.#close(run, "id = $1 AND state = 'queued'", [id], CANCELLED);
      if (marked.length > 0) await this.#engine.tell(run, id, true);
    }, true);
    this.#engine.erase();
    return await this.get(id);
  }

  async claim(): Promise<ClaimedJob<Spec> | null> {
    await this.#trimEnded();
    const { claim, now, lease, mayBeLeft } = this.#engine.words;
    // A time further away was written before the clock was set back.
    const isDue = `state = 'queued' AND (not_before <= ${now()} OR not_before > ${now(MAX_HAND_BACK_MS)})`;
    // It is checked without the lock first, because most of the time there is nothing to do.
    const [due] = await this.#engine.run(
      `SELECT 1 FROM job WHERE state IN ('queued', 'running')
         AND (state = 'running' AND ${mayBeLeft} OR ${isDue}) LIMIT 1`,
    );
    if (!due) return null;
    const name = this.#engine.newClaim();
    return await this.#engine.transaction(async (run) => {
      await this.#engine.takeTurn(run);
      // Asked again, it may have the job already, whose lease may even be over by now.
      const mine = `SELECT ${CLAIMED} FROM job WHERE state = 'running' AND ${claim} = $1`;
      const [before] = await run<ClaimRow>(mine, [name]);
      if (before) return toClaimed<Spec>(before);
      await this.#takeBackLeft(run);
      const [row] = await run<ClaimRow>(
        `UPDATE job SET state = 'running', started_at = ${this.#engine.words.stamp()}, ${claim} = $1,
           fence = fence + 1, ${lease("$2")}
         WHERE number = (
           SELECT number FROM job WHERE ${isDue} AND $3 > (SELECT count(*) FROM job WHERE state = 'running')
           ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING ${CLAIMED}`,
        [name, this.#limits.leaseMs, this.#limits.maxRunning],
      );
      return row ? toClaimed<Spec>(row) : null;
    });
  }

  async joinable(): Promise<Pick<ClaimedJob<Spec>, "id" | "spec"> | null> {
    // Unless it is shared, a crawl's frontier belongs to one process.
    if (!this.isShared) return null;
    const [row] = await this.#engine.run<ClaimRow>(
      // Before it has begun, there may be an older crawl in its place.
      `SELECT ${CLAIMED} FROM job WHERE state = 'running' AND has_begun AND NOT is_cancelled
         ORDER BY random() LIMIT 1`,
    );
    return row ? toClaimed<Spec>(row) : null;
  }

  report(lease: JobLease, report: JobReport): Promise<"go_on" | "cancelled" | "lost"> {
    return this.#engine.transaction((run) => this.#write(run, lease, report));
  }

  async finish(lease: JobLease, end: JobEnd): Promise<void> {
    await this.#engine.transaction(async (run) => {
      await this.#write(run, lease, end);
      await this.#close(run, HELD, [lease.id, lease.fence], end);
    }, true);
    this.#engine.erase();
  }

  handBack(lease: JobLease, delayMs: number): Promise<void> {
    const held = [lease.id, lease.fence];
    return this.#engine.transaction(async (run) => {
      await this.#close(run, `${HELD} AND is_cancelled`, held, CANCELLED);
      await run(
        `UPDATE job SET ${this.#requeued}, not_before = ${this.#engine.words.now("$3")} WHERE ${HELD}`,
        [...held, delayMs],
      );
    });
  }

  async eventsAfter(id: string, number: number, limit: number): Promise<StoredEvent[]> {
    if (!UUID.test(id)) return [];
    return await this.#engine.run<StoredEvent>(
      `SELECT event.number, kind, body FROM ${this.#engine.words.events} AS event JOIN job ON job.number = event.job
         WHERE id = $1 AND event.number > $2 ORDER BY event.number LIMIT $3`,
      [id, number, limit],
    );
  }

  /** Renews a job's lease and writes what is new of it, within a transaction. */
  async #write(run: RunSql, { id, fence }: JobLease, report: JobReport) {
    const { counts, startedAt, warnings, after, events } = report;
    const [held] = await run<{ number: number; is_cancelled: boolean | number; last_event: number }>(
      `UPDATE job SET ${this.#engine.words.lease("$3")},
         started_at = coalesce($4::timestamptz, started_at), has_begun = has_begun OR $4::timestamptz IS NOT NULL,
         warnings = coalesce($5, warnings), progress = coalesce($6, progress),
         crashes = CASE WHEN coalesce($6, progress) > progress THEN 0 ELSE crashes END, total = coalesce($7, total),
         successful = coalesce($8, successful), failed = coalesce($9, failed), skipped = coalesce($10, skipped)
       WHERE ${HELD} RETURNING number, is_cancelled, last_event`,
      [
        id,
        fence,
        this.#limits.leaseMs,
        startedAt ?? null,
        warnings ? JSON.stringify(warnings) : null,
        ...COUNTS.map((name) => counts?.[name] ?? null),
      ],
    );
    if (!held) return "lost";
    await this.#addEvents(run, held, { after, events });
    const hasNews = counts !== undefined || startedAt !== undefined || events.length > 0;
    if (hasNews) await this.#engine.tell(run, id);
    return held.is_cancelled ? "cancelled" : "go_on";
  }

  /** Adds the new events, and drops the oldest events beyond the limit. */
  async #addEvents(
    run: RunSql,
    { number, last_event: known }: { readonly number: number; readonly last_event: number },
    { after, events }: Pick<JobReport, "after" | "events">,
  ): Promise<void> {
    if (events.length === 0) return;
    const { events: table, now, pairs } = this.#engine.words;
    const last = Math.max(known, after + events.length);
    // An event that was dropped before stays dropped when it is reported again.
    const first = Math.max(after, known, last - MAX_EVENTS);
    const fresh = events.slice(first - after).map(({ kind, body }) => [kind, JSON.stringify(body)]);
    await run(
      `INSERT INTO ${table} (job, number, kind, body, told_at)
         SELECT $1::bigint, $2::bigint + nth, kind, body, ${now()} FROM ${pairs("$3")} WHERE true
         ON CONFLICT DO NOTHING`,
      [number, first, JSON.stringify(fresh)],
    );
    await run("UPDATE job SET last_event = $2 WHERE number = $1", [number, last]);
    await run(
      `DELETE FROM ${table} WHERE job = $1 AND number <= $2 AND number < greatest($3::bigint, coalesce(
         (SELECT number FROM ${table} AS young WHERE job = $1 AND told_at > ${now(-EVENT_AGE_MS)}
           ORDER BY number LIMIT 1), $2::bigint + 1))`,
      [number, last - MIN_EVENTS, last - MAX_EVENTS + 1],
    );
  }

  /** Drops the events of ended jobs that nothing but their age has kept. */
  async #trimEnded(): Promise<void> {
    const now = performance.now();
    if (now - this.#trimmedAt < TRIM_MS) return;
    const { events, stamp } = this.#engine.words;
    await this.#engine.transaction(async (run) => {
      const old = await run<{ number: number; last_event: number }>(
        `UPDATE job SET has_surplus = false WHERE has_surplus AND completed_at < ${stamp(-EVENT_AGE_MS)}
           RETURNING number, last_event`,
      );
      for (const { number, last_event } of old)
        await run(`DELETE FROM ${events} WHERE job = $1 AND number <= $2`, [number, last_event - MIN_EVENTS]);
    });
    this.#trimmedAt = now;
  }

  async #forgetOldest(run: RunSql): Promise<void> {
    const old = `SELECT number FROM job WHERE state IN ('completed', 'failed') AND number <= (
      SELECT number FROM job WHERE state IN ('completed', 'failed') ORDER BY number DESC LIMIT 1 OFFSET $1)`;
    await run(`DELETE FROM ${this.#engine.words.events} WHERE job IN (${old})`, [MAX_FINISHED]);
    await run(`DELETE FROM job WHERE number IN (${old})`, [MAX_FINISHED]);
  }

  /** Requeues jobs whose process is gone; one that was cancelled, or crashes each process, is ended. */
  async #takeBackLeft(run: RunSql): Promise<void> {
    const { claim, mayBeLeft } = this.#engine.words;
    const jobs = await run<LeftRow>(
      `SELECT number, ${claim} AS claim, lease_until, is_cancelled, crashes FROM job
         WHERE state = 'running' AND ${mayBeLeft} FOR UPDATE`,
    );
    for (const job of jobs.filter((running) => this.#engine.isLeft(running))) {
      const left = [job.number];
      if (job.is_cancelled) await this.#close(run, "number = $1", left, CANCELLED);
      else if (job.crashes + 1 >= MAX_CRASHES)
        await this.#close(run, "number = $1", left, { state: "failed", error: CRASHED });
      else await run(`UPDATE job SET ${this.#requeued}, crashes = crashes + 1 WHERE number = $1`, left);
    }
  }

  /** Ends the job of a condition, with its parameters. */
  async #close(
    run: RunSql,
    which: string,
    parameters: readonly (string | number)[],
    { state, error, completedAt }: Omit<JobEnd, keyof JobReport>,
  ): Promise<void> {
    const nth = (place: number): string => `$${parameters.length + place}`;
    const [closed] = await run<{ id: string; number: number; last_event: number }>(
      // Pages that were not reached are taken out of the total, so that an ended job is seen to be complete.
      `UPDATE job SET state = ${nth(1)}, error = ${nth(2)}, completed_at =
           greatest(coalesce(${nth(3)}::timestamptz, ${this.#engine.words.stamp()}), coalesce(started_at, created_at)),
         ${this.#engine.words.claim} = NULL, lease_until = NULL, spec = NULL, total = progress, has_surplus = true
       WHERE ${which} RETURNING id, number, last_event`,
      [...parameters, state, error && JSON.stringify(error), completedAt ?? null],
    );
    if (!closed) return;
    const events = [{ kind: "end", body: { status: state, error } }];
    await this.#addEvents(run, closed, { after: closed.last_event, events });
    await this.#engine.tell(run, closed.id);
  }
}

type LeftRow = {
  readonly number: number;
  readonly claim: string | null;
  readonly lease_until: unknown;
  readonly is_cancelled: boolean | number;
  readonly crashes: number;
};

const toClaimed = <Spec>({ id, fence, spec, has_begun, last_event }: ClaimRow): ClaimedJob<Spec> => ({
  id,
  fence,
  // `submit` wrote it, and it stays until the job ends.
  spec: JSON.parse(spec ?? "null") as Spec,
  hasBegun: Boolean(has_begun),
  lastEvent: last_event,
});
