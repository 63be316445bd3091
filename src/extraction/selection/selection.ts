import type { PageTree } from "../classification/page-tree.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { type BlockReason, type Favor, PAGE_TYPES } from "../types.ts";
import { dropBeside } from "./beside-content.ts";
import {
  addFromContainer,
  addHeadings,
  findContainer,
  LIKELY_DOCUMENTATION,
  type MainPart,
  mainPartOf,
} from "./by-container.ts";
import { addCode, addIntroduced, addLikely, dropTemplates } from "./by-probability.ts";
import { addCaptionsAndCode } from "./captions.ts";
import { completeCards } from "./cards.ts";
import { type Draft, type Judgement, keepOnly, keptBlocks, likelihood } from "./draft.ts";
import { completeEntries } from "./entries.ts";
import { dropInterruptions, dropToolLinks } from "./furniture.ts";
import { dropLaterArticles } from "./later-articles.ts";
import { completeMembers } from "./members.ts";
import { addNotes } from "./notes.ts";
import { completeProduct } from "./products.ts";
import { dropRepeats, dropShortForms } from "./repeats.ts";
import { addShortPage } from "./short-page.ts";
import { addTitleBox, takeOutTitle } from "./title.ts";
import { WholeElements } from "./whole-elements.ts";
import { completeStructures } from "./whole-structures.ts";

/*
 * How the content of a page is selected: by these steps, in this order. Each of them reads what those before it have kept, and
 * keeps or drops more. scripts/train-extraction/ablation.sh measures what is lost without each but those of
 * the title.
 */

type Step = {
  readonly name: string;
  /** The reason given for each block whose outcome the step changes. */
  readonly reason: BlockReason;
  readonly when?: (draft: Draft) => boolean;
  readonly run: (draft: Draft) => void;
};

/** 1–17: what the trees say, corrected by what a reader sees. Metadata and the confidence go by what these steps keep. */
export const JUDGING: Step[] = [
  // 1–5: likely blocks, and the structures that they are a part of, except for spare parts.
  { name: "likely", reason: "likely", run: addLikely },
  { name: "code", reason: "code", run: addCode },
  { name: "introduced", reason: "context", when: addsContext, run: addIntroduced },
  { name: "cards", reason: "context", when: addsContext, run: completeCards },
  { name: "templates", reason: "template", run: dropTemplates },
  // 6–7: the container of all that, and what else is the author's in there.
  { name: "container", reason: "context", run: findContainer },
  {
    name: "in the container",
    reason: "context",
    when: (draft) => addsContext(draft) && hasContainer(draft),
    run: addFromContainer,
  },
  // 8–10: what is none of the author's.
  { name: "tool links", reason: "tool", run: dropToolLinks },
  { name: "interruptions", reason: "tool", when: (draft) => !isUsed(draft), run: dropInterruptions },
  { name: "beside", reason: "tool", when: (draft) => !isList(draft), run: dropBeside },
  // 11–14: what shares the fate of what is kept.
  {
    name: "members",
    reason: "context",
    when: (draft) => addsContext(draft) && hasContainer(draft) && !sells(draft),
    run: completeMembers,
  },
  {
    name: "product",
    reason: "context",
    when: (draft) => addsContext(draft) && sells(draft),
    run: completeProduct,
  },
  {
    name: "entries",
    reason: "context",
    when: (draft) => addsContext(draft) && !sells(draft),
    run: completeEntries,
  },
  { name: "headings", reason: "context", when: hasContainer, run: addHeadings },
  // 15–17: repeated texts, and pages that are too short for the trees.
  { name: "repeats", reason: "repeated", when: (draft) => !isReference(draft), run: dropRepeats },
  { name: "short page", reason: "whole", when: keepsNothing, run: addShortPage },
  { name: "short forms", reason: "repeated", run: dropShortForms },
];

/** 18–22: what only makes sense whole, whoever selected a part of it, and tools at its end that nothing else has taken. */
export const COMPLETING: Step[] = [
  { name: "structures", reason: "context", run: completeStructures },
  { name: "captions", reason: "context", run: addCaptionsAndCode },
  { name: "notes", reason: "context", run: addNotes },
  { name: "title's box", reason: "context", when: explains, run: addTitleBox },
  { name: "last tool links", reason: "tool", run: dropToolLinks },
];

/** 23–24: separates parts with another title, and the title itself, from the content. */
const TITLING: readonly Step[] = [
  { name: "later articles", reason: "tool", when: (draft) => !isList(draft), run: dropLaterArticles },
  { name: "title", reason: "repeated", run: takeOutTitle },
];

