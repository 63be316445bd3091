import { Failure } from "../../base/failure.ts";
import leases from "../migrations/01-leases.sql" with { type: "text" };
import jobs from "../migrations/02-jobs.sql" with { type: "text" };
import crawl from "../migrations/03-crawl.sql" with { type: "text" };
import hosts from "../migrations/04-hosts.sql" with { type: "text" };
import syncs from "../migrations/05-syncs.sql" with { type: "text" };
import fetcher from "../migrations/06-fetcher.sql" with { type: "text" };
import block from "../migrations/07-block.sql" with { type: "text" };
import crawlFunctions from "../migrations/crawl-functions.sql" with { type: "text" };
import { lackedBy, madeBy } from "./catalog.ts";
import type { Postgres, Queries } from "./postgres.ts";

/** In order, and never changed once landed. A schema's version is the number of migrations that it has been through. */
const MIGRATIONS: readonly string[] = [leases, jobs, crawl, hosts, syncs, fetcher, block];

const VERSIONS =
  "CREATE TABLE schema_version (version int PRIMARY KEY, migrated_at timestamptz NOT NULL DEFAULT now());";

/** Objects that this program needs. The version is not enough: a build between two releases may have created fewer. */
const WANTED = madeBy([VERSIONS, ...MIGRATIONS, crawlFunctions].join("\n"));

/** The version of the schema that this program works with. */
export const WANTED_VERSION = MIGRATIONS.length;
/** How long one migration may take, in ms, waiting for another process that migrates included. */
const MIGRATION_MS = 3_600_000;

/** The version of a schema; 0 when it does not exist or holds nothing of ours. */
export async function schemaVersion(queries: Queries, schema: string): Promise<number> {
  // `to_regclass` would answer from a cache that is older than the lock on which `migrate` has waited.
  const found = await queries.query("SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = $2", [
    schema,
    "schema_version",
  ]);
  if (found.length === 0) return 0;
  // A schema that the user may not enter is no part of the search path: unqualified, its table would seem missing.
  const [row] = await queries.query<{ version: number | null }>(
    `SELECT max(version) AS version FROM "${schema}".schema_version`,
  );
  return row?.version ?? 0;
}

/**
 * Brings the schema to the wanted version in one transaction, so that nothing is ever half done, and creates it
 * where there is none. When several processes migrate at once, one works and the others find it done.
 * @returns the version before
 * @throws Failure `invalid_settings` when the schema is newer than this program or still lacks something, or the
 *   database cannot be used
 */
export function migrate(database: Postgres): Promise<number> {
  const { schema } = database;
  const patience = { statementMs: MIGRATION_MS, waitMs: 0, isStart: true };
  return database.patient(patience).transaction(async (queries) => {
    await queries.script("SET LOCAL statement_timeout = 0");
    await queries.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`migrate ${schema}`]);
    const version = await schemaVersion(queries, schema);
    if (version > WANTED_VERSION) throw unsuitable(database, version);
    if (version === 0) await createSchema(queries, schema);
    for (const [index, sql] of MIGRATIONS.entries()) {
      if (index < version) continue;
      await queries.script(sql);
      await queries.run("INSERT INTO schema_version (version) VALUES ($1)", [index + 1]);
    }
    const lacked = await lackedBy(queries, schema, WANTED);
    if (!lacked.every(isReplaced)) throw incomplete(database, lacked);
    if (lacked.length > 0) await queries.script(crawlFunctions);
    return version;
  });
}

async function createSchema(queries: Queries, schema: string): Promise<void> {
  // `IF NOT EXISTS` would ask for the right to create schemas even where an administrator has made this one.
  const found = await queries.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
  if (found.length === 0) await queries.script(`CREATE SCHEMA "${schema}"`);
  await queries.script(VERSIONS);
}

/**
 * Makes sure that no pooler mixes sessions, with a database that may have no schema yet.
 * @throws Failure `invalid_settings`
 */
export async function checkSessions(database: Postgres): Promise<void> {
  if ((await database.pooler()) === "transaction")
    throw new Failure(
      "invalid_settings",
      `the database ${database.place} is behind a pooler in transaction mode, which mixes sessions: use its session mode, or connect to the server itself`,
    );
}

/**
 * Waits until the database can be used, and checks that it can be reached with the given rights, without a pooler that
 * mixes sessions, that it is writable, and that its schema is complete and of the wanted version.
 * @param waitMs how long to wait for a database that cannot be reached; a fault that a person has to mend is reported at
 * once
 * @throws Failure `invalid_settings` with one line that names the fault
 */
