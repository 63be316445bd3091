import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type ExtractorProcess,
  isOver,
  startExtractor,
  submitJob,
  untilJob,
} from "../support/extractor-server.ts";
import { auditedManifest, type Cluster, startCluster } from "../support/scale/crawl.ts";
import { eventsOf, type JobEvent, toldPages } from "../support/scale/events.ts";
import { type ManyHosts, repeatedVisits, serveManyHosts } from "../support/scale/site.ts";
import { expectGaps, recordTurns } from "../support/scale/turns.ts";
import { untilTrue } from "../support/until.ts";

const DELAY_MS = 100;
const CONCURRENCY = 8;
const MAX_PAGES = 4000;

let cluster: Cluster;
let site: ManyHosts;
const processes: ExtractorProcess[] = [];
beforeAll(async () => {
  cluster = await startCluster();
  await recordTurns(cluster.database.url);
  site = await serveManyHosts({ hosts: 16, pagesPerHost: 300, answerMs: 50, missing: 50, bytes: 600 });
});
afterAll(async () => {
  for (const process of processes) await process[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

async function serve(role: "api" | "worker"): Promise<ExtractorProcess> {
  const env = { ...cluster.env, ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: String(DELAY_MS / 1000) };
  const process = await startExtractor({ words: ["--role", role], env });
  processes.push(process);
  return process;
}

/** The last of these processes that took the job. */
const holderOf = async (workers: readonly ExtractorProcess[]): Promise<ExtractorProcess> => {
  let holder: ExtractorProcess | undefined;
  await untilTrue(() => {
    holder = workers.findLast(({ stderr }) => stderr().includes('"job taken"'));
    return holder !== undefined;
  });
  return holder as ExtractorProcess;
};

test("workers are killed and frozen, and the database stopped at once: no page, event or limit is missed", async () => {
  const [one, other] = [await serve("api"), await serve("api")];
  const workers = [await serve("worker"), await serve("worker"), await serve("worker")];
  const id = await submitJob(one, {
    output_dir: "roles",
    seeds: [`${site.origin}/`],
    allow_prefixes: site.origins.map((origin) => `${origin}/`),
    max_pages: MAX_PAGES,
    max_depth: 100,
    concurrency: CONCURRENCY,
  });
  const reading: Promise<JobEvent[]> = Array.fromAsync(eventsOf(other, id, null));
  const seen = (count: number): Promise<void> => untilTrue(async () => (await site.count()) >= count);

  await seen(400);
  const killed = await holderOf(workers);
  killed.signal("SIGKILL");
  await seen(900);
  const left = workers.filter((worker) => worker !== killed);
  const frozen = await holderOf(left);
  frozen.signal("SIGSTOP");
  await Bun.sleep(20_000);
  frozen.signal("SIGCONT");
  await seen((await site.count()) + 200);
  await cluster.database.stop("immediate");
  await Bun.sleep(3000);
  await cluster.database.start();
  // The faults are over before the crawl is.
  expect(isOver((await (await one.get(`/crawl/${id}`)).json()) as never)).toBe(false);
  const job = await untilJob(one, id, isOver);

  const manifest = await auditedManifest(cluster.bucket, "all/roles");
  const { total_pages, successful, failed, skipped } = manifest;
  expect({ total_pages, outcomes: successful + failed, skipped }).toEqual({
    total_pages: MAX_PAGES,
    outcomes: MAX_PAGES,
    skipped: 0,
  });
  expect(job).toMatchObject({ status: "completed", total: MAX_PAGES, successful, failed, skipped });
  for (const api of [one, other])
    expect(await (await api.get(`/crawl/${id}/manifest`)).json()).toEqual(manifest);
  expect(toldPages(await reading).sort()).toEqual(manifest.results.map(({ url }) => url).sort());

  const visits = await site.visits();
  const pages = visits.filter(({ path }) => path !== "/robots.txt");
  expect(new Set(pages.map(({ host, path }) => host + path)).size).toBe(MAX_PAGES);
  // What the killed and the frozen one had under way, and what was settled while the database was away.
  expect(repeatedVisits(visits)).toBeLessThanOrEqual(4 * CONCURRENCY);
  expect(frozen.stderr()).toMatch(/claims lost|settle refused/);
  await expectGaps(cluster.database.url, visits, { delayMs: DELAY_MS, maxStrays: CONCURRENCY });
}, 600_000);
