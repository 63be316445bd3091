import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { filesPutAside } from "../../../../src/base/damaged.ts";
import { type Database, openDatabase, openSharedState } from "../../../../src/base/database/index.ts";
import { createLog } from "../../../../src/base/log.ts";
import { directoryForEachTest } from "../../../support/for-all-tests.ts";

const directory = directoryForEachTest();
let opened: Database[];
beforeEach(() => {
  opened = [];
});
afterEach(async () => {
  for (const database of opened) database.close();
});

function open(): Database {
  const database = openDatabase({
    path: join(directory(), "state.sqlite"),
    name: "the state",
    access: { kind: "shared" },
  });
  opened.push(database);
  return database;
}

describe("a statement that the file refuses", () => {
  test("says what could not be written, and why", () => {
    const database = open();
    database.run("CREATE TABLE words (word TEXT)");
    const put = database.prepare<never, [string]>("INSERT INTO words VALUES (?)");
    // As a disk that is full or was mounted anew for reading does.
    database.run("PRAGMA query_only = 1");
    expect(() => put.run("sluice")).toThrow(
      expect.objectContaining({
        code: "unwritable_output",
        message: `could not write the state ${join(directory(), "state.sqlite")}: SQLITE_READONLY`,
      }),
    );
  });

  test("distinguishes a mistake in it from trouble with the file", () => {
    const database = open();
    database.run("CREATE TABLE words (word TEXT)");
    const all = database.prepare<{ word: string }>("SELECT word FROM words");
    open().run("DROP TABLE words");
    expect(() => all.all()).toThrow("no such table: words");
  });
});

describe("the state that processes share", () => {
  const said: string[] = [];
  const log = createLog({ level: "debug", format: "text", write: (line) => said.push(line) });

  test("is moved aside when it is damaged", async () => {
    await writeFile(join(directory(), "state.sqlite"), "no database ".repeat(1000));
    const { database, isShared } = openSharedState(directory(), log);
    opened.push(database);
    expect(isShared).toBe(true);
    expect(await filesPutAside(directory())).toEqual([
      expect.stringMatching(/^state\.sqlite\.damaged-20[\dT-]+Z$/),
    ]);
  });

  test("is moved aside, with a warning, when it is an earlier version's or another program's", async () => {
    const path = join(directory(), "state.sqlite");
    const open = () => openDatabase({ path, name: "x", access: { kind: "shared" } });
    const other = open();
    other.run("CREATE TABLE syncs (name TEXT)");
    other.close();
    said.length = 0;
    const { database, isShared } = openSharedState(directory(), log);
    opened.push(database);
    expect(isShared).toBe(true);
    expect(database.prepare("SELECT name FROM sqlite_schema").all()).toEqual([]);
    expect(await filesPutAside(directory())).toHaveLength(1);
    expect(said.join("")).toMatch(/damaged state is put aside.*it has format 0, this version reads 1/);
    database.run("CREATE TABLE syncs (name TEXT)");
    opened.push(openSharedState(directory(), log).database);
    expect(await filesPutAside(directory())).toHaveLength(1);
  });

  test("of an earlier version stays while another process uses it, and keeps what its log holds", async () => {
    const path = join(directory(), "state.sqlite");
    const earlier = openDatabase({ path, name: "x", access: { kind: "shared" } });
    earlier.run("CREATE TABLE syncs (name TEXT)");
    opened.push(openSharedState(directory(), log).database);
    expect(await filesPutAside(directory())).toEqual([]);
    earlier.run("INSERT INTO syncs VALUES ('kept')");
    earlier.close();
    const { database, isShared } = openSharedState(directory(), log);
    opened.push(database);
    expect(isShared).toBe(true);
    const [aside = ""] = await filesPutAside(directory());
    const kept = openDatabase({ path: join(directory(), aside), name: "x", access: { kind: "shared" } });
    opened.push(kept);
    expect(kept.prepare("SELECT name FROM syncs").all()).toEqual([{ name: "kept" }]);
  });

  test("is refused, and stays, when it is a later version's", async () => {
    const path = join(directory(), "state.sqlite");
    const later = openDatabase({ path, name: "x", access: { kind: "shared" } });
    later.run("PRAGMA user_version = 99");
    later.close();
    expect(() => openSharedState(directory(), log)).toThrow(
      "holds the server's state of a newer version of this program: it has format 99, this version reads 1",
    );
    expect(await filesPutAside(directory())).toEqual([]);
  });

  test("is left alone when another process has it exclusively", async () => {
    const path = join(directory(), "state.sqlite");
    const other = openDatabase({ path, name: "x", access: { kind: "exclusive", refusal: "no" } });
    opened.push(other);
    const { database, isShared } = openSharedState(directory(), log);
    opened.push(database);
    expect(isShared).toBe(false);
    expect(await filesPutAside(directory())).toEqual([]);
  });
});
