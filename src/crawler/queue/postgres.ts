import type { Postgres, Queries } from "../../base/postgres/index.ts";
import { waitingCounts } from "../frontier/postgres.ts";
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
  MIN_EVENTS,
  type NewJob,
  PRESENCE_MS,
  type StoredEvent,
  TRIM_MS,
  toRecord,
} from "./jobs.ts";

type PostgresQueueOptions = JobQueueLimits & {
  /** Its schema has the tables; the queue leaves it open. */
  readonly database: Postgres;
};

/** Opens the queue of a database, which the servers of several machines may share; its times are the database's. */
export const openPostgresJobQueue = <Spec>(options: PostgresQueueOptions): JobQueue<Spec> =>
  new PostgresJobQueue<Spec>(options);

type Row = Omit<JobRow, "created_at" | "started_at" | "completed_at"> & {
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
};

const RECORD = `id, state, place, shown, created_at, started_at, completed_at, progress, total, successful, failed,
  skipped, error, warnings, is_cancelled, last_event`;

/** What counts the jobs before it adds to them takes its turn, or the limits would be passed. */
const TAKE_TURN = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.job', 0))";

/** A restart of the database takes its time, in which nobody could renew. */
const IS_LEFT = `state = 'running'
  AND greatest(lease_until, pg_postmaster_start_time() + lease) < clock_timestamp()`;

