/**
 * Compares the browser fetcher with plain playwright-core, which drives the same Chromium without a proxy, an egress
 * policy or a session. Both fetch the same pages, taking turns of a few pages, so that other work on the machine
 * slows both alike.
 *
 *   bun scripts/bench/browser.ts [--pages 500] [--turn 50] [--concurrency 4] [--out FILE]
 *
 * It fails when a page comes back incomplete, when memory grows after the first 100 pages, or when a process or
 * a file is left over.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { descendantsOf, proportionalMb, readProcesses, TICK_MS } from "./processes.ts";
import { percentile, sum } from "./statistics.ts";

const here = (name: string): string => new URL(name, import.meta.url).pathname;

const { values: options } = parseArgs({
  options: {
    pages: { type: "string", default: "500" },
    turn: { type: "string", default: "50" },
    concurrency: { type: "string", default: "4" },
    out: { type: "string" },
  },
});
const pages = Number(options.pages);
const turn = Number(options.turn);
const SAMPLE_MS = 500;
/** Pages after which memory may not grow any more, and the growth that still counts as noise. */
const WARM_PAGES = 100;
const MAX_GROWTH = 1.15;
/** The same limit for the heap after a full collection, where the machine adds no noise. */
const MAX_LIVE_GROWTH = 1.05;

type Turn = {
  readonly elapsedMs: number;
  /** CPU time of the client's own process. */
  readonly cpuMs: number;
  /** Memory of the client and of everything that it started, measured twice a second. */
  readonly ownMb: readonly number[];
  readonly browserMb: readonly number[];
  /** CPU time of everything that the client started, including ended processes whose parent still runs. */
  readonly browserCpuMs: number;
};

type Reader = { readonly line: () => Promise<string> };

function readerOf(stream: ReadableStream<Uint8Array>): Reader {
  const reader = stream.getReader();
  let text = "";
  return {
    async line() {
      while (!text.includes("\n")) {
        const { value, done } = await reader.read();
        if (done) throw new Error("the subject ended early");
        text += new TextDecoder().decode(value);
      }
      const [line = "", ...rest] = text.split("\n");
      text = rest.join("\n");
      return line;
    },
  };
}

type Live = { readonly liveMb: number; readonly liveObjects: number };

class Subject {
  readonly turns: Turn[] = [];
  /** Measured after the first 100 pages and at the end. */
  readonly live: Live[] = [];
  readonly name: string;
  readonly #child;
  readonly #reader;

  constructor(name: string, origin: string, temporary: string) {
    this.name = name;
    const command = [process.execPath, here("browser-client.ts"), name, origin, temporary];
    this.#child = Bun.spawn([...command, options.concurrency], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    this.#reader = readerOf(this.#child.stdout);
  }

