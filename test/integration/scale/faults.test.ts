import { afterAll, describe, expect, test } from "bun:test";
import { createLog } from "../../../src/base/log.ts";
import { createMetrics, type Measurement, noMetrics } from "../../../src/base/metrics.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { openPostgres, type Postgres } from "../../../src/scale/postgres/postgres.ts";
import { migrate, schemaVersion, WANTED_VERSION } from "../../../src/scale/postgres/schema.ts";
import { startPostgres, testDatabase } from "../../support/postgres.ts";
import { untilTrue } from "../../support/until.ts";

const server = await startPostgres();
const database = await testDatabase(server);
/** Looks and breaks; what is tested has connections of its own. */
const operator = await database.open();
await operator.script("CREATE TABLE tally (id text PRIMARY KEY, count int NOT NULL)");
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Opens the database with one connection, and notes what is logged and measured. */
async function open(connections = 1): Promise<{
  readonly postgres: Postgres;
  readonly lines: Record<string, unknown>[];
  readonly measured: Measurement[];
}> {
  const lines: Record<string, unknown>[] = [];
  const measured: Measurement[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(JSON.parse(line)) });
  const metrics = createMetrics([(measurement) => measured.push(measurement)]);
  return { postgres: await database.open({ log, metrics, connections }), lines, measured };
}

const retriesOf = (measured: readonly Measurement[]): unknown[] =>
  measured.flatMap((one) => (one.name === "database_retries" ? [one.labels.reason] : []));

/** The session that runs a statement with this text. */
async function sessionOf(text: string): Promise<number> {
  let pid = 0;
  await untilTrue(async () => {
    const sql =
      "SELECT pid FROM pg_stat_activity WHERE query LIKE $1 AND state = 'active' AND pid <> pg_backend_pid()";
    pid = (await operator.query<{ pid: number }>(sql, [`%${text}%`]))[0]?.pid ?? 0;
    return pid > 0;
  });
  return pid;
}

/** What a statement waits for until `holdUp` is over, or its server has crashed. */
const HELD = "pg_advisory_xact_lock(1)";
const holdUp = async (): Promise<Postgres> => {
  const holder = await database.open({ connections: 1 });
  await holder.query("SELECT pg_advisory_lock(1)");
  return holder;
};

describe("a statement under way", () => {
  test("is sent again when its session is ended; one lost connection is no news", async () => {
    const { postgres, lines, measured } = await open();
    const holder = await holdUp();
    const answer = postgres.query(`SELECT ${HELD}, 'ended' AS word`);
    await operator.query("SELECT pg_terminate_backend($1)", [await sessionOf("'ended'")]);
    await holder[Symbol.asyncDispose]();
    expect(await answer).toMatchObject([{ word: "ended" }]);
    expect({ lines, retries: retriesOf(measured) }).toEqual({ lines: [], retries: ["away"] });
  });

  test("outlives a crash of the server, in and out of a transaction", async () => {
    const { postgres } = await open(2);
    await using _holder = await holdUp();
    let runs = 0;
    const add = postgres.transaction(async (queries) => {
      runs++;
      await queries.run("INSERT INTO tally VALUES ('crash', 1)");
      await queries.query(`SELECT ${HELD}, 'inside' AS word`);
    });
    const alone = postgres.query(`SELECT ${HELD}, 'crashed' AS word`);
    await sessionOf("'inside'");
    process.kill(await sessionOf("'crashed'"), "SIGKILL");
    expect(await alone).toMatchObject([{ word: "crashed" }]);
    await add;
    expect(runs).toBeGreaterThan(1);
    expect(await operator.query("SELECT count FROM tally WHERE id = 'crash'")).toEqual([{ count: 1 }]);
  });

  test("waits for room on a full disk, with one line when it is full and one when it is not", async () => {
    const { postgres, lines } = await open();
    await operator.script(`CREATE TABLE disk (is_full boolean); INSERT INTO disk VALUES (true);
      CREATE FUNCTION grow() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT is_full FROM disk) THEN
          RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
        END IF;
        RETURN true;
      END $$`);
    const growing = postgres.query("SELECT grow() AS grown");
    await untilTrue(() => lines.length > 0);
    await operator.run("UPDATE disk SET is_full = false");
    expect(await growing).toEqual([{ grown: true }]);
    expect(lines).toMatchObject([
      {
        level: "warning",
        message: "the database cannot be reached; work waits for it",
        error: "its disk is full",
      },
      { level: "warning", message: "the database is back" },
    ]);
  });

  test("waits while the database is read-only, and fails in time for whoever cannot wait", async () => {
    const { postgres, measured } = await open(2);
    await operator.script("ALTER SYSTEM SET default_transaction_read_only = on");
    await operator.query("SELECT pg_reload_conf()");
    await untilTrue(async () => {
      const [row] = await postgres.query("SELECT current_setting('transaction_read_only') AS it");
      return row?.it === "on";
    });
    const failing = postgres.patient({ waitMs: 300 }).run("INSERT INTO tally VALUES ('never', 1)");
    await expect(failing).rejects.toMatchObject({
      code: "database_unavailable",
      message: expect.stringMatching(/^the database 127\.0\.0\.1:\d+\/test cannot be used: it is read-only$/),
    });
    const tried = retriesOf(measured).length;
    const writing = postgres.run("INSERT INTO tally VALUES ('read-only', 1)");
    await untilTrue(() => retriesOf(measured).length > tried);
    await operator.script("ALTER SYSTEM RESET default_transaction_read_only");
    await operator.query("SELECT pg_reload_conf()");
    expect(await writing).toBe(1);
  });

  test("that a signal ends leaves no connection behind that still runs it", async () => {
    const { postgres } = await open();
    const ending = new AbortController();
    const sleeping = postgres
      .patient({ signal: ending.signal })
      .query("SELECT pg_sleep(100), 'asleep' AS word");
    await sessionOf("'asleep'");
    ending.abort();
    await expect(sleeping).rejects.toMatchObject({ code: "cancelled" });
    expect(await postgres.query("SELECT 'awake' AS word")).toEqual([{ word: "awake" }]);
  });
});

