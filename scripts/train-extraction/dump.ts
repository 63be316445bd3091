/**
 * What the product's own code says about the pages of training sets, for the steps of train.sh:
 *
 *   sh scripts/bun scripts/train-extraction/dump.ts STEP OUT SET=DIR [SET=DIR ...]
 *
 * `blocks`    OUT/blocks.f32 (a row of features for each block), OUT/words.u16 and OUT/word-counts.u16 (the buckets of its
 *             words), OUT/pages.jsonl ({set, id, url, texts} a page)
 * `context`   the features of the second stage from OUT/first.f32 and OUT/words.f32: OUT/context.f32, OUT/page.f32
 * `choice`    the product's choice out of fold from OUT/second.f32 and OUT/types.f32: the features of the confidence, OUT/choice.f32,
 *             and its texts, to be scored as any other program's, OUT/texts/SET/ID.txt
 * `metadata`  candidates for title, date and byline, around content chosen by trees that saw no page of its domain:
 *             OUT/KIND.f32 (a row a candidate), OUT/KIND.jsonl ({set, id, url, texts} a page)
 * `addresses` how alike the product's texts of a page are at six addresses: pages of one text, pages of which a text has 1 % more
 *             words than another, and in OUT each page with several (its words at each address)
 * `ablation`  the product's texts with all steps of the selection, OUT/all/texts/SET/ID.txt, and without each, OUT/STEP/texts/SET/ID.txt
 * `names`     the names of all features in the order of their columns, into the file OUT, which a test compares with the code
 *
 * The names of features stand beside them in OUT/NAME-features.json. The sets are the same in every step, in the same order.
 */

import { isUtf8 } from "node:buffer";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FileSink } from "bun";
import { renderPage } from "../../src/extraction/article-content.ts";
import {
  BLOCK_FEATURES,
  computeBlockFeatures,
  headingLevel,
  WORD_SUM_COUNT,
  wordsOfBlock,
} from "../../src/extraction/classification/block-features.ts";
import {
  CHOICE_FEATURES,
  type Choice,
  chooseBlocks,
  computeChoiceFeatures,
  likeliestOf,
} from "../../src/extraction/classification/choose.ts";
import {
  CONTEXT_FEATURES,
  computeContextFeatures,
  computePageFeatures,
  PAGE_FEATURES,
} from "../../src/extraction/classification/context-features.ts";
import { buildPageTree, type PageTree } from "../../src/extraction/classification/page-tree.ts";
import { BYLINE_FEATURES, describeBylines } from "../../src/extraction/metadata/byline.ts";
import { DATE_FEATURES, describeDates } from "../../src/extraction/metadata/date.ts";
import { readJsonLd, viewPage } from "../../src/extraction/metadata/metadata-page.ts";
import { describeTitles, TITLE_FEATURES } from "../../src/extraction/metadata/title.ts";
import { readMetadata } from "../../src/extraction/metadata.ts";
import { scanPage } from "../../src/extraction/page/scan.ts";
import { COMPLETING, JUDGING, selectGiven, selectJudged } from "../../src/extraction/selection/selection.ts";
import { isBarePage } from "../../src/extraction/selection/short-page.ts";
import { countWords } from "../../src/extraction/text.ts";
import { PAGE_TYPES } from "../../src/extraction/types.ts";
import { decodeText } from "../../src/fetching/charset/decode.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { ADDRESSES } from "../../test/support/addresses.ts";

const [step = "", out = "", ...sets] = process.argv.slice(2);

/** One page of a set with its tree. */
type Page = { readonly set: string; readonly id: string; readonly url: string } & Scanned;
type Scanned = { readonly scanned: ReturnType<typeof scanPage>; readonly tree: PageTree };

/** The pages of all sets (`pages.jsonl` and `html/ID.html`), in their order. */
async function* readPages(tidy = (html: string): string => html): AsyncGenerator<Page> {
  for (const named of sets) {
    const [set = "", directory = ""] = named.split("=");
    const lines = (await Bun.file(join(directory, "pages.jsonl")).text()).split("\n");
    for (const line of lines.filter((one) => one !== "")) {
      const { id, url } = JSON.parse(line) as { id: string; url: string }; // the scorer's own form
      const bytes = await Bun.file(join(directory, "html", `${id}.html`)).bytes();
      // A set may keep its pages as they were sent, in a charset of their own.
      const html = isUtf8(bytes) ? new TextDecoder().decode(bytes) : decodeText(bytes, null).text;
      const scanned = scanPage(tidy(html));
      yield { set, id, url, scanned, tree: buildPageTree(scanned.model) };
    }
  }
}

