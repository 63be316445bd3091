/**
 * Third step of the training: the features of the confidence, from the second stage's probabilities.
 *
 *   sh scripts/bun scripts/train-extraction/dump-choice.ts OUT SET=DIR [SET=DIR ...]
 *
 * Reads OUT/second.f32 and OUT/types.f32, writes OUT/choice.f32 and OUT/choice-features.json.
 */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CHOICE_FEATURES, computeChoiceFeatures } from "../../src/extraction/classification/choose.ts";
import { keepBlocks } from "../../src/extraction/classification/keep-blocks.ts";
import { buildPageTree } from "../../src/extraction/classification/page-tree.ts";
import { scanPage } from "../../src/extraction/page/scan.ts";
import { PAGE_TYPES } from "../../src/extraction/types.ts";
import { floatWriter, readSet } from "./sets.ts";

const [out = "", ...sets] = process.argv.slice(2);
const second = new Float32Array(await Bun.file(join(out, "second.f32")).arrayBuffer());
const types = new Float32Array(await Bun.file(join(out, "types.f32")).arrayBuffer());
await rm(join(out, "choice.f32"), { force: true }); // a writer of Bun does not shorten it
const rows = floatWriter(join(out, "choice.f32"));
let at = 0;
let page = 0;
for (const set of sets) {
  for await (const { html } of readSet(set.split("=")[1] ?? "")) {
    const tree = buildPageTree(scanPage(html).model);
    const p = second.subarray(at, at + tree.candidates.length);
    const typeP = types.subarray(page * PAGE_TYPES.length, (page + 1) * PAGE_TYPES.length);
    rows.write(
      computeChoiceFeatures({
        tree,
        p,
        typeP,
        blocks: keepBlocks(tree, { p, typeP, favor: "balanced" }).blocks,
      }),
    );
    at += tree.candidates.length;
    page++;
  }
}
await rows.end();
await Bun.write(join(out, "choice-features.json"), JSON.stringify(CHOICE_FEATURES));
