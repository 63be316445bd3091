/**
 * Measures every page of both servers in Chromium: the bytes with gzip of all that it loads at first, and the time from
 * the beginning of the navigation until the browser shows its first text (first contentful paint).
 *
 *   make bench-pages [RUNS=10]
 *
 * In every round one tab opens an empty page and then each page, always with an empty cache. The tab stays open, because
 * Chromium fills a new window with pages of its own, which take the processor from the page that is measured. Exits 1
 * when a page of ours weighs more than 60 kB, or when its median is over 100 ms and also more than 30 ms over that of the
 * empty page, which a busy machine slows as well.
 */
import { parseArgs } from "node:util";
import { openPageBrowser, type Tab } from "../../test/support/page-browser.ts";
import { PAGES, type ServedPage } from "../../test/support/pages/catalogue.ts";
import { openPage, WEIGHT_LIMIT } from "../../test/support/pages/look.ts";
import { startPageServers } from "../../test/support/pages/servers.ts";
import { describeMachine } from "./machine.ts";
import { parseCount } from "./options.ts";
import { percentile } from "./statistics.ts";

const PAINT_LIMIT_MS = 100;
const OVER_EMPTY_LIMIT_MS = 30;

const { values } = parseArgs({ options: { runs: { type: "string" } } });
const runs = parseCount("--runs", values.runs) ?? 10;
using empty = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response("<!doctype html><p>Empty", { headers: { "content-type": "text/html" } }),
});

await using origins = await startPageServers();
await using browser = await openPageBrowser();
console.log(describeMachine());
console.log(
  `${PAGES.length} pages, each opened ${runs} times in one tab of Chromium with an empty cache, in turns with an empty page.\n`,
);

const emptyPaints: number[] = [];
const paints = new Map<ServedPage, number[]>(PAGES.map((served) => [served, []]));
{
  await using tab = await browser.visit({ origin: "" });
  const cache = await tab.page.context().newCDPSession(tab.page);
  const paintOf = async (url: string): Promise<number> => {
    // Another document in between, so that an address which differs in its fragment alone is loaded anew.
    await tab.page.goto("about:blank");
    await cache.send("Network.clearBrowserCache");
    await tab.page.goto(url, { waitUntil: "commit" });
    return await firstPaint(tab.page);
  };
  // The first round warms the servers and the browser up.
  for (let run = 0; run <= runs; run++) {
    const floor = await paintOf(`${empty.url}`);
    if (run > 0) emptyPaints.push(floor);
    for (const [served, times] of paints) {
      const paint = await paintOf(`${origins[served.server]}${served.path}`);
      if (run > 0) times.push(paint);
    }
  }
}

const floor = percentile(emptyPaints, 0.5);
const row = (name: string, ...cells: readonly string[]): void =>
  console.log(name.padEnd(18) + cells.map((cell) => cell.padStart(12)).join(""));
row("page", "gzip kB", "median ms", "p90 ms", "over empty");
row("(empty)", "", ...timesOf(emptyPaints));
for (const [served, times] of paints) {
  await using tab = await browser.visit({ origin: origins[served.server] });
  const bytes = await (await openPage(tab, origins[served.server], served))();
  const median = percentile(times, 0.5);
  const isHeavy = bytes > WEIGHT_LIMIT && !served.isForeign;
  const isSlow = median > PAINT_LIMIT_MS && median - floor > OVER_EMPTY_LIMIT_MS;
  row(
    served.name,
    (bytes / 1000).toFixed(1),
    ...timesOf(times),
    isHeavy ? "  too heavy" : "",
    isSlow ? "  too slow" : "",
  );
  if (isHeavy || isSlow) process.exitCode = 1;
}

function timesOf(times: readonly number[]): string[] {
  const median = percentile(times, 0.5);
  return [median, percentile(times, 0.9), median - floor].map((ms) => ms.toFixed(0));
}

async function firstPaint(page: Tab): Promise<number> {
  const painted = await page.waitForFunction(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  );
  return (await painted.jsonValue()) ?? 0;
}
