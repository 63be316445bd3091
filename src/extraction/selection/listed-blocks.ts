import type { BlockVerdict } from "../classification/choose.ts";
import {
  ElementFlag,
  FIRST_UNKNOWN_TAG,
  nearestOf,
  type PageModel,
  Tag,
  tagName,
  tagsNamed,
} from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import type { PageBlock } from "../types.ts";
import type { Selection } from "./selection.ts";

/** The most blocks that are listed; a longer page has its first ones, and a warning. */
const MAX_BLOCKS = 10_000;
const MAX_TEXT = 300;

/** Landmarks do not stand deeper. */
const MAX_DEPTH = 1000;
const LANDMARKS = tagsNamed("header nav main article aside footer form dialog");
/** How a page's selection became its content. */
type ContentOfBlocks = {
  readonly verdicts: readonly BlockVerdict[];
  readonly selection: Selection;
  readonly includesCode: boolean;
  /** Whether the page's data took the place of all blocks. */
  readonly isReplaced: boolean;
};

/** Lists the blocks of a page that have words, in its order, with what became of each and why. */
export function listBlocks(
  model: PageModel,
  content: ContentOfBlocks,
): { readonly blocks: readonly PageBlock[]; readonly omissions: readonly string[] } {
  const listed: PageBlock[] = [];
  let count = 0;
  for (let block = 0; block < model.blocks.count; block++) {
    const wordCount = statOf(model, block, TextStat.words);
    if (wordCount === 0 || count++ >= MAX_BLOCKS) continue;
    const element = model.blocks.element[block]!;
    const landmark = nearestOf(model, element, MAX_DEPTH, LANDMARKS);
    listed.push({
      text: model.blocks.text[block]!.slice(0, MAX_TEXT),
      wordCount,
      tag: element < 0 ? "body" : tagName(model.tag[element]!),
      landmark: landmark < 0 ? null : tagName(model.tag[landmark]!),
      selector: selectorOf(model, element),
      isHidden: (model.blocks.flags[block]! & ElementFlag.hidden) !== 0,
      ...outcomeOf(model, block, content),
    });
  }
  const omissions = count > MAX_BLOCKS ? [`blocks: the first ${MAX_BLOCKS} of ${count} are listed`] : [];
  return { blocks: listed, omissions };
}

function outcomeOf(
  model: PageModel,
  block: number,
  { verdicts, selection, includesCode, isReplaced }: ContentOfBlocks,
): Pick<PageBlock, "isKept" | "isUnsure" | "probability" | "reason" | "step"> {
  const { probability, isUnsure } = verdicts[block]!;
  const { isKept, titleBlock } = selection.draft;
  if (block === titleBlock)
    return { isKept: true, isUnsure: false, probability, reason: "title", step: "title" };
  const { reason, step } = selection.reasons?.[block] ?? { reason: "unlikely" as const, step: null };
  if (isKept[block] === 0) return { isKept: false, isUnsure, probability, reason, step };
  if (isReplaced) return { isKept: false, isUnsure: false, probability, reason: "data", step: null };
  const isCode = (model.blocks.flags[block]! & ElementFlag.preformatted) !== 0;
  if (isCode && !includesCode)
    return { isKept: false, isUnsure: false, probability, reason: "option", step: null };
  return { isKept: true, isUnsure, probability, reason, step };
}

/** How far above an element another one with a name is looked for. */
const MAX_LEVELS = 8;
const ROOTS: ReadonlySet<number> = new Set([Tag.html, Tag.body]);

/** A selector out of the element's own name, or out of its tag and the nearest name above. */
function selectorOf(model: PageModel, element: number): string {
  const { parent, tag } = model;
  if (element < 0) return "body";
  const own = tag[element]! > 0 && tag[element]! < FIRST_UNKNOWN_TAG ? tagName(tag[element]!) : "";
  const name = nameOf(model, element);
  if (name !== "") return own + name;
  for (let level = 0, at = parent[element]!; level < MAX_LEVELS && at >= 0; level++, at = parent[at]!) {
    const isKnown = tag[at]! > 0 && tag[at]! < FIRST_UNKNOWN_TAG;
    const above = ROOTS.has(tag[at]!) ? "" : nameOf(model, at);
    if (above !== "" || LANDMARKS.has(tag[at]!))
      return `${isKnown ? tagName(tag[at]!) : ""}${above} ${own || "*"}`;
  }
  return own || "*";
}

/** Names that selectors take as they are; others would have to be escaped, and are rarely an author's. */
const PLAIN_NAME = /^[A-Za-z][\w-]{0,60}$/;

/** `#id` or `.class` of an element, where one is plain; else an empty text. */
function nameOf({ names, idId, classId }: PageModel, element: number): string {
  const id = names[idId[element]!] ?? "";
  if (PLAIN_NAME.test(id)) return `#${id}`;
  const classes = (names[classId[element]!] ?? "").slice(0, 300).split(/\s+/);
  const plain = classes.find((name) => PLAIN_NAME.test(name));
  return plain === undefined ? "" : `.${plain}`;
}
