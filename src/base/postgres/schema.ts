import { Failure } from "../failure.ts";
import leases from "./migrations/01-leases.sql" with { type: "text" };
import jobs from "./migrations/02-jobs.sql" with { type: "text" };
import crawl from "./migrations/03-crawl.sql" with { type: "text" };
import hosts from "./migrations/04-hosts.sql" with { type: "text" };
import syncs from "./migrations/05-syncs.sql" with { type: "text" };
import type { Postgres, Queries } from "./postgres.ts";

/** In order; the version of a schema is the number of those that it has been through. */
const MIGRATIONS: readonly string[] = [leases, jobs, crawl, hosts, syncs];

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
  const [row] = await queries.query<{ version: number | null }>(
    "SELECT max(version) AS version FROM schema_version",
  );
  return row?.version ?? 0;
}

/**
 * Brings the schema to the wanted version in one transaction, so that nothing is ever half done, and creates it
 * where there is none. When several processes migrate at once, one works and the others find it done.
 * @returns the version before
 * @throws Failure `invalid_settings` when the schema is newer than this program
 */
export function migrate(database: Postgres): Promise<number> {
  const { schema } = database;
  return database.patient({ statementMs: MIGRATION_MS }).transaction(async (queries) => {
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
    return version;
  });
}

async function createSchema(queries: Queries, schema: string): Promise<void> {
  // `IF NOT EXISTS` would ask for the right to create schemas even where an administrator has made this one.
  const found = await queries.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
  if (found.length === 0) await queries.script(`CREATE SCHEMA "${schema}"`);
  await queries.script(
    "CREATE TABLE schema_version (version int PRIMARY KEY, migrated_at timestamptz NOT NULL DEFAULT now())",
  );
}

/** @throws Failure `invalid_settings` unless the schema is of the version that this program works with */
export async function checkVersion(database: Postgres): Promise<void> {
  const version = await schemaVersion(database, database.schema);
  if (version !== WANTED_VERSION) throw unsuitable(database, version);
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
