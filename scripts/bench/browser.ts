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
import { loadavg } from "node:os";
import {
  descendantsOf,
  introduce,
  keep,
  linesOf,
  median,
  memoryMb,
  printTable,
  readOptions,
  readProcesses,
  sum,
  TICK_MS,
} from "./bench.ts";

const here = (name: string): string => new URL(name, import.meta.url).pathname;

const options = readOptions({ pages: 500, turn: 50, concurrency: 4 });
const { pages, turn, concurrency } = options;
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

type Live = { readonly liveMb: number; readonly liveObjects: number };

class Subject {
  readonly turns: Turn[] = [];
  /** Measured after the first 100 pages and at the end. */
  readonly live: Live[] = [];
  readonly name: string;
  readonly #child;
  readonly #lines;

  constructor(name: string, origin: string, temporary: string) {
    this.name = name;
    const command = [process.execPath, here("browser-client.ts"), name, origin, temporary];
    this.#child = Bun.spawn([...command, String(concurrency)], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    this.#lines = linesOf(this.#child.stdout);
  }

  async run(from: number, count: number): Promise<void> {
    const { pid } = this.#child;
    const ownMb: number[] = [];
    const browserMb: number[] = [];
    const sample = (): void => {
      const browser = descendantsOf(pid, readProcesses());
      ownMb.push(memoryMb(pid, "Pss"));
      browserMb.push(sum(browser.map((one) => memoryMb(one.pid, "Pss"))));
    };
    const sampler = setInterval(sample, SAMPLE_MS);
    const before = this.#browserTicks();
    this.#child.stdin.write(`${from} ${count}\n`);
    this.#child.stdin.flush();
    const measured: { elapsedMs: number; cpuMs: number } = await this.#answer();
    clearInterval(sampler);
    sample();
    const browserCpuMs = (this.#browserTicks() - before) * TICK_MS;
    this.turns.push({ ...measured, ownMb, browserMb, browserCpuMs });
  }

  async measureLive(): Promise<void> {
    this.#child.stdin.write("live\n");
    this.#child.stdin.flush();
    this.live.push(await this.#answer());
  }

  async #answer() {
    const { value } = await this.#lines.next();
    if (value === undefined) throw new Error(`${this.name} ended early`);
    return JSON.parse(value);
  }

  #browserTicks(): number {
    return sum(descendantsOf(this.#child.pid, readProcesses()).map(({ cpuTicks }) => cpuTicks));
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
    median(some.flatMap(of));
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
  };
}

const about = await introduce(`${pages} pages, ${concurrency} at a time, in turns of ${turn}`);
const temporary = mkdtempSync("/tmp/bb-");
const site = Bun.spawn([process.execPath, here("browser-site.ts")], { stdout: "pipe" });
const origin = (await linesOf(site.stdout).next()).value ?? "";
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
printTable(results.map(({ live_mb: _, live_objects: __, ...row }) => ({ ...row })));
// Above 1 it is slower than plain playwright-core.
const ratio_time = (ours?.ms_per_page ?? 0) / (plain?.ms_per_page ?? 1);
const ratio_cpu = (ours?.cpu_ms_per_page ?? 0) / (plain?.cpu_ms_per_page ?? 1);
console.log(`\nours to playwright: time ${ratio_time.toFixed(3)}, CPU ${ratio_cpu.toFixed(3)}`);
const load_after = loadavg()[0];
await keep(options.out, { ...about, load_after, concurrency, results, ratio_time, ratio_cpu });

const faults = [
  (ours?.growth_own ?? 9) > MAX_GROWTH && "our memory grows",
  (ours?.growth_live ?? 9) > MAX_LIVE_GROWTH && "our heap grows",
  (ours?.growth_browser ?? 9) > MAX_GROWTH && "the browser's memory grows",
  leftProcesses > 0 && "processes are left",
  leftFiles.some((name) => name.startsWith("ours/")) && "files are left",
].filter((fault) => fault !== false);
if (faults.length > 0) throw new Error(faults.join(", "));
