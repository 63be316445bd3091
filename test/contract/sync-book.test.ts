import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/base/database/index.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import { openSyncBook } from "../../src/tenants/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { describeSyncBook } from "./sync-book.contract.ts";

describeSyncBook("a SQLite file", async () => {
  const directory = mkdtempSync(join(tmpdir(), "book-"));
  const opened: Database[] = [];
  const open = (): Database => {
    const path = join(directory, "state.sqlite");
    const database = openDatabase({ path, name: "a test's state", access: { kind: "shared" } });
    opened.push(database);
    return database;
  };
  const beside = open();
  return {
    open: async () => openSyncBook(open(), silentLog),
    pass: async (ms) => beside.run(`UPDATE leases SET expires_at = expires_at - ${ms}`),
    async [Symbol.asyncDispose]() {
      for (const database of opened) database.close();
      rmSync(directory, { recursive: true });
    },
  };
});

test("a record goes to the tenant's new key, unless that one has synced", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "state.sqlite");
  const database = openDatabase({ path, name: "a test's state", access: { kind: "shared" } });
  const book = openSyncBook(database, silentLog);
  const history = [{ startedAt: 1, endedAt: 2, counts: null, error: null }];
  await book.write("guide", { syncedAt: 7, history });
  await book.inherit("guide", "manual");
  const syncedAt = async () => (await book.read(["guide", "manual"])).map((record) => record.syncedAt);
  expect(await syncedAt()).toEqual([null, 7]);
  await book.write("guide", { syncedAt: 9, history });
  await book.inherit("guide", "manual");
  expect(await syncedAt()).toEqual([9, 7]);
  database.close();
});
