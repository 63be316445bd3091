/**
 * Crawling a site on loopback: the built program beside Scrapy with trafilatura and Crawl4AI, in the same run.
 *
 *   bun scripts/bench/crawl.ts [--pages N] [--concurrency N] [--peer scrapy,crawl4ai]
 *                              [--fetcher http|browser|default] [--runs N] [--out FILE]
 *
 * `--fetcher default` asks for no fetcher, with a browser on the machine: pages are rendered where that changes
 * something, and those of the site have a script that changes nothing.
 *
 * A process of its own serves the site; its CPU is not counted, although it takes some of the machine's. The bench
 * prints pages per second, CPU per page (of the program with its threads, and of its browser), and the peak and course
 * of memory: of the resident set, with a browser of all its processes, shared memory divided among those who share it.
 * It fails when pages are missing, or when in a run of 10 000 or more pages the resident set of the last quarter is
 * more than 10 % above that of the second.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import {
  descendantsOf,
  introduce,
  keep,
  memoryMb,
  PROGRAM,
  parseNames,
  printTable,
  quarterOf,
  readOptions,
  readProcesses,
  serveCrawlSite,
  sum,
  TICK_MS,
} from "./bench.ts";
import { installPython } from "./contenders.ts";

const PEERS = ["scrapy", "crawl4ai"] as const;
const SAMPLE_MS = 100;
/** The allowed growth of the resident set from the second to the last quarter of a run. */
const MAX_GROWTH = 1.1;

const options = readOptions({ pages: 2000, concurrency: 16, runs: 1, peer: "", fetcher: "http" });
const { pages, concurrency } = options;
const [fetcher = "http"] = parseNames("--fetcher", options.fetcher, ["http", "browser", "default"]);
const chromium = fetcher === "http" ? null : Bun.which("chromium");
if (fetcher !== "http" && chromium === null) throw new Error(`--fetcher ${fetcher} needs chromium on PATH`);

type Command = (url: string, output: string) => readonly string[];

const ours: Command = (url, output) => {
  const limits = { "max-pages": pages, "max-depth": 100, concurrency, "rate-limit": 0 };
  const flags = Object.entries(limits).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const preference = fetcher === "default" ? [] : [`--prefer-${fetcher}`];
  return [PROGRAM, "crawl", "--seed", url, "--output-dir", output, "--quiet", ...preference, ...flags];
};

async function preparePeer(peer: (typeof PEERS)[number]): Promise<Command> {
  if (peer === "scrapy" && chromium !== null) throw new Error("Scrapy has no browser");
  const python = await installPython(peer, options.scratch);
  const script = join(import.meta.dir, "peers", `${peer}_peer.py`);
  const limits = peer === "scrapy" ? [String(pages)] : [];
  const browser = chromium === null ? [] : [chromium];
  return (url, output) => [python, script, url, output, String(concurrency), ...limits, ...browser];
}

async function measure(subject: string, command: Command, url: string) {
  using output = temporaryDirectory();
  const startedAt = performance.now();
  const child = Bun.spawn([...command(url, output.path)], { stdout: "ignore", stderr: "inherit" });
  const samples: number[] = [];
  let familyTicks = 0;
  const sampler = setInterval(() => {
    if (chromium === null) {
      samples.push(memoryMb(child.pid, "VmRSS"));
      return;
    }
    // What a process of the browser took that nobody waited for is in no account of the program.
    const all = readProcesses();
    const family = [...all.filter(({ pid }) => pid === child.pid), ...descendantsOf(child.pid, all)];
    familyTicks = Math.max(familyTicks, sum(family.map(({ cpuTicks }) => cpuTicks)));
    samples.push(sum(family.map(({ pid }) => memoryMb(pid, "Pss"))));
  }, SAMPLE_MS);
  const exitCode = await child.exited;
  clearInterval(sampler);
  const seconds = (performance.now() - startedAt) / 1000;
  if (exitCode !== 0) throw new Error(`${subject} ended with exit code ${exitCode}`);
  const usage = child.resourceUsage();
  const stored = (await readdir(output.path)).filter((name) => name.endsWith(".md")).length;
  // Scrapy finishes the pages that are under way, so it may store a few more.
  if (stored < pages) throw new Error(`${subject} stored ${stored} of ${pages} pages`);
  return {
    subject,
    stored,
    pagesPerSecond: stored / seconds,
    cpuMsPerPage: Math.max(Number(usage?.cpuTime.total ?? 0) / 1000, familyTicks * TICK_MS) / stored,
    peakRssMb: chromium === null ? (usage?.maxRSS ?? 0) / 1024 / 1024 : Math.max(...samples),
    secondQuarterRssMb: quarterOf(samples, 2),
    lastQuarterRssMb: quarterOf(samples, 4),
  };
}

using site = await serveCrawlSite(pages);
const subjects = new Map<string, Command>([["ours", ours]]);
for (const peer of parseNames("--peer", options.peer, PEERS)) subjects.set(peer, await preparePeer(peer));
const about = await introduce(
  `${pages} pages of ${site.bytes} bytes, concurrency ${concurrency}, ${fetcher}; CPU with threads and browser`,
);
const results = [];
for (let round = 0; round < options.runs; round++)
  for (const [subject, command] of subjects) results.push(await measure(subject, command, `${site.url}/`));
printTable(results);
await keep(options.out, { ...about, bytes: site.bytes, concurrency, fetcher, results });
for (const { subject, secondQuarterRssMb, lastQuarterRssMb } of results)
  if (subject === "ours" && pages >= 10_000 && lastQuarterRssMb > MAX_GROWTH * secondQuarterRssMb)
    throw new Error(`memory grew from ${secondQuarterRssMb.toFixed(0)} to ${lastQuarterRssMb.toFixed(0)} MB`);