class PostgresJobQueue<Spec> implements JobQueue<Spec> {
  readonly beatMs = 1000;
  readonly isShared = true;
  readonly #db: Postgres;
  readonly #options: PostgresQueueOptions;
  readonly #channel: string;
  readonly #runner = crypto.randomUUID();
  #presentAt = Number.NEGATIVE_INFINITY;
  #trimmedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PostgresQueueOptions) {
    this.#db = options.database;
    this.#options = options;
    this.#channel = options.database.channel(CHANNEL);
  }

  submit(job: NewJob<Spec>): Promise<JobRecord | "full" | "in_use"> {
    const id = crypto.randomUUID();
    return this.#db.transaction(async (queries) => {
      await queries.query(TAKE_TURN);
      const [known] = await queries.query<Row>(`SELECT ${RECORD} FROM job WHERE id = $1`, [id]);
      if (known) return recordOf(known);
      const [open] = await queries.query<{ queued: number; is_in_use: boolean | null }>(
        `SELECT count(*) FILTER (WHERE state = 'queued') AS queued, bool_or(place = $1) AS is_in_use
           FROM job WHERE state IN ('queued', 'running')`,
        [job.place],
      );
      if ((open?.queued ?? 0) >= this.#options.maxQueued) return "full";
      if (open?.is_in_use) return "in_use";
      const [row] = await queries.query<Row>(
        `INSERT INTO job (id, place, shown, spec) VALUES ($1, $2, $3, $4) RETURNING ${RECORD}`,
        [id, job.place, JSON.stringify(job.shown), JSON.stringify(job.spec)],
      );
      await queries.query(
        `DELETE FROM job WHERE number IN
           (SELECT number FROM job WHERE state IN ('completed', 'failed') ORDER BY number DESC OFFSET $1)`,
        [MAX_FINISHED],
      );
      await queries.query("SELECT pg_notify($1, '')", [this.#channel]);
      return recordOf(row as Row); // just inserted
    });
  }

  async get(id: string): Promise<JobRecord | null> {
    const [record] = await this.find([id]);
    return record ?? null;
  }

  async find(ids: readonly string[]): Promise<JobRecord[]> {
    const known = ids.filter((id) => UUID.test(id));
    if (known.length === 0) return [];
    const rows = await this.#db.query<Row>(`SELECT ${RECORD} FROM job WHERE id = ANY ($1::uuid[])`, [known]);
    return rows.map(recordOf);
  }

  async list({ limit, state }: JobListOptions): Promise<JobRecord[]> {
    const rows = await this.#db.query<Row>(
      `SELECT ${RECORD} FROM job WHERE $1::text IS NULL OR state = $1 ORDER BY number DESC LIMIT $2`,
      [state, limit],
    );
    return rows.map(recordOf);
  }

  async counts(): Promise<{ readonly queued: number; readonly running: number }> {
    const [counts] = await this.#db.query<{ queued: number; running: number }>(
      `SELECT count(*) FILTER (WHERE state = 'queued') AS queued,
         count(*) FILTER (WHERE state = 'running') AS running
         FROM job WHERE state IN ('queued', 'running')`,
    );
    return counts ?? { queued: 0, running: 0 };
  }

  waiting(): Promise<{ readonly pages: number; readonly hosts: number }> {
    return waitingCounts(this.#db);
  }

  async runners(): Promise<number> {
    const [row] = await this.#db.query<{ count: number }>(
      `SELECT count(*) AS count FROM job_runner WHERE seen_at > clock_timestamp() - ${PRESENT}`,
    );
    return row?.count ?? 0;
  }

  async cancel(id: string): Promise<JobRecord | null> {
    if (!UUID.test(id)) return null;
    // Marked first: a job that is handed back in between is not handed out again without the mark.
    await this.#db.query(
      `WITH marked AS (UPDATE job SET is_cancelled = true
         WHERE id = $1 AND state IN ('queued', 'running') AND NOT is_cancelled RETURNING id)
       SELECT pg_notify($2, id || ' cancelled') FROM marked`,
      [id, this.#channel],
    );
    await this.#close(this.#db, "id = $1 AND state = 'queued'", CANCELLED, [id]);
    return await this.get(id);
  }

  async claim(): Promise<ClaimedJob<Spec> | null> {
    await this.#sayPresent();
    await this.#trimEnded();
    // It is checked without the lock first, because most of the time there is nothing to do.
    const [due] = await this.#db.query(
      `SELECT FROM job WHERE state IN ('queued', 'running')
         AND (${IS_LEFT} OR state = 'queued' AND not_before <= clock_timestamp()) LIMIT 1`,
    );
    if (!due) return null;
    const claim = crypto.randomUUID();
    return await this.#db.transaction(async (queries) => {
      await queries.query(TAKE_TURN);
      await this.#takeBackLeft(queries);
      const [row] = await queries.query<ClaimRow>(
        `UPDATE job SET state = 'running', started_at = clock_timestamp(), claim = $1, fence = fence + 1,
           lease = $2 * interval '1 ms', lease_until = clock_timestamp() + $2 * interval '1 ms'
         WHERE number = (
           SELECT number FROM job WHERE state = 'queued' AND not_before <= clock_timestamp()
             AND NOT EXISTS (SELECT FROM job WHERE state = 'running' AND claim = $1)
             AND $3 > (SELECT count(*) FROM job WHERE state = 'running')
           ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING ${CLAIMED}`,
        [claim, this.#options.leaseMs, this.#options.maxRunning],
      );
      const [mine] = row
        ? [row]
        : await queries.query<ClaimRow>(`SELECT ${CLAIMED} FROM job WHERE state = 'running' AND claim = $1`, [
            claim,
          ]);
      return mine ? toClaimed<Spec>(mine) : null;
    });
  }

  async joinable(): Promise<Pick<ClaimedJob<Spec>, "id" | "spec"> | null> {
    const [row] = await this.#db.query<ClaimRow>(
      // Before it has begun, there may be an older crawl in its place.
      `SELECT ${CLAIMED} FROM job WHERE state = 'running' AND has_begun AND NOT is_cancelled
         ORDER BY random() LIMIT 1`,
    );
    return row ? toClaimed<Spec>(row) : null;
  }

  async report(lease: JobLease, report: JobReport): Promise<"go_on" | "cancelled" | "lost"> {
    const { counts, startedAt, warnings, after, events } = report;
    const last = after + events.length;
    const newest = events.slice(-MAX_EVENTS);
    const hasNews = counts !== undefined || startedAt !== undefined || events.length > 0;
    const [held] = await this.#db.query<{ is_cancelled: boolean }>(
      `WITH before AS (SELECT last_event AS known FROM job WHERE id = $1),
       held AS (
         UPDATE job SET lease_until = clock_timestamp() + lease, last_event = greatest(last_event, $4),
           started_at = coalesce($5::timestamptz, started_at), has_begun = has_begun OR $5::timestamptz IS NOT NULL,
           warnings = coalesce($6, warnings), progress = coalesce($7, progress), total = coalesce($8, total),
           successful = coalesce($9, successful), failed = coalesce($10, failed),
           skipped = coalesce($11, skipped)
         WHERE id = $1 AND fence = $2 AND state = 'running'
         RETURNING id, number, is_cancelled, last_event),
       added AS (
         INSERT INTO job_event (job, number, kind, body)
           SELECT held.number, $3 + nth, kind, body
             FROM held, before, unnest($12::text[], $13::text[]) WITH ORDINALITY AS event (kind, body, nth)
             WHERE $3 + nth > greatest(known, last_event - ${MAX_EVENTS})
           ON CONFLICT DO NOTHING),
       young AS (
         SELECT kept.number FROM held JOIN job_event kept ON job = held.number
           WHERE told_at > clock_timestamp() - ${EVENT_AGE} ORDER BY kept.number LIMIT 1),
       dropped AS (
         DELETE FROM job_event USING held
           WHERE job = held.number AND job_event.number <= last_event - ${MIN_EVENTS}
             AND job_event.number < greatest(last_event - ${MAX_EVENTS} + 1,
               coalesce((SELECT number FROM young), last_event)))
       SELECT is_cancelled, CASE WHEN $14::boolean THEN pg_notify($15, id::text) END FROM held`,
      [
        lease.id,
        lease.fence,
        last - newest.length,
        last,
        startedAt ?? null,
        warnings ? JSON.stringify(warnings) : null,
        ...COUNTS.map((name) => counts?.[name] ?? null),
        newest.map(({ kind }) => kind),
        newest.map(({ body }) => JSON.stringify(body)),
        hasNews,
        this.#channel,
      ],
    );
    if (!held) return "lost";
    return held.is_cancelled ? "cancelled" : "go_on";
  }

  async finish(lease: JobLease, end: JobEnd): Promise<void> {
    await this.report(lease, end);
    await this.#close(this.#db, HELD, end, [lease.id, lease.fence]);
  }

  async handBack(lease: JobLease, delayMs: number): Promise<void> {
    await this.#db.run(
      `UPDATE job SET ${REQUEUED}, not_before = clock_timestamp() + $3 * interval '1 ms'
         WHERE id = $1 AND fence = $2 AND state = 'running' AND NOT is_cancelled`,
      [lease.id, lease.fence, delayMs],
    );
    await this.#close(this.#db, `${HELD} AND is_cancelled`, CANCELLED, [lease.id, lease.fence]);
  }

  async eventsAfter(id: string, number: number, limit: number): Promise<StoredEvent[]> {
    if (!UUID.test(id)) return [];
    return await this.#db.query<StoredEvent>(
      `SELECT job_event.number, kind, body FROM job_event JOIN job ON job.number = job
         WHERE id = $1 AND job_event.number > $2 ORDER BY job_event.number LIMIT $3`,
      [id, number, limit],
    );
  }

  onChange(listener: (id: string | null, isCancelled: boolean) => void): Disposable {
    return this.#db.listen(CHANNEL, (message) => {
      const [id, what] = (message ?? "").split(" ");
      listener(id || null, what === "cancelled");
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#presentAt < 0) return;
    const goodbye = this.#db.patient({ waitMs: GOODBYE_MS });
    // Without it, the others find out after a while.
    await goodbye.run("DELETE FROM job_runner WHERE id = $1", [this.#runner]).catch(() => {});
  }

  async #sayPresent(): Promise<void> {
    const now = performance.now();
    if (now - this.#presentAt < PRESENCE_MS.every) return;
    await this.#db.run(
      `WITH gone AS (DELETE FROM job_runner WHERE seen_at < clock_timestamp() - ${PRESENT} AND id <> $1)
       INSERT INTO job_runner VALUES ($1, clock_timestamp())
         ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
      [this.#runner],
    );
    this.#presentAt = now;
  }

  /** Drops the events of ended jobs that nothing but their age has kept. */
  async #trimEnded(): Promise<void> {
    const now = performance.now();
    if (now - this.#trimmedAt < TRIM_MS) return;
    await this.#db.run(
      `WITH old AS (UPDATE job SET has_surplus = false
         WHERE has_surplus AND completed_at < clock_timestamp() - ${EVENT_AGE} RETURNING number, last_event)
       DELETE FROM job_event USING old WHERE job = old.number AND job_event.number <= last_event - ${MIN_EVENTS}`,
    );
    this.#trimmedAt = now;
  }

  /** Requeues jobs whose process is gone; one that was cancelled, or crashes each process, is ended. */
  async #takeBackLeft(queries: Queries): Promise<void> {
    await this.#close(queries, `${IS_LEFT} AND is_cancelled`, CANCELLED, []);
    const crashed = `${IS_LEFT} AND crashes + 1 >= ${MAX_CRASHES}`;
    await this.#close(queries, crashed, { state: "failed", error: CRASHED }, []);
    await queries.query(`UPDATE job SET ${REQUEUED}, crashes = crashes + 1 WHERE ${IS_LEFT}`);
  }

  /** Ends the jobs of a condition, with its parameters. */
  async #close(
    queries: Queries,
    which: string,
    { state, error }: Pick<JobEnd, "state" | "error">,
    parameters: readonly (string | number)[],
  ): Promise<void> {
    const nth = (place: number): string => `$${parameters.length + place}`;
    const body = JSON.stringify({ status: state, error });
    await queries.query(
      // Pages that were not reached are taken out of the total, so that an ended job is seen to be complete.
      `WITH closed AS (
         UPDATE job SET state = ${nth(1)}, error = ${nth(2)}, completed_at = clock_timestamp(), claim = NULL,
           lease_until = NULL, spec = NULL, total = progress, last_event = last_event + 1, has_surplus = true
         WHERE ${which} RETURNING id, number, last_event),
       told AS (
         INSERT INTO job_event (job, number, kind, body) SELECT number, last_event, 'end', ${nth(3)} FROM closed)
       SELECT pg_notify(${nth(4)}, id::text) FROM closed`,
      [...parameters, state, error && JSON.stringify(error), body, this.#channel],
    );
  }
}

const CHANNEL = "jobs";

const CANCELLED = { state: "failed", error: CALLED_OFF } as const;

/** How long closing waits for a database that is away, in ms. */
const GOODBYE_MS = 1000;

const PRESENT = `interval '${PRESENCE_MS.lasts} ms'`;

const EVENT_AGE = `interval '${EVENT_AGE_MS} ms'`;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const COUNTS = ["progress", "total", "successful", "failed", "skipped"] as const;

const HELD = "id = $1 AND fence = $2 AND state = 'running'";

const REQUEUED = "state = 'queued', claim = NULL, lease_until = NULL, started_at = NULL";

const CLAIMED = "id, fence, spec, has_begun, last_event";

type ClaimRow = Pick<Row, "id" | "last_event"> & {
  readonly fence: number;
  readonly spec: string | null;
  readonly has_begun: boolean;
};

const toClaimed = <Spec>({ id, fence, spec, has_begun, last_event }: ClaimRow): ClaimedJob<Spec> => ({
  id,
  fence,
  // `submit` wrote it, and it stays until the job ends.
  spec: JSON.parse(spec ?? "null") as Spec,
  hasBegun: has_begun,
  lastEvent: last_event,
});

const recordOf = (row: Row): JobRecord =>
  toRecord({
    ...row,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    completed_at: row.completed_at?.toISOString() ?? null,
  });
