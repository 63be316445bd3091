import { afterAll, describe, expect, test } from "bun:test";
import { WANTED_VERSION } from "../../../src/scale/postgres/schema.ts";
import { runCommand } from "../../support/command.ts";
import { type TestDatabase, testDatabase } from "../../support/postgres.ts";

const made: TestDatabase[] = [];
afterAll(async () => {
  for (const database of made) await database[Symbol.asyncDispose]();
});

/** The environment of a schema that does not exist yet. */
async function fresh(): Promise<{ readonly database: TestDatabase; readonly env: Record<string, string> }> {
  const database = await testDatabase(undefined, { isEmpty: true });
  made.push(database);
  const env = {
    ARTICLE_EXTRACTOR_DATABASE_URL: database.url,
    ARTICLE_EXTRACTOR_DATABASE_SCHEMA: database.schema,
  };
  return { database, env };
}

describe("database", () => {
  test("migrate sets a schema up once; status tells before and after", async () => {
    const { database, env } = await fresh();
    const { schema, url } = database;
    const place = url.slice(url.indexOf("@") + 1);
    const before = await runCommand(["database", "status"], { env });
    expect(before).toEqual({
      exitCode: 1,
      stdout: expect.stringMatching(
        new RegExp(
          `^database  ${place}\nserver    PostgreSQL [0-9]+\\.[^\n]*\nschema    ${schema}\nversion   0 of ${WANTED_VERSION}\n$`,
        ),
      ),
      stderr: "run article-extractor database migrate\n",
    });
    const migrated = await runCommand(["database", "migrate"], { env });
    expect(migrated).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: `the schema ${schema} of ${place} went from version 0 to ${WANTED_VERSION}\n`,
    });
    const again = await runCommand(["database", "migrate", "--json"], { env });
    expect({ ...again, stdout: JSON.parse(again.stdout) }).toEqual({
      exitCode: 0,
      stdout: { database: place, schema, version_before: WANTED_VERSION, version: WANTED_VERSION },
      stderr: "",
    });
    const after = await runCommand(["database", "status", "--json"], { env });
    expect({ ...after, stdout: JSON.parse(after.stdout) }).toEqual({
      exitCode: 0,
      stdout: {
        database: place,
        server_version: expect.stringMatching(/^\d/),
        schema,
        version: WANTED_VERSION,
        wanted_version: WANTED_VERSION,
        is_current: true,
      },
      stderr: "",
    });
  });

  test("of a newer program is left alone", async () => {
    const { database, env } = await fresh();
    await runCommand(["database", "migrate"], { env });
    await (await database.open()).run("INSERT INTO schema_version (version) VALUES (999)");
    const status = await runCommand(["database", "status"], { env });
    expect(status).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("999 of") });
    expect(status.stderr).toBe("a newer program has set this schema up: use that one\n");
    const refused = await runCommand(["database", "migrate"], { env });
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("is of version 999, and this program knows versions up to");
  });

  test.each([
    [[], "database takes: migrate, or status"],
    [["migrat"], "database takes: migrate, or status; did you mean migrate?"],
    [["status", "status"], "database takes: migrate, or status"],
  ])("with the words %p says what it takes", async (words, message) => {
    const { exitCode, stderr } = await runCommand(["database", ...words]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: `error: ${message}\n` });
  });

  test.each([
    [{}, "no database is named that processes could share: set ARTICLE_EXTRACTOR_DATABASE_URL"],
    [{ ARTICLE_EXTRACTOR_DATABASE_URL: "mysql://a:s3cret@b/c" }, "has to look like postgres://"],
    [{ ARTICLE_EXTRACTOR_DATABASE_URL: "postgres://a:s3cret@b" }, "it names no database"],
    [{ ARTICLE_EXTRACTOR_DATABASE_URL: "postgres://a:s3cret@b/c?sslmod=require" }, "did you mean sslmode?"],
    [{ ARTICLE_EXTRACTOR_DATABASE_URL: "postgres://a:s3cret@127.0.0.1:1/c" }, "nothing listens there"],
    [{ ARTICLE_EXTRACTOR_DATABASE_SCHEMA: "Robert'; DROP" }, "lower-case letters"],
  ])("with the settings %p is refused in one line without a secret", async (env, message) => {
    for (const action of ["status", "migrate"]) {
      const { exitCode, stdout, stderr } = await runCommand(["database", action], { env });
      expect({ exitCode, stdout, lines: stderr.trimEnd().split("\n").length }).toEqual({
        exitCode: 2,
        stdout: "",
        lines: 1,
      });
      expect(stderr).toContain(message);
      expect(stderr).not.toContain("s3cret");
    }
  });
});

describe("doctor", () => {
  type Check = { readonly name: string; readonly status: string; readonly detail: string };
  const look = async (env: Record<string, string>): Promise<readonly Check[]> => {
    const { stdout } = await runCommand(["doctor", "--json"], {
      env: { ARTICLE_EXTRACTOR_BROWSER_PATH: "none", ...env },
    });
    const { checks }: { checks: readonly Check[] } = JSON.parse(stdout);
    return checks.filter(({ name }) => name.startsWith("database"));
  };

  test("says nothing of a database that is not named", async () => {
    expect(await look({})).toEqual([]);
  });

  test("looks at server, schema, clock and old transactions", async () => {
    const { database, env } = await fresh();
    const [, unset] = await look(env);
    expect(unset).toMatchObject({ name: "database schema", status: "problem" });
    expect(unset?.detail).toContain("has not been set up: run article-extractor database migrate");
    await runCommand(["database", "migrate"], { env });
    const [server, schema, clock, snapshot] = await look(env);
    expect(server).toMatchObject({ name: "database", status: "ok" });
    expect(server?.detail).toMatch(
      /^127\.0\.0\.1:\d+\/test, PostgreSQL \d\S*.*, \d+ of 300 connections in use$/,
    );
    expect(schema).toEqual({
      name: "database schema",
      status: "ok",
      detail: `${database.schema}, version ${WANTED_VERSION}`,
    });
    // The same machine has the same clock.
    expect(clock?.detail).toMatch(/^0\.\d s (?:ahead|behind)/);
    expect(snapshot).toEqual({
      name: "database snapshot",
      status: "ok",
      detail: "no transaction holds an old one",
    });
  });

  test("names what is wrong, without the password", async () => {
    const [found] = await look({ ARTICLE_EXTRACTOR_DATABASE_URL: "postgres://a:s3cret@127.0.0.1:1/c" });
    expect(found).toEqual({
      name: "database",
      status: "problem",
      detail: "the database 127.0.0.1:1/c cannot be used: nothing listens there",
    });
  });
});
