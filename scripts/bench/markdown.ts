/**
 * Compares the Markdown of pages with the reference Markdown that people wrote, beside other programs.
 *
 *   make bench-markdown PAGES=DIR [LIMIT=n] [PEERS=defuddle,trafilatura]
 *   sh scripts/bun scripts/bench/markdown.ts --pages DIR [--limit N] [--peers LIST] [--scratch DIR] [--show N]
 *
 * PAGES holds `pages.jsonl` ({id, url, main_content_markdown, …} a line) and `html/ID.html`; no set is part
 * of this repository. Counted are headings, list items, table rows, code blocks and links, each as a
 * multiset over a page: kept, lost and added against the reference. `same choice` is node-html-markdown on
 * the HTML that our own choice of content yields, which tells the writer's part from the choice's.
 *
 *   --peers LIST  node-html-markdown (on Readability's output), defuddle, trafilatura, or none; default all
 *   --show N      prints N pages that the two renderers read back otherwise than they were written
 *
 * Exits 1 when more than 0.5 % of the pages are read back otherwise.
 */
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { NodeHtmlMarkdown } from "node-html-markdown";
import { renderContent } from "../../src/extraction/content.ts";
import { composeMarkdown, extractHtml } from "../../src/extraction/index.ts";
import { Failure } from "../../src/failure.ts";
import { parsePageUrl } from "../../src/urls/index.ts";
import {
  holdsFormulas,
  RENDERERS,
  type Shape,
  shapeOfHtml,
  shapeOfMarkdown,
} from "../../test/support/round-trip.ts";
import { preparePeer, run } from "./contenders.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { PARTS, type Part, type Parts, partsOf, type Tally, tally } from "./markdown-parts.ts";
import { parseCount, parseNames } from "./options.ts";
import { loadPeer, type ParseHtml } from "./peers/load.ts";
import { percentile, spread, sum } from "./statistics.ts";

const PEERS = ["node-html-markdown", "defuddle", "trafilatura"] as const;
type Peer = (typeof PEERS)[number];
type Page = { readonly id: string; readonly url: string; readonly main_content_markdown?: string | null };
type Writer = (html: string, page: Page) => Promise<string>;

const MAX_FAILURES = 0.005;
const TEXT = { type: "string" } as const;

type Plan = {
  readonly pages: string;
  readonly limit: number | null;
  readonly peers: readonly Peer[];
  readonly scratch: string;
  readonly show: number;
};

