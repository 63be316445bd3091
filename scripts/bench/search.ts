/**
 * Measures the speed of search in 100 000 sections of about 700 bytes, beside FTS5, MiniSearch and wink in the same run:
 *
 *   bun scripts/bench/search.ts --collections DIR [--sections N] [--engines ours,fts5] [--out FILE]
 *
 * Sections are cut from the documents of the collections (DIR/NAME/corpus.jsonl, queries.dev.jsonl). Each engine
 * has its own processes. A query's time is the fastest of five runs, including snippets if the engine makes
 * them (ours and FTS5). Raw results go to `--out`, by default into scripts/bench/runs. It fails when an engine
 * finds nothing for a fifth of the queries.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeCommit, describeMachine } from "./machine.ts";
import { parseCount, parseNames } from "./options.ts";

const ENGINES = ["ours", "fts5", "minisearch", "wink"] as const;
const IN_MEMORY: readonly string[] = ["minisearch", "wink"];
const ROOT = join(import.meta.dir, "../..");

type Latencies = { readonly p50: number; readonly p95: number; readonly p99: number };
type Result = {
  readonly name: string;
  readonly sections: number;
  readonly textBytes: number;
  readonly buildMs: number;
  readonly buildCpuMs: number;
  readonly buildPeakRssBytes: number;
  readonly indexBytes: number;
  readonly openFirstMs: number | null;
  readonly openMs: number | null;
  readonly queryCpuMs: number;
  readonly anonymousGrowthBytes: number;
  readonly all: Latencies;
  readonly words: Latencies;
  readonly identifier: Latencies;
  readonly question: Latencies;
};

const { values: options } = parseArgs({
  options: {
    collections: { type: "string" },
    sections: { type: "string" },
    engines: { type: "string" },
    out: { type: "string" },
  },
});
if (!options.collections) throw new Error("--collections DIR: where the collections are unpacked");
const collections = options.collections;
const count = parseCount("--sections", options.sections) ?? 100_000;
const chosen = parseNames("--engines", options.engines, ENGINES);

async function run(name: string, phase: string, file: string): Promise<object> {
  const script = join(import.meta.dir, "search/run-contender.ts");
  const child = Bun.spawn([process.execPath, script, name, phase, collections, String(count), file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${name} failed in ${phase}`);
  return JSON.parse(text);
}

async function measure(name: string, directory: string): Promise<Result> {
  const file = join(directory, name);
  const phases = IN_MEMORY.includes(name) ? ["both"] : ["build", "search"];
  const parts: object[] = [];
  for (const phase of phases) parts.push(await run(name, phase, file));
  return Object.assign({}, ...parts);
}

const ms = (value: number): string => value.toFixed(2).padStart(8);
const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0).padStart(7);

function print(result: Result): void {
  const { name, all, words, identifier, question } = result;
  const perSecond = (time: number): string => ((result.sections / time) * 1000).toFixed(0).padStart(7);
  const ratio = result.indexBytes > 0 ? (result.indexBytes / result.textBytes).toFixed(3) : "–";
  console.log(
    `${name.padEnd(11)}${ms(all.p50)}${ms(all.p95)}${ms(all.p99)} ${ms(result.queryCpuMs)} ` +
      `${ms(words.p50)}${ms(identifier.p50)}${ms(question.p50)} ${result.openMs === null ? "       –" : ms(result.openMs)} ` +
      `${mib(result.anonymousGrowthBytes)} ${perSecond(result.buildCpuMs)} ${perSecond(result.buildMs)} ${mib(result.buildPeakRssBytes)} ${ratio}`,
  );
}

const directory = mkdtempSync(join(tmpdir(), "bench-search-"));
try {
  const about = { machine: describeMachine(), commit: await describeCommit(ROOT), sections: count };
  console.log(`${about.machine}\n${count} sections, commit ${about.commit}; ms, MiB\n`);
  console.log(
    "engine          p50     p95     p99      CPU    words  ident. question     open    anon.  docs/s  (wall) peak MB index/text",
  );
  const results: Result[] = [];
  for (const name of chosen.length > 0 ? chosen : ENGINES) {
    const result = await measure(name, directory);
    results.push(result);
    print(result);
  }
  const day = new Date().toISOString().slice(0, 10);
  const out = options.out ?? join(import.meta.dir, `runs/search-${day}.json`);
  await Bun.write(out, `${JSON.stringify({ ...about, date: day, results }, null, 1)}\n`);
  console.log(`\nraw results: ${out}`);
} finally {
  rmSync(directory, { recursive: true });
}
