import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CrawlPlan, openSqliteFrontier } from "../../src/crawler/index.ts";
import { crawlPlan } from "../support/crawling.ts";
import { failureOf } from "../support/test-fetcher.ts";
import { describeFrontier } from "./frontier.contract.ts";

const open = (
  directory: string,
  plan: CrawlPlan = crawlPlan({ seeds: ["https://h.test/"] }),
  isFresh = false,
) =>
  openSqliteFrontier({
    directory,
    place: directory,
    plan,
    jobId: null,
    isFresh,
    freshName: "--fresh",
    now: () => new Date(),
  });

const makeDirectory = async () => {
  const path = await mkdtemp(join(tmpdir(), "frontier-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
};

describeFrontier("SQLite", async () => {
  const directory = await makeDirectory();
  return { open: () => open(directory.path), [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
});

test("refuses a second crawl into the same directory while the first is running", async () => {
  await using directory = await makeDirectory();
  await using _first = open(directory.path);
  const failure = await failureOf((async () => open(directory.path))());
  expect(failure?.code).toBe("invalid_usage");
  expect(failure?.message).toContain("another crawl is running");
  const fresh = await failureOf((async () => open(directory.path, undefined, true))());
  expect(fresh?.message).toContain("another crawl is running");
});

test("refuses another plan, naming what differs, --fresh and another directory", async () => {
  await using directory = await makeDirectory();
  await open(directory.path)[Symbol.asyncDispose]();
  const other = crawlPlan({ seeds: ["https://h.test/"], maxDepth: 7 });
  const failure = await failureOf((async () => open(directory.path, other))());
  expect(failure?.code).toBe("invalid_usage");
  expect(failure?.message).toContain("the depth cap");
  expect(failure?.message).toContain("--fresh");
  expect(failure?.message).toContain("another output directory");
  await using fresh = open(directory.path, other, true);
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