const sinks: FileSink[] = [];

/** A file of OUT that grows as pages come. */
async function sinkOf(name: string): Promise<FileSink> {
  await rm(join(out, name), { force: true }); // a writer of Bun does not shorten a file that is there
  const sink = Bun.file(join(out, name)).writer();
  sinks.push(sink);
  return sink;
}

/** Appends numbers to a file as they come, little-endian. */
async function numbersOf(name: string): Promise<(rows: Float32Array | Uint16Array) => void> {
  const sink = await sinkOf(name);
  return (rows) => {
    sink.write(new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength));
    sink.flush();
  };
}

const writeNames = (name: string, features: readonly string[]): Promise<number> =>
  Bun.write(join(out, `${name}features.json`), JSON.stringify(features));

const readFloats = async (name: string): Promise<Float32Array> =>
  new Float32Array(await Bun.file(join(out, name)).arrayBuffer());

/** Cuts a file of numbers into those of one page after another. */
async function partsOf(name: string): Promise<(count: number) => Float32Array> {
  const all = await readFloats(name);
  let at = 0;
  return (count) => {
    at += count;
    if (at > all.length) throw new Error(`${name} has ${all.length} numbers and ends before the pages do`);
    return all.subarray(at - count, at);
  };
}

/** What the product chooses on one page after another by the trees out of fold. */
async function chooser() {
  const second = await partsOf("second.f32");
  const types = await partsOf("types.f32");
  return (tree: PageTree) => {
    const p = second(tree.candidates.length);
    const typeP = types(PAGE_TYPES.length);
    const pageType = likeliestOf(typeP);
    const selection = isBarePage(tree)
      ? selectGiven(tree, tree.candidates)
      : selectJudged(tree, { p, typeP, favor: "balanced" });
    return { selection, blocks: selection.judged, p, typeP, pageType, confidence: null, verdicts: null };
  };
}

async function dumpBlocks(): Promise<void> {
  await mkdir(out, { recursive: true });
  const writeRows = await numbersOf("blocks.f32");
  const writeWords = await numbersOf("words.u16");
  const writeCounts = await numbersOf("word-counts.u16");
  const pages = await sinkOf("pages.jsonl");
  for await (const { set, id, url, scanned, tree } of readPages()) {
    writeRows(computeBlockFeatures(tree, scanned.facts));
    const buckets: number[] = [];
    const counts: number[] = [];
    let heading = -1;
    for (const block of tree.candidates) {
      for (const words of wordsOfBlock(tree, block, heading)) {
        for (const word of words) buckets.push(word);
        counts.push(words.length);
      }
      if (headingLevel(tree, block) > 0) heading = block;
    }
    writeWords(Uint16Array.from(buckets));
    writeCounts(Uint16Array.from(counts));
    const texts = Array.from(tree.candidates, (block) => scanned.model.blocks.text[block]);
    pages.write(`${JSON.stringify({ set, id, url, texts })}\n`);
  }
  await writeNames("", BLOCK_FEATURES);
}

async function dumpContext(): Promise<void> {
  const first = await partsOf("first.f32");
  const words = await partsOf("words.f32");
  const writeContext = await numbersOf("context.f32");
  const writePage = await numbersOf("page.f32");
  for await (const { scanned, tree } of readPages()) {
    const p = first(tree.candidates.length);
    writeContext(computeContextFeatures(tree, p, words(p.length * WORD_SUM_COUNT)));
    const rows = computeBlockFeatures(tree, scanned.facts);
    writePage(computePageFeatures({ facts: scanned.facts, rows, p }));
  }
  await writeNames("page-", PAGE_FEATURES);
  await writeNames("context-", CONTEXT_FEATURES);
}

async function dumpChoice(): Promise<void> {
  const choose = await chooser();
  const write = await numbersOf("choice.f32");
  for await (const { set, id, scanned, tree } of readPages()) {
    const choice = choose(tree);
    write(computeChoiceFeatures({ tree, ...choice }));
    await Bun.write(join(out, "texts", set, `${id}.txt`), textOf(scanned, choice, null));
  }
  await writeNames("choice-", CHOICE_FEATURES);
}

