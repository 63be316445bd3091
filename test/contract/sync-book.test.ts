import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
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

test("a SQLite file's record of 0.1.0 goes to the tenant whose sync it has, once", async () => {
  const sync = fc.record({ startedAt: fc.nat(1000), takes: fc.nat(100) });
  await fc.assert(
    fc.asyncProperty(fc.array(sync, { maxLength: 3 }), fc.option(fc.nat(1200)), async (syncs, writtenAt) => {
      using directory = temporaryDirectory();
      const database = openDatabase({
        path: join(directory.path, "state.sqlite"),
        name: "a test's state",
        access: { kind: "shared" },
      });
      const book = openSyncBook(database, silentLog);
      const history = syncs.map(({ startedAt, takes }) => ({
        startedAt,
        endedAt: startedAt + takes,
        counts: null,
        error: null,
      }));
      await book.write("guide", { syncedAt: 7, history });
      await book.inherit("guide", "guide@a", writtenAt);
      const isOwn =
        writtenAt === null ||
        history.some(({ startedAt, endedAt }) => startedAt <= writtenAt && writtenAt <= endedAt);
      const syncedAt = async () =>
        (await book.read(["guide", "guide@a", "guide@b"])).map((record) => record.syncedAt);
      expect(await syncedAt()).toEqual(isOwn ? [null, 7, null] : [7, null, null]);
      if (isOwn) await book.inherit("guide", "guide@b", null);
      expect((await syncedAt())[2]).toBeNull();
      database.close();
    }),
    { numRuns: 50 },
  );
});
