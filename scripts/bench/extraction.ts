/**
 * Measures and scores the extraction of main content on a set of pages.
 *
 *   make bench-extraction PAGES=DIR OUT=DIR [LIMIT=n] [PEERS=readability,defuddle]
 *   sh scripts/bun scripts/bench/extraction.ts --pages DIR --out DIR [options]
 *
 * PAGES contains `pages.jsonl` ({id, url, …} per line) and `html/ID.html`; no set belongs to this
 * repository. OUT gets `ID.txt` (the article's text; empty when the page has no content) and
 * `meta.json` {id: {title, author, date}}; each peer writes the same beside it, into OUT-PEER.
 *
 *   --limit N            at most N pages, spread over the set
 *   --passes N           how often each goes over all pages (default 1): the first pass and the last are told apart
 *   --renderings LIST    what ours makes besides the text in its second run (default: content,markdown)
 *   --peers LIST         also run readability, defuddle, trafilatura, resiliparse, crawl4ai; installed into the scratch folder
 *   --scratch DIR        where the bench compiles and installs (default: in the temporary directory)
 *   --score PATH         the scorer (default: ../shared/eval/extraction/score.py if it exists)
 *   --keep FILE          the raw run
 *
 * Ours is src/extraction compiled with the product's settings, one page after another on one thread, once for text and
 * metadata alone and once with the other renderings too; peers make the text and metadata. Every contender runs in a
 * process of its own. CPU time is that of the whole process during a page, and the ratios are of the means over all pages.
 * Exits 1 when a page has no outcome or when ours hit a bug.
 */
import { mkdir, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { RENDERINGS } from "../../src/extraction/types.ts";
import { introduce, keep, parseNames, percentile, printTable, ROOT, readOptions, sum } from "./bench.ts";
import { type ContenderCommand, PEERS, prepareOurs, preparePeer, run } from "./contenders.ts";
import {
  type ExtractionJob,
  type ExtractionReport,
  listPages,
  type PageMeasurement,
} from "./measure-pages.ts";

const OURS = "article-extractor";
const OURS_RENDERED = "article-extractor-rendered";

const options = readOptions({
  pages: "",
  limit: 0,
  passes: 1,
  renderings: "content,markdown",
  peers: "",
  score: join(ROOT, "..", "shared", "eval", "extraction", "score.py"),
  keep: "",
});
if (options.pages === "" || options.out === "")
  throw new Error("--pages DIR and --out DIR are needed (PAGES= and OUT= of make)");
const directory = resolve(options.pages);
const out = resolve(options.out);
const scratch = resolve(options.scratch);
const renderings = parseNames("--renderings", options.renderings, RENDERINGS);
const peers = parseNames("--peers", options.peers, PEERS);
const listed = await listPages(directory, options.limit || null);

type Measured = { readonly name: string; readonly out: string; readonly report: ExtractionReport };

async function measureAll(): Promise<readonly Measured[]> {
  await mkdir(scratch, { recursive: true });
  const ours = await prepareOurs(scratch);
  const measured = [await measureContender({ name: OURS, out, command: ours })];
  if (renderings.length > 0)
    measured.push(
      await measureContender({ name: OURS_RENDERED, out: `${out}-rendered`, command: ours, renderings }),
    );
  for (const name of peers) {
    const command = await preparePeer(name, scratch);
    measured.push(await measureContender({ name, out: `${out}-${name}`, command }));
  }
  return measured;
}

type Entrant = {
  readonly name: string;
  readonly out: string;
  readonly command: ContenderCommand;
  /** Besides the text; by default none. */
  readonly renderings?: readonly string[];
};

async function measureContender({ name, out, command, renderings = [] }: Entrant): Promise<Measured> {
  console.error(`${name} ...`);
  const reportPath = join(scratch, `report-${name}.json`);
  await rm(reportPath, { force: true });
  const listPath = join(scratch, "list.json");
  await Bun.write(listPath, JSON.stringify(listed));
  const job: ExtractionJob = {
    pagesDirectory: directory,
    listPath,
    outDirectory: out,
    reportPath,
    renderings,
    passes: options.passes,
  };
  await run(command(JSON.stringify(job)), ROOT);
  const report = (await Bun.file(reportPath).json()) as ExtractionReport; // `measurePages` wrote it
  const outcomes = new Map(report.pages.map((page) => [page.id, page.outcome]));
  for (const { id } of listed) {
    const written = await Bun.file(join(out, `${id}.txt`)).exists();
    if (!outcomes.has(id) || !written) throw new Error(`${name} left page ${id} without an outcome`);
  }
  if (report.pages.length !== listed.length) throw new Error(`${name} measured other pages than the set's`);
  if (!report.pages.some((page) => page.outcome === "ok"))
    throw new Error(`${name} found content on no page: ${describeOutcomes(report.pages)}`);
  return { name, out, report };
}

/** A contender's row: its CPU time a page in ms in the first pass and the last, and how many times that of ours it is, by the means. */
function rowOf({ name, report }: Measured, ours: Measured) {
  const cpuMs = report.pages.map((page) => page.cpuMs);
  const wallSeconds = sum(report.pages.map((page) => page.wallMs)) / 1000;
  return {
    name,
    mean: meanCpuMs(report),
    p50: percentile(cpuMs, 0.5),
    p95: percentile(cpuMs, 0.95),
    p99: percentile(cpuMs, 0.99),
    max: percentile(cpuMs, 1),
    ofOurs: meanCpuMs(report) / meanCpuMs(ours.report),
    steady: report.steadyCpuMs,
    steadyOfOurs: report.steadyCpuMs / ours.report.steadyCpuMs,
    pagesPerSecond: report.pages.length / wallSeconds,
    peakRssMb: Math.round(report.peakRssBytes / 1e6),
    outcomes: describeOutcomes(report.pages),
  };
}

const meanCpuMs = ({ pages }: ExtractionReport): number =>
  sum(pages.map((page) => page.cpuMs)) / pages.length;

function describeOutcomes(pages: readonly PageMeasurement[]): string {
  const counts = new Map<string, number>();
  for (const { outcome } of pages) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([outcome, count]) => `${outcome} ${count}`)
    .join(", ");
}