/** The product's text of a page, without its title. */
function textOf(page: Page["scanned"], choice: Choice, url: string | null): string {
  const jsonLd = readJsonLd(page.facts);
  const { titleInContent: title } = readMetadata({ page, choice, jsonLd, url }, null);
  const options = { ...DEFAULT_EXTRACTION, renderings: [] };
  return renderPage(page, choice, { url: null, base: null, jsonLd, title, image: null, options }).text;
}

async function dumpMetadata(): Promise<void> {
  const choose = await chooser();
  const kinds = { titles: TITLE_FEATURES, dates: DATE_FEATURES, bylines: BYLINE_FEATURES };
  const writers = new Map<string, { rows: (rows: Float32Array) => void; lines: FileSink }>();
  for (const [name, features] of Object.entries(kinds)) {
    writers.set(name, { rows: await numbersOf(`${name}.f32`), lines: await sinkOf(`${name}.jsonl`) });
    await writeNames(`${name}-`, features);
  }
  for await (const { set, id, url, scanned, tree } of readPages((html) => html.replace(/\r\n?/g, "\n"))) {
    const choice = choose(tree);
    const page = viewPage({ page: scanned, choice, jsonLd: readJsonLd(scanned.facts), url: url || null });
    const write = (name: string, texts: readonly string[], rows: Float32Array): void => {
      writers.get(name)?.rows(rows);
      writers.get(name)?.lines.write(`${JSON.stringify({ set, id, url, texts })}\n`);
    };
    const titles = describeTitles(page);
    const dates = describeDates(page, titles.block);
    const bylines = describeBylines(page, titles.block);
    write(
      "titles",
      titles.candidates.map(({ text }) => text),
      titles.rows,
    );
    write(
      "dates",
      dates.days.map(({ day }) => day),
      dates.rows,
    );
    write(
      "bylines",
      bylines.candidates.map(({ name }) => name),
      bylines.rows,
    );
  }
}

async function compareAddresses(): Promise<void> {
  let [pages, equal, apart] = [0, 0, 0];
  const several: string[] = [];
  for await (const { set, id, scanned, tree } of readPages()) {
    const choice = chooseBlocks(scanned, { favor: "balanced", hasVerdicts: false });
    const { judged } = choice.selection;
    const texts = ADDRESSES.map((url) =>
      textOf(scanned, { ...choice, selection: selectGiven(tree, judged) }, url),
    );
    pages++;
    if (new Set(texts).size === 1) equal++;
    else {
      const counts = texts.map((text) => countWords(text));
      if (Math.max(...counts) > 1.01 * Math.min(...counts)) apart++;
      several.push(JSON.stringify({ set, id, counts }));
    }
  }
  await Bun.write(out, several.map((line) => `${line}\n`).join(""));
  process.stdout.write(`${pages} pages, ${equal} with one text, ${apart} with over 1 % more words\n`);
}

async function dumpAblation(): Promise<void> {
  for await (const { set, id, scanned } of readPages()) {
    const write = (name: string) => {
      const text = textOf(scanned, chooseBlocks(scanned, { favor: "balanced", hasVerdicts: false }), null);
      return Bun.write(join(out, name, "texts", set, `${id}.txt`), text);
    };
    await write("all");
    for (const steps of [JUDGING, COMPLETING]) {
      for (const [at, left] of [...steps].entries()) {
        steps.splice(at, 1);
        await write(left.name.replaceAll(" ", "-"));
        steps.splice(at, 0, left);
      }
    }
  }
}

const names = {
  BLOCK_FEATURES,
  CONTEXT_FEATURES,
  PAGE_FEATURES,
  CHOICE_FEATURES,
  TITLE_FEATURES,
  DATE_FEATURES,
  BYLINE_FEATURES,
};
const STEPS: Readonly<Record<string, () => Promise<unknown>>> = {
  blocks: dumpBlocks,
  context: dumpContext,
  choice: dumpChoice,
  metadata: dumpMetadata,
  addresses: compareAddresses,
  ablation: dumpAblation,
  names: () => Bun.write(out, `${JSON.stringify(names, null, 1)}\n`),
};
await STEPS[step]?.();
for (const sink of sinks) await sink.end();
