import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { checkReady, migrate, schemaVersion, WANTED_VERSION } from "../../src/scale/postgres/schema.ts";
import { reservePort } from "../../src/server/listen.ts";
import { BINARY, cleanEnvironment, runBinary } from "../support/binary.ts";
import { KILLS } from "../support/kills.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const environmentOf = ({ url, schema }: TestDatabase): Record<string, string> => ({
  ARTICLE_EXTRACTOR_DATABASE_URL: url,
  ARTICLE_EXTRACTOR_DATABASE_SCHEMA: schema,
});

const stateIn = (path: string): Record<string, string> => ({
  ARTICLE_EXTRACTOR_STATE_DIR: join(path, "state"),
  ARTICLE_EXTRACTOR_STORE_URL: `file://${path}`,
  ARTICLE_EXTRACTOR_BROWSER_PATH: "none",
  HOST: "127.0.0.1",
});

test("a migration that is killed at any moment is done as a whole or not at all", async () => {
  const beginning = performance.now();
  await using first = await testDatabase(undefined, { isEmpty: true });
  const whole = await runBinary(["database", "migrate"], { env: environmentOf(first) });
  expect(whole).toMatchObject({ exitCode: 0, stdout: "" });
  const tookMs = performance.now() - beginning;
  for (let kill = 0; kill < KILLS; kill++) {
    await using database = await testDatabase(undefined, { isEmpty: true });
    const env = environmentOf(database);
    const child = Bun.spawn([BINARY, "database", "migrate"], {
      cwd: "/",
      env: cleanEnvironment(env),
      stdio: ["ignore", "ignore", "ignore"],
    });
    await Bun.sleep((tookMs * (kill + Math.random())) / KILLS);
    child.kill("SIGKILL");
    await child.exited;
    const postgres = await database.open();
    const version = await schemaVersion(postgres, database.schema);
    expect([0, WANTED_VERSION]).toContain(version);
    expect(await migrate(postgres)).toBe(version);
    await checkReady(postgres, 0);
  }
});

describe("a server", () => {
  test.each([["1"], ["2"]])(
    "whose schema needs a migration says so in one line, as %s processes",
    async (count) => {
      await using database = await testDatabase(undefined, { isEmpty: true });
      using directory = temporaryDirectory();
      const { exitCode, stdout, stderr } = await runBinary(["serve", "extractor", "--port", "0"], {
        env: { ...environmentOf(database), ...stateIn(directory.path), WEB_CONCURRENCY: count },
      });
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      const problem = "has not been set up: run article-extractor database migrate";
      expect(JSON.parse(stderr)).toMatchObject({
        level: "critical",
        message: expect.stringMatching(
          new RegExp(`^the schema ${database.schema} of the database .* ${problem}$`),
        ),
      });
    },
  );

  test("that waits for its database ends when it is told to", async () => {
    const port = await reservePort("127.0.0.1", 0);
    using directory = temporaryDirectory();
    const child = Bun.spawn([BINARY, "serve", "extractor", "--port", "0"], {
      cwd: "/",
      env: cleanEnvironment({
        ...stateIn(directory.path),
        ARTICLE_EXTRACTOR_DATABASE_URL: `postgres://me:s3cret@127.0.0.1:${port}/pages`,
      }),
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
      said += piece;
      if (said.includes("the database cannot be reached; work waits for it")) child.kill("SIGTERM");
    }
    expect(await child.exited).toBe(130);
    const [last = ""] = said.trimEnd().split("\n").slice(-1);
    expect(JSON.parse(last)).toMatchObject({ message: "interrupted" });
    expect(said).not.toContain("s3cret");
  });
});