async function score(scorer: string, measured: readonly Measured[]): Promise<void> {
  const wanted = new Set(listed.map(({ id }) => id));
  const lines = (await Bun.file(join(directory, "pages.jsonl")).text())
    .split("\n")
    .filter((line) => line !== "");
  const subset = join(scratch, "pages.jsonl");
  await Bun.write(subset, `${lines.filter((line) => wanted.has(JSON.parse(line).id)).join("\n")}\n`);
  // A set of segments has no complete reference text.
  const kind = "main_content" in JSON.parse(lines[0] ?? "{}") ? ["--per-type", "--meta"] : ["--segments"];
  // The text is the same whatever is made besides.
  const scored = measured.filter(({ name }) => name !== OURS_RENDERED).map(({ out }) => out);
  console.log("");
  await run(["python3", scorer, "--pages", subset, ...kind, "--out", ...scored], ROOT);
}

const about = await introduce(`${listed.length} pages of ${basename(directory)}; CPU ms a page`);
const measured = await measureAll();
const rows = measured.map((contender) => rowOf(contender, measured[0]!));
printTable(rows);
if (await Bun.file(options.score).exists()) await score(resolve(options.score), measured);
const pages = measured.map(({ name, report }) => ({ name, pages: report.pages }));
await keep(options.keep, { ...about, set: basename(directory), rows, pages });
const ours = measured.filter(({ name }) => name === OURS || name === OURS_RENDERED);
const bugs = sum(ours.map(({ report }) => report.pages.filter((page) => page.outcome === "bug").length));
if (bugs > 0) throw new Error(`${OURS} hit a bug on ${bugs} pages, see above`);
