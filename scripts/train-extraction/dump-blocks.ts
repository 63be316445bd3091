/**
 * First step of the training: what the product's own code says about every candidate block.
 *
 *   sh scripts/bun scripts/train-extraction/dump-blocks.ts OUT SET=DIR [SET=DIR ...]
 *
 * Writes OUT/blocks.f32 (a row of features for each block), OUT/words.u16 and OUT/word-counts.u16 (the buckets of
 * its words, see `wordsOfPage`), OUT/pages.jsonl ({set, id, url, texts} a page) and OUT/features.json (their names).
 */

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { BLOCK_FEATURES, computeBlockFeatures } from "../../src/extraction/classification/block-features.ts";
import { buildPageTree } from "../../src/extraction/classification/page-tree.ts";
import { scanPage } from "../../src/extraction/page/scan.ts";
import { floatWriter, numberWriter, readSet } from "./sets.ts";
import { wordsOfPage } from "./words.ts";

const [out = "", ...sets] = process.argv.slice(2);
await mkdir(out, { recursive: true });
// A writer of Bun does not shorten a file that is there.
for (const name of ["blocks.f32", "words.u16", "word-counts.u16", "pages.jsonl"])
  await rm(join(out, name), { force: true });
const rows = floatWriter(join(out, "blocks.f32"));
const words = numberWriter(join(out, "words.u16"));
const wordCounts = numberWriter(join(out, "word-counts.u16"));
const pages = Bun.file(join(out, "pages.jsonl")).writer();
for (const set of sets) {
  const [name, directory = ""] = set.split("=");
  for await (const { id, url, html } of readSet(directory)) {
    const { model, facts } = scanPage(html);
    const tree = buildPageTree(model);
    rows.write(computeBlockFeatures(tree, facts));
    const { buckets, counts } = wordsOfPage(tree);
    words.write(buckets);
    wordCounts.write(counts);
    const texts = Array.from(tree.candidates, (block) => model.blocks.text[block]);
    pages.write(`${JSON.stringify({ set: name, id, url, texts })}\n`);
  }
}
await rows.end();
await words.end();
await wordCounts.end();
await pages.end();
await Bun.write(join(out, "features.json"), JSON.stringify(BLOCK_FEATURES));
