/**
 * Measures and scores the extraction of main content on a set of pages.
 *
 *   make bench-extraction PAGES=DIR OUT=DIR [LIMIT=n] [PEERS=readability,defuddle] [RUNS=scripts/bench/runs]
 *   sh scripts/bun scripts/bench/extraction.ts --pages DIR --out DIR [options]
 *
 * PAGES contains `pages.jsonl` ({id, url, …} per line) and `html/ID.html`; no set belongs to this
 * repository. OUT gets `ID.txt` (the article's text; empty when the page has no content) and
 * `meta.json` {id: {title, author, date}}; each peer writes the same beside it, into OUT-PEER.
 *
 *   --limit N            at most N pages, spread over the set
 *   --renderings LIST    what ours makes besides the text in its second run (default: content,markdown)
 *   --peers LIST         also run readability, defuddle, trafilatura, resiliparse, crawl4ai; installed into the scratch folder
 *   --scratch DIR        where the bench compiles and installs (default: in the temporary directory)
 *   --score PATH         the scorer (default: ../shared/eval/extraction/score.py if it exists)
 *   --runs DIR           keep the raw run there, e.g. scripts/bench/runs
 *
 * Ours is src/extraction compiled with the product's settings, one page after another on one thread, once for text and
 * metadata alone and once with the other renderings too; peers make the text and metadata. Every contender runs in a
 * process of its own. CPU time is that of the whole process during a page, and the ratios are of the means over all pages.
 * Exits 1 when a page has no outcome or when ours hit a bug.
 */
import { mkdir, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { RENDERINGS } from "../../src/extraction/types.ts";
import { type ContenderCommand, PEERS, type Peer, prepareOurs, preparePeer, run } from "./contenders.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import {
  type ExtractionJob,
  type ExtractionReport,
  listPages,
  type PageMeasurement,
} from "./measure-pages.ts";
import { parseCount, parseNames } from "./options.ts";
import { percentile, sum } from "./statistics.ts";

const REPOSITORY = join(import.meta.dir, "..", "..");
const DEFAULT_SCORER = join(REPOSITORY, "..", "shared", "eval", "extraction", "score.py");
const OURS = "article-extractor";
const OURS_RENDERED = "article-extractor-rendered";

type Plan = {
  readonly pages: string;
  readonly out: string;
  readonly limit: number | null;
  readonly renderings: readonly string[];
  readonly peers: readonly Peer[];
  readonly scratch: string;
  readonly scorer: string | null;
  readonly runs: string | null;
};

type Measured = { readonly name: string; readonly out: string; readonly report: ExtractionReport };

const TEXT = { type: "string" } as const;
const OPTIONS = {
  pages: TEXT,
  out: TEXT,
  limit: TEXT,
  renderings: TEXT,
  peers: TEXT,
  scratch: TEXT,
  score: TEXT,
  runs: TEXT,
};

async function readPlan(argv: readonly string[]): Promise<Plan> {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  if (!values.pages || !values.out) {
    throw new Error("--pages DIR and --out DIR are needed (PAGES= and OUT= of make)");
  }
  const list = join(values.pages, "pages.jsonl");
  if (!(await Bun.file(list).exists())) throw new Error(`${list} is missing`);
  const defaultScorer = (await Bun.file(DEFAULT_SCORER).exists()) ? DEFAULT_SCORER : null;
  return {
    pages: resolve(values.pages),
    out: resolve(values.out),
    limit: parseCount("--limit", values.limit),
    renderings: parseNames("--renderings", values.renderings ?? "content,markdown", RENDERINGS),
    peers: parseNames("--peers", values.peers, PEERS),
    scratch: resolve(values.scratch ?? join(tmpdir(), "article-extractor-bench")),
    scorer: values.score ? resolve(values.score) : defaultScorer,
    runs: values.runs ? resolve(values.runs) : null,
  };
}

