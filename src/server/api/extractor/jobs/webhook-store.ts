import type { Database } from "../../../../base/database/index.ts";
import { MAX_FINISHED } from "../../../../crawler/index.ts";
import type { EgressCaller } from "../../../../fetching/index.ts";

/** The events of a job that a webhook can be told. */
export const WEBHOOK_EVENTS = ["started", "page", "completed", "failed", "cancelled"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** How another API tells events: what they are named after, and what its callers send along. */
export type WebhookForm = {
  readonly owner: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
};

/** Where the events of a job go; it may hold secrets, and is erased after the last event. */
export type WebhookTarget = {
  /** Without credentials, but its path or query may be one. */
  readonly url: string;
  /** The value of an Authorization header, of credentials in the URL. */
  readonly authorization: string | null;
  /** The form of the events, where it is another API's. */
  readonly form?: WebhookForm | undefined;
  /** Null leaves deliveries unsigned. */
  readonly secret: string | null;
  readonly events: readonly WebhookEvent[];
  /** The caller who submitted the job; the receiver may be where this caller may reach. */
  readonly caller: EgressCaller;
};

/** What became of a webhook's deliveries. */
export type WebhookCounts = {
  readonly delivered: number;
  /** Events that the receiver refused, or that were given up. */
  readonly failed: number;
  /** Events that were not kept long enough while the receiver was away. */
  readonly dropped: number;
};

/** Why the last delivery that failed did so, in words without secrets. */
export type WebhookError = { readonly code: string; readonly message: string; readonly time: string };

/** The webhook of a job. Times are in ms since 1970. */
export type Webhook = WebhookCounts & {
  readonly job: string;
  /** Null after the last event. */
  readonly target: WebhookTarget | null;
  /** The number of the last event that was delivered, or is not going to be. */
  readonly seen: number;
  readonly nextAt: number;
  /** The failed tries of the next event, and when the first of them was; null before it. */
  readonly tries: number;
  readonly firstTryAt: number | null;
  readonly lastError: WebhookError | null;
};

type Row = {
  readonly job: string;
  readonly next_at: number;
  readonly target: string | null;
  readonly state: string;
};
type State = Omit<Webhook, "job" | "nextAt" | "target">;

const BEGUN: State = {
  ...{ seen: 0, tries: 0, firstTryAt: null },
  ...{ delivered: 0, failed: 0, dropped: 0, lastError: null },
};

/** The webhooks of the jobs that this machine's servers accepted, in the state that their processes share. */
export class WebhookStore {
  readonly #db: Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(database: Database) {
    this.#db = database;
    database.run(
      `CREATE TABLE IF NOT EXISTS webhook (number INTEGER PRIMARY KEY, job TEXT NOT NULL UNIQUE,
       next_at REAL NOT NULL, target TEXT, state TEXT NOT NULL) STRICT`,
    );
    database.run("CREATE INDEX IF NOT EXISTS webhook_open ON webhook (next_at) WHERE target IS NOT NULL");
    // What is erased is not left on free pages.
    database.run("PRAGMA secure_delete = ON");
    this.#sql = prepare(database);
  }

  add(job: string, target: WebhookTarget): void {
    this.#sql.forget.run(MAX_FINISHED);
    this.#sql.add.run(job, JSON.stringify(target), JSON.stringify(BEGUN));
  }

  get(job: string): Webhook | null {
    const row = this.#sql.get.get(job);
    return row && toWebhook(row);
  }

  /** Lists the webhooks whose next look is due. @param horizon later times were written before the clock was set back */
  due(now: number, horizon: number): Webhook[] {
    return this.#sql.due.all(now, horizon).map(toWebhook);
  }

  /** Takes a webhook for this process until that time. @returns whether no other process has taken it */
  take({ job, nextAt }: Webhook, until: number): boolean {
    return this.#sql.take.run(job, nextAt, until).changes > 0;
  }

  /** Writes what has become of a webhook; the target is erased where it is null. */
  write({ job, nextAt, target, ...state }: Webhook): void {
    this.#sql.write.run(job, nextAt, target && JSON.stringify(target), JSON.stringify(state));
    if (target !== null) return;
    try {
      // The log of the file has the target too.
      this.#db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // On a full disk the log stays until there is room.
    }
  }
}

const prepare = (database: Database) => ({
  add: database.prepare<never, [string, string, string]>(
    "INSERT INTO webhook (job, next_at, target, state) VALUES (?, 0, ?, ?)",
  ),
  get: database.prepare<Row, [string]>("SELECT * FROM webhook WHERE job = ?"),
  due: database.prepare<Row, [number, number]>(
    "SELECT * FROM webhook WHERE target IS NOT NULL AND (next_at <= ?1 OR next_at > ?2) ORDER BY next_at",
  ),
  take: database.prepare<never, [string, number, number]>(
    "UPDATE webhook SET next_at = ?3 WHERE job = ?1 AND next_at = ?2 AND target IS NOT NULL",
  ),
  write: database.prepare<never, [string, number, string | null, string]>(
    "UPDATE webhook SET next_at = ?2, target = ?3, state = ?4 WHERE job = ?1",
  ),
  forget: database.prepare<never, [number]>(
    `DELETE FROM webhook WHERE target IS NULL AND number NOT IN
     (SELECT number FROM webhook WHERE target IS NULL ORDER BY number DESC LIMIT ?)`,
  ),
});

// `add` and `write` wrote both.
const toWebhook = ({ job, next_at: nextAt, target, state }: Row): Webhook => ({
  job,
  nextAt,
  target: target === null ? null : (JSON.parse(target) as WebhookTarget),
  ...(JSON.parse(state) as State),
});
