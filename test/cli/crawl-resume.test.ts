import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { BINARY, cleanEnvironment } from "../support/binary.ts";
import { type CrawlRun, crawlDirectory, crawlOnce, readCrawl } from "../support/crawl-run.ts";
import { type CrawlRoute, html, serveCrawlSite } from "../support/crawl-site.ts";
import { KILLS } from "../support/kills.ts";
import { crawlPage, type NumberedSite, serveNumberedSite } from "../support/numbered-site.ts";

const PAGES = 100;
const CONCURRENCY = 5;
/** One worker, and room for two pages that wait for it. */
const ONE_WORKER = { ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1" };
const LEASES = CONCURRENCY + 2;

let site: NumberedSite;
let whole: CrawlRun;
let wholeMs: number;

const words = (maxPages = 1000, maxDepth = 10): string[] => [
  `${site.origin}/`,
  "--max-pages",
  `${maxPages}`,
  "--max-depth",
  `${maxDepth}`,
  "--concurrency",
  `${CONCURRENCY}`,
  "--rate-limit",
  "0",
  "--max-failures",
  "1",
];

beforeAll(async () => {
  site = serveNumberedSite({
    pages: PAGES,
    fanOut: 4,
    answerMs: 4,
    answers: { "/p/7": { status: 404, body: "gone" } },
  });
  const before = performance.now();
  whole = await crawlOnce(words());
  wholeMs = performance.now() - before;
});
afterAll(() => site[Symbol.asyncDispose]());

const counts = (run: CrawlRun) => {
  const { total_pages, successful, failed, skipped } = run.manifest ?? {};
  return { total_pages, successful, failed, skipped };
};

const outcomes = (run: CrawlRun) =>
  (run.manifest?.results ?? [])
    .map(({ url, status, file_path, depth, content_hash }) => [url, status, file_path, depth, content_hash])
    .sort();

test("the whole crawl is what the killed ones are compared with", () => {
  expect(whole.exitCode).toBe(0);
  expect(whole.manifest?.failed).toBe(1);
  expect(whole.files.length).toBe(whole.manifest?.successful ?? 0);
  expect(whole.files.length).toBeGreaterThan(PAGES / 2);
});

/** Kills a crawl at some moment of what a whole one takes. */
async function crawlKilled(args: readonly string[], output: string, ms: number): Promise<void> {
  const child = Bun.spawn([BINARY, "crawl", ...args, "--output-dir", output], {
    env: cleanEnvironment(ONE_WORKER),
    stdio: ["ignore", "ignore", "ignore"],
  });
  await Bun.sleep(ms);
  child.kill("SIGKILL");
  await child.exited;
}

test.each([
  ["pages", 25, 10],
  ["depth", 1000, 2],
  ["both", 50, 3],
])(
  "killed under smaller limits (%s) and under larger ones, it ends as the whole crawl",
  async (_, pages, depth) => {
    await using directory = await crawlDirectory();
    // The smaller crawl ends or not, as it happens.
    await crawlKilled(words(pages, depth), directory.output, (0.1 + Math.random()) * wholeMs);
    await crawlKilled(words(), directory.output, Math.random() * wholeMs);
    const run = await directory.crawl(words());
    expect(run.exitCode).toBe(0);
    expect(run.files).toEqual(whole.files);
    expect(counts(run)).toEqual(counts(whole));
    expect(outcomes(run)).toEqual(outcomes(whole));
  },
);

test("killed again and again, it tells each change of a site that has changed, and moves what is gone", async () => {
  let isLater = false;
  const changed = (number: number) => crawlPage(`Page ${number} as it is now`, []);
  await using changing = serveCrawlSite({
    "/": crawlPage(
      "Start",
      Array.from({ length: 60 }, (_, number) => `/${number}`),
    ),
    ...Object.fromEntries(
      Array.from({ length: 60 }, (_, number): [string, CrawlRoute] => [
        `/${number}`,
        async () => {
          await Bun.sleep(4);
          if (!isLater || number % 3 === 0) return html(crawlPage(`Page ${number}`, []));
          return number % 3 === 1 ? html(changed(number)) : new Response(null, { status: 410 });
        },
      ]),
    ),
  });
  await using directory = await crawlDirectory();
  const args = [`${changing.origin}/`, "--concurrency", "3", "--rate-limit", "0"];
  const feed = join(directory.path, "feed.jsonl");
  const first = await directory.crawl([...args, "--changed-jsonl", "-"]);
  const linesOf = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  expect(linesOf(first.stdout).map(({ change }) => change)).toEqual(Array(61).fill("new"));
  isLater = true;
  for (let times = 0; times < 4; times++) {
    await crawlKilled([...args, "--changed-jsonl", feed], directory.output, 100 + Math.random() * 300);
    if (await Bun.file(feed).exists()) break; // a fast machine was through with it
  }
  const whole = (await Bun.file(feed).exists())
    ? null
    : await directory.crawl([...args, "--changed-jsonl", feed]);
  const lines = linesOf(await Bun.file(feed).text());
  const pathsWith = (change: string) =>
    lines
      .flatMap((line) => (line.change === change ? [Number(new URL(line.url).pathname.slice(1))] : []))
      .toSorted((a, b) => a - b);
  const ofThirds = (rest: number) => Array.from({ length: 20 }, (_, at) => 3 * at + rest);
  expect([lines.length, pathsWith("changed"), pathsWith("gone")]).toEqual([40, ofThirds(1), ofThirds(2)]);
  for (const { file_path } of lines)
    expect(await Bun.file(join(directory.output, file_path)).exists()).toBe(true);
  expect((await readCrawl(directory.output)).files).toHaveLength(41);
  if (whole)
    expect(whole.stderr).toContain("  since the last crawl: 0 new, 20 changed, 21 unchanged, 20 gone\n");
});

// Spread over the run, at places that differ with every run of the tests.
for (let moment = 0; moment < KILLS; moment++) {
  test(`killed at a moment in part ${moment + 1} of ${KILLS}, it goes on to the same result`, async () => {
    await using directory = await crawlDirectory();
    const from = site.visits.length;
    const child = Bun.spawn([BINARY, "crawl", ...words(), "--output-dir", directory.output], {
      cwd: directory.path,
      env: cleanEnvironment(ONE_WORKER),
      stdio: ["ignore", "ignore", "ignore"],
    });
    await Bun.sleep(((moment + Math.random()) / KILLS) * wholeMs);
    child.kill("SIGKILL");
    await child.exited;
    await Bun.sleep(20); // what the site was still answering
    const { manifest: left } = await readCrawl(directory.output);

    const run = await directory.crawl(words());
    expect(run.exitCode).toBe(0);
    expect(run.files).toEqual(whole.files);
    expect(counts(run)).toEqual(counts(whole));
    expect(outcomes(run)).toEqual(outcomes(whole));
    // It was through already, and at most on its way out: the second one is a crawl of its own, and asks for all again.
    if (left !== null && left.job_id !== run.manifest?.job_id) return;

    const twice = new Map<string, number>();
    for (const { path } of site.visits.slice(from)) twice.set(path, (twice.get(path) ?? 0) + 1);
    twice.delete("/robots.txt");
    const again = [...twice].filter(([, count]) => count > 1);
    expect(again.length).toBeLessThanOrEqual(LEASES);
    for (const [, count] of again) expect(count).toBe(2);
  });
}
