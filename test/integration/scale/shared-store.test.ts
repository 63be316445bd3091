import { afterAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { storeOutput } from "../../../src/app/index.ts";
import { Failure } from "../../../src/base/failure.ts";
import { folderOf, type ObjectStore } from "../../../src/base/objects.ts";
import { openObjectStore } from "../../../src/scale/objects/open.ts";
import { optionsFor } from "../../support/bucket.ts";
import { serveCrawlSite } from "../../support/crawl-site.ts";
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

test("the processes of a shared crawl have each picture once, and a later crawl asks for none again", async () => {
  const words = "The wheel of the mill turns slowly and the water falls over the weir. ".repeat(8);
  const page = (name: string, links = ""): string =>
    `<!doctype html><title>${name}</title><article><h1>${name}</h1><p>${words}</p><img src="/mill.png" alt="Mill"><p>${words}${links}</p></article>`;
  const names = Array.from({ length: 12 }, (_, index) => `/p${index}`);
  await using site = serveCrawlSite({
    "/": page("Start", names.map((name) => `<a href="${name}">${name}</a>`).join(" ")),
    ...Object.fromEntries(names.map((name) => [name, page(name)])),
    "/mill.png": () => new Response(Buffer.from("\x89PNG\r\n\x1a\nmill", "latin1")),
  });
  await using place = await openSharedPlace(database);
  using directory = temporaryDirectory();
  const location = { kind: "directory", path: directory.path } as const;
  await using store = await openObjectStore(location, optionsFor("http://127.0.0.1:1"));
  const plan = planOf(site.origin, { savesPictures: true, hostDelayMs: 0 });
  const run = async (jobId: string): Promise<number> => {
    const before = site.count("/mill.png");
    const workers = [1, 2].map(() => place.work(plan, { job: { output: storeOutput(store, null), jobId } }));
    for (const { progress } of await Promise.all(workers.map(({ ended }) => ended)))
      expect(progress.successful).toBe(13);
    return site.count("/mill.png") - before;
  };
  // Both may ask at the same time.
  expect(await run("first")).toBeWithin(1, 3);
  expect([await run("second"), site.count("/p0")]).toEqual([0, 2]);
  const files = readdirSync(directory.path).filter((name) => name.endsWith(".md"));
  const [picture = "", ...others] = readdirSync(join(directory.path, "images"));
  expect([files.length, others]).toEqual([13, []]);
  for (const name of files)
    expect(await Bun.file(join(directory.path, name)).text()).toContain(`![Mill](images/${picture})`);
});
