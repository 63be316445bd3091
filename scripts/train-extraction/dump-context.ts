/**
 * Second step of the training: the features of the second stage, from the first stage's probabilities.
 *
 *   sh scripts/bun scripts/train-extraction/dump-context.ts OUT SET=DIR [SET=DIR ...]
 *
 * Reads OUT/first.f32 (a probability for each block of OUT/blocks.f32) and OUT/words.f32, and writes OUT/context.f32,
 * OUT/page.f32 and their names. The sets are those of the first step, in the same order.
 */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { computeBlockFeatures } from "../../src/extraction/classification/block-features.ts";
import {
  CONTEXT_FEATURES,
  computeContextFeatures,
} from "../../src/extraction/classification/context-features.ts";
import { computePageFeatures, PAGE_FEATURES } from "../../src/extraction/classification/page-features.ts";
import { buildPageTree } from "../../src/extraction/classification/page-tree.ts";
import { WORD_SUM_COUNT } from "../../src/extraction/classification/word-sums.ts";
import { scanPage } from "../../src/extraction/page/scan.ts";
import { floatWriter, readSet } from "./sets.ts";

const [out = "", ...sets] = process.argv.slice(2);
const first = new Float32Array(await Bun.file(join(out, "first.f32")).arrayBuffer());
const words = new Float32Array(await Bun.file(join(out, "words.f32")).arrayBuffer());
await rm(join(out, "context.f32"), { force: true }); // a writer of Bun does not shorten it
const rows = floatWriter(join(out, "context.f32"));
await rm(join(out, "page.f32"), { force: true });
const pages = floatWriter(join(out, "page.f32"));
let at = 0;
for (const set of sets) {
  for await (const { html, url } of readSet(set.split("=")[1] ?? "")) {
    const { model, facts } = scanPage(html);
    const tree = buildPageTree(model);
    const end = at + tree.candidates.length;
    const p = first.subarray(at, end);
    const wordSums = words.subarray(at * WORD_SUM_COUNT, end * WORD_SUM_COUNT);
    rows.write(computeContextFeatures(tree, p, wordSums));
    pages.write(computePageFeatures({ facts, url, rows: computeBlockFeatures(tree, facts), p }));
    at = end;
  }
}
if (at !== first.length) throw new Error(`${first.length} probabilities for ${at} blocks`);
await rows.end();
await pages.end();
await Bun.write(join(out, "page-features.json"), JSON.stringify(PAGE_FEATURES));
await Bun.write(join(out, "context-features.json"), JSON.stringify(CONTEXT_FEATURES));
