/**
 * The built program on PostgreSQL and a bucket beside itself on SQLite and a directory: crawls of cheap pages by one and
 * by two processes.
 *
 *   bun scripts/bench/scale.ts [--pages N] [--concurrency N] [--runs N] [--worker-cores X] [--warm-up N] [--out FILE]
 *
 * Everything runs on this machine: the site, the database and the bucket take CPU from the workers, so what each of them
 * takes for a page is measured, and the rate that two workers would have on cores of their own follows from it. With
 * `--worker-cores .5` each worker gets half a core (a control group of Linux, as root), which leaves the rest to the
 * others: so a second worker adds what it would add on a machine of its own. A worker's first pages cost more than later
 * ones, because the runtime compiles: 3 CPU s more for the first 2 000, and .3 ms a page for the next 10 000. In a short
 * crawl this counts twice for two workers, so `--warm-up 5000` measures from when 5 000 pages of each worker are done.
 * The bench fails when a page is missing. It needs PostgreSQL and an S3 server (`make test-scale` installs both).
 */
import { mkdir, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type Cluster,
  cpuMsOf,
  joinedCrawl,
  type Running,
  start,
  startCluster,
} from "../../test/support/scale/crawl.ts";
import { type ManyHosts, serveManyHosts } from "../../test/support/scale/site.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { introduce, keep, median, printTable, readOptions, sum } from "./bench.ts";

const HOSTS = 20;
const BYTES = 600;

const options = readOptions({ pages: 10_000, concurrency: 16, runs: 3, "worker-cores": "", "warm-up": 0 });
const { concurrency, runs, "warm-up": warmUp } = options;
const pagesPerHost = Math.ceil(options.pages / HOSTS);
const pages = pagesPerHost * HOSTS;
if (2 * warmUp > pages / 2)
  throw new Error(`--warm-up ${warmUp} of two workers leaves less than half of ${pages} pages`);
const workerCores = options["worker-cores"] === "" ? null : Number(options["worker-cores"]);
if (workerCores !== null && !(workerCores >= 0.05 && workerCores <= 64))
  throw new Error(`--worker-cores ${workerCores} is not a number from .05 to 64`);

const PERIOD_US = 20_000;

