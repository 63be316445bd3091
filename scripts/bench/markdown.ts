/**
 * Compares the Markdown of pages with the reference Markdown that people wrote, beside other programs.
 *
 *   make bench-markdown PAGES=DIR [LIMIT=n] [PEERS=defuddle,trafilatura] [RUNS=scripts/bench/runs]
 *   sh scripts/bun scripts/bench/markdown.ts --pages DIR [options]
 *
 * PAGES contains `pages.jsonl` ({id, url, main_content_markdown, …} per line) and `html/ID.html`; no set
 * belongs to this repository. It counts headings, list items, table rows, code blocks and links, each as a
 * multiset over a page: kept, lost and added against the reference. What a program adds may be the frame of
 * the page, so its recall (kept of the reference) is read together with its precision (kept of its own).
 * `same choice` is node-html-markdown on the HTML that our own choice of content yields, which separates
 * the writer's effect from that of the choice.
 *
 *   --limit N       at most N pages, spread over the set
 *   --peers LIST    node-html-markdown (on Readability's output), defuddle, trafilatura, crawl4ai, or none; default all
 *   --seconds N     a page on which a peer takes longer counts as lost for it, default 20
 *   --show N        print N pages whose Markdown reads back differently from what was written
 *   --details FILE  write what each program lost and added on each page, as JSON lines
 *   --runs DIR      keep the summary there, e.g. scripts/bench/runs
 *   --scratch DIR   where peers are installed and write their results (default: in the temporary directory)
 *
 * Each peer runs in a process of its own. Exits 1 when more than 0.5 % of the pages read back differently.
 */

