// A process that works on a shared crawl until it is over: a site of so many pages, each with links to three others.
// It prints a line for each page that it settled or was refused.
import { noMetrics } from "../../src/base/metrics.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import type { ClaimedPage } from "../../src/crawler/frontier/frontier.ts";
import { openPostgresFrontier } from "../../src/scale/frontier/open.ts";
import { openPostgres } from "../../src/scale/postgres/postgres.ts";
import { crawlPlan } from "./crawling.ts";
import { seed, settle, url } from "./frontier-steps.ts";

const [databaseUrl = "", schema = "", count = "0", maxPages = "0", deadMs = "0"] = process.argv.slice(2);
const pages = Number(count);
const HOSTS = 7;
const page = (number: number) => url(`/${number}`, `host-${number % HOSTS}.test`);
const linksOf = ({ url: of }: ClaimedPage) => {
  const number = Number(new URL(of).pathname.slice(1));
  return [number * 2 + 1, number * 2 + 2, number * 7].filter((link) => link < pages).map(page);
};

const db = await openPostgres({ url: databaseUrl, schema, log: silentLog, metrics: noMetrics });
const frontier = await openPostgresFrontier({
  db,
  place: "file:///faults",
  plan: crawlPlan({ seeds: ["https://h.test/"], maxPages: Number(maxPages), maxDepth: 100 }),
  tries: 3,
  jobId: null,
  isFresh: false,
  freshName: "--fresh",
  canLead: true,
  pace: { beatMs: Number(deadMs) / 15, deadMs: Number(deadMs) },
});

async function work(claimed: ClaimedPage): Promise<void> {
  await Bun.sleep(Math.random() * 10);
  if (claimed.tries === 0 && Math.random() < 0.1)
    return frontier.retry(claimed, { waitMs: 20, tries: 1, spentMs: 1 });
  const isSettled = await settle(frontier, claimed, { urls: linksOf(claimed) });
  process.stdout.write(`${isSettled ? "settled" : "refused"} ${claimed.url}\n`);
}

async function lead(): Promise<void> {
  if (frontier.state().isSeeded) return;
  await frontier.add([{ ...seed("/0"), url: page(0) }]);
  await frontier.finishSeeding();
}

while (frontier.state().end === null) {
  if (frontier.state().leads) await lead();
  const { pages: claimed, waitMs, isOver } = await frontier.claim({ count: 8, isHostExclusive: false });
  await Promise.all(claimed.map(work));
  if (isOver && frontier.state().isSeeded && frontier.state().leads) {
    await frontier.dropQueued();
    await frontier.finish();
  } else if (claimed.length === 0) await Bun.sleep(Math.min(waitMs ?? 20, 50));
}
await frontier[Symbol.asyncDispose]();
await db[Symbol.asyncDispose]();
