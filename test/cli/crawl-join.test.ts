import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { BINARY, cleanEnvironment, requireBinary, runBinary } from "../support/binary.ts";
import { readCrawl } from "../support/crawl-run.ts";
import type { ManifestFile } from "../support/crawling.ts";
import { outputOf } from "../support/local.ts";
import { type NumberedSite, type NumberedSiteOptions, serveNumberedSite } from "../support/numbered-site.ts";
import { testDatabase } from "../support/postgres.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const database = await testDatabase();
afterAll(() => database[Symbol.asyncDispose]());

const DATABASE = {
  ARTICLE_EXTRACTOR_DATABASE_URL: database.url,
  ARTICLE_EXTRACTOR_DATABASE_SCHEMA: database.schema,
};

/** Several runs of one command, into a directory that they share. */
async function joinedCrawl(site: NumberedSite, words: readonly string[] = []) {
  requireBinary();
  const place = temporaryDirectory();
  const output = join(place.path, "out");
  const running: Bun.Subprocess[] = [];
  return {
    path: place.path,
    start(more: readonly string[] = []) {
      const pace = ["--rate-limit", "0", "--concurrency", "3", "--timeout", "100", "--ignore-robots"];
      const command = [BINARY, "crawl", `${site.origin}/`, "--join", "--output-dir", "out", ...pace];
      const child = Bun.spawn([...command, ...words, ...more], {
        cwd: place.path,
        env: cleanEnvironment({ ...DATABASE, ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1" }),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      running.push(child);
      return { child, ended: outputOf(child) };
    },
    read: () => readCrawl(output),
    async [Symbol.asyncDispose]() {
      for (const child of running) child.kill("SIGKILL");
      await Promise.all(running.map(({ exited }) => exited));
      await place[Symbol.asyncDispose]();
    },
  };
}

/** Checks that each URL has one outcome and each stored page its file; returns how many pages were stored. */
function expectWhole({
  manifest,
  files,
}: {
  manifest: ManifestFile | null;
  files: readonly string[];
}): number {
  if (!manifest) throw new Error("there is no manifest");
  const { total_pages, successful, failed, skipped, results } = manifest;
  expect([successful + failed + skipped, results.length]).toEqual([total_pages, total_pages]);
  expect(new Set(results.map(({ url }) => url)).size).toBe(total_pages);
  const stored = results.flatMap(({ file_path }) => (file_path === null ? [] : [file_path]));
  expect(stored.toSorted()).toEqual([...files]);
  return successful;
}

/** Answers some requests and holds the others until it may go on, so that all processes are there by then. */
function heldSite(options: NumberedSiteOptions): NumberedSite & { goOn(): void } {
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  const until = (_: string, earlier: number) => (earlier >= 11 ? promise : undefined);
  return Object.assign(serveNumberedSite({ ...options, until }), { goOn });
}

/** Waits until so many processes have asked, of which each has three requests under way at most. */
const untilAsked = (site: NumberedSite, processes: number): Promise<void> =>
  untilTrue(() => site.open > 3 * (processes - 1));

describe("crawl --join", () => {
  test("crawls each page once with three processes, which all tell the same end", async () => {
    await using site = heldSite({ pages: 80 });
    await using crawl = await joinedCrawl(site, ["--max-pages", "41"]);
    const started = [1, 2, 3].map(() => crawl.start().ended);
    await untilAsked(site, 3);
    site.goOn();
    const runs = await Promise.all(started);
    for (const { exitCode, stdout, stderr } of runs) {
      expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0, stdout: "" });
      expect(stderr).toMatch(
        /^at most 41 pages .*\nwarning: robots.txt is ignored\ncrawled 41 pages .*: 41 stored in out, 0 failed\n/,
      );
      expect(stderr).toContain("the limit of 41 pages was reached; a larger --max-pages continues from here");
      expect(stderr).toContain("every page and its outcome: out/manifest.json");
    }
    expect([expectWhole(await crawl.read()), site.visits.length]).toEqual([41, 41]);
  });

  test("goes on when one process is interrupted, whose pages go back at once", async () => {
    await using site = heldSite({ pages: 80 });
    await using crawl = await joinedCrawl(site);
    const first = crawl.start();
    await untilTrue(() => site.visits.length > 0);
    const second = crawl.start();
    await untilAsked(site, 2);
    first.child.kill("SIGINT");
    site.goOn();
    const left = await first.ended;
    expect(left.exitCode).toBe(130);
    expect(left.stderr).toMatch(/stopped after .* of .*; the same command continues from here\n/);
    expect((await second.ended).exitCode).toBe(0);
    expect(expectWhole(await crawl.read())).toBe(80);
    expect(site.visits.length).toBeLessThanOrEqual(80 + 3 + 2);
  });

  test("loses nothing when the leader is killed", async () => {
    await using site = heldSite({ pages: 60 });
    await using crawl = await joinedCrawl(site);
    const leader = crawl.start();
    await untilTrue(() => site.visits.length > 0);
    const helpers = [crawl.start(), crawl.start()];
    await untilAsked(site, 3);
    leader.child.kill("SIGKILL");
    site.goOn();
    for (const { ended } of helpers) expect((await ended).exitCode).toBe(0);
    expect(expectWhole(await crawl.read())).toBe(60);
    expect(site.visits.length).toBeLessThanOrEqual(60 + 3 + 2);
  });

  test("is gone on with after all were interrupted, also by a process alone", async () => {
    await using site = heldSite({ pages: 60 });
    await using crawl = await joinedCrawl(site);
    const runs = [crawl.start(), crawl.start()];
    await untilAsked(site, 2);
    for (const { child } of runs) child.kill("SIGTERM");
    site.goOn();
    for (const { ended } of runs) expect((await ended).exitCode).toBe(130);
    expect((await crawl.read()).manifest).toBeNull();
    const again = await crawl.start().ended;
    expect(again.stderr).toMatch(/crawled 60 pages \(\d+ of them before\)/);
    expect(expectWhole(await crawl.read())).toBe(60);
  });

  test("ends with the same exit code for all when pages failed", async () => {
    await using site = heldSite({ pages: 40, answers: { "/p/7": { status: 500 }, "/p/8": { status: 404 } } });
    await using crawl = await joinedCrawl(site, ["--retries", "0"]);
    const started = [1, 2].map(() => crawl.start().ended);
    await untilAsked(site, 2);
    site.goOn();
    for (const { exitCode, stderr } of await Promise.all(started)) {
      expect(exitCode).toBe(3);
      expect(stderr).toContain("2 of 40 pages failed; --max-failures allows 0");
    }
  });

  test("writes the JSON line of each page once, in the process that crawled it", async () => {
    await using site = serveNumberedSite({ pages: 40, answerMs: 10, answers: { "/p/33": { status: 404 } } });
    await using crawl = await joinedCrawl(site, ["--jsonl", "--fields", "url", "--max-failures", "1"]);
    const runs = await Promise.all([1, 2].map(() => crawl.start().ended));
    const urls = runs.flatMap(({ exitCode, stdout }) => {
      expect(exitCode).toBe(0);
      return stdout
        .trim()
        .split("\n")
        .filter((line) => line !== "")
        .map((line): string => JSON.parse(line).url);
    });
    const { manifest } = await crawl.read();
    expect(urls.toSorted()).toEqual((manifest?.results ?? []).map(({ url }) => url).toSorted());
    expect([urls.length, manifest?.failed]).toEqual([40, 1]);
  });

  test("refuses another plan while it runs and names what differs; another pace may join", async () => {
    await using site = heldSite({ pages: 40 });
    await using crawl = await joinedCrawl(site);
    const first = crawl.start();
    await untilTrue(() => site.visits.length > 0);
    const other = await crawl.start(["--max-depth", "1", "--min-words", "3"]).ended;
    expect(other.exitCode).toBe(2);
    expect(other.stderr).toMatch(/^error: .*depth.*\n/);
    const faster = crawl.start(["--concurrency", "5"]);
    await untilAsked(site, 2);
    site.goOn();
    expect((await faster.ended).exitCode).toBe(0);
    expect((await first.ended).exitCode).toBe(0);
    expect(expectWhole(await crawl.read())).toBe(40);
  });

  test("crawls a finished crawl again only under another name, and --fresh from nothing", async () => {
    await using site = serveNumberedSite({ pages: 5 });
    await using crawl = await joinedCrawl(site);
    expect((await crawl.start().ended).exitCode).toBe(0);
    const late = await crawl.start().ended;
    expect(late.exitCode).toBe(0);
    expect(late.stderr).toContain("nothing was left to do; --run with another name crawls it again");
    expect(site.visits.length).toBe(5);
    const monday = await crawl.start(["--run", "monday"]).ended;
    expect(monday.stderr).toContain("since the last crawl: 0 new, 0 changed, 5 unchanged, 0 gone");
    expect((await crawl.read()).manifest?.job_id).toBe("monday");
    const fresh = await crawl.start(["--fresh"]).ended;
    expect(fresh.stderr).toContain("crawled 5 pages in ");
    expect(site.visits.length).toBe(15);
  });

  test("tells what to do about a database that was not set up", async () => {
    await using empty = await testDatabase(undefined, { isEmpty: true });
    const words = ["crawl", "http://127.0.0.1:1/", "--join", "--output-dir", "out"];
    const { exitCode, stderr } = await runBinary(words, {
      env: { ...DATABASE, ARTICLE_EXTRACTOR_DATABASE_SCHEMA: empty.schema },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("article-extractor database migrate");
  });
});
