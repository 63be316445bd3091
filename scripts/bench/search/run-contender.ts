/**
 * Runs one engine of the bench in its own process, so that it also has its own memory and caches:
 *
 *   bun scripts/bench/search/run-contender.ts NAME PHASE COLLECTIONS COUNT FILE
 *
 * PHASE is `build` (makes FILE), `search` (opens FILE and searches), or `both` (engines without a file). Prints
 * one JSON object.
 */
import { readFileSync } from "node:fs";
import { percentile } from "../bench.ts";
import { CONTENDERS, type Contender } from "./contenders.ts";
import { type BenchQuery, cutSections, mixQueries } from "./sections.ts";

/** How often every query is run; its fastest run counts, because the others were disturbed by the machine. */
const PASSES = 5;
const OPENINGS = 20;
/** The allocator returns memory to the system with a delay. */
const SETTLE_MS = 1500;

const [name = "", phase = "", collections = "", count = "", file = ""] = process.argv.slice(2);
const contender = CONTENDERS[name]?.();
if (!contender) throw new Error(`no engine ${name}`);

const results: Record<string, unknown> = { name, phase };
if (phase === "build" || phase === "both") Object.assign(results, await measureBuild(contender));
if (phase === "search" || phase === "both")
  Object.assign(results, await measureSearch(contender, mixQueries(collections)));
console.log(JSON.stringify(results));

async function measureBuild(engine: Contender): Promise<Record<string, number>> {
  const sections = cutSections(collections, Number(count));
  const textBytes = sections.reduce((sum, { markdown }) => sum + Buffer.byteLength(markdown), 0);
  Bun.gc(true);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await engine.build(sections, file);
  const buildMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  const buildCpuMs = (user + system) / 1000;
  const indexBytes = engine.indexBytes?.(file) ?? 0;
  return {
    sections: sections.length,
    textBytes,
    buildMs,
    buildCpuMs,
    buildPeakRssBytes: peakRssBytes(),
    indexBytes,
  };
}

async function measureSearch(
  engine: Contender,
  queries: readonly BenchQuery[],
): Promise<Record<string, unknown>> {
  const open = engine.open;
  const anonymousBefore = await anonymousBytes();
  const openMs: number[] = [];
  for (let turn = 0; open !== null && turn < OPENINGS; turn++) {
    const startedAt = performance.now();
    open(file);
    openMs.push(performance.now() - startedAt);
  }
  const fastest = new Float64Array(queries.length).fill(Number.POSITIVE_INFINITY);
  let found = 0;
  let firstPassBytes = 0;
  let cpuBefore = process.cpuUsage();
  for (let pass = 0; pass < PASSES; pass++) {
    queries.forEach(({ text }, index) => {
      const startedAt = performance.now();
      const hits = engine.search(text);
      fastest[index] = Math.min(fastest[index]!, performance.now() - startedAt);
      if (pass === 0 && hits.length > 0) found++;
    });
    if (pass > 0) continue;
    firstPassBytes = (await anonymousBytes()) - anonymousBefore;
    cpuBefore = process.cpuUsage();
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  if (found < queries.length * 0.8)
    throw new Error(`${name} finds something for ${found} of ${queries.length} queries`);
  return {
    openFirstMs: openMs[0] ?? null,
    openMs: open === null ? null : percentile(openMs, 0.5),
    queries: queries.length,
    withHits: found,
    queryCpuMs: (user + system) / 1000 / queries.length / (PASSES - 1),
    anonymousGrowthBytes: firstPassBytes,
    all: latencies([...fastest]),
    ...Object.fromEntries(
      (["words", "identifier", "question"] as const).map((group) => [
        group,
        latencies([...fastest].filter((_, index) => queries[index]!.group === group)),
      ]),
    ),
  };
}

function latencies(values: readonly number[]): Record<"p50" | "p95" | "p99" | "max", number> {
  return {
    p50: percentile(values, 0.5),
    p95: percentile(values, 0.95),
    p99: percentile(values, 0.99),
    max: Math.max(...values),
  };
}

/** This process's memory without mapped files, after freed memory has gone back to the system. */
async function anonymousBytes(): Promise<number> {
  for (let turn = 0; turn < 2; turn++) {
    Bun.gc(true);
    await Bun.sleep(SETTLE_MS);
  }
  return kilobytes("/proc/self/smaps_rollup", "Anonymous") * 1024;
}

function peakRssBytes(): number {
  return kilobytes("/proc/self/status", "VmHWM") * 1024;
}

function kilobytes(path: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(path, "utf8"))?.[1] ?? 0);
}
