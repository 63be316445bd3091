import { afterAll, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { storeOutput } from "../../../src/app/index.ts";
import type { CrawlEvent } from "../../../src/crawler/index.ts";
import { openObjectStore } from "../../../src/scale/objects/open.ts";
import { optionsFor } from "../../support/bucket.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { startPostgres, testDatabase } from "../../support/postgres.ts";
import { startResettingProxy } from "../../support/resetting-proxy.ts";
import { openSharedPlace, planOf } from "../../support/shared-crawl.ts";

/** With TLS, as over any network: a connection that is lost under it gets other errors than one without. */
const server = await startPostgres(["ssl_cert_file='server.crt'", "ssl_key_file='server.key'"]);
const certificate = await makeCertificate("localhost");
server.write("server.crt", certificate.cert);
server.write("server.key", certificate.key);
const database = await testDatabase(server);
const operator = await database.open();
await operator.script("ALTER SYSTEM SET ssl = on");
await operator.query("SELECT pg_reload_conf()");
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const PAGES = 400;
const MAX_PAGES = 300;

const totalsOf = (events: readonly CrawlEvent[]): number[] =>
  events.flatMap((event) => ("progress" in event ? [event.progress.total] : []));

test.each([1, 2])("connections that are reset at random cost no page its outcome (seed %p)", async (seed) => {
  const proxy = await startResettingProxy({
    to: Number(new URL(database.url).port),
    seed,
    share: 0.03,
    maxResets: 150,
  });
  await using _proxy = proxy;
  await using site = serveNumberedSite({ pages: PAGES, fanOut: 8, answerMs: 3 });
  const url = `${database.url.replace(/:\d+\//, `:${proxy.port}/`)}?sslmode=require`;
  await using place = await openSharedPlace({ ...database, url });
  const plan = planOf(site.origin, { maxPages: MAX_PAGES, obeysRobots: true, hostDelayMs: 1 });
  const location = { kind: "directory", path: place.path } as const;
  await using store = await openObjectStore(location, optionsFor("http://127.0.0.1:1"));
  const output = storeOutput(store, null);
  const workers = [1, 2, 3].map(() => place.work(plan, { job: { output } }));
  const summaries = await Promise.all(workers.map(({ ended }) => ended));

  const { results, total_pages, successful, failed } = await place.readManifest();
  const files = (await readdir(place.path)).filter((name) => name.endsWith(".md"));
  expect(proxy.resets()).toBeGreaterThan(20);
  expect(results.filter(({ status }) => status === "failed")).toEqual([]);
  expect([total_pages, successful, failed, results.length]).toEqual([MAX_PAGES, MAX_PAGES, 0, MAX_PAGES]);
  expect(new Set(results.map((result) => result.url)).size).toBe(MAX_PAGES);
  expect(files.toSorted()).toEqual(results.map(({ file_path }) => String(file_path)).toSorted());
  for (const { state, progress } of summaries)
    expect([state, progress.total, progress.successful]).toEqual(["completed", MAX_PAGES, MAX_PAGES]);
  for (const { events } of workers) expect(Math.max(...totalsOf(events))).toBeLessThanOrEqual(MAX_PAGES);
  const asked = new Set(site.visits.map(({ path }) => `${site.origin}${path}`));
  for (const result of results) expect(asked).toContain(result.url);
});

test("what the database answers to the turns of hosts is never the failure of a page or of its robots.txt", async () => {
  await using own = await testDatabase(server);
  const operator = await own.open();
  await using site = serveNumberedSite({ pages: 3 });
  await using place = await openSharedPlace(own);
  // An answer that would be the same the next time, so nobody waits for another.
  await operator.script(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
    CREATE TRIGGER refusing BEFORE INSERT ON host_pace FOR EACH ROW EXECUTE FUNCTION refuse()`);
  for (const obeysRobots of [true, false]) {
    const { ended } = place.work(planOf(site.origin, { obeysRobots, hostDelayMs: 1 }));
    expect(await ended.catch(({ code }) => code)).toBe("P0001");
  }
  expect(site.visits).toEqual([]);
  expect(await operator.query("SELECT status, error_message FROM crawl_outcome")).toEqual([]);
  expect(await operator.query("SELECT kind FROM robots WHERE kind IS NOT NULL")).toEqual([]);
});
