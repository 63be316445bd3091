/**
 * Writes the product's texts out of fold, to be scored as any other program's output: everything that
 * follows the choice of blocks (whole tables, captions, content from data) counts here, too.
 *
 *   sh scripts/bun scripts/train-extraction/write-texts.ts OUT TEXTS SET=DIR [SET=DIR ...]
 *
 * Reads OUT/second.f32 and OUT/types.f32, writes TEXTS/SET/ID.txt.
 */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { renderPage } from "../../src/extraction/article-content.ts";
import { isBarePage } from "../../src/extraction/classification/choose.ts";
import { keepBlocks } from "../../src/extraction/classification/keep-blocks.ts";
import { buildPageTree } from "../../src/extraction/classification/page-tree.ts";
import { readJsonLd } from "../../src/extraction/metadata/declared.ts";
import { readMetadata } from "../../src/extraction/metadata.ts";
import { scanPage } from "../../src/extraction/page/scan.ts";
import { PAGE_TYPES } from "../../src/extraction/types.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { readSet } from "./sets.ts";

const [out = "", texts = "", ...sets] = process.argv.slice(2);
const second = new Float32Array(await Bun.file(join(out, "second.f32")).arrayBuffer());
const types = new Float32Array(await Bun.file(join(out, "types.f32")).arrayBuffer());
const options = { ...DEFAULT_EXTRACTION, renderings: [] };
let at = 0;
let number = 0;
for (const set of sets) {
  const [name = "", directory = ""] = set.split("=");
  await mkdir(join(texts, name), { recursive: true });
  for await (const { id, html } of readSet(directory)) {
    const page = scanPage(html);
    const tree = buildPageTree(page.model);
    const p = second.subarray(at, at + tree.candidates.length);
    at += p.length;
    const typeP = types.subarray(number * PAGE_TYPES.length, ++number * PAGE_TYPES.length);
    const pageType = PAGE_TYPES[typeP.indexOf(Math.max(...typeP))] ?? null;
    const blocks = isBarePage(tree)
      ? tree.candidates
      : keepBlocks(tree, { p, typeP, favor: "balanced" }).blocks;
    const jsonLd = readJsonLd(page.facts);
    const choice = { blocks, pageType, confidence: null, mainPart: null, verdicts: null };
    const { title } = readMetadata({ page, choice, jsonLd, url: null }, null);
    const context = { url: null, base: null, jsonLd, title, image: null, options };
    const { text } = renderPage(page, choice, context);
    await Bun.write(join(texts, name, `${id}.txt`), text);
  }
}