test("what waits for a database ends when it is closed, and closing it twice is no fault", async () => {
  await using other = await startPostgres();
  const postgres = await openPostgres({
    ...{ url: other.url, schema: "public", log: silentLog, metrics: noMetrics },
  });
  await other.stop("fast");
  const waiting = postgres.query("SELECT 1");
  const outcome = waiting.then(
    () => "answered",
    ({ code }) => code,
  );
  await postgres[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
  expect(await outcome).toBe("cancelled");
  await expect(postgres.query("SELECT 1")).rejects.toMatchObject({ code: "cancelled" });
});

test("a program that froze in a transaction does not hold its locks for ever", async () => {
  const { postgres } = await open();
  const [limits] = await postgres.query(
    `SELECT current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('statement_timeout') AS busy`,
  );
  expect(limits).toEqual({ idle: "15s", busy: "40s" });
});

describe("a migration", () => {
  test("that is killed half-way leaves nothing, and the next one does all", async () => {
    await using fresh = await testDatabase(server, { isEmpty: true });
    const postgres = await fresh.open();
    // The lock holds it up after it has begun, where a kill can find it.
    await operator.transaction(async (queries) => {
      await queries.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [
        `migrate ${fresh.schema}`,
      ]);
      const migrating = migrate(postgres).then(
        () => "done",
        ({ code }) => code,
      );
      process.kill(await sessionOf("pg_advisory_xact_lock"), "SIGTERM");
      expect(await migrating).toBe("invalid_settings");
    });
    expect(await schemaVersion(postgres, fresh.schema)).toBe(0);
    expect(await migrate(postgres)).toBe(0);
    expect(await schemaVersion(postgres, fresh.schema)).toBe(WANTED_VERSION);
  });

  test("whose last part fails leaves no part", async () => {
    await using fresh = await testDatabase(server, { isEmpty: true });
    const postgres = await fresh.open();
    await operator.script(`CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM pg_tables WHERE schemaname = '${fresh.schema}') > 2 THEN RAISE 'enough'; END IF;
      END $$;
      CREATE EVENT TRIGGER refusing ON ddl_command_end EXECUTE FUNCTION refuse()`);
    await expect(migrate(postgres)).rejects.toThrow("enough");
    const left = await operator.query("SELECT nspname FROM pg_namespace WHERE nspname = $1", [fresh.schema]);
    expect(left).toEqual([]);
    await operator.script("DROP EVENT TRIGGER refusing");
    expect(await migrate(postgres)).toBe(0);
  });
});
