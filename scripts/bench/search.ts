/**
 * Measures the speed of search in 100 000 sections of about 700 bytes, beside FTS5, MiniSearch, wink and tantivy in the
 * same run:
 *
 *   bun scripts/bench/search.ts --collections DIR [--sections N] [--engines ours,fts5] [--scratch DIR] [--out FILE]
 *
 * Sections are cut from the documents of the collections (DIR/NAME/corpus.jsonl, queries.dev.jsonl). Each engine
 * has its own processes. A query's time is the fastest of five runs, including snippets if the engine makes
 * them (ours, FTS5 and tantivy; the latter's wheel for Python is installed into the scratch folder). `--out` keeps the raw
 * results. It fails when an engine finds nothing for a fifth of the queries.
 */
import { join } from "node:path";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { introduce, keep, parseNames, printTable, readOptions } from "./bench.ts";
import { installPython } from "./contenders.ts";
import { cutSections, mixQueries } from "./search/sections.ts";

const ENGINES = ["ours", "fts5", "minisearch", "wink", "tantivy"] as const;
const IN_MEMORY: readonly string[] = ["minisearch", "wink"];

type Latencies = Readonly<Record<"p50" | "p95" | "p99", number>>;
type Sizes = "sections" | "textBytes" | "buildPeakRssBytes" | "indexBytes";
type Result = {
  readonly name: string;
  readonly openMs: number | null;
  readonly anonymousGrowthBytes: number | null;
} & Readonly<Record<Sizes | "buildCpuMs" | "queryCpuMs", number>> &
  Readonly<Record<"all" | "words" | "identifier" | "question", Latencies>>;

const options = readOptions({ collections: "", sections: 100_000, engines: ENGINES.join(",") });
const { collections, sections: count } = options;
if (collections === "") throw new Error("--collections DIR: where the collections are unpacked");
const chosen = parseNames("--engines", options.engines, ENGINES);

async function run(name: string, phase: string, file: string): Promise<object> {
  const script = join(import.meta.dir, "search/run-contender.ts");
  const command =
    name === "tantivy"
      ? await tantivyCommand(phase, file)
      : [process.execPath, script, name, phase, collections, String(count), file];
  const child = Bun.spawn([...command], { stdio: ["ignore", "pipe", "inherit"] });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${name} failed in ${phase}`);
  return JSON.parse(text);
}

/** tantivy reads the same sections and queries, from files that are written for it. */
async function tantivyCommand(phase: string, file: string): Promise<readonly string[]> {
  const python = await installPython("tantivy", options.scratch);
  const [sections, queries] = [`${file}-sections.jsonl`, `${file}-queries.jsonl`];
  if (phase === "build") {
    await Bun.write(sections, linesOf(cutSections(collections, count)));
    await Bun.write(queries, linesOf(mixQueries(collections)));
  }
  return [python, join(import.meta.dir, "peers/tantivy_search_peer.py"), phase, sections, queries, file];
}

const linesOf = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

async function measure(name: string, directory: string): Promise<Result> {
  const file = join(directory, name);
  const phases = IN_MEMORY.includes(name) ? ["both"] : ["build", "search"];
  const parts: object[] = [];
  for (const phase of phases) parts.push(await run(name, phase, file));
  return Object.assign({}, ...parts);
}

using directory = temporaryDirectory();
const about = await introduce(`${count} sections; ms, MiB, documents a second of CPU`);
const results: Result[] = [];
for (const name of chosen) results.push(await measure(name, directory.path));
printTable(
  results.map(({ name, all, words, identifier, question, ...result }) => ({
    name,
    ...all,
    cpu: result.queryCpuMs,
    words: words.p50,
    identifiers: identifier.p50,
    questions: question.p50,
    open: result.openMs,
    anonymous: result.anonymousGrowthBytes && result.anonymousGrowthBytes / 2 ** 20,
    documents: (result.sections / result.buildCpuMs) * 1000,
    peak: result.buildPeakRssBytes / 2 ** 20,
    indexToText: result.indexBytes > 0 ? result.indexBytes / result.textBytes : null,
  })),
);
await keep(options.out, { ...about, sections: count, results });
