import { afterAll, describe, expect, test } from "bun:test";
import { noMetrics } from "../../../src/base/metrics.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { openPostgres } from "../../../src/scale/postgres/postgres.ts";
import { checkReady } from "../../../src/scale/postgres/schema.ts";
import { runCommand } from "../../support/command.ts";
import { startPgbouncer, testDatabase } from "../../support/postgres.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { untilTrue } from "../../support/until.ts";

const database = await testDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const { schema } = database;

describe("a pooler", () => {
  test("in session mode is as good as none", async () => {
    await using pooler = await startPgbouncer(database.url, "session");
    await using postgres = await openPostgres({
      url: pooler.url,
      schema,
      log: silentLog,
      metrics: noMetrics,
    });
    await checkReady(postgres, 0);
    expect(await postgres.pooler()).toBe("session");
    const heard: (string | null)[] = [];
    using _ = postgres.listen("jobs", (message) => heard.push(message));
    await untilTrue(() => heard.length === 1);
    await postgres.notify("jobs", "one");
    await untilTrue(() => heard.length === 2);
    expect(heard).toEqual([null, "one"]);
  });

  test("in transaction mode is refused in one line, also while others use it", async () => {
    await using pooler = await startPgbouncer(database.url, "transaction");
    const open = () => openPostgres({ url: pooler.url, schema, log: silentLog, metrics: noMetrics });
    await using other = await open();
    const busy = [1, 2, 3].map(() => other.script("SELECT pg_sleep(0.3)").catch(() => {}));
    await using postgres = await open();
    await expect(checkReady(postgres, 0)).rejects.toMatchObject({
      code: "invalid_settings",
      message: expect.stringContaining("is behind a pooler in transaction mode, which mixes sessions"),
    });
    await Promise.all(busy);
    const env = { ARTICLE_EXTRACTOR_DATABASE_URL: pooler.url, ARTICLE_EXTRACTOR_DATABASE_SCHEMA: schema };
    const { stdout } = await runCommand(["doctor"], {
      env: { ...env, ARTICLE_EXTRACTOR_BROWSER_PATH: "none" },
    });
    expect(stdout).toMatch(
      /problem {2}database schema +the database .* is behind a pooler in transaction mode/,
    );
    expect(stdout).toContain("connections in use, through a pooler in transaction mode");
  });

  test.each([
    [["database", "status"]],
    [["database", "migrate"]],
    [["crawl", "http://127.0.0.1:9/", "--join", "--output-dir", "/tmp/never-made"]],
    ...["all", "api", "worker"].map((role) => [["serve", "extractor", "--port", "0", "--role", role]]),
  ])("in transaction mode is refused by %p", async (words) => {
    await using pooler = await startPgbouncer(database.url, "transaction");
    using directory = temporaryDirectory();
    const { exitCode, stdout, stderr } = await runCommand(words, {
      env: {
        ARTICLE_EXTRACTOR_DATABASE_URL: pooler.url,
        ARTICLE_EXTRACTOR_DATABASE_SCHEMA: schema,
        ARTICLE_EXTRACTOR_BROWSER_PATH: "none",
        ARTICLE_EXTRACTOR_STATE_DIR: directory.path,
        ARTICLE_EXTRACTOR_STORE_URL: `file://${directory.path}/store`,
      },
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("is behind a pooler in transaction mode, which mixes sessions");
  });

  test("is none where the server is reached itself", async () => {
    const postgres = await database.open();
    expect(await postgres.pooler()).toBe("none");
  });
});