async function measureAll(plan: Plan): Promise<readonly Measured[]> {
  await mkdir(plan.scratch, { recursive: true });
  const ours = await prepareOurs(plan.scratch);
  const measured = [await measureContender(plan, { name: OURS, out: plan.out, command: ours })];
  if (plan.renderings.length > 0) {
    const out = `${plan.out}-rendered`;
    const { renderings } = plan;
    measured.push(await measureContender(plan, { name: OURS_RENDERED, out, command: ours, renderings }));
  }
  for (const name of plan.peers) {
    const command = await preparePeer(name, plan.scratch);
    measured.push(await measureContender(plan, { name, out: `${plan.out}-${name}`, command }));
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

async function measureContender(
  plan: Plan,
  { name, out, command, renderings = [] }: Entrant,
): Promise<Measured> {
  console.error(`${name} ...`);
  const reportPath = join(plan.scratch, `report-${name}.json`);
  await rm(reportPath, { force: true });
  const listPath = join(plan.scratch, "list.json");
  await Bun.write(listPath, JSON.stringify(await listPages(plan.pages, plan.limit)));
  const job: ExtractionJob = {
    pagesDirectory: plan.pages,
    listPath,
    outDirectory: out,
    reportPath,
    renderings,
  };
  await run(command(JSON.stringify(job)), REPOSITORY);
  const report = (await Bun.file(reportPath).json()) as ExtractionReport; // `measurePages` wrote it
  await requireOutcomes(plan, { name, out, report });
  return { name, out, report };
}

async function requireOutcomes(plan: Plan, { name, out, report }: Measured): Promise<void> {
  const expected = await listPages(plan.pages, plan.limit);
  const outcomes = new Map(report.pages.map((page) => [page.id, page.outcome]));
  for (const { id } of expected) {
    const written = await Bun.file(join(out, `${id}.txt`)).exists();
    if (!outcomes.has(id) || !written) throw new Error(`${name} left page ${id} without an outcome`);
  }
  if (report.pages.length !== expected.length) throw new Error(`${name} measured other pages than the set's`);
  if (!report.pages.some((page) => page.outcome === "ok")) {
    throw new Error(`${name} found content on no page: ${describeOutcomes(report.pages)}`);
  }
}

function printReport({ name, report }: Measured): void {
  const cpuMs = report.pages.map((page) => page.cpuMs);
  const wallSeconds = sum(report.pages.map((page) => page.wallMs)) / 1000;
  const bytes = sum(report.pages.map((page) => page.htmlBytes));
  const ms = (value: number) => value.toFixed(1);
  console.log(`
${name}: ${report.pages.length} pages, mean ${Math.round(bytes / report.pages.length / 1000)} kB
  peak RSS    ${Math.round(report.peakRssBytes / 1e6)} MB
  CPU ms/page mean ${ms(sum(cpuMs) / cpuMs.length)}, p50 ${ms(percentile(cpuMs, 0.5))}, p95 ${ms(percentile(cpuMs, 0.95))}, p99 ${ms(percentile(cpuMs, 0.99))}
  one process ${ms(report.pages.length / wallSeconds)} pages/s, ${ms(bytes / 1e6 / wallSeconds)} MB/s
  outcomes    ${describeOutcomes(report.pages)}`);
}

const meanCpuMs = ({ report }: Measured): number =>
  sum(report.pages.map((page) => page.cpuMs)) / report.pages.length;

/** How many times the CPU time of each of ours a peer takes. */
function printRatios(measured: readonly Measured[]): void {
  const ours = measured.filter(isOurs);
  for (const peer of measured) {
    if (isOurs(peer)) continue;
    const ratios = ours.map((own) => `${(meanCpuMs(peer) / meanCpuMs(own)).toFixed(1)} times ${own.name}`);
    console.log(`\n${peer.name} takes the CPU time of ${ratios.join(", ")}`);
  }
}

const isOurs = ({ name }: Measured): boolean => name === OURS || name === OURS_RENDERED;

function describeOutcomes(pages: readonly PageMeasurement[]): string {
  const counts = new Map<string, number>();
  for (const { outcome } of pages) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([outcome, count]) => `${outcome} ${count}`)
    .join(", ");
}

async function score(plan: Plan, scorer: string, measured: readonly Measured[]): Promise<void> {
  const wanted = new Set((await listPages(plan.pages, plan.limit)).map(({ id }) => id));
  const lines = (await Bun.file(join(plan.pages, "pages.jsonl")).text())
    .split("\n")
    .filter((line) => line !== "");
  const subset = join(plan.scratch, "pages.jsonl");
  await Bun.write(subset, `${lines.filter((line) => wanted.has(JSON.parse(line).id)).join("\n")}\n`);
  // A set of segments has no complete reference text.
  const kind = "main_content" in JSON.parse(lines[0] ?? "{}") ? ["--per-type", "--meta"] : ["--segments"];
  console.log("");
  await run(
    [
      "python3",
      scorer,
      "--pages",
      subset,
      ...kind,
      "--out",
      ...measured.filter(isScored).map(({ out }) => out),
    ],
    REPOSITORY,
  );
}

/** The text is the same whatever is made besides. */
const isScored = ({ name }: Measured): boolean => name !== OURS_RENDERED;

function summarise(values: readonly number[]): Readonly<Record<string, number>> {
  const rounded = (value: number): number => Number(value.toFixed(2));
  return {
    mean: rounded(sum(values) / values.length),
    p50: rounded(percentile(values, 0.5)),
    p95: rounded(percentile(values, 0.95)),
    p99: rounded(percentile(values, 0.99)),
    max: rounded(percentile(values, 1)),
  };
}

type Subject = { readonly commit: string; readonly date: string };

async function keepRun(plan: Plan, subject: Subject, measured: readonly Measured[]): Promise<void> {
  if (plan.runs === null) return;
  const contenders = measured.map(({ name, report }) => ({
    name,
    peakRssBytes: report.peakRssBytes,
    outcomes: describeOutcomes(report.pages),
    cpuMsPerPage: summarise(report.pages.map((page) => page.cpuMs)),
    cpuMs: Object.fromEntries(report.pages.map((page) => [page.id, Number(page.cpuMs.toFixed(1))])),
  }));
  const raw = {
    bench: "extraction",
    ...subject,
    machine: describeMachine(),
    // The CPU time for a page grows when other work shares the processor's caches: 1.3 times at a load of 15.
    loadAverage: Number(loadavg()[0]?.toFixed(1)),
    pages: basename(plan.pages),
    renderings: plan.renderings.join(","),
    contenders,
  };
  const path = join(
    plan.runs,
    `extraction-${basename(plan.pages)}-${subject.date.slice(0, 19).replaceAll(":", "")}.json`,
  );
  await Bun.write(path, `${JSON.stringify(raw, null, 2)}\n`);
  console.log(`\nkept ${path}`);
}

async function main(argv: readonly string[]): Promise<void> {
  const plan = await readPlan(argv);
  // This is read before the run, because the tree may change in the minutes that it takes.
  const subject = { commit: await describeCommit(REPOSITORY), date: new Date().toISOString() };
  console.log(`${describeMachine()}\ncommit ${subject.commit}, ${subject.date}`);
  const measured = await measureAll(plan);
  for (const contender of measured) printReport(contender);
  printRatios(measured);
  if (plan.scorer !== null) await score(plan, plan.scorer, measured);
  await keepRun(plan, subject, measured);
  const bugs = sum(
    measured.filter(isOurs).map(({ report }) => report.pages.filter((page) => page.outcome === "bug").length),
  );
  if (bugs > 0) throw new Error(`${OURS} hit a bug on ${bugs} pages, see above`);
}

if (import.meta.main) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(`\nbench-extraction: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