export async function checkReady(database: Postgres, waitMs: number): Promise<void> {
  const starting = database.patient({ waitMs, isStart: true });
  await checkSessions(starting);
  const version = await schemaVersion(starting, database.schema);
  if (version !== WANTED_VERSION) throw unsuitable(database, version);
  const lacked = await missingIn(starting);
  if (lacked.length > 0) throw incomplete(database, lacked);
  // Changes nothing, and is refused by a database that is read-only.
  await starting.run("UPDATE schema_version SET version = version WHERE false");
}

function unsuitable({ schema, place }: Postgres, version: number): Failure {
  const what = `the schema ${schema} of the database ${place}`;
  if (version > WANTED_VERSION)
    return new Failure(
      "invalid_settings",
      `${what} is of version ${version}, and this program knows versions up to ${WANTED_VERSION}: use a newer program`,
    );
  const found = version === 0 ? "has not been set up" : `is of version ${version}, not ${WANTED_VERSION}`;
  return new Failure("invalid_settings", `${what} ${found}: run article-extractor database migrate`);
}

/** Names what a schema of the wanted version lacks of it. Throws as `Queries.query`. */
export const missingIn = (database: Postgres): Promise<readonly string[]> =>
  lackedBy(database, database.schema, WANTED);

/** Things that a message names at most. */
const MAX_NAMED = 5;

function incomplete({ schema, place }: Postgres, lacked: readonly string[]): Failure {
  const more = lacked.length > MAX_NAMED ? ` and ${lacked.length - MAX_NAMED} more` : "";
  const what = `the schema ${schema} of the database ${place} is of version ${WANTED_VERSION}, but lacks ${lacked.slice(0, MAX_NAMED).join(", ")}${more}`;
  return new Failure("invalid_settings", `${what}: ${remedyFor(lacked)}`);
}

/** The functions have no versions: `migrate` replaces those of other programs by its own. */
const isReplaced = (thing: string): boolean => thing.startsWith("function crawl_");

const remedyFor = (lacked: readonly string[]): string =>
  lacked.every(isReplaced)
    ? "run article-extractor database migrate"
    : "another build of the program has made it, or somebody has changed it; restore it from a dump, or name another in ARTICLE_EXTRACTOR_DATABASE_SCHEMA";

/** A report on a database for operators. */
export type DatabaseReport = {
  readonly serverVersion: string;
  /** The version of the schema, 0 without one, and the version that this program works with. */
  readonly version: number;
  readonly wantedVersion: number;
  /** Objects that the schema lacks although its version is right, and what to do about it. */
  readonly missing: readonly string[];
  readonly remedy: string;
  /** How far its clock is ahead of this machine's, in ms; half of the answer's time is unsure. */
  readonly clockAheadMs: number;
  readonly connections: { readonly used: number; readonly max: number };
  /** The transaction that keeps dead rows from being removed for the longest time, as far as the user may see it. */
  readonly oldestSnapshot: { readonly ageMs: number; readonly pid: number; readonly program: string } | null;
};

/** Looks at the database. Throws as `Queries.query`. */
export async function inspect(database: Postgres): Promise<DatabaseReport> {
  const version = await schemaVersion(database, database.schema);
  const missing = version === WANTED_VERSION ? await missingIn(database) : [];
  const askedAt = Date.now();
  const [server] = await database.query<{ version: string; now: number; used: number; max: number }>(
    `SELECT current_setting('server_version') AS version, extract(epoch FROM clock_timestamp()) * 1000 AS now,
       current_setting('max_connections')::int AS max,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used`,
  );
  const answeredAt = Date.now();
  const [oldest] = await database.query<{ ageMs: number; pid: number; program: string }>(
    `SELECT extract(epoch FROM clock_timestamp() - xact_start) * 1000 AS "ageMs", pid, application_name AS program
     FROM pg_stat_activity
     WHERE backend_xmin IS NOT NULL AND backend_type = 'client backend' AND pid <> pg_backend_pid()
     ORDER BY xact_start LIMIT 1`,
  );
  return {
    serverVersion: server?.version ?? "",
    version,
    wantedVersion: WANTED_VERSION,
    missing,
    remedy: remedyFor(missing),
    clockAheadMs: (server?.now ?? 0) - (askedAt + answeredAt) / 2,
    connections: { used: server?.used ?? 0, max: server?.max ?? 0 },
    oldestSnapshot: oldest ?? null,
  };
}
