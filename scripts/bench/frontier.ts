/**
 * Measures the frontier alone, in SQLite and in PostgreSQL with the same steps: claims, settles and CPU time a page while
 * it holds more and more URLs.
 *
 *   bun scripts/bench/frontier.ts [--urls N] [--settles N] [--engines sqlite,postgres] [--out FILE]
 *
 * URLs are added like those of sitemaps, over a hundred hosts: 10 000, 100 000, and the last size (a million by default).
 * At each size pages are claimed sixteen at a time and settled together, each with a hundred links, of which five are
 * new. The others are known but not met by this process, which makes the engine look them up; then, in a second part, a
 * menu that it has met. `--settles` more pages (100 000 by default) follow before the last claims. It fails when a page is
 * claimed twice, or when the resident set grows while pages are settled.
 *
 * The server's CPU time is that of all processes of a PostgreSQL of the bench's own, autovacuum included.
 */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { noMetrics } from "../../src/base/metrics.ts";
import { migrate, openPostgres, type Parameter, type Postgres } from "../../src/base/postgres/index.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import type { ClaimedPage, Frontier, Settlement } from "../../src/crawler/frontier/frontier.ts";
import { openSqliteFrontier } from "../../src/crawler/frontier/open.ts";
import { openPostgresFrontier } from "../../src/crawler/frontier/postgres.ts";
import { createCrawlPlan } from "../../src/crawler/index.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import type { PageUrl } from "../../src/urls/index.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { parseCount } from "./options.ts";
import { percentile } from "./statistics.ts";

const HOSTS = 100;
const BATCH = 1000;
const SIZES = [10_000, 100_000];
/** Pages settled for one measurement. */
const SETTLED = 2000;
const LINKS = 100;
const NEW_LINKS = 5;
const CLAIMED_AT_ONCE = 16;

const { values: options } = parseArgs({
  options: {
    urls: { type: "string" },
    settles: { type: "string" },
    engines: { type: "string" },
    out: { type: "string" },
  },
});
const mostUrls = parseCount("--urls", options.urls) ?? 1_000_000;
const moreSettles = parseCount("--settles", options.settles) ?? 100_000;
const wanted = (options.engines ?? "sqlite,postgres").split(",");

// These URLs are canonical already, so nothing is parsed here.
const urlOf = (number: number): PageUrl =>
  `https://host-${number % HOSTS}.example.org/section/${number % 977}/a-page-with-a-usual-name-${number}.html` as PageUrl;

/** The resident set without the bench's own garbage. */
function rssMb(): number {
  Bun.gc(true);
  return Math.round(process.memoryUsage.rss() / 1024 / 1024);
}

type Engine = AsyncDisposable & {
  readonly name: string;
  readonly frontier: Frontier;
  /** How long the engine's own claims took, in ms, where it makes them ahead. */
  readonly claims: number[] | null;
  /** The CPU time so far of processes other than this one, in ms. */
  readonly serverMs: () => number;
  /** What a URL and an outcome take on the disk; null where nobody asks. */
  readonly sizes: (() => Promise<readonly Sizes[]>) | null;
};

/** Bytes a row of the table of URLs or of outcomes, and in its indexes. */
type Sizes = { readonly name: string; readonly row: number; readonly index: number };

const plan = createCrawlPlan({
  seeds: ["https://example.org/"],
  sitemaps: [],
  allowPrefixes: [],
  denyPrefixes: [],
  maxPages: 1_000_000,
  maxDepth: 10,
  concurrency: CLAIMED_AT_ONCE,
  hostDelayMs: 0,
  hasAdaptiveDelay: false,
  followsLinks: true,
  obeysRobots: true,
  respectsMetaRobots: false,
  discoversSitemaps: false,
  trustsLastModified: false,
  preference: "http_only",
  extraction: { ...DEFAULT_EXTRACTION, renderings: [] },
});
const common = { plan, tries: 3, jobId: null, isFresh: false, freshName: "--fresh" };

