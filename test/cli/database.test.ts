import { expect, test } from "bun:test";
import { schemaVersion, WANTED_VERSION } from "../../src/base/postgres/index.ts";
import { BINARY, cleanEnvironment, runBinary } from "../support/binary.ts";
import { KILLS } from "../support/kills.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const environmentOf = ({ url, schema }: TestDatabase): Record<string, string> => ({
  ARTICLE_EXTRACTOR_DATABASE_URL: url,
  ARTICLE_EXTRACTOR_DATABASE_SCHEMA: schema,
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
    const version = await schemaVersion(await database.open(), database.schema);
    expect([0, WANTED_VERSION]).toContain(version);
    const again = await runBinary(["database", "migrate"], { env });
    expect(again.exitCode).toBe(0);
    expect((await runBinary(["database", "status"], { env })).exitCode).toBe(0);
  }
});
