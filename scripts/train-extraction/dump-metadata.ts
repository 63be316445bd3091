/**
 * Last step of the training: the candidates for title, date and byline of every page, with their features.
 *
 *   sh scripts/bun scripts/train-extraction/dump-metadata.ts OUT SET=DIR [SET=DIR ...]
 *
 * Reads OUT/second.f32 and OUT/types.f32, so that the candidates stand around content that was chosen by
 * trees that saw no page of its domain. Writes OUT/KIND.f32 (a row a candidate), OUT/KIND.jsonl ({set, id, url,
 * texts} a page) and OUT/KIND-features.json for each kind.
 */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { keepBlocks } from "../../src/extraction/classification/keep-blocks.ts";
import { buildPageTree } from "../../src/extraction/classification/page-tree.ts";
import { BYLINE_FEATURES } from "../../src/extraction/metadata/byline-features.ts";
import { DATE_FEATURES } from "../../src/extraction/metadata/date-features.ts";
import { readJsonLd } from "../../src/extraction/metadata/declared.ts";
import { type MetadataPage, viewPage } from "../../src/extraction/metadata/metadata-page.ts";
import { TITLE_FEATURES } from "../../src/extraction/metadata/title-features.ts";
import { describeBylines, describeDates, describeTitles } from "../../src/extraction/metadata.ts";
import { scanPage } from "../../src/extraction/page/scan.ts";
import { PAGE_TYPES } from "../../src/extraction/types.ts";
import { floatWriter, readSet } from "./sets.ts";

type Described = { readonly texts: readonly string[]; readonly rows: Float32Array };
type Kind = {
  readonly name: string;
  readonly features: readonly string[];
  readonly describe: (page: MetadataPage) => Described;
};

const KINDS: readonly Kind[] = [
  {
    name: "titles",
    features: TITLE_FEATURES,
    describe: (page) => {
      const { candidates, rows } = describeTitles(page);
      return { texts: candidates.map(({ text }) => text), rows };
    },
  },
  {
    name: "dates",
    features: DATE_FEATURES,
    describe: (page) => {
      const { days, rows } = describeDates(page, describeTitles(page).block);
      return { texts: days.map(({ day }) => day), rows };
    },
  },
  {
    name: "bylines",
    features: BYLINE_FEATURES,
    describe: (page) => {
      const { candidates, rows } = describeBylines(page, describeTitles(page).block);
      return { texts: candidates.map(({ name }) => name), rows };
    },
  },
];

const [out = "", ...sets] = process.argv.slice(2);
const second = new Float32Array(await Bun.file(join(out, "second.f32")).arrayBuffer());
const types = new Float32Array(await Bun.file(join(out, "types.f32")).arrayBuffer());
const writers = await Promise.all(
  KINDS.map(async (kind) => {
    for (const end of [".f32", ".jsonl"]) await rm(join(out, kind.name + end), { force: true });
    const rows = floatWriter(join(out, `${kind.name}.f32`));
    return { kind, rows, lines: Bun.file(join(out, `${kind.name}.jsonl`)).writer() };
  }),
);

let block = 0;
let page = 0;
for (const set of sets) {
  const [name, directory = ""] = set.split("=");
  for await (const { id, url, html } of readSet(directory)) {
    const scanned = scanPage(html.includes("\r") ? html.replace(/\r\n?/g, "\n") : html);
    const tree = buildPageTree(scanned.model);
    const p = second.subarray(block, block + tree.candidates.length);
    const typeP = types.subarray(page * PAGE_TYPES.length, (page + 1) * PAGE_TYPES.length);
    const pageType = PAGE_TYPES[typeP.indexOf(Math.max(...typeP))] ?? null;
    const choice = { blocks: keepBlocks(tree, { p, typeP, favor: "balanced" }).blocks, pageType };
    const view = viewPage({ page: scanned, choice, jsonLd: readJsonLd(scanned.facts), url: url || null });
    for (const { kind, rows, lines } of writers) {
      const described = kind.describe(view);
      rows.write(described.rows);
      lines.write(`${JSON.stringify({ set: name, id, url, texts: described.texts })}\n`);
    }
    block += tree.candidates.length;
    page++;
  }
}
if (block !== second.length) throw new Error(`${second.length} probabilities for ${block} blocks`);
for (const { kind, rows, lines } of writers) {
  await rows.end();
  await lines.end();
  await Bun.write(join(out, `${kind.name}-features.json`), JSON.stringify(kind.features));
}
