/**
 * Second step of the training: the features of the second stage, from the first stage's probabilities.
 *
 *   sh scripts/bun scripts/train-extraction/dump-context.ts OUT SET=DIR [SET=DIR ...]
 *
 * Reads OUT/first.f32 (a probability for each block of OUT/blocks.f32) and writes OUT/context.f32 and
 * OUT/context-features.json. The sets are those of the first step, in the same order.
 */
import { join } from "node:path";
import { CONTEXT_FEATURES, computeContextFeatures } from "../../src/extraction/choice/context-features.ts";
import { buildPageTree } from "../../src/extraction/choice/page-tree.ts";
import { scanPage } from "../../src/extraction/page/scan.ts";
import { floatWriter, readSet } from "./sets.ts";

const [out = "", ...sets] = process.argv.slice(2);
const first = new Float32Array(await Bun.file(join(out, "first.f32")).arrayBuffer());
const rows = floatWriter(join(out, "context.f32"));
let at = 0;
for (const set of sets) {
  for await (const { html } of readSet(set.split("=")[1] ?? "")) {
    const tree = buildPageTree(scanPage(html).model);
    const end = at + tree.candidates.length;
    rows.write(computeContextFeatures(tree, first.subarray(at, end)));
    at = end;
  }
}
if (at !== first.length) throw new Error(`${first.length} probabilities for ${at} blocks`);
await rows.end();
await Bun.write(join(out, "context-features.json"), JSON.stringify(CONTEXT_FEATURES));
