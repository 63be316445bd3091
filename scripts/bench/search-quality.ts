/**
 * Ranks the queries of collections with relevance labels.
 *
 *   make bench-search-quality COLLECTIONS=DIR RUNS=DIR [ONLY=faq,pydocs] [SAMPLE=n]
 *   sh scripts/bun scripts/bench/search-quality.ts --collections DIR --runs DIR [options]
 *
 * Each DIR/NAME with `corpus.jsonl` ({_id, url, title, text} per line) and `queries.dev.jsonl` ({_id, text}) gets
 * RUNS/NAME.tsv: query-id, doc-id, rank, score, at most 100 per query, for a scorer such as trec_eval. No
 * collection belongs to this repository. If `qrels.dev.tsv` (query-id, doc-id, gain) is there, nDCG@10 is printed too.
 *
 *   --only LIST      only these collections
 *   --sample N       every Nth query
 *   --profile NAME   the analyser's profile
 *   --peer tantivy   also this engine, installed into the temporary directory; its runs go to RUNS/NAME-tantivy.tsv
 *
 * The product's code indexes and searches the documents with its default settings, from an index file.
 */
import { mkdir, readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Analyser } from "../../src/search/analysis/analyser.ts";
import { buildSegment } from "../../src/search/builder/build-segment.ts";
import { DocumentAnalyser } from "../../src/search/document/analyse.ts";
import { ANALYZER_PROFILES, type SearchSettings, type SourceDocument } from "../../src/search/index.ts";
import { prepare, rescorePrepared } from "../../src/search/searcher.ts";
import { Segment } from "../../src/search/segment/segment.ts";
import { DEFAULT_SEARCH } from "../../src/settings/index.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { cpuMsSince, introduce, parseNames, percentile, readOptions, sum } from "./bench.ts";
import { installPython } from "./contenders.ts";

const HITS = 100;
const DEPTH = 10;
const discount = (rank: number): number => 1 / Math.log2(rank + 2);
const OPTIONS = { size: HITS, wordMatch: false, explain: false, deadline: Number.POSITIVE_INFINITY };

type CorpusLine = Readonly<Record<"_id" | "url" | "title" | "text", string>>;
type QueryLine = { readonly _id: string; readonly text: string };

async function readLines<Line>(path: string): Promise<Line[]> {
  const lines = (await Bun.file(path).text()).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Line); // the collections' format, as the head of this file describes it
}

/** Documents by URL; a second document with the same URL gets a fragment, which is not indexed. */
function sourcesOf(corpus: readonly CorpusLine[]): Map<string, { id: string; source: SourceDocument }> {
  const sources = new Map<string, { id: string; source: SourceDocument }>();
  for (const { _id, url, title, text } of corpus) {
    const own = sources.has(url) ? `${url}#${_id}` : url;
    // The address is only compared and split, never fetched.
    const source = { url: own as SourceDocument["url"], title, markdown: text };
    sources.set(own, { id: _id, source });
  }
  return sources;
}

async function readGains(path: string): Promise<Map<string, Map<string, number>> | null> {
  if (!(await Bun.file(path).exists())) return null;
  const gains = new Map<string, Map<string, number>>();
  for (const line of (await Bun.file(path).text()).split("\n").slice(1)) {
    const [query, document, gain] = line.split("\t");
    if (!query || !document || !(Number(gain) > 0)) continue;
    if (!gains.has(query)) gains.set(query, new Map());
    gains.get(query)?.set(document, Number(gain));
  }
  return gains;
}

type Bench = {
  readonly collections: string;
  readonly runs: string;
  readonly sample: number;
  readonly settings: SearchSettings;
  readonly scratch: string;
  /** The Python that has tantivy; null when it is not asked for. */
  readonly tantivy: string | null;
};

/** @returns the mean nDCG@10, or null without labels */
async function rankCollection(name: string, bench: Bench): Promise<number | null> {
  const folder = join(bench.collections, name);
  const sources = sourcesOf(await readLines<CorpusLine>(join(folder, "corpus.jsonl")));
  const all = await readLines<QueryLine>(join(folder, "queries.dev.jsonl"));
  const gains = await readGains(join(folder, "qrels.dev.tsv"));
  const queries = all.filter(({ _id }) => gains?.has(_id) ?? true).filter((_, i) => i % bench.sample === 0);
  const path = join(bench.scratch, `${name}.segment`);
  const analyser = new Analyser(bench.settings.profile);
  const documents = new DocumentAnalyser(analyser);
  const buildStart = process.cpuUsage();
  await buildSegment(
    [...sources.values()].map(({ source }) => source),
    {
      path,
      analysis: {
        fingerprint: analyser.fingerprint,
        vocabulary: analyser,
        analyse: (source) => documents.analyse(source),
      },
      previous: null,
      memoryBytes: 256 * 1024 * 1024,
    },
  );
  const buildSeconds = cpuMsSince(buildStart) / 1000;
  using reader = Segment.open(path);
  const parts = { reader, settings: bench.settings };
  const idOf = [...sources.keys()].sort().map((url) => sources.get(url)?.id);
  const rows: string[] = [];
  const times: number[] = [];
  let gain = 0;
  for (const query of queries) {
    const start = process.cpuUsage();
    const ranked = rescorePrepared(prepare(parts, query.text, OPTIONS, null), OPTIONS, null);
    times.push(cpuMsSince(start));
    const hits = ranked.slice(0, HITS);
    const ids = hits.map(({ document }) => idOf[document] ?? "");
    hits.forEach(({ score }, i) => {
      rows.push(`${query._id}\t${ids[i]}\t${i + 1}\t${score}\n`);
    });
    gain += normalizedGain(ids, gains?.get(query._id) ?? new Map());
  }
  await Bun.write(join(bench.runs, `${name}.tsv`), rows.join(""));
  const mean = gains ? gain / queries.length : null;
  const counts = { queries: queries.length, documents: sources.size };
  print({ name, mean, ...counts, buildSeconds, indexBytes: (await stat(path)).size, times });
  if (bench.tantivy !== null)
    await rankByTantivy({ name, folder, queries, gains, documents: sources.size }, bench.tantivy, bench);
  return mean;
}

