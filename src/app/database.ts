import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { JobQueue } from "../crawler/index.ts";
import { systemClock } from "../fetching/index.ts";
import type { Postgres, PostgresQueueOptions, SharedHosts } from "../scale/index.ts";
import type { Settings } from "../settings/index.ts";

export type { DatabaseReport, Postgres } from "../scale/index.ts";

/** Loads the code for state that several processes share; other programs never load it. */
const loadScale = () => import("../scale/index.ts");

/** The database that processes share, opened when it is first needed. */
export type LazyDatabase = AsyncDisposable & {
  /**
   * Returns the database as soon as it can be used, and waits while it cannot be reached.
   * @throws Failure `invalid_settings` if no database is named, it cannot be used, or its schema has another version
   */
  open(): Promise<Postgres>;
  /** Returns what the processes of the database know of hosts. Throws as `open`. */
  hosts(): Promise<SharedHosts>;
};

/** How long a start waits for a database that cannot be reached, in ms; later, work waits without end. */
const START_MS = 30_000;

type DatabaseParts = {
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Prepares the database that the settings name, whatever state it is in.
 * @throws Failure `invalid_settings` where none is named, or one that cannot be
 */
export async function openDatabase({ settings, log, metrics }: DatabaseParts): Promise<Postgres> {
  const { databaseUrl: url, databaseSchema: schema } = settings;
  if (url === null)
    throw new Failure(
      "invalid_settings",
      "no database is named that processes could share: set ARTICLE_EXTRACTOR_DATABASE_URL",
    );
  return (await loadScale()).openPostgres({ url, schema, log, metrics });
}

/**
 * Opens the database that the settings name, and waits until it can be used.
 * @throws Failure `invalid_settings` where none is named, or it cannot be used; `cancelled`
 */
export async function openReadyDatabase(parts: DatabaseParts): Promise<Postgres> {
  const database = await openDatabase(parts);
  try {
    await checkDatabase(database.patient({ signal: parts.signal }), START_MS);
    return database;
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}

/** As `checkReady`. */
export const checkDatabase = async (database: Postgres, waitMs: number): Promise<void> =>
  (await loadScale()).checkReady(database, waitMs);
/** As `checkSessions`. */
export const checkSessions = async (database: Postgres) => (await loadScale()).checkSessions(database);
/** As `inspect`. */
export const inspectDatabase = async (database: Postgres) => (await loadScale()).inspect(database);

/** As `migrate`; returns the schema's version before and after. */
export async function migrateDatabase(database: Postgres) {
  const { migrate, WANTED_VERSION } = await loadScale();
  return { before: await migrate(database), version: WANTED_VERSION };
}

/** Opens the queue of the jobs in a database; see `openPostgresJobQueue`. */
export const openSharedJobQueue = async <Spec>(options: PostgresQueueOptions): Promise<JobQueue<Spec>> =>
  (await loadScale()).openPostgresJobQueue<Spec>(options);

export function createLazyDatabase(parts: DatabaseParts): LazyDatabase {
  let opening: Promise<Postgres> | null = null;
  const share = (): Promise<Postgres> => (opening ??= openReadyDatabase(parts));
  let hosts: SharedHosts | null = null;
  return {
    open: share,
    async hosts() {
      const database = await share();
      const { openSharedHosts } = await loadScale();
      hosts ??= openSharedHosts(database, systemClock);
      return hosts;
    },
    async [Symbol.asyncDispose]() {
      await hosts?.[Symbol.asyncDispose]();
      const database = await opening?.catch(() => null); // whoever opened it knows why it failed
      await database?.[Symbol.asyncDispose]();
    },
  };
}
