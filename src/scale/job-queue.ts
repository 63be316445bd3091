import {
  type ClaimedJob,
  type JobQueue,
  type JobQueueLimits,
  PRESENCE_MS,
  type QueueEngine,
  type QueueWords,
  SqlJobQueue,
} from "../crawler/index.ts";
import { waitingCounts } from "./frontier/open.ts";
import type { Postgres } from "./postgres/postgres.ts";
import { missingIn } from "./postgres/schema.ts";

export type PostgresQueueOptions = JobQueueLimits & {
  /** Its schema has the tables; the queue leaves it open. */
  readonly database: Postgres;
};

/** Opens the queue of a database, which the servers of several machines may share; its times are the database's. */
export const openPostgresJobQueue = <Spec>(options: PostgresQueueOptions): JobQueue<Spec> =>
  new PostgresJobQueue<Spec>(options);

const CHANNEL = "jobs";
/** How long closing waits for a database that cannot be reached, in ms. */
const GOODBYE_MS = 1000;
/** How long a look at the schema may take, in ms. */
const LOOK_MS = 500;
const PRESENT = `interval '${PRESENCE_MS.lasts} ms'`;

const inMs = (ms: number | string): string => `clock_timestamp() + ${ms} * interval '1 ms'`;

const WORDS: QueueWords = {
  place: "place",
  claim: "claim",
  events: "job_event",
  stamp: (ms = 0) => inMs(ms),
  now: (ms = 0) => inMs(ms),
  lease: (ms) => `lease = ${ms} * interval '1 ms', lease_until = ${inMs(ms)}`,
  values: (json) => `json_array_elements_text(${json}::json) AS one (value)`,
  pairs: (json) => `(SELECT nth, pair ->> 0 AS kind, pair ->> 1 AS body
    FROM json_array_elements(${json}::json) WITH ORDINALITY AS one (pair, nth)) AS told`,
  // A restart of the database takes its time, in which nobody could renew.
  mayBeLeft: "greatest(lease_until, pg_postmaster_start_time() + lease) < clock_timestamp()",
};

const engineOf = (database: Postgres): QueueEngine => ({
  words: WORDS,
  run: (sql, parameters) => database.query(sql, parameters),
  transaction: (work) => database.transaction((queries) => work((...one) => queries.query(...one))),
  takeTurn: (run) => run("SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.job', 0))"),
  tell: (run, id, isCancelled = false) =>
    run("SELECT pg_notify($1, $2)", [
      database.channel(CHANNEL),
      `${id ?? ""}${isCancelled ? " cancelled" : ""}`,
    ]),
  erase: () => {},
  newClaim: () => crypto.randomUUID(),
  isLeft: () => true,
});

class PostgresJobQueue<Spec> extends SqlJobQueue<Spec> {
  readonly beatMs = 1000;
  readonly isShared = true;
  readonly #db: Postgres;
  readonly #runner = crypto.randomUUID();
  #presentAt = Number.NEGATIVE_INFINITY;

  constructor(options: PostgresQueueOptions) {
    super(engineOf(options.database), options);
    this.#db = options.database;
  }

  override async claim(): Promise<ClaimedJob<Spec> | null> {
    await this.#sayPresent();
    return await super.claim();
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

  async isWhole(): Promise<boolean> {
    const hasty = this.#db.patient({ waitMs: 0, statementMs: LOOK_MS });
    return (await missingIn(hasty)).length === 0;
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
}
