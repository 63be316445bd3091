/**
 * Measures every page of both servers in Chromium: the time until something is painted, and the bytes with gzip of all
 * that it loads at first.
 *
 *   make bench-pages [RUNS=10]
 *
 * Every run has an empty cache. An empty page takes turns with each of them, because a busy machine slows both. Exits 1
 * when a page of ours weighs more than 60 kB, or when its median takes 100 ms longer on loopback than the empty page's.
 */
import { parseArgs } from "node:util";
import { openPageBrowser } from "../../test/support/page-browser.ts";
import { PAGES } from "../../test/support/pages/catalogue.ts";
import { openPage, WEIGHT_LIMIT } from "../../test/support/pages/look.ts";
import { startPageServers } from "../../test/support/pages/servers.ts";
import { describeMachine } from "./machine.ts";
import { parseCount } from "./options.ts";
import { percentile } from "./statistics.ts";

const PAINT_LIMIT_MS = 100;

const { values } = parseArgs({ options: { runs: { type: "string" } } });
const runs = parseCount("--runs", values.runs) ?? 10;
using empty = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response("<!doctype html><p>Empty", { headers: { "content-type": "text/html" } }),
});

const firstPaint = (): number | undefined =>
  performance.getEntriesByName("first-contentful-paint")[0]?.startTime;

await using origins = await startPageServers();
await using browser = await openPageBrowser();
console.log(describeMachine());
for (const served of PAGES) {
  const origin = origins[served.server];
  const floors: number[] = [];
  const paints: number[] = [];
  // The first run warms the server and the browser up.
  for (let run = 0; run <= runs; run++) {
    const floor = await paintOf(`${empty.url}`);
    const paint = await paintOf(`${origin}${served.path}`);
    if (run === 0) continue;
    floors.push(floor);
    paints.push(paint);
  }
  await using tab = await browser.visit({ origin });
  const bytes = await (await openPage(tab, origin, served))();
  const median = percentile(paints, 0.5);
  const floor = percentile(floors, 0.5);
  const isGood = served.isForeign || (bytes <= WEIGHT_LIMIT && median - floor <= PAINT_LIMIT_MS);
  const times = `median ${Math.round(median)} ms (empty page ${Math.round(floor)} ms), p95 ${Math.round(percentile(paints, 0.95))} ms`;
  console.log(
    `${served.name}: ${(bytes / 1000).toFixed(1)} kB, first paint ${times}${isGood ? "" : ": too much"}`,
  );
  if (!isGood) process.exitCode = 1;
}

async function paintOf(url: string): Promise<number> {
  await using tab = await browser.visit({ origin: url });
  await tab.page.goto(url);
  return (await (await tab.page.waitForFunction(firstPaint)).jsonValue()) ?? 0;
}
