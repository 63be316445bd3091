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
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installPython } from "./contenders.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { parseCount, parseNames } from "./options.ts";
import { descendantsOf, proportionalMb, readProcesses, TICK_MS } from "./processes.ts";
import { percentile, sum } from "./statistics.ts";

const ROOT = join(import.meta.dir, "..", "..");
const PROGRAM = join(ROOT, "dist", "article-extractor");
const PEERS = ["scrapy", "crawl4ai"] as const;
type Peer = (typeof PEERS)[number];
const SAMPLE_MS = 100;
/** The allowed growth of the resident set from the second to the last quarter of a run. */
const MAX_GROWTH = 1.1;

type Measured = {
  readonly subject: string;
  readonly pages: number;
  readonly stored: number;
  readonly pagesPerSecond: number;
  readonly cpuMsPerPage: number;
  readonly peakRssMb: number;
  readonly secondQuarterRssMb: number;
  readonly lastQuarterRssMb: number;
};

type Command = (url: string, output: string) => readonly string[];

const { values: options } = parseArgs({
  options: {
    pages: { type: "string" },
    concurrency: { type: "string" },
    runs: { type: "string" },
    peer: { type: "string", default: "" },
    fetcher: { type: "string", default: "http" },
    scratch: { type: "string", default: join(tmpdir(), "article-extractor-bench") },
    out: { type: "string" },
  },
});
const pages = parseCount("--pages", options.pages) ?? 2000;
const concurrency = parseCount("--concurrency", options.concurrency) ?? 16;
const runs = parseCount("--runs", options.runs) ?? 1;

const [fetcher = "http"] = parseNames("--fetcher", options.fetcher, ["http", "browser", "default"]);
const chromium = fetcher === "http" ? null : Bun.which("chromium");
if (fetcher !== "http" && chromium === null) throw new Error(`--fetcher ${fetcher} needs chromium on PATH`);

const ours: Command = (url, output) => {
  const limits = { "max-pages": pages, "max-depth": 100, concurrency, "rate-limit": 0 };
  const flags = Object.entries(limits).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return [
    PROGRAM,
    "crawl",
    "--seed",
    url,
    "--output-dir",
    output,
    "--quiet",
    ...(fetcher === "default" ? [] : [`--prefer-${fetcher}`]),
    ...flags,
  ];
};

async function preparePeer(peer: Peer): Promise<Command> {
  if (peer === "scrapy" && chromium !== null) throw new Error("Scrapy has no browser");
  const python = await installPython(peer, options.scratch);
  const script = join(import.meta.dir, "peers", `${peer}_peer.py`);
  const limits = peer === "scrapy" ? [String(pages)] : [];
  const browser = chromium === null ? [] : [chromium];
  return (url, output) => [python, script, url, output, String(concurrency), ...limits, ...browser];
}

async function firstLine(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const bytes of stdout) {
    text += new TextDecoder().decode(bytes);
    if (text.includes("\n")) break;
  }
  return text.split("\n", 1)[0] ?? "";
}

/** The memory in MB; null when the system does not tell it or the process has ended. */
async function memoryMb(pid: number): Promise<number | null> {
  if (chromium !== null) {
    const family = [pid, ...descendantsOf(pid, readProcesses()).map((one) => one.pid)];
    return sum(family.map(proportionalMb));
  }
  try {
    const line = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, "utf8"));
    return line ? Number(line[1]) / 1024 : null;
  } catch {
    return null;
  }
}

async function measure(subject: string, command: Command, url: string): Promise<Measured> {
  const output = await mkdtemp(join(tmpdir(), "bench-crawl-"));
  try {
    const startedAt = performance.now();
    const child = Bun.spawn([...command(url, output)], {
      stdout: "ignore",
      stderr: "inherit",
    });
    const samples: number[] = [];
    let familyTicks = 0;
    const sampler = setInterval(async () => {
      // What a process of the browser took that nobody waited for is in no account of the program.
      const all = chromium === null ? [] : readProcesses();
      const family = [...all.filter(({ pid }) => pid === child.pid), ...descendantsOf(child.pid, all)];
      familyTicks = Math.max(familyTicks, sum(family.map(({ cpuTicks }) => cpuTicks)));
      const megabytes = await memoryMb(child.pid);
      if (megabytes !== null) samples.push(megabytes);
    }, SAMPLE_MS);
    const exitCode = await child.exited;
    clearInterval(sampler);
    const seconds = (performance.now() - startedAt) / 1000;
    if (exitCode !== 0) throw new Error(`${subject} ended with exit code ${exitCode}`);
    const usage = child.resourceUsage();
    const stored = (await readdir(output)).filter((name) => name.endsWith(".md")).length;
    // Scrapy finishes the pages that are under way, so it may store a few more.
    if (stored < pages) throw new Error(`${subject} stored ${stored} of ${pages} pages`);
    const quarter = (which: number): number =>
      percentile(samples.slice((samples.length * (which - 1)) / 4, (samples.length * which) / 4), 0.5);
    return {
      subject,
      pages,
      stored,
      pagesPerSecond: stored / seconds,
      cpuMsPerPage: Math.max(Number(usage?.cpuTime.total ?? 0) / 1000, familyTicks * TICK_MS) / stored,
      peakRssMb: chromium === null ? (usage?.maxRSS ?? 0) / 1024 / 1024 : Math.max(...samples),
      secondQuarterRssMb: quarter(2),
      lastQuarterRssMb: quarter(4),
    };
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

function print(results: readonly Measured[]): void {
  console.log("subject   pages/s   CPU ms/page   peak RSS MB   RSS 2nd quarter   last quarter");
  for (const result of results) {
    const cells = [
      result.subject.padEnd(8),
      result.pagesPerSecond.toFixed(1).padStart(8),
      result.cpuMsPerPage.toFixed(2).padStart(13),
      result.peakRssMb.toFixed(0).padStart(13),
      result.secondQuarterRssMb.toFixed(0).padStart(17),
      result.lastQuarterRssMb.toFixed(0).padStart(14),
    ];
    console.log(cells.join(" "));
  }
}

const site = Bun.spawn([process.execPath, join(import.meta.dir, "crawl-site.ts"), String(pages)], {
  stdout: "pipe",
});
try {
  const { port, bytes } = JSON.parse(await firstLine(site.stdout));
  const subjects = new Map<string, Command>([["ours", ours]]);
  for (const peer of parseNames("--peer", options.peer, PEERS)) subjects.set(peer, await preparePeer(peer));
  const machine = describeMachine();
  console.log(`${machine}; ${pages} pages of ${bytes} bytes, concurrency ${concurrency}, ${fetcher}\n`);
  const results: Measured[] = [];
  for (let round = 0; round < runs; round++) {
    for (const [subject, command] of subjects)
      results.push(await measure(subject, command, `http://127.0.0.1:${port}/`));
  }
  print(results);
  const commit = await describeCommit(ROOT);
  const loadAverage = Number(loadavg()[0]?.toFixed(1));
  if (options.out)
    await Bun.write(
      options.out,
      `${JSON.stringify({ machine, commit, loadAverage, bytes, concurrency, fetcher, results }, null, 2)}\n`,
    );
  for (const { subject, secondQuarterRssMb, lastQuarterRssMb } of results) {
    if (subject !== "ours" || pages < 10_000 || lastQuarterRssMb <= MAX_GROWTH * secondQuarterRssMb) continue;
    throw new Error(`memory grew from ${secondQuarterRssMb.toFixed(0)} to ${lastQuarterRssMb.toFixed(0)} MB`);
  }
} finally {
  site.kill();
}
