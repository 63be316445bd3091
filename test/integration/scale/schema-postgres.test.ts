import { afterAll, describe, expect, test } from "bun:test";
import {
  checkReady,
  inspect,
  migrate,
  missingIn,
  WANTED_VERSION,
} from "../../../src/scale/postgres/schema.ts";
import { runCommand } from "../../support/command.ts";
import { testDatabase } from "../../support/postgres.ts";

const database = await testDatabase();
const operator = await database.open();
afterAll(() => database[Symbol.asyncDispose]());

/** A schema of the wanted version that lacks what this SQL takes away. */
async function damaged(sql: string) {
  const own = await testDatabase();
  const db = await own.open();
  await db.script(sql);
  const env = { ARTICLE_EXTRACTOR_DATABASE_URL: own.url, ARTICLE_EXTRACTOR_DATABASE_SCHEMA: own.schema };
  return { db, env, [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() };
}

const TABLES = "DROP TABLE job_runner; DROP INDEX job_open; ALTER TABLE crawl_outcome DROP COLUMN fetcher";
const FUNCTION = `CREATE OR REPLACE FUNCTION crawl_counts(p_crawl bigint) RETURNS json LANGUAGE sql STABLE AS
  'SELECT NULL::json'`;

describe("what a schema needs", () => {
  test("is all that a migrated one has: no table, column, index, sequence or function is left out", async () => {
    expect(await missingIn(operator)).toEqual([]);
    const named = await testDatabase(undefined, { isEmpty: true });
    await using _ = named;
    const all = await missingIn(await named.open());
    const rows = await operator.query<{ thing: string }>(
      `WITH held AS (SELECT c.oid, relname, relkind FROM pg_class c WHERE relnamespace = current_schema()::regnamespace)
       SELECT 'table ' || relname AS thing FROM held WHERE relkind = 'r'
       UNION ALL SELECT 'column ' || relname || '.' || attname FROM held JOIN pg_attribute ON attrelid = held.oid
         WHERE relkind = 'r' AND attnum > 0
       UNION ALL SELECT 'index ' || relname FROM held WHERE relkind = 'i'
         AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = held.oid)
       UNION ALL SELECT 'sequence ' || relname FROM held WHERE relkind = 'S'
         AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = held.oid AND deptype IN ('a', 'i'))
       UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace`,
    );
    expect(all.toSorted()).toEqual(rows.map(({ thing }) => thing).toSorted());
    expect(all.length).toBeGreaterThan(150);
  });
});

describe("a schema of the wanted version", () => {
  test("that lacks tables, indexes or columns is refused by every command, which names them", async () => {
    await using lacking = await damaged(TABLES);
    const { db, env } = lacking;
    const message = `is of version ${WANTED_VERSION}, but lacks index job_open, table job_runner, column job_runner.id, column job_runner.seen_at, column crawl_outcome.fetcher: another build`;
    await expect(checkReady(db, 0)).rejects.toMatchObject({
      code: "invalid_settings",
      message: expect.stringContaining(message),
    });
    await expect(migrate(db)).rejects.toMatchObject({ message: expect.stringContaining(message) });
    const status = await runCommand(["database", "status"], { env });
    expect(status).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining("missing   table job_runner\n"),
    });
    expect(status.stderr).toContain("restore it from a dump, or name another");
    const { stdout } = await runCommand(["database", "status", "--json"], { env });
    expect(JSON.parse(stdout)).toMatchObject({ version: WANTED_VERSION, is_current: false });
    expect(JSON.parse(stdout).missing).toContain("index job_open");
    for (const words of [
      ["doctor"],
      ["crawl", "http://127.0.0.1:9/", "--join", "--output-dir", "/tmp/never"],
    ]) {
      const said = await runCommand(words, { env: { ...env, ARTICLE_EXTRACTOR_BROWSER_PATH: "none" } });
      expect(said.exitCode).toBeGreaterThan(0);
      expect(said.stdout + said.stderr).toContain(message);
    }
  });

  test("whose functions are of another program is refused, and migrate replaces them", async () => {
    await using lacking = await damaged(FUNCTION);
    const { db } = lacking;
    const message = "lacks function crawl_counts: run article-extractor database migrate";
    await expect(checkReady(db, 0)).rejects.toMatchObject({ message: expect.stringContaining(message) });
    expect((await inspect(db)).missing).toEqual(["function crawl_counts"]);
    expect(await migrate(db)).toBe(WANTED_VERSION);
    await checkReady(db, 0);
  });
});
