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
import { mkdir, mkdtemp, readdir, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Cluster,
  cpuMsOf,
  joinedCrawl,
  type Running,
  start,
  startCluster,
} from "../../test/support/scale/crawl.ts";
import { type ManyHosts, serveManyHosts } from "../../test/support/scale/site.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { parseCount } from "./options.ts";
import { percentile, sum } from "./statistics.ts";

const HOSTS = 20;
const BYTES = 600;

type Measured = {
  readonly subject: string;
  readonly pages: number;
  readonly pagesPerSecond: number;
  /** CPU in ms a page. */
  readonly worker: number;
  readonly database: number;
  readonly bucket: number;
  readonly site: number;
  /** The share of one core that the database took. */
  readonly databaseBusy: number;
};

const { values: written } = parseArgs({
  options: {
    pages: { type: "string" },
    concurrency: { type: "string" },
    runs: { type: "string" },
    "worker-cores": { type: "string" },
    "warm-up": { type: "string" },
    out: { type: "string" },
  },
});
const pagesPerHost = Math.ceil((parseCount("--pages", written.pages) ?? 10_000) / HOSTS);
const pages = pagesPerHost * HOSTS;
const concurrency = parseCount("--concurrency", written.concurrency) ?? 16;
const runs = parseCount("--runs", written.runs) ?? 3;
const warmUp = parseCount("--warm-up", written["warm-up"]) ?? 0;
if (2 * warmUp > pages / 2)
  throw new Error(`--warm-up ${warmUp} of two workers leaves less than half of ${pages} pages`);
const workerCores = written["worker-cores"] === undefined ? null : Number(written["worker-cores"]);
if (workerCores !== null && !(workerCores >= 0.05 && workerCores <= 64))
  throw new Error(`--worker-cores ${written["worker-cores"]} is not a number from .05 to 64`);

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
  { cluster, site }: { readonly cluster: Cluster; readonly site: ManyHosts },
  stored: () => Promise<number>,
): Promise<Measured> {
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
    worker: (sum(crawl.map((running) => running.usedCpuMs())) - sum(workersBefore)) / counted,
    database: database / counted,
    bucket: bucket / counted,
    site: ofSite / counted,
    databaseBusy: database / 1000 / seconds,
  };
}

async function embedded(parts: { readonly cluster: Cluster; readonly site: ManyHosts }): Promise<Measured> {
  const directory = await mkdtemp(join(tmpdir(), "bench-scale-"));
  try {
    const words = joinedCrawl(parts.site, { place: directory, maxPages: pages, delayMs: 0, concurrency });
    const { ARTICLE_EXTRACTOR_DATABASE_URL: _, ARTICLE_EXTRACTOR_STORE_URL: __, ...env } = parts.cluster.env;
    const alone = words.filter((word) => word !== "--join");
    const stored = async (): Promise<number> =>
      (await readdir(directory)).filter((name) => name.endsWith(".md")).length;
    return await measure("SQLite", [await startWorker(0, alone, env)], parts, stored);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function shared(
  count: number,
  round: number,
  parts: { readonly cluster: Cluster; readonly site: ManyHosts },
): Promise<Measured> {
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

function print(results: readonly Measured[]): void {
  console.log("subject          pages/s   CPU ms a page: worker   database   bucket   site   database busy");
  for (const { subject, pagesPerSecond, worker, database, bucket, site, databaseBusy } of results)
    console.log(
      [
        subject.padEnd(14),
        pagesPerSecond.toFixed(1).padStart(9),
        worker.toFixed(2).padStart(23),
        database.toFixed(2).padStart(10),
        bucket.toFixed(2).padStart(8),
        site.toFixed(2).padStart(6),
        `${(100 * databaseBusy).toFixed(0)} %`.padStart(15),
      ].join(" "),
    );
}

const cluster = await startCluster();
const site = await serveManyHosts({ hosts: HOSTS, pagesPerHost, answerMs: 0, missing: 0, bytes: BYTES });
try {
  const machine = describeMachine();
  console.log(
    `${machine}; ${pages} pages on ${HOSTS} hosts, concurrency ${concurrency}, warm-up ${warmUp}, ${cluster.bucket.kind}\n`,
  );
  const results: Measured[] = [];
  for (let round = 0; round < runs; round++) {
    results.push(await embedded({ cluster, site }));
    for (const count of [1, 2]) results.push(await shared(count, round, { cluster, site }));
  }
  print(results);
  const median = (subject: string, key: "pagesPerSecond" | "worker" | "database"): number =>
    percentile(
      results.filter((result) => result.subject === subject).map((result) => result[key]),
      0.5,
    );
  const one = "PostgreSQL, 1";
  const two = "PostgreSQL, 2";
  const ratio = median(two, "pagesPerSecond") / median(one, "pagesPerSecond");
  // A worker with a core of its own is as fast as its CPU a page; what a second one adds is what that does not grow.
  const ratioByCpu = (2 * median(one, "worker")) / median(two, "worker");
  console.log(`\ntwo processes beside one: ${ratio.toFixed(2)} times the pages a second on this machine`);
  console.log(`by their CPU a page, on cores of their own: ${ratioByCpu.toFixed(2)} times`);
  const commit = await describeCommit(join(import.meta.dir, "..", ".."));
  if (written.out)
    await Bun.write(
      written.out,
      `${JSON.stringify({ machine, commit, concurrency, warmUp, results, ratio, ratioByCpu }, null, 2)}\n`,
    );
} finally {
  await site[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
}
