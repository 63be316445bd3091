import { afterAll, describe, expect, test } from "bun:test";
import { createLog } from "../../../src/base/log.ts";
import type { Postgres } from "../../../src/scale/postgres/postgres.ts";
import { migrate, schemaVersion, WANTED_VERSION } from "../../../src/scale/postgres/schema.ts";
import { startPostgres, testDatabase } from "../../support/postgres.ts";
import { until, untilTrue } from "../../support/until.ts";

const database = await testDatabase();
const postgres = await database.open();
await postgres.script("CREATE TABLE thing (id text PRIMARY KEY, n bigint NOT NULL DEFAULT 0)");
afterAll(() => database[Symbol.asyncDispose]());

describe("a statement", () => {
  test("takes values of every kind and gives them back", async () => {
    const [row] = await postgres.query(
      `SELECT $1::text AS text, $2::bigint AS big, $3::float8 AS float, $4::boolean AS bool, $5::text AS nothing,
              $6::bytea AS bytes, $7::text[] AS texts, $8::bigint[] AS bigs, $9::jsonb AS json`,
      [
        "ä\"'\\{},",
        2 ** 53 - 1,
        1.5,
        true,
        null,
        new Uint8Array([0, 255]),
        ['a,"', "", null],
        [],
        '{"a":[1]}',
      ],
    );
    expect(row).toEqual({
      text: "ä\"'\\{},",
      big: 2 ** 53 - 1,
      float: 1.5,
      bool: true,
      nothing: null,
      bytes: Buffer.from([0, 255]),
      texts: ['a,"', "", null],
      bigs: [],
      json: { a: [1] },
    });
  });

  test("tells how many rows it changed", async () => {
    expect(await postgres.run("INSERT INTO thing (id) SELECT unnest($1::text[])", [["a", "b", "c"]])).toBe(3);
    expect(await postgres.run("DELETE FROM thing WHERE id = $1", ["none"])).toBe(0);
    const [counted] = await postgres.query("SELECT count(*) AS count, sum(n) AS sum FROM thing");
    expect(counted).toEqual({ count: 3, sum: 0 });
  });

  test("fails with the server's code, and the next one works", async () => {
    await postgres.run("INSERT INTO thing (id) VALUES ('twice') ON CONFLICT DO NOTHING");
    const failing = postgres.query("INSERT INTO thing (id) VALUES ('twice')");
    expect(failing).rejects.toMatchObject({ code: "23505" });
    expect(await postgres.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("sees only its own schema", async () => {
    await using other = await testDatabase();
    const elsewhere = await other.open();
    expect(elsewhere.query("SELECT * FROM thing")).rejects.toMatchObject({ code: "42P01" });
  });
});

describe("a transaction", () => {
  test("happens as a whole or not at all", async () => {
    const add = (queries: Pick<Postgres, "run">, id: string) =>
      queries.run("INSERT INTO thing (id) VALUES ($1)", [id]);
    await postgres.transaction(async (queries) => {
      await add(queries, "x");
      await add(queries, "y");
    });
    const failing = postgres.transaction(async (queries) => {
      await add(queries, "z");
      throw new Error("called off");
    });
    expect(failing).rejects.toThrow("called off");
    const found = await postgres.query("SELECT id FROM thing WHERE id IN ('x', 'y', 'z') ORDER BY id");
    expect(found).toEqual([{ id: "x" }, { id: "y" }]);
  });

  test("is repeated when it met another one", async () => {
    await postgres.run("INSERT INTO thing (id) VALUES ('left'), ('right')");
    let tries = 0;
    const both = Promise.withResolvers<void>();
    const addTo = (first: string, second: string): Promise<void> =>
      postgres.transaction(async (queries) => {
        await queries.run("UPDATE thing SET n = n + 1 WHERE id = $1", [first]);
        if (++tries === 2) both.resolve();
        await both.promise;
        await queries.run("UPDATE thing SET n = n + 1 WHERE id = $1", [second]);
      });
    await Promise.all([addTo("left", "right"), addTo("right", "left")]);
    const found = await postgres.query("SELECT n FROM thing WHERE id IN ('left', 'right')");
    expect(found).toEqual([{ n: 2 }, { n: 2 }]);
    expect(tries).toBeGreaterThan(2);
  });

  test("whose failed statement was caught is not said to be committed", async () => {
    const failing = postgres.transaction(async (queries) => {
      await queries.query("SELECT 1/0").catch(() => {});
    });
    expect(failing).rejects.toThrow("failed statement");
  });
});

describe("messages", () => {
  test("reach whoever listens to their channel, in this schema alone", async () => {
    await using other = await testDatabase();
    const here: (string | null)[] = [];
    const there: (string | null)[] = [];
    using _here = postgres.listen("jobs", (message) => here.push(message));
    using _there = (await other.open()).listen("jobs", (message) => there.push(message));
    await until(
      () => here.length + there.length,
      (heard) => heard === 2,
    );
    await (await database.open()).notify("jobs", "job 1");
    await postgres.query("SELECT pg_notify($1, $2)", [postgres.channel("jobs"), "job 2"]);
    expect(
      await until(
        () => here,
        (heard) => heard.length === 3,
      ),
    ).toEqual([null, "job 1", "job 2"]);
    expect(there).toEqual([null]);
  });
});

test("a database that stopped at once is waited for, with one line when it is away and one when it is back", async () => {
  await using server = await startPostgres();
  await using own = await testDatabase(server);
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "text", write: (line) => lines.push(line) });
  const waiting = await own.open({ log });
  const heard: (string | null)[] = [];
  using _ = waiting.listen("jobs", (message) => heard.push(message));
  await untilTrue(() => heard.length === 1);
  await server.stop("immediate");
  const answers = [1, 2, 3].map((n) => waiting.query("SELECT $1::int AS n", [n]));
  await untilTrue(() => lines.length > 0);
  await server.start();
  expect((await Promise.all(answers)).flat()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain("the database cannot be reached");
  expect(lines[0]).toContain("nothing listens there");
  expect(lines[1]).toContain("the database is back");
  await untilTrue(() => heard.length === 2);
  await waiting.notify("jobs", "after");
  expect(
    await until(
      () => heard,
      ({ length }) => length === 3,
    ),
  ).toEqual([null, null, "after"]);
});

test("a frozen connection is given up for another", async () => {
  await using server = await startPostgres();
  await using own = await testDatabase(server);
  const patient = (await own.open()).patient({ statementMs: 500 });
  await patient.query("SELECT 1");
  server.freeze("connections");
  expect(await patient.query("SELECT 2 AS two")).toEqual([{ two: 2 }]);
  server.freeze("all");
  const failing = patient.patient({ waitMs: 700, statementMs: 300 }).query("SELECT 3");
  await expect(failing).rejects.toMatchObject({ code: "database_unavailable" });
  const ending = new AbortController();
  const cancelled = patient.patient({ signal: ending.signal }).query("SELECT 4");
  ending.abort();
  await expect(cancelled).rejects.toMatchObject({ code: "cancelled" });
  server.thaw();
});

test("a schema comes to the wanted version once, however many migrate it", async () => {
  await using fresh = await testDatabase(undefined, { isEmpty: true });
  const all = await Promise.all(Array.from({ length: 5 }, () => fresh.open()));
  expect(await schemaVersion(all[0]!, fresh.schema)).toBe(0);
  const before = await Promise.all(all.map(migrate));
  expect(before.sort()).toEqual([0, ...Array.from({ length: 4 }, () => WANTED_VERSION)]);
  expect(await schemaVersion(all[1]!, fresh.schema)).toBe(WANTED_VERSION);
});

describe("a schema that an earlier version has made", () => {
  test("gets what came since, functions included, and is then up to date", async () => {
    await using earlier = await testDatabase();
    const old = await earlier.open();
    await old.script(`ALTER TABLE crawl_outcome DROP COLUMN fetcher, DROP COLUMN error_block;
      CREATE OR REPLACE FUNCTION crawl_claimed(p_crawl bigint, p_pages bigint[]) RETURNS json LANGUAGE sql AS
        'SELECT NULL::json';
      DELETE FROM schema_version WHERE version > 5`);
    expect(await migrate(old)).toBe(5);
    const [{ source } = { source: "" }] = await old.query<{ source: string }>(
      "SELECT prosrc AS source FROM pg_proc WHERE proname = 'crawl_claimed' AND pronamespace = current_schema()::regnamespace",
    );
    expect(source).toContain("u.fetcher");
    expect(await old.query("SELECT fetcher FROM crawl_outcome")).toEqual([]);
    expect(await schemaVersion(old, earlier.schema)).toBe(WANTED_VERSION);
    expect(await migrate(old)).toBe(WANTED_VERSION);
  });
});