function readPlan(argv: readonly string[]): Plan {
  const options = { pages: TEXT, limit: TEXT, peers: TEXT, scratch: TEXT, show: TEXT };
  const { values } = parseArgs({ args: [...argv], options });
  if (!values.pages) throw new Error("--pages DIR is needed (PAGES= of make)");
  return {
    pages: resolve(values.pages),
    limit: parseCount("--limit", values.limit),
    peers: values.peers === "none" ? [] : values.peers ? parseNames("--peers", values.peers, PEERS) : PEERS,
    scratch: resolve(values.scratch ?? join(tmpdir(), "article-extractor-bench")),
    show: parseCount("--show", values.show) ?? 0,
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
      minWordCount: 0,
      includeImages: true,
      includeCode: true,
      select: null,
      exclude: [],
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

async function writerOf(peer: Exclude<Peer, "trafilatura">, scratch: string): Promise<Writer> {
  if (peer === "defuddle") {
    await preparePeer("defuddle", scratch);
    const { parseHTML: parse } = await loadPeer<{ parseHTML: ParseHtml }>(scratch, "linkedom/esm/index.js");
    const { Defuddle } = await loadPeer<DefuddleModule>(scratch, "defuddle/dist/node.js");
    return async (html, { url }) => {
      const result = await Defuddle(parse(html).document, url, { useAsync: false, markdown: true });
      return composeMarkdown(result.title || null, result.content);
    };
  }
  return async (html) => {
    const { document } = parseHTML(html);
    // linkedom's types describe the same DOM.
    const result = new Readability(document as unknown as Document).parse();
    return composeMarkdown(
      result?.title || null,
      result?.content ? translator.translate(result.content) : "",
    );
  };
}

type DefuddleModule = {
  readonly Defuddle: (
    input: Document,
    url: string,
    options: { readonly useAsync: boolean; readonly markdown: boolean },
  ) => Promise<{ readonly content: string; readonly title: string }>;
};
async function runTrafilatura(plan: Plan, pages: readonly Page[]): Promise<Writer> {
  const command = await preparePeer("trafilatura", plan.scratch);
  const out = join(plan.scratch, "trafilatura-markdown");
  await mkdir(out, { recursive: true });
  const list = join(plan.scratch, "markdown-pages.json");
  await Bun.write(list, JSON.stringify(pages.map(({ id, url }) => ({ id, url }))));
  const script = join(import.meta.dir, "peers", "trafilatura_markdown.py");
  await run([command("")[0] ?? "python3", script, plan.pages, out, list], import.meta.dir);
  return (_, { id }) => Bun.file(join(out, `${id}.md`)).text();
}

type Costs = { readonly before: number[]; readonly after: number[] };

/** The Markdown step on the same content: CPU milliseconds before (node-html-markdown) and after. */
function measureStep(html: string, costs: Costs): void {
  const before = cpuMs(() => translator.translate(html));
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  const { body } = document as unknown as Document; // linkedom's types describe the same
  const options = { includeImages: true, includeCode: true, renderings: ["markdown"] } as const;
  const after = cpuMs(() => renderContent(body, { base: null, title: null, options }));
  costs.before.push(before);
  costs.after.push(after);
}

function cpuMs(work: () => unknown): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** What differs between what was written and what a renderer reads; null for nothing. */
function readBackFault({ html, markdown }: Ours): string | null {
  if (/(?:col|row)span=/.test(html)) return spanlessFault({ html, markdown });
  const expected = shapeOfHtml(html);
  for (const [name, render] of Object.entries(RENDERERS)) {
    const fault = differenceOf(expected, shapeOfMarkdown(markdown, render, holdsFormulas(html)));
    if (fault !== null) return `${name}: ${fault}`;
  }
  return null;
}

// Spans are unfolded in Markdown: there everything but the tables is compared.
function spanlessFault({ html, markdown }: Ours): string | null {
  const expected = shapeOfHtml(html);
  for (const [name, render] of Object.entries(RENDERERS)) {
    const { headings, code } = shapeOfMarkdown(markdown, render, holdsFormulas(html));
    const fault = differenceOf({ headings: expected.headings, code: expected.code }, { headings, code });
    if (fault !== null) return `${name}: ${fault}`;
  }
  return null;
}

function differenceOf(expected: Partial<Shape>, found: Partial<Shape>): string | null {
  for (const key of Object.keys(expected) as (keyof Shape)[]) {
    const [a, b] = [expected[key], found[key]].map((value) =>
      typeof value === "string" ? value : JSON.stringify(value),
    );
    if (a === undefined || b === undefined || a === b) continue;
    let at = 0;
    while (a[at] === b[at]) at++;
    return `${key}: …${a.slice(Math.max(0, at - 60), at + 60)}… became …${b.slice(Math.max(0, at - 60), at + 60)}…`;
  }
  return null;
}

function printTallies(name: string, tallies: ReadonlyMap<Part, Tally>): void {
  const columns = PARTS.map((part) => {
    const { kept, lost, added } = tallies.get(part) ?? { kept: 0, lost: 0, added: 0 };
    return `${part} ${kept}/${kept + lost} (+${added})`;
  });
  console.log(`${name.padEnd(20)} ${columns.join("  ")}`);
}

async function main(argv: readonly string[]): Promise<void> {
  const plan = readPlan(argv);
  await mkdir(plan.scratch, { recursive: true });
  const pages = await listPages(plan);
  const commit = await describeCommit(join(import.meta.dir, "..", ".."));
  console.log(`${describeMachine()}\ncommit ${commit}, ${pages.length} pages`);
  const writers = new Map<string, Writer>();
  for (const peer of plan.peers) {
    writers.set(
      peer,
      peer === "trafilatura" ? await runTrafilatura(plan, pages) : await writerOf(peer, plan.scratch),
    );
  }
  const tallies = new Map<string, Map<Part, Tally>>();
  const add = (name: string, reference: Parts, markdown: string, url: string): void => {
    const own = tallies.get(name) ?? new Map<Part, Tally>();
    tallies.set(name, own);
    tally(own, reference, readParts(markdown, url));
  };
  const costs: Costs = { before: [], after: [] };
  const faults: string[] = [];
  for (const [index, page] of pages.entries()) {
    if (index > 0 && index % 250 === 0) console.error(`  ${index} pages`);
    const html = await Bun.file(join(plan.pages, "html", `${page.id}.html`)).text();
    const reference = partsOf(page.main_content_markdown ?? "", page.url);
    const ours = await extractOurs(html, page);
    add("article-extractor", reference, ours.markdown, page.url);
    const sameChoice = await quietly(async () => translator.translate(ours.html));
    add("same choice", reference, sameChoice, page.url);
    if (sameChoice !== "") measureStep(ours.html, costs);
    const body = ours.markdown.replace(/^# [^\n]*\n*/, "");
    const fault = readBackFault({ html: ours.html, markdown: body });
    if (fault !== null) faults.push(`${page.id} ${fault}`);
    for (const [name, write] of writers)
      add(name, reference, await quietly(() => write(html, page)), page.url);
  }
  for (const [name, own] of tallies) printTallies(name, own);
  const ms = (values: readonly number[]): string =>
    `mean ${(sum(values) / values.length).toFixed(2)}, median ${percentile(values, 0.5).toFixed(2)}, p95 ${percentile(values, 0.95).toFixed(2)}`;
  console.log(
    `\nMarkdown step, CPU ms a page: before ${ms(costs.before)}; after (with the text) ${ms(costs.after)}`,
  );
  console.log(`read back otherwise: ${faults.length} of ${pages.length} pages`);
  for (const fault of faults.slice(0, plan.show)) console.log(`  ${fault}`);
  if (faults.length > pages.length * MAX_FAILURES) process.exitCode = 1;
}

/** What `marked` cannot read holds nothing. */
function readParts(markdown: string, url: string): Parts {
  try {
    return partsOf(markdown, url);
  } catch {
    return partsOf("", url);
  }
}

/** A peer's bug costs it the page. */
async function quietly(write: () => Promise<string>): Promise<string> {
  try {
    return await write();
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
