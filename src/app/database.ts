import { Failure } from "../base/failure.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { checkVersion, openPostgres, type Postgres } from "../base/postgres/index.ts";
import { openSharedHosts, type SharedHosts } from "../crawler/index.ts";
import { systemClock } from "../fetching/index.ts";
import type { Settings } from "../settings/index.ts";

/** The database that processes share, opened when it is first needed. */
export type LazyDatabase = AsyncDisposable & {
  /**
   * Returns the database, whose schema is of this program's version.
   * @throws Failure `invalid_settings` where none is named, or its schema is of another version;
   *   `database_unavailable` where it is away for ten seconds
   */
  open(): Promise<Postgres>;
  /** Returns what the processes of the database know of hosts. Throws as `open`. */
  hosts(): Promise<SharedHosts>;
};

/** How long a start waits for a database that is away, in ms; later, work waits without end. */
const START_MS = 10_000;

type DatabaseParts = { readonly settings: Settings; readonly log: Log; readonly metrics: Metrics };

export function createLazyDatabase({ settings, log, metrics }: DatabaseParts): LazyDatabase {
  let opening: Promise<Postgres> | null = null;
  const open = async (): Promise<Postgres> => {
    const { databaseUrl: url, databaseSchema: schema } = settings;
    if (url === null)
      throw new Failure(
        "invalid_settings",
        "no database is named that the processes could share: set ARTICLE_EXTRACTOR_DATABASE_URL",
      );
    const database = await openPostgres({ url, schema, log, metrics });
    try {
      await checkVersion(database.patient({ waitMs: START_MS }));
      return database;
    } catch (error) {
      await database[Symbol.asyncDispose]();
      throw error;
    }
  };
  const share = (): Promise<Postgres> => {
    opening ??= open();
    return opening;
  };
  let hosts: SharedHosts | null = null;
  return {
    open: share,
    async hosts() {
      const database = await share();
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