/** Starts a worker, within its share of the CPU. */
async function startWorker(
  number: number,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Running> {
  const quietEnv = { ...env, ARTICLE_EXTRACTOR_LOG_LEVEL: "error" };
  if (workerCores === null) return start(words, quietEnv);
  const quota = Math.round(workerCores * PERIOD_US);
  const isFirstVersion = await Bun.file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").exists();
  const group = `/sys/fs/cgroup/${isFirstVersion ? "cpu/" : ""}bench-scale-${number}`;
  await mkdir(group, { recursive: true });
  if (isFirstVersion) {
    await Bun.write(`${group}/cpu.cfs_period_us`, `${PERIOD_US}`);
    await Bun.write(`${group}/cpu.cfs_quota_us`, `${quota}`);
  } else await Bun.write(`${group}/cpu.max`, `${quota} ${PERIOD_US}`);
  const worker = start(words, quietEnv, ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', group]);
  // The system keeps a group until it is removed, which it allows once nothing runs in it.
  void worker.exited.then(() => rmdir(group).catch(() => {}));
  return worker;
}

/** The CPU time of PostgreSQL's first process and all that it has or had, in ms. */
async function databaseCpuMs({ database }: Cluster): Promise<number> {
  const first = Number((await Bun.file(join(database.directory, "postmaster.pid")).text()).split("\n")[0]);
  const children = (await Bun.file(`/proc/${first}/task/${first}/children`).text()).trim().split(" ");
  return sum(await Promise.all([first, ...children.map(Number)].map((pid) => cpuMsOf(pid).catch(() => 0))));
}

/** Waits until these workers are warm. @returns the number of pages that they have asked for by then */
async function warm(crawl: readonly Running[], site: ManyHosts): Promise<number> {
  if (warmUp === 0) return 0;
  const first = await site.count();
  for (;;) {
    const asked = (await site.count()) - first;
    if (asked >= warmUp * crawl.length || crawl.some((running) => running.hasEnded())) return asked;
    await Bun.sleep(20);
  }
}

async function measure(
  subject: string,
  crawl: readonly Running[],
  { cluster, site }: Parts,
  stored: () => Promise<number>,
) {
  const cpu = async (): Promise<readonly number[]> =>
    Promise.all([databaseCpuMs(cluster), cpuMsOf(cluster.bucket.pid()), cpuMsOf(site.pid)]);
  const counted = pages - (await warm(crawl, site));
  const before = await cpu();
  const workersBefore = warmUp === 0 ? [] : await Promise.all(crawl.map(({ pid }) => cpuMsOf(pid)));
  const startedAt = performance.now();
  for (const running of crawl) {
    const code = await running.exited;
    if (code !== 0) throw new Error(`${subject} ended with ${code}: ${running.stderr().slice(-2000)}`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await cpu();
  if ((await stored()) !== pages) throw new Error(`${subject} stored ${await stored()} of ${pages} pages`);
  const [database = 0, bucket = 0, ofSite = 0] = after.map((ms, which) => ms - (before[which] ?? 0));
  return {
    subject,
    pages: counted,
    pagesPerSecond: counted / seconds,
    // CPU in ms a page.
    worker: (sum(crawl.map((running) => running.usedCpuMs())) - sum(workersBefore)) / counted,
    database: database / counted,
    bucket: bucket / counted,
    site: ofSite / counted,
    // The share of one core that the database took.
    databaseBusy: database / 1000 / seconds,
  };
}

type Parts = { readonly cluster: Cluster; readonly site: ManyHosts };

async function embedded(parts: Parts) {
  using directory = temporaryDirectory();
  const { path: place } = directory;
  const words = joinedCrawl(parts.site, { place, maxPages: pages, delayMs: 0, concurrency });
  const { ARTICLE_EXTRACTOR_DATABASE_URL: _, ARTICLE_EXTRACTOR_STORE_URL: __, ...env } = parts.cluster.env;
  const alone = words.filter((word) => word !== "--join");
  const stored = async (): Promise<number> =>
    (await readdir(place)).filter((name) => name.endsWith(".md")).length;
  return await measure("SQLite", [await startWorker(0, alone, env)], parts, stored);
}

async function shared(count: number, round: number, parts: Parts) {
  const { bucket, env } = parts.cluster;
  const prefix = `crawl-${count}-${round}`;
  const words = joinedCrawl(parts.site, {
    place: `${bucket.url}/${prefix}`,
    maxPages: pages,
    delayMs: 0,
    concurrency,
  });
  const crawl = await Promise.all(
    Array.from({ length: count }, (_, number) => startWorker(number, words, env)),
  );
  const stored = async (): Promise<number> =>
    (await bucket.list(`${prefix}/`)).filter((name) => name.endsWith(".md")).length;
  return measure(`PostgreSQL, ${count}`, crawl, parts, stored);
}

await using cluster = await startCluster();
await using site = await serveManyHosts({
  hosts: HOSTS,
  pagesPerHost,
  answerMs: 0,
  missing: 0,
  bytes: BYTES,
});
const about = await introduce(
  `${pages} pages on ${HOSTS} hosts, concurrency ${concurrency}, warm-up ${warmUp}, ${cluster.bucket.kind}; CPU in ms a page`,
);
const results: Awaited<ReturnType<typeof embedded>>[] = [];
for (let round = 0; round < runs; round++) {
  results.push(await embedded({ cluster, site }));
  for (const count of [1, 2]) results.push(await shared(count, round, { cluster, site }));
}
printTable(results);
const middle = (processes: number, key: "pagesPerSecond" | "worker"): number => {
  const own = results.filter(({ subject }) => subject === `PostgreSQL, ${processes}`);
  return median(own.map((result) => result[key]));
};
const ratio = middle(2, "pagesPerSecond") / middle(1, "pagesPerSecond");
// A worker with a core of its own is as fast as its CPU a page; what a second one adds is what that does not grow.
const ratioByCpu = (2 * middle(1, "worker")) / middle(2, "worker");
console.log(`\ntwo processes beside one: ${ratio.toFixed(2)} times the pages a second on this machine`);
console.log(`by their CPU a page, on cores of their own: ${ratioByCpu.toFixed(2)} times`);
await keep(options.out, { ...about, concurrency, warmUp, results, ratio, ratioByCpu });