  async run(from: number, count: number): Promise<void> {
    const { pid } = this.#child;
    const ownMb: number[] = [];
    const browserMb: number[] = [];
    const sample = (): void => {
      const browser = descendantsOf(pid, readProcesses());
      ownMb.push(proportionalMb(pid));
      browserMb.push(sum(browser.map((one) => proportionalMb(one.pid))));
    };
    const sampler = setInterval(sample, SAMPLE_MS);
    const before = this.#browserTicks();
    this.#child.stdin.write(`${from} ${count}\n`);
    this.#child.stdin.flush();
    const measured: { elapsedMs: number; cpuMs: number } = JSON.parse(await this.#reader.line());
    clearInterval(sampler);
    sample();
    const browserCpuMs = (this.#browserTicks() - before) * TICK_MS;
    this.turns.push({ ...measured, ownMb, browserMb, browserCpuMs });
  }

  async measureLive(): Promise<void> {
    this.#child.stdin.write("live\n");
    this.#child.stdin.flush();
    this.live.push(JSON.parse(await this.#reader.line()));
  }

  #browserTicks(): number {
    const browser = descendantsOf(this.#child.pid, readProcesses());
    return browser.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
  }

  async end(): Promise<{ readonly cpuMs: number }> {
    this.#child.stdin.end();
    if ((await this.#child.exited) !== 0) throw new Error(`${this.name} failed`);
    const usage = this.#child.resourceUsage();
    // This includes all processes that it started, which have ended by now.
    return { cpuMs: Number(usage?.cpuTime.total ?? 0) / 1000 };
  }
}

const peak = (values: readonly number[]): number => Math.max(...values);

function summary(subject: Subject, cpuMs: number) {
  const { turns } = subject;
  const warm = turns.slice(Math.ceil(WARM_PAGES / turn));
  const half = Math.floor(warm.length / 2);
  const middle = (of: (one: Turn) => readonly number[], some: readonly Turn[]): number =>
    percentile(some.flatMap(of), 0.5);
  const growth = (of: (one: Turn) => readonly number[]): number =>
    middle(of, warm.slice(-half)) / middle(of, warm.slice(0, half));
  const elapsedMs = sum(turns.map((one) => one.elapsedMs));
  return {
    subject: subject.name,
    pages,
    pages_per_second: +((pages / elapsedMs) * 1000).toFixed(2),
    ms_per_page: +(elapsedMs / pages).toFixed(1),
    cpu_ms_per_page: +(cpuMs / pages).toFixed(1),
    own_cpu_ms_per_page: +(sum(turns.map((one) => one.cpuMs)) / pages).toFixed(1),
    peak_own_mb: Math.round(peak(turns.flatMap((one) => one.ownMb))),
    peak_browser_mb: Math.round(peak(turns.flatMap((one) => one.browserMb))),
    // The medians of the later half of the pages after the first 100 and of the earlier half are compared,
    // because a heap that the engine collects when it likes swings by a third either way.
    growth_own: +growth((one) => one.ownMb).toFixed(3),
    growth_browser: +growth((one) => one.browserMb).toFixed(3),
    // This compares the heap after a full collection at the end with that after the first 100 pages.
    growth_live: +((subject.live.at(-1)?.liveMb ?? 0) / (subject.live[0]?.liveMb ?? 1)).toFixed(3),
    live_mb: subject.live.map(({ liveMb }) => +liveMb.toFixed(1)),
    live_objects: subject.live.map(({ liveObjects }) => liveObjects),
    own_peak_mb_by_turn: turns.map((one) => Math.round(peak(one.ownMb))),
    browser_peak_mb_by_turn: turns.map((one) => Math.round(peak(one.browserMb))),
    ms_by_turn: turns.map((one) => Math.round(one.elapsedMs)),
  };
}

const machine = {
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  memory_mb: Math.round(totalmem() / 1_048_576),
  bun: Bun.version,
  load_before: loadavg()[0],
};
const temporary = mkdtempSync("/tmp/bb-");
const site = Bun.spawn([process.execPath, here("browser-site.ts")], { stdout: "pipe" });
const origin = await readerOf(site.stdout).line();
const subjects = ["ours", "playwright"].map((name) => new Subject(name, origin, temporary));
for (let from = 0; from < pages; from += turn) {
  for (const subject of from % (2 * turn) === 0 ? subjects : subjects.toReversed())
    await subject.run(from, Math.min(turn, pages - from));
  const done = from + turn;
  if (done >= pages || (done >= WARM_PAGES && from < WARM_PAGES))
    for (const subject of subjects) await subject.measureLive();
}
const results = [];
for (const subject of subjects) results.push(summary(subject, (await subject.end()).cpuMs));
site.kill();

const leftProcesses = readProcesses().filter(({ pid }) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(temporary);
  } catch {
    return false;
  }
}).length;
const leftFiles = readdirSync(temporary, { recursive: true }).map(String);
rmSync(temporary, { recursive: true, force: true });
const [ours, plain] = results;
const report = {
  machine: { ...machine, load_after: loadavg()[0] },
  concurrency: Number(options.concurrency),
  results,
  // Above 1 it is slower than plain playwright-core.
  ratio_time: +((ours?.ms_per_page ?? 0) / (plain?.ms_per_page ?? 1)).toFixed(3),
  ratio_cpu: +((ours?.cpu_ms_per_page ?? 0) / (plain?.cpu_ms_per_page ?? 1)).toFixed(3),
  left: { processes: leftProcesses, files: leftFiles },
};
console.log(JSON.stringify(report, null, 2));
if (options.out) await Bun.write(options.out, `${JSON.stringify(report, null, 2)}\n`);

const faults = [
  (ours?.growth_own ?? 9) > MAX_GROWTH && "our memory grows",
  (ours?.growth_live ?? 9) > MAX_LIVE_GROWTH && "our heap grows",
  (ours?.growth_browser ?? 9) > MAX_GROWTH && "the browser's memory grows",
  leftProcesses > 0 && "processes are left",
  leftFiles.some((name) => name.startsWith("ours/")) && "files are left",
].filter((fault) => fault !== false);
if (faults.length > 0) throw new Error(faults.join(", "));
