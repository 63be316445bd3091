import { headingLevel } from "../classification/block-features.ts";
import { addToParents } from "../classification/page-tree.ts";
import { NOT_SHOWN } from "../classification/region.ts";
import { ElementFlag, tagsNamed } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import type { Draft } from "./draft.ts";
import { FRAME_GROUPS } from "./notes.ts";

const LEAST_OF_PANELS = 0.1;
const LEAST_OF_PRICE = 0.15;
const PRICE_WORDS = 4;
/** Most texts between the name of a product and its price. */
const PRICE_DISTANCE = 8;
const PRICE =
  /(?:[€$£¥₹₽₩₺₴]|\b(?:USD|EUR|GBP|CHF|AUD|CAD|SEK|NOK|DKK|PLN|CZK|Rs\.?|kr|zł|Kč|Ft|lei|руб)\b\.?)\s?\d|\d[\d.,\s]{0,12}\s?(?:[€$£¥₹₽₩₺₴]|(?:USD|EUR|GBP|CHF|SEK|NOK|DKK|PLN|CZK|kr|zł|Kč|Ft|lei|руб)(?!\p{L}))/u;

/**
 * Keeps what a product's page says beside its description: its price, and the panels that a reader opens, such as the
 * specification. A table of facts behind a tab looks like a template's.
 */
export function completeProduct(draft: Draft): void {
  addPanels(draft);
  addPrice(draft);
}

/** Keeps the panels beside one of which a part is kept: they are the pages of one text. */
function addPanels({ tree, p, words, region, isKept, isBarred }: Draft): void {
  const { model, candidates, twins } = tree;
  const { elementCount, elementEnd, flags, parent, groups, tag, blocks } = model;
  const chosen = new Float64Array(elementCount);
  const mass = new Float64Array(elementCount);
  for (const [index, block] of candidates.entries()) {
    const owner = blocks.element[block]!;
    if (isKept[block] === 1) chosen[owner]! += words[index]!;
    mass[owner]! += words[index]! * p[index]!;
  }
  addToParents(model, chosen);
  addToParents(model, mass);
  const holdsFacts = (at: number): boolean =>
    tag.subarray(at, elementEnd[at]).some((part) => FACTS.has(part));
  const isPanel = (at: number): boolean =>
    (flags[at]! & ElementFlag.panel) !== 0 && twins[at]! > 1 && holdsFacts(at);
  const isOpened = new Uint8Array(elementCount);
  for (let at = 0; at < elementCount; at++) {
    const outer = parent[at]!;
    if (outer < 0 || !isPanel(at) || chosen[outer]! === 0) continue;
    if (region?.isInside[at] !== 1 || (groups[at]! & FRAME_GROUPS & ~PANEL_GROUP) !== 0) continue;
    if (mass[at]! >= LEAST_OF_PANELS * tree.words[at]!) isOpened.fill(1, at, elementEnd[at]!);
  }
  for (const block of candidates) {
    const isShown = (blocks.flags[block]! & NOT_SHOWN) === 0;
    if (isOpened[blocks.element[block]!] === 1 && isShown && isBarred[block] === 0) isKept[block] = 1;
  }
}

const PANEL_GROUP = 1 << 23;
const FACTS = tagsNamed("table dl");

/** Keeps the first price below the name of the product. */
function addPrice({ tree, p, region, isKept }: Draft): void {
  const { model, candidates, twins } = tree;
  const { blocks, parent } = model;
  const title = candidates.findIndex((block) => headingLevel(tree, block) === 1);
  if (title < 0) return;
  const isOfMany = (element: number): boolean => {
    for (let at = element, level = 0; at >= 0 && level < 4; at = parent[at]!, level++)
      if (twins[at]! > 2) return true;
    return false;
  };
  for (let index = title + 1; index < Math.min(candidates.length, title + 1 + PRICE_DISTANCE); index++) {
    const block = candidates[index]!;
    if (!PRICE.test(blocks.text[block]!) || (blocks.flags[block]! & NOT_SHOWN) !== 0) continue;
    if (statOf(model, block, TextStat.words) > PRICE_WORDS || p[index]! < LEAST_OF_PRICE) continue;
    const element = blocks.element[block]!;
    if (region?.isInside[element] === 1 && !isOfMany(element)) isKept[block] = 1;
    return;
  }
}
