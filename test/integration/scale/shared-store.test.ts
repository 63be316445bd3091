import { afterAll, expect, test } from "bun:test";
import { storeOutput } from "../../../src/app/index.ts";
import { Failure } from "../../../src/base/failure.ts";
import { folderOf, type ObjectStore } from "../../../src/base/objects.ts";
import { openObjectStore } from "../../../src/scale/objects/open.ts";
import { optionsFor } from "../../support/bucket.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { testDatabase } from "../../support/postgres.ts";
import { openSharedPlace, planOf } from "../../support/shared-crawl.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { untilTrue } from "../../support/until.ts";

const database = await testDatabase();
const db = await database.open();
afterAll(() => database[Symbol.asyncDispose]());

test("a process that has lost a page stops writing it, so that it replaces nobody's", async () => {
  await using site = serveNumberedSite({ pages: 1 });
  await using place = await openSharedPlace(database);
  using directory = temporaryDirectory();
  const location = { kind: "directory", path: directory.path } as const;
  await using opened = await openObjectStore(location, optionsFor("http://127.0.0.1:1"));
  const real = folderOf(opened, "crawl");
  const writes: ("waiting" | "called off" | "done")[] = [];
  /** A store whose first write waits, as for a bucket that is away. */
  const store: ObjectStore = {
    ...real,
    async put(key, content, options) {
      const write = writes.push("waiting") - 1;
      if (write === 0) await untilTrue(async () => options?.signal?.aborted === true);
      writes[write] = options?.signal?.aborted ? "called off" : "done";
      if (options?.signal?.aborted) throw new Failure("cancelled", "the write was cancelled");
      return await real.put(key, content, options);
    },
  };
  const output = storeOutput(store, null);
  const { ended } = place.work(planOf(site.origin), { job: { output } });
  await untilTrue(async () => writes.length > 0);
  await untilTrue(async () => {
    const bury = "SELECT crawl_bury(crawl, id, true) AS is_buried FROM crawl_worker";
    const [row] = await db.query<{ is_buried: boolean }>(bury);
    return row?.is_buried === true; // not while the worker's own statement is under way
  });
  expect((await ended).progress.successful).toBe(1);
  expect(writes).toEqual(["called off", "done"]);
});

test("the processes of a shared crawl wait for their store as long as for their database", async () => {
  await using site = serveNumberedSite({ pages: 2 });
  await using place = await openSharedPlace(database);
  using directory = temporaryDirectory();
  const location = { kind: "directory", path: directory.path } as const;
  await using opened = await openObjectStore(location, optionsFor("http://127.0.0.1:1"));
  const real = folderOf(opened, "crawl");
  const patience: (number | undefined)[] = [];
  const store: ObjectStore = {
    ...real,
    put(key, content, options) {
      patience.push(options?.patienceMs);
      return real.put(key, content, options);
    },
    putStream(key, pieces, options) {
      patience.push(options?.patienceMs);
      return real.putStream(key, pieces, options);
    },
  };
  const output = storeOutput(store, null);
  expect((await place.work(planOf(site.origin), { job: { output } }).ended).state).toBe("completed");
  const day = 24 * 60 * 60 * 1000;
  expect(patience).toEqual([day, day, day]);
});