type Outcome = {
  readonly name: string;
  readonly mean: number | null;
  readonly times: readonly number[];
} & Readonly<Record<"queries" | "documents" | "buildSeconds" | "indexBytes", number>>;

function print({ name, mean, queries, documents, buildSeconds, indexBytes, times }: Outcome): void {
  const milliseconds = [0.5, 0.95].map((share) => percentile(times, share).toFixed(2));
  console.log(
    `${name.padEnd(16)} nDCG@10 ${mean?.toFixed(4) ?? "–"}  queries ${queries}  documents ${documents}` +
      `  build ${buildSeconds.toFixed(1)} s CPU, ${(indexBytes / 1e6).toFixed(1)} MB  query p50/p95 ${milliseconds.join("/")} ms CPU`,
  );
}

type Collection = {
  readonly name: string;
  readonly folder: string;
  readonly documents: number;
  readonly queries: readonly QueryLine[];
  readonly gains: ReadonlyMap<string, ReadonlyMap<string, number>> | null;
};

async function rankByTantivy(
  { name, folder, documents, queries, gains }: Collection,
  python: string,
  { scratch, runs }: Bench,
): Promise<void> {
  const asked = join(scratch, `${name}.queries.jsonl`);
  await Bun.write(asked, queries.map((query) => `${JSON.stringify(query)}\n`).join(""));
  const script = join(import.meta.dir, "peers", "tantivy_peer.py");
  const files = [join(folder, "corpus.jsonl"), asked, join(scratch, `${name}-tantivy`)];
  const child = Bun.spawn([python, script, ...files, String(HITS)], { stdio: ["ignore", "pipe", "inherit"] });
  const answer = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`tantivy failed on ${name}`);
  const { found, cpuMs, buildSeconds, indexBytes } = JSON.parse(answer) as TantivyRun; // the script's own form
  const ranked = Object.entries(found);
  const rows = ranked.flatMap(([query, hits]) =>
    hits.map(([id, score], at) => `${query}\t${id}\t${at + 1}\t${score}\n`),
  );
  await Bun.write(join(runs, `${name}-tantivy.tsv`), rows.join(""));
  const gain = ranked.map(([query, hits]) =>
    normalizedGain(
      hits.map(([id]) => id),
      gains?.get(query) ?? new Map(),
    ),
  );
  const mean = gains ? sum(gain) / ranked.length : null;
  print({
    name: "  tantivy",
    mean,
    queries: ranked.length,
    documents,
    buildSeconds,
    indexBytes,
    times: cpuMs,
  });
}

type TantivyRun = {
  readonly found: Readonly<Record<string, readonly (readonly [id: string, score: number])[]>>;
  readonly cpuMs: readonly number[];
  readonly buildSeconds: number;
  readonly indexBytes: number;
};

/**
 * Normalised discounted cumulative gain of the first ten, with linear gain as in trec_eval; 0 when nothing is
 * relevant.
 * @param ranked document ids, best first
 * @param gains the gain of each relevant document
 */
function normalizedGain(ranked: readonly string[], gains: ReadonlyMap<string, number>): number {
  const ideal = [...gains.values()]
    .sort((a, b) => b - a)
    .slice(0, DEPTH)
    .reduce((sum, gain, rank) => sum + gain * discount(rank), 0);
  const reached = ranked
    .slice(0, DEPTH)
    .reduce((sum, id, rank) => sum + (gains.get(id) ?? 0) * discount(rank), 0);
  return ideal > 0 ? reached / ideal : 0;
}

const options = readOptions({ collections: "", runs: "", only: "", sample: 1, profile: "", peer: "" });
if (options.collections === "" || options.runs === "")
  throw new Error("--collections DIR and --runs DIR are needed (COLLECTIONS= and RUNS= of make)");
const collections = resolve(options.collections);
const found = (await readdir(collections)).sort();
const [profile = DEFAULT_SEARCH.profile] = parseNames("--profile", options.profile, ANALYZER_PROFILES);
const settings = { ...DEFAULT_SEARCH, profile };
const [peer] = parseNames("--peer", options.peer, ["tantivy"]);
const tantivy = peer ? await installPython(peer, options.scratch) : null;
using scratch = temporaryDirectory();
const bench = {
  ...options,
  collections,
  runs: resolve(options.runs),
  settings,
  scratch: scratch.path,
  tantivy,
};
await introduce("nDCG@10 of the development queries");
await mkdir(bench.runs, { recursive: true });
const means: number[] = [];
for (const name of options.only ? parseNames("--only", options.only, found) : found) {
  if (!(await Bun.file(join(collections, name, "corpus.jsonl")).exists())) continue;
  const mean = await rankCollection(name, bench);
  if (mean !== null) means.push(mean);
}
console.log(`mean of ${means.length}: ${(sum(means) / Math.max(1, means.length)).toFixed(4)}`);
