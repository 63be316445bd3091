/**
 * Measures the frontier alone: claims and settles per second while it holds many URLs.
 *
 *   bun scripts/bench/frontier.ts [--urls N] [--out FILE]
 *
 * The URLs (a million by default) are added like those of sitemaps, over a hundred hosts. Then pages are claimed sixteen
 * at a time and settled one by one, each with a hundred links, of which five are new. It fails when a page is claimed
 * twice, or when the resident set grows while pages are settled.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createCrawlPlan } from "../../src/crawler/index.ts";
import {
  type ClaimedPage,
  type Frontier,
  openSqliteFrontier,
  type Settlement,
} from "../../src/crawler/testing.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import type { PageUrl } from "../../src/urls/index.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { parseCount } from "./options.ts";

const HOSTS = 100;
const BATCH = 1000;
const SETTLED = 20_000;
const LINKS = 100;
const NEW_LINKS = 5;
const CLAIMED_AT_ONCE = 16;

const { values: options } = parseArgs({ options: { urls: { type: "string" }, out: { type: "string" } } });
const urls = parseCount("--urls", options.urls) ?? 1_000_000;

// These URLs are canonical already, so nothing is parsed here.
const urlOf = (number: number): PageUrl =>
  `https://host-${number % HOSTS}.example.org/section/${number % 977}/a-page-with-a-usual-name-${number}.html` as PageUrl;

/** The resident set without the bench's own garbage. */
function rssMb(): number {
  Bun.gc(true);
  return Math.round(process.memoryUsage.rss() / 1024 / 1024);
}

async function addAll(frontier: Frontier): Promise<void> {
  for (let from = 0; from < urls; from += BATCH) {
    const count = Math.min(BATCH, urls - from);
    const entries = Array.from({ length: count }, (_, index) => ({
      url: urlOf(from + index),
      source: "sitemap" as const,
      lastModified: null,
      refusal: null,
    }));
    await frontier.add(entries);
  }
  await frontier.finishSeeding();
}

function settlement(page: ClaimedPage, number: number): Settlement {
  const links = Array.from({ length: LINKS }, (_, index) =>
    index < NEW_LINKS
      ? urlOf(urls + number * NEW_LINKS + index)
      : urlOf((number * 7919 + index * 104_729) % urls),
  );
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

async function settleMany(frontier: Frontier) {
  const seen = new Set<number>();
  const times = { claimMs: 0, settleMs: 0 };
  const rss: number[] = [];
  while (seen.size < SETTLED) {
    const startedAt = performance.now();
    const { pages } = await frontier.claim({ count: CLAIMED_AT_ONCE, isHostExclusive: false });
    times.claimMs += performance.now() - startedAt;
    for (const page of pages) {
      if (seen.has(page.id)) throw new Error(`${page.url} was handed out twice`);
      seen.add(page.id);
      const settled = settlement(page, seen.size);
      const settleStartedAt = performance.now();
      await frontier.settle(settled);
      times.settleMs += performance.now() - settleStartedAt;
      if (seen.size % (SETTLED / 4) === 0) rss.push(rssMb());
    }
  }
  return { ...times, rss };
}

const directory = await mkdtemp(join(tmpdir(), "bench-frontier-"));
try {
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
  await using frontier = openSqliteFrontier({
    directory,
    place: directory,
    plan,
    tries: 3,
    jobId: null,
    isFresh: false,
    freshName: "--fresh",
    now: () => new Date(),
  });
  const machine = describeMachine();
  console.log(`${machine}; ${urls} URLs on ${HOSTS} hosts`);
  const startedAt = performance.now();
  await addAll(frontier);
  const addsPerSecond = Math.round(urls / ((performance.now() - startedAt) / 1000));
  const { size } = await stat(join(directory, "frontier.sqlite"));
  console.log(
    `added: ${addsPerSecond} a second, ${Math.round(size / 1024 / 1024)} MB on disk, RSS ${rssMb()} MB`,
  );
  const cpu = process.cpuUsage();
  const { claimMs, settleMs, rss } = await settleMany(frontier);
  const { user, system } = process.cpuUsage(cpu);
  const result = {
    machine,
    commit: await describeCommit(join(import.meta.dir, "..", "..")),
    urls,
    addsPerSecond,
    claimsPerSecond: Math.round(SETTLED / (claimMs / 1000)),
    settlesPerSecond: Math.round(SETTLED / (settleMs / 1000)),
    cpuMsPerPage: (user + system) / 1000 / SETTLED,
    fileMb: Math.round(size / 1024 / 1024),
    rssMbByQuarter: rss,
  };
  console.log(
    `claimed: ${result.claimsPerSecond} a second; settled (${LINKS} links, ${NEW_LINKS} new): ${result.settlesPerSecond} a second; ${result.cpuMsPerPage.toFixed(3)} ms CPU a page`,
  );
  console.log(`RSS by quarter: ${rss.join(", ")} MB`);
  if (options.out) await Bun.write(options.out, `${JSON.stringify(result, null, 2)}\n`);
  if ((rss.at(-1) ?? 0) > 1.1 * (rss[1] ?? 0)) throw new Error("memory grew while pages were settled");
} finally {
  await rm(directory, { recursive: true, force: true });
}