const SURELY_DOCUMENTATION = 0.5;
const LIKELY_SERVICE = 0.5;
const LIKELY_LIST = 0.4;
/** On such pages the boxes beside the chosen ones are other products. */
const LIKELY_PRODUCT = 0.3;

function addsContext({ favor }: Draft): boolean {
  return favor !== "precision";
}

function hasContainer({ region }: Draft): boolean {
  return region !== null;
}

/** In documentation and on pages of services, a form or a pointer is part of what the page is for. */
function isUsed(draft: Draft): boolean {
  return explains(draft) || likelihood(draft, "service") >= LIKELY_SERVICE;
}

function explains(draft: Draft): boolean {
  return likelihood(draft, "documentation") > LIKELY_DOCUMENTATION;
}

/** On these pages links and cards are content. */
function isList(draft: Draft): boolean {
  const list = likelihood(draft, "collection", "forum", "listing", "product");
  return list >= LIKELY_LIST && list >= likelihood(draft, "article", "documentation");
}

function sells(draft: Draft): boolean {
  return likelihood(draft, "product") >= LIKELY_PRODUCT;
}

/** Reference pages repeat themselves, and every text counts. */
function isReference(draft: Draft): boolean {
  return likelihood(draft, "documentation") > SURELY_DOCUMENTATION;
}

function keepsNothing({ isKept }: Draft): boolean {
  return !isKept.includes(1);
}

/** Why a block is in the content or not, and the step that said so last; null where none has changed it. */
export type Decision = { readonly reason: BlockReason; readonly step: string | null };

/** The content of a page, of which the steps say which block is in it, and why. */
export type Selection = {
  readonly draft: Draft;
  /** The blocks that the first steps have kept, ascending. */
  readonly judged: Int32Array;
  /** How much of the page's main part that is; null when no part of the page is the main one. */
  readonly mainPart: MainPart | null;
  /** What decided about each block of the page last; null unless requested. */
  readonly reasons: Decision[] | null;
};

/** Selects the content of a page, but for what completes it. */
export function selectJudged(tree: PageTree, judgement: Judgement, tellsReasons = false): Selection {
  const draft = draftOf(tree, judgement);
  const reasons = tellsReasons ? firstReasons(tree, "unlikely") : null;
  run(JUDGING, draft, reasons);
  return { draft, judged: keptBlocks(draft), mainPart: mainPartOf(draft), reasons };
}

/** Selects the given blocks of a page, whatever the trees would say. */
export function selectGiven(tree: PageTree, blocks: Int32Array, tellsReasons = false): Selection {
  const draft = draftOf(tree, UNJUDGED);
  keepOnly(draft, blocks);
  return {
    draft,
    judged: blocks,
    mainPart: null,
    reasons: tellsReasons ? firstReasons(tree, "whole") : null,
  };
}

const UNJUDGED: Judgement & { readonly favor: Favor } = {
  p: new Float32Array(0),
  typeP: new Float32Array(PAGE_TYPES.length),
  favor: "balanced",
};

const draftOf = (tree: PageTree, judgement: Judgement): Draft => ({
  ...judgement,
  tree,
  wholes: new WholeElements(tree.model),
  words: Float32Array.from(tree.candidates, (block) => statOf(tree.model, block, TextStat.words)),
  isKept: new Uint8Array(tree.model.blocks.count),
  isBarred: new Uint8Array(tree.model.blocks.count),
  region: null,
  title: null,
  titleBlock: -1,
});

/** A block with words is no candidate where it asks for consent. */
function firstReasons({ model, candidates }: PageTree, reason: BlockReason): Decision[] {
  const reasons = new Array<Decision>(model.blocks.count).fill({ reason: "consent", step: null });
  for (const block of candidates) reasons[block] = { reason, step: null };
  return reasons;
}

/**
 * Completes a selection, and takes the title out of it.
 * @returns the blocks of the content, ascending, and the same with the title's
 */
export function finishSelection({ draft, reasons }: Selection, title: string | null) {
  run(COMPLETING, draft, reasons);
  const titled = keptBlocks(draft);
  draft.title = title;
  run(TITLING, draft, reasons);
  return { titled, blocks: keptBlocks(draft) };
}

function run(steps: readonly Step[], draft: Draft, reasons: Decision[] | null): void {
  for (const { name, reason, when, run: step } of steps) {
    if (when !== undefined && !when(draft)) continue;
    const before = reasons && draft.isKept.slice();
    step(draft);
    if (before === null || reasons === null) continue;
    for (const [block, wasKept] of before.entries())
      if (draft.isKept[block] !== wasKept) reasons[block] = { reason, step: name };
  }
}
