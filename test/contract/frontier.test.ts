import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cp, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteFrontier } from "../../src/crawler/frontier/open.ts";
import type { CrawlPlan } from "../../src/crawler/index.ts";
import { crawlPlan } from "../support/crawling.ts";
import { claim, claimOne, type FrontierPlace, seed, settle } from "../support/frontier-steps.ts";
import { failureOf } from "../support/test-fetcher.ts";
import { describeFrontier } from "./frontier.contract.ts";
import { describeInterleavings } from "./frontier-interleavings.contract.ts";
import { describeLimits } from "./frontier-limits.contract.ts";

const open = (
  directory: string,
  plan: CrawlPlan = crawlPlan({ seeds: ["https://h.test/"] }),
  isFresh = false,
  now = Date.now,
) =>
  openSqliteFrontier({
    directory,
    place: directory,
    plan,
    tries: 3,
    jobId: null,
    isFresh,
    freshName: "--fresh",
    now,
  });

const makeDirectory = async () => {
  const path = await mkdtemp(join(tmpdir(), "frontier-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
};

const makePlace = async (): Promise<FrontierPlace> => {
  const directory = await makeDirectory();
  let now = 1_000_000;
  return {
    open: async (limits) =>
      open(directory.path, crawlPlan({ seeds: ["https://h.test/"], ...limits }), false, () => now),
    // The file stays as it is in this moment.
    async kill(frontier) {
      const left = `${directory.path}.left`;
      await cp(directory.path, left, { recursive: true });
      await frontier[Symbol.asyncDispose]();
      await rm(directory.path, { recursive: true });
      await rename(left, directory.path);
    },
    pass: async (ms) => {
      now += ms;
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
};

describeFrontier("SQLite", makePlace);
describeInterleavings("SQLite", makePlace, { workers: 1, runs: 40 });
describeLimits("SQLite", makePlace);

test("refuses a second crawl into the same directory while the first is running", async () => {
  await using directory = await makeDirectory();
  await using _first = open(directory.path);
  const failure = await failureOf((async () => open(directory.path))());
  expect(failure?.code).toBe("invalid_usage");
  expect(failure?.message).toContain("another crawl is running");
  const fresh = await failureOf((async () => open(directory.path, undefined, true))());
  expect(fresh?.message).toContain("another crawl is running");
});

test("hands out first what may be stored without an outcome, because that could not be written", async () => {
  await using directory = await makeDirectory();
  const plan = crawlPlan({ seeds: ["https://h.test/"], maxPages: 2 });
  await open(directory.path, plan)[Symbol.asyncDispose]();
  const found = await readdir(directory.path, { recursive: true });
  const file = join(directory.path, found.find((path) => path.endsWith(".sqlite")) ?? "");
  const change = (sql: string): void => {
    using database = new Database(file);
    database.run(sql);
  };
  // As a full disk would, it lets nothing be settled.
  change(
    "CREATE TRIGGER full BEFORE UPDATE ON page WHEN NEW.state = 3 BEGIN SELECT RAISE(FAIL, 'full'); END",
  );
  {
    await using frontier = open(directory.path, plan);
    await frontier.add([seed("/a"), seed("/b"), seed("/c", "other.test")]);
    const page = await claimOne(frontier);
    await expect(settle(frontier, page, {})).rejects.toThrow("full");
  }
  change("DROP TRIGGER full");
  await using again = open(directory.path, plan);
  expect(await claimOne(again)).toMatchObject({ url: "https://h.test/a", isTakenOver: true });
});

test("tells apart the URLs that its index takes for one, which are others in each crawl", async () => {
  const urls = Array.from({ length: 20_000 }, (_, n) => seed(`/${n}`));
  const alike: string[] = [];
  for (let crawl = 0; crawl < 2; crawl++) {
    await using directory = await makeDirectory();
    {
      await using frontier = open(directory.path);
      expect(await frontier.add(urls)).toBe(urls.length);
      expect(await frontier.add(urls)).toBe(0);
    }
    const found = await readdir(directory.path, { recursive: true });
    using file = new Database(join(directory.path, found.find((path) => path.endsWith(".sqlite")) ?? ""));
    const keys = file.query("SELECT group_concat(path) AS paths FROM page GROUP BY key HAVING count(*) > 1");
    alike.push(JSON.stringify(keys.all()));
    expect(keys.all().length).toBeGreaterThan(0);
  }
  expect(alike[0]).not.toBe(alike[1]);
});

test("refuses another scope once pages are stored, naming what differs, --fresh and another directory", async () => {
  await using directory = await makeDirectory();
  const other = crawlPlan({ seeds: ["https://h.test/"], denyPrefixes: ["https://h.test/x"] });
  await open(directory.path)[Symbol.asyncDispose]();
  {
    await using frontier = open(directory.path, other);
    expect(frontier.crawl.mode).toBe("new");
  }
  await using first = open(directory.path);
  await first.add([seed("/")]);
  await settle(first, (await claim(first, {}))[0], {});
  await first[Symbol.asyncDispose]();
  const failure = await failureOf((async () => open(directory.path, other))());
  expect(failure?.code).toBe("crawl_conflict");
  expect(failure?.message).toContain("deny prefixes");
  expect(failure?.message).toContain("--fresh");
  expect(failure?.message).toContain("another output directory");
  await using fresh = open(directory.path, other, true);
  expect(fresh.crawl.mode).toBe("new");
});

test.each(["an earlier", "a later", "no"])(
  "refuses a file of %s version and leaves it as it is, naming the file, both versions and what to do",
  async (which) => {
    await using directory = await makeDirectory();
    const file = join(directory.path, "frontier.sqlite");
    await open(directory.path)[Symbol.asyncDispose]();
    const readVersion = (): number => {
      using database = new Database(file);
      return database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
    };
    const own = readVersion();
    const version = which === "no" ? 0 : own + (which === "a later" ? 1 : -1);
    {
      using database = new Database(file);
      database.run(`PRAGMA user_version = ${version}`);
    }
    const failure = await failureOf((async () => open(directory.path))());
    expect(failure?.code).toBe("crawl_conflict");
    expect(failure?.message).toContain(`${file} has format ${version}, this version reads ${own}`);
    expect(failure?.message).toMatch(/another output directory, or begin anew with --fresh/);
    expect(readVersion()).toBe(version);
    await using fresh = open(directory.path, undefined, true);
    expect(fresh.crawl.mode).toBe("new");
  },
);

test("refuses a database of another program, and --fresh replaces it", async () => {
  await using directory = await makeDirectory();
  {
    using database = new Database(join(directory.path, "frontier.sqlite"), { create: true });
    database.run("CREATE TABLE crawl (name TEXT)");
  }
  const failure = await failureOf((async () => open(directory.path))());
  expect([failure?.code, failure?.message]).toEqual(["crawl_conflict", expect.stringContaining("format 0")]);
  await using fresh = open(directory.path, undefined, true);
  expect(fresh.crawl.mode).toBe("new");
});

test("goes on when only the pace has changed", async () => {
  await using directory = await makeDirectory();
  await open(directory.path)[Symbol.asyncDispose]();
  const faster = crawlPlan({ seeds: ["https://h.test/"], concurrency: 64, hostDelayMs: 5 });
  await using again = open(directory.path, faster);
  expect(again.crawl.mode).toBe("resumed");
});

test("says so when its file is no database, and --fresh replaces it", async () => {
  await using directory = await makeDirectory();
  await writeFile(join(directory.path, "frontier.sqlite"), "not a database, ".repeat(500));
  const failure = await failureOf((async () => open(directory.path))());
  expect(failure?.code).toBe("unreadable_input");
  await using fresh = open(directory.path, undefined, true);
  expect(fresh.crawl.mode).toBe("new");
});

test.each(["interrupted", "finished"])(
  "goes on with a crawl that was %s before the clock was set back by days",
  async (how) => {
    await using directory = await makeDirectory();
    const day = 24 * 60 * 60 * 1000;
    const start = Date.now();
    const plan = crawlPlan({ seeds: ["https://h.test/"] });
    const first = open(directory.path, plan, false, () => start);
    await first.add([seed("/")]);
    const page = await claimOne(first, { isHostExclusive: true });
    if (how === "finished") await settle(first, page, {});
    else await first.retry(page, { waitMs: 4000, tries: 1, spentMs: 0 });
    await first.freeHost(page, 3000);
    if (how === "finished") await first.finish();
    await first[Symbol.asyncDispose]();
    await using again = open(directory.path, plan, false, () => start - 5 * day);
    if (how === "finished") await again.add([seed("/")]);
    const { pages, waitMs } = await again.claim({ count: 1, isHostExclusive: true });
    expect([pages.length, waitMs]).toEqual(how === "finished" ? [1, null] : [0, 4000]);
    expect(again.crawl.now()).toBeGreaterThanOrEqual(Date.parse(again.crawl.startedAt));
  },
);

test("waits after an interruption as long as before it, although the clock was an hour ahead then", async () => {
  await using directory = await makeDirectory();
  const hour = 60 * 60 * 1000;
  const start = Date.now();
  const plan = crawlPlan({ seeds: ["https://h.test/"] });
  await open(directory.path, plan, false, () => start)[Symbol.asyncDispose]();
  {
    await using ahead = open(directory.path, plan, false, () => start + hour);
    await ahead.add([seed("/"), seed("/", "other.test"), seed("/next", "other.test")]);
    const { pages } = await ahead.claim({ count: 2, isHostExclusive: true });
    const page = (host: string) => pages.find((one) => one.host === host) as (typeof pages)[number];
    await ahead.retry(page("h.test"), { waitMs: 4000, tries: 1, spentMs: 0 });
    await settle(ahead, page("other.test"), {});
    await ahead.freeHost(page("h.test"), 3000);
    await ahead.freeHost(page("other.test"), 2000);
  }
  let now = start + 1000;
  // One that ends at once changes nothing for the next.
  await open(directory.path, plan, false, () => now)[Symbol.asyncDispose]();
  await using again = open(directory.path, plan, false, () => now);
  const waits = await again.claim({ count: 2, isHostExclusive: true });
  expect([waits.pages.length, waits.waitMs]).toEqual([0, 2000]);
  now += 4000;
  const { pages } = await again.claim({ count: 2, isHostExclusive: true });
  expect(pages.map(({ url }) => String(url))).toEqual(["https://h.test/", "https://other.test/next"]);
});