import { appendFile, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { NodeHtmlMarkdown } from "node-html-markdown";
import { Failure } from "../../src/base/failure.ts";
import { renderHtml } from "../../src/extraction/content.ts";
import { composeMarkdown } from "../../src/extraction/index.ts";
import { extractHtml } from "../../src/extraction/pool.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { parsePageUrl } from "../../src/urls/index.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { compareParts, PARTS, type Part, type Parts, partsOf, type Tally, tally } from "./markdown-parts.ts";
import { MARKDOWN_PEERS, type MarkdownPeer, PeerProcess } from "./markdown-peers.ts";
import { readBackFault } from "./markdown-read-back.ts";
import { parseCount, parseNames } from "./options.ts";
import { percentile, spread, sum } from "./statistics.ts";

type Page = { readonly id: string; readonly url: string; readonly main_content_markdown?: string | null };

const MAX_FAILURES = 0.005;
const TEXT = { type: "string" } as const;
const OPTIONS = {
  pages: TEXT,
  limit: TEXT,
  peers: TEXT,
  seconds: TEXT,
  show: TEXT,
  details: TEXT,
  runs: TEXT,
  scratch: TEXT,
};

type Plan = {
  readonly pages: string;
  readonly limit: number | null;
  readonly peers: readonly MarkdownPeer[];
  readonly limitMs: number;
  readonly show: number;
  readonly details: string | null;
  readonly runs: string | null;
  readonly scratch: string;
};

function readPlan(argv: readonly string[]): Plan {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  if (!values.pages) throw new Error("--pages DIR is needed (PAGES= of make)");
  const named =
    values.peers && values.peers !== "none"
      ? parseNames("--peers", values.peers, MARKDOWN_PEERS)
      : MARKDOWN_PEERS;
  return {
    pages: resolve(values.pages),
    limit: parseCount("--limit", values.limit),
    peers: values.peers === "none" ? [] : named,
    limitMs: 1000 * (parseCount("--seconds", values.seconds) ?? 20),
    show: parseCount("--show", values.show) ?? 0,
    details: values.details ? resolve(values.details) : null,
    runs: values.runs ? resolve(values.runs) : null,
    scratch: resolve(values.scratch ?? join(tmpdir(), "article-extractor-bench")),
  };
}

async function listPages({ pages, limit }: Plan): Promise<readonly Page[]> {
  const lines = (await Bun.file(join(pages, "pages.jsonl")).text()).split("\n").filter((line) => line !== "");
  const all = lines.map((line) => JSON.parse(line) as Page).filter((page) => page.main_content_markdown); // the set's format
  // Some pages of a set have no address.
  const addressed = all.map((page) => ({ ...page, url: page.url ?? "https://unknown.invalid/" }));
  return spread(addressed, limit ?? addressed.length);
}

type Ours = { readonly html: string; readonly markdown: string };

async function extractOurs(html: string, { url }: Page): Promise<Ours> {
  try {
    const { article } = await extractHtml(html, parsePageUrl(url), {
      ...DEFAULT_EXTRACTION,
      renderings: ["content", "markdown"],
    });
    const title = article?.title ?? null;
    return { html: article?.content ?? "", markdown: composeMarkdown(title, article?.markdown ?? "") };
  } catch (error) {
    if (error instanceof Failure && error.code !== "internal") return { html: "", markdown: "" };
    throw error;
  }
}

const translator = new NodeHtmlMarkdown({ bulletMarker: "-", useInlineLinks: false });

type Costs = { readonly before: number[]; readonly after: number[] };

/** Measures the Markdown step on the same content: CPU milliseconds of node-html-markdown and of ours. */
function measureStep(html: string, costs: Costs): void {
  const before = cpuMs(() => translator.translate(html));
  const options = { includeImages: true, includeCode: true, renderings: ["markdown"] } as const;
  const context = { base: null, title: null, drawsFormulas: () => false };
  const after = cpuMs(() => renderHtml(html, context, options));
  costs.before.push(before);
  costs.after.push(after);
}

function cpuMs(work: () => unknown): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

type Outcomes = Map<string, number>;

/** The results of the run so far. */
class Run {
  readonly tallies = new Map<string, Map<Part, Tally>>();
  readonly outcomes = new Map<string, Outcomes>();
  readonly costs: Costs = { before: [], after: [] };
  readonly faults: string[] = [];
  readonly #plan: Plan;
  readonly #peers: readonly PeerProcess[];

  constructor(plan: Plan, peers: readonly PeerProcess[]) {
    this.#plan = plan;
    this.#peers = peers;
  }

  async page(page: Page): Promise<void> {
    const path = join(this.#plan.pages, "html", `${page.id}.html`);
    const html = await Bun.file(path).text();
    const reference = partsOf(page.main_content_markdown ?? "", page.url);
    const ours = await extractOurs(html, page);
    await this.#add("article-extractor", { page, reference, markdown: ours.markdown });
    const sameChoice = quietly(() => translator.translate(ours.html));
    await this.#add("same choice", { page, reference, markdown: sameChoice });
    if (sameChoice !== "") measureStep(ours.html, this.costs);
    const body = ours.markdown.replace(/^# [^\n]*\n*/, "");
    const fault = readBackFault({ html: ours.html, markdown: body });
    if (fault !== null) this.faults.push(`${page.id} ${fault}`);
    const written = await Promise.all(this.#peers.map((peer) => peer.write({ ...page, path })));
    for (const [index, { name }] of this.#peers.entries()) {
      const { markdown, outcome } = written[index]!;
      await this.#add(name, { page, reference, markdown });
      const counts = this.outcomes.get(name) ?? new Map<string, number>();
      this.outcomes.set(name, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
    }
  }

  async #add(name: string, { page, reference, markdown }: Comparison): Promise<void> {
    const own = this.tallies.get(name) ?? new Map<Part, Tally>();
    this.tallies.set(name, own);
    const found = readParts(markdown, page.url);
    tally(own, reference, found);
    const { details } = this.#plan;
    if (details === null) return;
    const parts = Object.fromEntries(PARTS.map((part) => [part, compareParts(reference[part], found[part])]));
    await appendFile(details, `${JSON.stringify({ id: page.id, name, ...parts })}\n`);
  }
}

type Comparison = { readonly page: Page; readonly reference: Parts; readonly markdown: string };

function printTallies(name: string, tallies: ReadonlyMap<Part, Tally>): void {
  const columns = PARTS.map((part) => {
    const { kept, lost, added } = tallies.get(part) ?? { kept: 0, lost: 0, added: 0 };
    const share = (all: number): string => (all === 0 ? "–" : (kept / all).toFixed(3));
    return `  ${part.padEnd(12)} kept ${String(kept).padStart(6)} of ${String(kept + lost).padEnd(6)} added ${String(added).padEnd(6)} recall ${share(kept + lost)}  precision ${share(kept + added)}`;
  });
  console.log(`${name}\n${columns.join("\n")}`);
}

const step = (values: readonly number[]): Readonly<Record<string, number>> => ({
  mean: round(sum(values) / values.length),
  median: round(percentile(values, 0.5)),
  p95: round(percentile(values, 0.95)),
});
const round = (value: number): number => Number(value.toFixed(2));

type Summary = {
  readonly bench: "markdown";
  readonly commit: string;
  readonly date: string;
  readonly machine: string;
  readonly pages: string;
  readonly pageCount: number;
  readonly peerLimitMs: number;
  readonly counts: Readonly<Record<string, Readonly<Record<string, Tally>>>>;
  readonly peerOutcomes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly markdownStepCpuMs: { readonly before: object; readonly after: object };
  readonly readBackOtherwise: readonly string[];
};

async function keep(plan: Plan, summary: Summary): Promise<void> {
  if (plan.runs === null) return;
  const stamp = summary.date.slice(0, 19).replaceAll(":", "");
  const path = join(plan.runs, `markdown-${summary.pages}-${stamp}.json`);
  await Bun.write(path, `${JSON.stringify(summary, null, 2)}\n`);
  console.log(`kept ${path}`);
}

async function main(argv: readonly string[]): Promise<void> {
  const plan = readPlan(argv);
  await mkdir(plan.scratch, { recursive: true });
  if (plan.details !== null) await rm(plan.details, { force: true });
  const pages = await listPages(plan);
  const subject = {
    commit: await describeCommit(join(import.meta.dir, "..", "..")),
    date: new Date().toISOString(),
  };
  console.log(`${describeMachine()}\ncommit ${subject.commit}, ${pages.length} pages`);
  const peers: PeerProcess[] = [];
  for (const peer of plan.peers) peers.push(await PeerProcess.prepare({ peer, ...plan }));
  const run = new Run(plan, peers);
  for (const [index, page] of pages.entries()) {
    if (index > 0 && index % 250 === 0) console.error(`  ${index} pages`);
    await run.page(page);
  }
  for (const peer of peers) peer[Symbol.dispose]();
  for (const [name, own] of run.tallies) printTallies(name, own);
  const { costs, faults } = run;
  const summary: Summary = {
    bench: "markdown",
    ...subject,
    machine: describeMachine(),
    pages: basename(plan.pages),
    pageCount: pages.length,
    peerLimitMs: plan.limitMs,
    counts: Object.fromEntries([...run.tallies].map(([name, own]) => [name, Object.fromEntries(own)])),
    peerOutcomes: Object.fromEntries([...run.outcomes].map(([name, own]) => [name, Object.fromEntries(own)])),
    markdownStepCpuMs: { before: step(costs.before), after: step(costs.after) },
    readBackOtherwise: faults,
  };
  console.log(`\npeers' pages: ${JSON.stringify(summary.peerOutcomes)}`);
  console.log(
    `Markdown step, CPU ms a page: ${JSON.stringify(summary.markdownStepCpuMs)} (after: with the text)`,
  );
  console.log(`read back otherwise: ${faults.length} of ${pages.length} pages`);
  for (const fault of faults.slice(0, plan.show)) console.log(`  ${fault}`);
  await keep(plan, summary);
  if (faults.length > pages.length * MAX_FAILURES) process.exitCode = 1;
}

/** Reads a document's parts; one that `marked` cannot read has none. */
const readParts = (markdown: string, url: string): Parts => {
  try {
    return partsOf(markdown, url);
  } catch {
    return partsOf("", url);
  }
};

/** A peer's own bug counts as a page without output. */
function quietly(write: () => string): string {
  try {
    return write();
  } catch {
    return "";
  }
}

if (import.meta.main) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(`\nbench-markdown: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