async function openSqlite(): Promise<Engine> {
  const directory = await mkdtemp(join(tmpdir(), "bench-frontier-"));
  const frontier = openSqliteFrontier({ ...common, directory, place: directory, now: () => new Date() });
  return {
    name: "sqlite",
    frontier,
    claims: null,
    serverMs: () => 0,
    sizes: null,
    async [Symbol.asyncDispose]() {
      await frontier[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function openServer(): Promise<Engine> {
  const server = await startPostgres(["shared_buffers=1GB", "max_wal_size=4GB"]);
  const db = await openPostgres({ url: server.url, schema: "bench", log: silentLog, metrics: noMetrics });
  await migrate(db);
  const claims: number[] = [];
  const options = { ...common, db: timed(db, claims), place: "file:///bench", canLead: true };
  const frontier = await openPostgresFrontier(options);
  const postmaster = Number(readFileSync(join(server.directory, "postmaster.pid"), "utf8").split("\n")[0]);
  return {
    name: "postgres",
    frontier,
    claims,
    serverMs: () => cpuOfFamily(postmaster),
    sizes: () => {
      const of = (name: string) =>
        `SELECT '${name}' AS name, pg_table_size('bench.${name}')::float8 / count(*) AS row,
          pg_indexes_size('bench.${name}')::float8 / count(*) AS index FROM bench.${name}`;
      return db.query<Sizes>(`${of("crawl_page")} UNION ALL ${of("crawl_outcome")}`);
    },
    async [Symbol.asyncDispose]() {
      await frontier[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The database, with the times of claims taken down. */
const timed = (db: Postgres, claims: number[]): Postgres => ({
  ...db,
  patient: (patience) => timed(db.patient(patience), claims),
  async query<Row>(sql: string, parameters?: readonly Parameter[]) {
    const startedAt = performance.now();
    const rows = await db.query<Row>(sql, parameters);
    if (sql.includes("crawl_take_pages")) claims.push(performance.now() - startedAt);
    return rows;
  },
});

/** The CPU time of a process and its children, living and gone, in ms. */
function cpuOfFamily(parent: number): number {
  const TICK_MS = 10;
  let ticks = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    let fields: string[];
    try {
      fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    } catch {
      continue; // it has just ended
    }
    const [, parentOf] = fields;
    const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
    if (Number(pid) === parent) ticks += (childrenUser ?? 0) + (childrenSystem ?? 0);
    if (Number(pid) === parent || Number(parentOf) === parent) ticks += (user ?? 0) + (system ?? 0);
  }
  return ticks * TICK_MS;
}

async function add(frontier: Frontier, from: number, to: number): Promise<void> {
  for (let start = from; start < to; start += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, to - start) }, (_, index) => ({
      url: urlOf(start + index),
      source: "sitemap" as const,
      lastModified: null,
      refusal: null,
    }));
    await frontier.add(entries);
  }
}

type Links = "looked up" | "met";

function settlement(
  page: ClaimedPage,
  { number, urls, links: kind }: { number: number; urls: number; links: Links },
): Settlement {
  const links = Array.from({ length: LINKS }, (_, index) => {
    if (index < NEW_LINKS) return urlOf(10_000_000 + number * NEW_LINKS + index);
    return urlOf(kind === "met" ? index : (number * 7919 + index * 104_729) % urls);
  });
  const outcome = {
    status: "success",
    filePath: `page-${number}.md`,
    wordCount: 900,
    title: "A page with a usual title",
    httpStatus: 200,
    finalUrl: page.url,
    durationMs: 120,
    contentHash: `sha256:${"0".repeat(64)}`,
    warnings: [],
    error: null,
    reason: null,
    change: "new",
    fetcher: "http",
  } as const;
  return {
    page,
    outcome,
    isFetched: true,
    validators: null,
    links,
    follow: "now",
    skippedLinks: new Map([["foreign_origin", 12]]),
  };
}

type Run = { readonly engine: Engine; readonly seen: Set<number> };

/** Claims and settles pages, and measures both. */
async function settleMany({ engine, seen }: Run, work: { count: number; urls: number; links: Links }) {
  const { frontier, serverMs } = engine;
  const claims = engine.claims ?? [];
  claims.length = 0;
  const before = { cpu: process.cpuUsage(), server: serverMs(), at: performance.now(), seen: seen.size };
  while (seen.size - before.seen < work.count) {
    const startedAt = performance.now();
    const { pages } = await frontier.claim({ count: CLAIMED_AT_ONCE, isHostExclusive: false });
    if (engine.claims === null) claims.push(performance.now() - startedAt);
    const settling = pages.map((page) => {
      if (seen.has(page.id)) throw new Error(`${page.url} was handed out twice`);
      seen.add(page.id);
      return frontier.settle(settlement(page, { ...work, number: seen.size }));
    });
    if (!(await Promise.all(settling)).every(Boolean)) throw new Error("a settle was refused");
  }
  const { user, system } = process.cpuUsage(before.cpu);
  const pages = seen.size - before.seen;
  const result = {
    urls: work.urls,
    links: work.links,
    pages,
    pagesPerSecond: Math.round(pages / ((performance.now() - before.at) / 1000)),
    claimMs: { p50: percentile(claims, 0.5), p95: percentile(claims, 0.95) },
    clientMsPerPage: (user + system) / 1000 / pages,
    serverMsPerPage: (serverMs() - before.server) / pages,
  };
  console.log(
    `${engine.name.padEnd(8)} ${String(work.urls).padStart(8)} URLs, links ${work.links.padEnd(9)}: claim p50 ${result.claimMs.p50.toFixed(2)} p95 ${result.claimMs.p95.toFixed(2)} ms; CPU ms a page: client ${result.clientMsPerPage.toFixed(3)} + server ${result.serverMsPerPage.toFixed(3)}; ${result.pagesPerSecond} pages/s`,
  );
  return result;
}

async function measure(open: () => Promise<Engine>) {
  await using engine = await open();
  const run: Run = { engine, seen: new Set() };
  const results = [];
  const rss: number[] = [];
  let added = 0;
  for (const urls of [...SIZES.filter((size) => size < mostUrls), mostUrls]) {
    const before = { server: engine.serverMs(), cpu: process.cpuUsage() };
    await add(engine.frontier, added, urls);
    const { user, system } = process.cpuUsage(before.cpu);
    const server = engine.serverMs() - before.server;
    console.log(
      `${engine.name.padEnd(8)} ${String(urls).padStart(8)} URLs; CPU ms a URL added: client ${((user + system) / 1000 / (urls - added)).toFixed(3)} + server ${(server / (urls - added)).toFixed(3)}`,
    );
    added = urls;
    for (const links of ["looked up", "met"] as const)
      results.push(await settleMany(run, { count: SETTLED, urls, links }));
  }
  if (moreSettles > 0) {
    for (let part = 0; part < 4; part++) {
      results.push(await settleMany(run, { count: moreSettles / 4, urls: mostUrls, links: "met" }));
      rss.push(rssMb());
    }
    results.push(await settleMany(run, { count: SETTLED, urls: mostUrls, links: "looked up" }));
  }
  const sizes = (await engine.sizes?.()) ?? [];
  for (const { name, row, index } of sizes)
    console.log(
      `${engine.name.padEnd(8)} ${name}: ${Math.round(row)} bytes a row, and ${Math.round(index)} in indexes`,
    );
  console.log(`${engine.name.padEnd(8)} RSS by quarter: ${rss.join(", ")} MB`);
  if ((rss.at(-1) ?? 0) > 1.1 * (rss[1] ?? 0)) throw new Error("memory grew while pages were settled");
  return { engine: engine.name, results, rss, sizes };
}

const machine = describeMachine();
console.log(`${machine}; ${mostUrls} URLs on ${HOSTS} hosts`);
const engines = { sqlite: openSqlite, postgres: openServer };
const measured = [];
for (const [name, open] of Object.entries(engines))
  if (wanted.includes(name)) measured.push(await measure(open));
const commit = await describeCommit(join(import.meta.dir, "..", ".."));
if (options.out) await Bun.write(options.out, `${JSON.stringify({ machine, commit, measured }, null, 2)}\n`);
