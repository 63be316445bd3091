/**
 * Compares the Markdown of pages with the reference Markdown that people wrote, beside other programs.
 *
 *   make bench-markdown PAGES=DIR [LIMIT=n] [PEERS=defuddle,trafilatura]
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
 *   --details FILE  write what each program lost and added on each page, as JSON lines
 *   --out FILE      keep the summary there
 *   --scratch DIR   where peers are installed and write their results (default: in the temporary directory)
 *
 * Each peer runs in a process of its own.
 */

import { appendFile, mkdir, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { NodeHtmlMarkdown } from "node-html-markdown";
import { Failure } from "../../src/base/failure.ts";
import { composeMarkdown } from "../../src/extraction/index.ts";
import { extractHtml } from "../../src/extraction/pool.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { parsePageUrl } from "../../src/urls/index.ts";
import { introduce, keep, parseNames, printTable, readOptions, spread } from "./bench.ts";
import { compareParts, PARTS, type Part, type Parts, partsOf, type Tally, tally } from "./markdown-parts.ts";
import { MARKDOWN_PEERS, PeerProcess } from "./markdown-peers.ts";

type Page = { readonly id: string; readonly url: string; readonly main_content_markdown?: string | null };

const options = readOptions({
  pages: "",
  limit: 0,
  peers: MARKDOWN_PEERS.join(","),
  seconds: 20,
  details: "",
});
if (options.pages === "") throw new Error("--pages DIR is needed (PAGES= of make)");
const directory = resolve(options.pages);
const peerNames = options.peers === "none" ? [] : parseNames("--peers", options.peers, MARKDOWN_PEERS);

async function listPages(): Promise<readonly Page[]> {
  const lines = (await Bun.file(join(directory, "pages.jsonl")).text()).split("\n").filter(Boolean);
  const all = lines.map((line) => JSON.parse(line) as Page).filter((page) => page.main_content_markdown); // the set's format
  // Some pages of a set have no address.
  const addressed = all.map((page) => ({ ...page, url: page.url ?? "https://unknown.invalid/" }));
  return spread(addressed, options.limit || addressed.length);
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

/** What each contender kept, lost and added, and how its pages ended. */
const tallies = new Map<string, Map<Part, Tally>>();
const outcomes = new Map<string, Record<string, number>>();

async function comparePage(page: Page, peers: readonly PeerProcess[]): Promise<void> {
  const path = join(directory, "html", `${page.id}.html`);
  const reference = partsOf(page.main_content_markdown ?? "", page.url);
  const ours = await extractOurs(await Bun.file(path).text(), page);
  await add("article-extractor", { page, reference, markdown: ours.markdown });
  const sameChoice = quietly(() => translator.translate(ours.html));
  await add("same choice", { page, reference, markdown: sameChoice });
  const written = await Promise.all(peers.map((peer) => peer.write({ ...page, path })));
  for (const [index, { name }] of peers.entries()) {
    const { markdown, outcome } = written[index]!;
    await add(name, { page, reference, markdown });
    const counts = outcomes.get(name) ?? {};
    outcomes.set(name, { ...counts, [outcome]: (counts[outcome] ?? 0) + 1 });
  }
}

type Comparison = { readonly page: Page; readonly reference: Parts; readonly markdown: string };

async function add(name: string, { page, reference, markdown }: Comparison): Promise<void> {
  const own = tallies.get(name) ?? new Map<Part, Tally>();
  tallies.set(name, own);
  const found = readParts(markdown, page.url);
  tally(own, reference, found);
  if (options.details === "") return;
  const parts = Object.fromEntries(PARTS.map((part) => [part, compareParts(reference[part], found[part])]));
  await appendFile(options.details, `${JSON.stringify({ id: page.id, name, ...parts })}\n`);
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

await mkdir(options.scratch, { recursive: true });
if (options.details !== "") await rm(options.details, { force: true });
const pages = await listPages();
const about = await introduce(`${pages.length} pages of ${basename(directory)}`);
const peers: PeerProcess[] = [];
for (const peer of peerNames)
  peers.push(await PeerProcess.prepare({ peer, scratch: options.scratch, limitMs: 1000 * options.seconds }));
for (const [index, page] of pages.entries()) {
  if (index > 0 && index % 250 === 0) console.error(`  ${index} pages`);
  await comparePage(page, peers);
}
for (const peer of peers) peer[Symbol.dispose]();
const rows = [...tallies].flatMap(([name, own]) =>
  [...own].map(([part, { kept, lost, added }]) => ({
    name,
    part,
    kept,
    lost,
    added,
    recall: kept / (kept + lost),
    precision: kept / (kept + added),
  })),
);
printTable(rows);
const ended = Object.fromEntries(outcomes);
console.log(`\npeers' pages: ${JSON.stringify(ended)}`);
await keep(options.out, { ...about, set: basename(directory), pages: pages.length, rows, outcomes: ended });
