import { addToParents, type PageTree, twinsKey } from "../classification/page-tree.ts";
import { NOT_SHOWN } from "../classification/region.ts";
import { ElementFlag, Tag } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import type { Draft } from "./draft.ts";

/** Most levels from an entry's text up to its box, and most words of the box's heads and buttons together. */
const MAX_HEAD_WORDS = 16;
const MAX_HEADS = 4;
const BUTTON_WORDS = 3;
const LEAST_OF_HEADS = 0.08;
const DATE = /\b\d{1,2}[:.]\d{2}\b|\b(?:19|20)\d{2}\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\d{4}年/;

/** A profile beside an entry, or its number: "Joined: 4 July 2012", "1,022 posts · Joined 2023", "#12". */
const PROFILE = /^(?:\p{L}[\p{L} ]{0,24}:|[\d.,]{1,9} \p{L}|#?\d{1,6}$)/u;

/**
 * Keeps who wrote each of several equal entries, such as the posts of a thread, and when; and drops the buttons below
 * them. The trees take names and dates for a page's own byline, which is no content.
 */
export function completeEntries({ tree, p, region, isKept, isBarred }: Draft): void {
  const { model, candidates } = tree;
  const { flags, element } = model.blocks;
  const entryOf = entriesOf(tree, isKept);
  for (let first = 0; first < candidates.length; ) {
    const entry = entryOf[element[candidates[first]!]!]!;
    let end = first + 1;
    while (end < candidates.length && entryOf[element[candidates[end]!]!] === entry) end++;
    const run = candidates.subarray(first, end);
    const start = first;
    first = end;
    if (entry < 0 || region?.isInside[entry] !== 1) continue;
    for (const [index, block] of headsOf(tree, run, isKept).entries()) {
      if (PROFILE.test(model.blocks.text[block]!)) {
        isKept[block] = 0;
        continue;
      }
      const isShown = (flags[block]! & NOT_SHOWN) === 0 && region.isInside[element[block]!] === 1;
      if (isShown && isBarred[block] === 0 && p[start + index]! >= LEAST_OF_HEADS) isKept[block] = 1;
    }
    for (let at = run.length - 1; at >= 0 && isButton(tree, run[at]!); at--) isKept[run[at]!] = 0;
  }
}

/** For each element, the innermost entry at or around it; -1 for none. */
function entriesOf({ model, candidates, twins }: PageTree, isKept: Uint8Array): Int32Array {
  const { elementCount, parent, blocks } = model;
  const sentences = new Int32Array(elementCount);
  for (const block of candidates)
    if (isKept[block] === 1 && isText(model, block)) sentences[blocks.element[block]!]!++;
  addToParents(model, sentences);
  const counts = new Map<number, number>();
  const isBox = (at: number): boolean =>
    twins[at]! > 1 && sentences[at]! > 0 && !NO_BOXES.has(model.tag[at]!);
  for (let at = 0; at < elementCount; at++)
    if (isBox(at)) counts.set(twinsKey(model, at), (counts.get(twinsKey(model, at)) ?? 0) + 1);
  const entryOf = new Int32Array(elementCount).fill(-1);
  for (let at = 0; at < elementCount; at++) {
    const isEntry = isBox(at) && counts.get(twinsKey(model, at))! > 1;
    entryOf[at] = isEntry ? at : parent[at]! < 0 ? -1 : entryOf[parent[at]!]!;
  }
  return entryOf;
}

const NO_BOXES = new Set([Tag.p, Tag.td, Tag.tr]);

const isText = (model: PageTree["model"], block: number): boolean =>
  statOf(model, block, TextStat.words) >= 4 && statOf(model, block, TextStat.endsSentence) === 1;

/** The short texts before the first sentence or heading of an entry, where one of them is a date. */
function headsOf({ model }: PageTree, run: Int32Array, isKept: Uint8Array): Int32Array {
  let words = 0;
  let hasDate = false;
  for (const [index, block] of run.entries()) {
    const count = statOf(model, block, TextStat.words);
    const isHeading = (model.blocks.flags[block]! & ElementFlag.heading) !== 0;
    if (isKept[block] === 1 && (isHeading || isText(model, block)))
      return hasDate ? run.subarray(0, index) : run.subarray(0, 0);
    words += count;
    if (words > MAX_HEAD_WORDS || index >= MAX_HEADS) break;
    const text = model.blocks.text[block]!;
    hasDate ||= DATE.test(text) && !PROFILE.test(text);
  }
  return run.subarray(0, 0);
}

const isButton = ({ model }: PageTree, block: number): boolean =>
  (model.blocks.flags[block]! & ElementFlag.button) !== 0 &&
  statOf(model, block, TextStat.words) <= BUTTON_WORDS;
