import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/base/database/index.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import { openSyncBook } from "../../src/tenants/index.ts";
import { openSharedSyncBook } from "../../src/tenants/testing.ts";
import { testDatabase } from "../support/postgres.ts";
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

const database = await testDatabase();
afterAll(() => database[Symbol.asyncDispose]());

describeSyncBook("PostgreSQL", async () => {
  const db = await database.open();
  await db.script("DELETE FROM sync_record; DELETE FROM sync_request; DELETE FROM lease");
  return {
    open: async () => openSharedSyncBook(db, silentLog),
    pass: (ms) => db.script(`UPDATE lease SET expires_at = expires_at - ${ms} * interval '1 millisecond'`),
    [Symbol.asyncDispose]: async () => {},
  };
});
