import { ElementFlag, type PageModel, Tag, tagsNamed } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { type BlockReason, type Favor, PAGE_TYPES } from "../types.ts";
import { dropBeside } from "./beside-content.ts";
import { headingLevel } from "./block-features.ts";
import { placeOf } from "./context-features.ts";
import { dropEditLinks, dropInterruptions } from "./furniture.ts";
import { completeMembers } from "./members.ts";
import { type PageTree, twinsKey } from "./page-tree.ts";
import { besideContent, findRegion, NOT_SHOWN, type Region } from "./region.ts";
import { plateauOf } from "./trees.ts";

/** A block is kept from this share of the page's own plateau on, but never below the least probability. */
const THRESHOLDS: Readonly<Record<Favor, { readonly plateauShare: number; readonly least: number }>> = {
  precision: { plateauShare: 0.8, least: 0.5 },
  balanced: { plateauShare: 0.6, least: 0.3 },
  recall: { plateauShare: 0.4, least: 0.2 },
};
/** Texts with fewer words say little about themselves, so this share of the threshold is enough for them. */
const SHORT_WORDS = 3;
const SHORT_SHARE = 0.75;
/**
 * A page without any sure block is an index: its lists are its content, and half of the best probability is enough.
 * Below the second value the page is an empty shell without content.
 */
const SURE = 0.5;
const LEAST_BEST = 0.2;
const FEWEST_ENTRIES = 3;
/** Shorter texts, such as prices, names and table cells, have good reasons to repeat. */
const REPEAT_WORDS = 6;
/**
 * In lists, tables and code authors repeat themselves, but not after a repeated paragraph: some pages contain
 * everything twice, for narrow and for wide screens.
 */
const REPEATING_TAGS = tagsNamed("li td th dd pre");

/** Reference pages repeat themselves. When this page type is as likely as the limit, every text counts. */
const DOCUMENTATION = PAGE_TYPES.indexOf("documentation");
const SURELY_DOCUMENTATION = 0.5;
const PRODUCT = PAGE_TYPES.indexOf("product");
const SERVICE = PAGE_TYPES.indexOf("service");
const ARTICLE = PAGE_TYPES.indexOf("article");

/**
 * In the author's own markup only blocks that are surely not content are dropped. On pages that are articles with
 * this probability, and not documentation, more is dropped: news put links to other stories, letters and
 * advertisements into the same paragraphs.
 */
const SURELY_NOT_CONTENT = 0.02;
const SURELY_ARTICLE = 0.85;
const DOUBTFUL_IN_ARTICLES = 0.18;
/** When fewer words are chosen, they only introduce the rest of the page, such as the list of an index. */
const FEW_WORDS = 50;
const REMARK_CLASS =
  /(?:^|\s)(?:admonition|alert|tsd-alert-title|note|tip|important|warning|caution|danger|hint|attention|deprecated)(?:\s|$)/;
const LINE_NUMBERS = /^[\d\s]*$/;
/** Paragraphs of links point to other pages, unless the page is documentation. */
const MOSTLY_LINKS = 0.5;
/**
 * On pages that are documentation with this probability, and on all pages when recall is favoured, the container
 * keeps every block from the first probability below on, and from the second one on a block in a place like that of a
 * chosen one.
 */
const LIKELY_DOCUMENTATION = 0.15;
const LIKELY_SERVICE = 0.5;
/** On such pages the boxes beside the chosen ones are other products. */
const LIKELY_PRODUCT = 0.3;
const LEAST_OF_DOCUMENTATION = 0.1;
const LEAST_OF_LIKE_PLACES = 0.05;
const LEAST_OF_HEADINGS = 0.2;

/** The number of words in the container of the content: those that are kept, and all that readers see. */
export type MainPart = { readonly kept: number; readonly total: number };

/** The content blocks of a page, and where they stand. */
export type Kept = {
  /** The numbers of the blocks, ascending. */
  readonly blocks: Int32Array;
  /** How many words of the page's main part are in `blocks`; null when no part of the page is the main one. */
  readonly mainPart: MainPart | null;
  /** 1 for each element in the container of the content and in nothing beside it; null without a container. */
  readonly isInside: Uint8Array | null;
  /** The blocks that nothing may add to these. */
  readonly barred: ReadonlySet<number>;
};

export type Judgement = {
  /** The probability of each candidate. */
  readonly p: Float32Array;
  /** The probability of each page type. */
  readonly typeP: Float32Array;
  readonly favor: Favor;
};

/** Receives, after each step, which candidates are chosen, and the reason of those that the step has changed. */
export type ChoiceObserver = (isChosen: Uint8Array, reason: BlockReason) => void;

/** The choice as the steps find it; each of them writes into `isChosen`. */
type Draft = Judgement & {
  readonly tree: PageTree;
  /** The words of each candidate. */
  readonly words: Float32Array;
  readonly isChosen: Uint8Array;
  /** 1 for each candidate that no later step may choose. */
  readonly isBarred: Uint8Array;
  /** The container of what the first steps choose; null without one. */
  region: Region | null;
};

type Step = {
  /** What is said of the blocks whose outcome the step changes. */
  readonly reason: BlockReason;
  readonly when?: (draft: Draft) => boolean;
  readonly run: (draft: Draft) => void;
};

const addsContext = ({ favor }: Draft): boolean => favor !== "precision";
const hasRegion = ({ region }: Draft): boolean => region !== null;
/** In documentation and on pages of services, a form or a pointer is part of what the page is for. */
const isUsed = ({ typeP }: Draft): boolean =>
  typeP[DOCUMENTATION]! > LIKELY_DOCUMENTATION || typeP[SERVICE]! >= LIKELY_SERVICE;
const isList = ({ typeP }: Draft): boolean => {
  const list = LISTS.reduce((sum, type) => sum + typeP[type]!, 0);
  return list >= LIKELY_LIST && list >= typeP[ARTICLE]! + typeP[DOCUMENTATION]!;
};

/** How the blocks of a page are chosen, in this order. */
const STEPS: readonly Step[] = [
  { reason: "likely", run: addLikely },
  { reason: "code", run: addCode },
  { reason: "context", when: addsContext, run: addIntroduced },
  { reason: "context", when: addsContext, run: completeCards },
  { reason: "template", run: dropTemplates },
  { reason: "context", run: findContainer },
  { reason: "context", when: (draft) => addsContext(draft) && hasRegion(draft), run: addFromRegion },
  { reason: "tool", run: dropEditLinks },
  { reason: "tool", when: (draft) => !isUsed(draft), run: dropInterruptions },
  { reason: "tool", when: (draft) => !isList(draft), run: dropBeside },
  {
    reason: "context",
    when: (draft) => addsContext(draft) && hasRegion(draft) && draft.typeP[PRODUCT]! < LIKELY_PRODUCT,
    run: completeMembers,
  },
  { reason: "context", when: hasRegion, run: addHeadings },
];

/**
 * Selects the content blocks by their probabilities: those that reach a share of the page's own plateau, and around
 * them what their container holds. A longer text is kept in one place only, except in documentation.
 * @returns the numbers of the blocks, ascending, and what they are of their container; null without one
 */
export function keepBlocks(tree: PageTree, judgement: Judgement, observe: ChoiceObserver = () => {}): Kept {
  const count = tree.candidates.length;
  const draft: Draft = {
    ...judgement,
    tree,
    words: Float32Array.from(tree.candidates, (block) => statOf(tree.model, block, TextStat.words)),
    isChosen: new Uint8Array(count),
    isBarred: new Uint8Array(count),
    region: null,
  };
  for (const { reason, when, run } of STEPS) {
    if (when !== undefined && !when(draft)) continue;
    run(draft);
    observe(draft.isChosen, reason);
  }
  const { region } = draft;
  const blocks = withoutRepeats(draft);
  return {
    blocks,
    mainPart: region && measure(tree, region, blocks),
    isInside: region?.isInside ?? null,
    barred: new Set(tree.candidates.filter((_, index) => draft.isBarred[index] === 1)),
  };
}

function addLikely({ p, words, favor, isChosen }: Draft): void {
  const threshold = thresholdOf({ p, words, favor });
  for (let index = 0; index < p.length; index++) {
    const enough = words[index]! < SHORT_WORDS ? SHORT_SHARE * threshold : threshold;
    if (p[index]! >= enough) isChosen[index] = 1;
  }
}

/** Code only needs the least probability, because hardly anything but content is written as code. */
function addCode({ tree, p, words, favor, isChosen }: Draft): void {
  const least = Math.min(THRESHOLDS[favor].least, thresholdOf({ p, words, favor }));
  for (let index = 0; index < p.length; index++)
    if (p[index]! >= least && isCodeBlock(tree, tree.candidates[index]!)) isChosen[index] = 1;
}

function thresholdOf({ p, words, favor }: Pick<Draft, "p" | "words" | "favor">): number {
  const { plateauShare, least } = THRESHOLDS[favor];
  const best = p.reduce((most, value) => Math.max(most, value), 0);
  const isIndex = best < SURE && best >= LEAST_BEST && p.length >= FEWEST_ENTRIES;
  return isIndex ? best / 2 : Math.max(least, plateauShare * plateauOf(p, words).plateau);
}

/** Pages built by scripts have their content in templates; beside visible content, those are spare parts. */
function dropTemplates({ tree: { model, candidates }, words, isChosen }: Draft): void {
  const isSpare = (index: number): boolean =>
    isChosen[index] === 1 && (model.blocks.flags[candidates[index]!]! & ElementFlag.template) !== 0;
  let shown = 0;
  let spare = 0;
  for (let index = 0; index < candidates.length; index++) {
    if (isSpare(index)) spare += words[index]!;
    else if (isChosen[index] === 1) shown += words[index]!;
  }
  if (spare === 0 || spare > shown) return;
  for (let index = 0; index < candidates.length; index++) if (isSpare(index)) isChosen[index] = 0;
}

/** Counts the words of the container; each visible text counts once. */
function measure({ model, candidates }: PageTree, region: Region, blocks: Int32Array): MainPart {
  const { element, flags, text } = model.blocks;
  const isKept = new Set(blocks);
  const keptTexts = new Set(Array.from(blocks, (block) => text[block]!));
  let kept = 0;
  let total = 0;
  for (const block of candidates) {
    const isShown = (flags[block]! & NOT_SHOWN) === 0 && region.isInside[element[block]!] === 1;
    // A copy of a kept text is not lost.
    if (!isKept.has(block) && (!isShown || keptTexts.has(text[block]!))) continue;
    const words = statOf(model, block, TextStat.words);
    total += words;
    if (isKept.has(block)) kept += words;
  }
  return { kept, total };
}

function findContainer(draft: Draft): void {
  draft.region = findRegion(draft.tree, draft.words, draft.isChosen, FEW_WORDS);
}

/**
 * Chooses further blocks in the container of the chosen ones: F1 over pages whose references end early has taught the
 * trees to refuse the last table, list or command of an article.
 */
function addFromRegion({ tree, p, typeP, favor, region, isChosen }: Draft): void {
  const { model, candidates } = tree;
  const isArticle = typeP[ARTICLE]! > SURELY_ARTICLE && favor !== "recall";
  const leastOfAuthors = isArticle ? DOUBTFUL_IN_ARTICLES : SURELY_NOT_CONTENT;
  const keepsNearlyAll = favor === "recall" || typeP[DOCUMENTATION]! > LIKELY_DOCUMENTATION;
  const places = keepsNearlyAll ? placesOf(tree, isChosen) : new Set<number>();
  const isDocumented = (index: number): boolean =>
    keepsNearlyAll &&
    (p[index]! >= LEAST_OF_DOCUMENTATION ||
      (p[index]! >= LEAST_OF_LIKE_PLACES && places.has(placeOf(tree, index))));
  // The loop starts at the end, so that a heading knows whether its section stays.
  for (let index = candidates.length - 1, next = -1; index >= 0; index--) {
    const element = model.blocks.element[candidates[index]!]!;
    const isShown = (model.blocks.flags[candidates[index]!]! & NOT_SHOWN) === 0;
    if (region?.isInside[element] !== 1 || !isShown) continue;
    const isByAuthor =
      region?.isPlain[element] === 1 &&
      p[index]! >= leastOfAuthors &&
      isAuthored(tree, isChosen, index, next);
    const isCode = p[index]! >= SURELY_NOT_CONTENT && isCodeBlock(tree, candidates[index]!);
    if (isByAuthor || isDocumented(index) || isCode) isChosen[index] = 1;
    next = index;
  }
}

const isAuthored = (tree: PageTree, isChosen: Uint8Array, index: number, next: number): boolean =>
  (isAuthorsBlock(tree, index) || followsText(tree, isChosen, index)) &&
  (headingLevel(tree, tree.candidates[index]!) === 0 || opensSection(tree, isChosen, index, next));

/** Tells whether a block is code, not line numbers. Templates have none, whatever they wrap around it. */
const isCodeBlock = ({ model }: PageTree, block: number): boolean =>
  (model.blocks.flags[block]! & ElementFlag.preformatted) !== 0 &&
  !LINE_NUMBERS.test(model.blocks.text[block]!);

/**
 * Tells whether a block is the author's. Authors write their text into paragraphs and other blocks, and their remarks
 * into boxes; text of any other box is a template's. Accepting such text costs .002 on segments.
 */
function isAuthorsBlock(tree: PageTree, index: number): boolean {
  const { model, candidates } = tree;
  const block = candidates[index]!;
  const tag = model.tag[model.blocks.element[block]!];
  if (tag === Tag.div) return REMARK_CLASS.test(model.names[model.classId[model.blocks.element[block]!]!]!);
  const isLinks =
    statOf(model, block, TextStat.linkChars) > MOSTLY_LINKS * statOf(model, block, TextStat.chars);
  // A heading announces its section.
  return tag !== Tag.p || !isLinks || (index > 0 && headingLevel(tree, tree.candidates[index - 1]!) > 0);
}

/**
 * Tells whether text without a link, directly in a box, follows a chosen block or a heading: in an unnamed box under
 * the same parent, or in that parent itself.
 */
function followsText(tree: PageTree, isChosen: Uint8Array, index: number): boolean {
  const { blocks, parent, tag, classId } = tree.model;
  const block = tree.candidates[index]!;
  const before = tree.candidates[index - 1];
  if (before === undefined) return false;
  const element = blocks.element[block]!;
  const around = parent[blocks.element[before]!];
  return (
    tag[element] === Tag.div &&
    statOf(tree.model, block, TextStat.linkChars) === 0 &&
    (isChosen[index - 1] === 1 || headingLevel(tree, before) > 0) &&
    (around === element || (around === parent[element] && classId[element] === 0))
  );
}

/** Tells whether part of a heading's section is chosen. */
function opensSection(tree: PageTree, isChosen: Uint8Array, heading: number, next: number): boolean {
  if (next < 0 || isChosen[next] === 0) return false;
  const level = headingLevel(tree, tree.candidates[next]!);
  return level === 0 || level > headingLevel(tree, tree.candidates[heading]!);
}

/** Chooses the headings of chosen sections: nobody keeps a text without the words that say what it is about. */
function addHeadings({ tree, p, region, isChosen }: Draft): void {
  const { element, flags } = tree.model.blocks;
  for (let index = tree.candidates.length - 2; index >= 0; index--) {
    const block = tree.candidates[index]!;
    const isShown = (flags[block]! & NOT_SHOWN) === 0 && region?.isInside[element[block]!] === 1;
    if (!isShown || headingLevel(tree, block) < 2 || p[index]! < LEAST_OF_HEADINGS) continue;
    if (opensSection(tree, isChosen, index, index + 1)) isChosen[index] = 1;
  }
}

/** Numbers the places of chosen blocks: equal numbers for equal tags and classes. */
const placesOf = (tree: PageTree, isChosen: Uint8Array): ReadonlySet<number> =>
  new Set([...isChosen.keys()].flatMap((index) => (isChosen[index] === 1 ? [placeOf(tree, index)] : [])));

/** Drops texts that are repeated elsewhere, such as another copy of the same card. */
function withoutRepeats({ tree, words, isChosen, region, typeP }: Draft): Int32Array {
  const { model, candidates } = tree;
  const keepsRepeats = typeP[DOCUMENTATION]! > SURELY_DOCUMENTATION;
  const kept: number[] = [];
  const seen = new Map<string, number>();
  // This is set when the last longer text was dropped.
  let isCopy = false;
  for (let index = 0; index < candidates.length; index++) {
    if (isChosen[index] === 0) continue;
    const block = candidates[index]!;
    const element = model.blocks.element[block]!;
    const isMeant: boolean = !isCopy && region?.isPlain[element] === 1 && mayRepeat(model, element);
    if (words[index]! >= REPEAT_WORDS && !keepsRepeats) {
      // Under one parent the author repeats a text; elsewhere it is another copy of the card.
      const text = model.blocks.text[block]!;
      const holder = model.parent[element] ?? -1;
      const parent = holder >= 0 && model.tag[holder] === Tag.body ? -1 : holder;
      isCopy = !isMeant && (seen.get(text) ?? parent) !== parent;
      if (isCopy) continue;
      seen.set(text, parent);
    }
    kept.push(block);
  }
  return Int32Array.from(kept);
}

/** Some publishing systems put a paragraph into each item, cell and remark. */
function mayRepeat({ tag, parent, classId, names }: PageModel, element: number): boolean {
  const holder = tag[element] === Tag.p ? parent[element]! : element;
  return holder >= 0 && (REPEATING_TAGS.has(tag[holder]!) || REMARK_CLASS.test(names[classId[holder]!]!));
}

const FORUM = PAGE_TYPES.indexOf("forum");

/** News sites announce other stories in cards, and in a thread each post is judged by itself. */
const LIKELY_OTHER_TYPE = 0.3;
const LIKELY_LIST = 0.4;
/** On pages of these types links and cards are content. */
const LISTS = (["collection", "forum", "listing", "product"] as const).map((type) =>
  PAGE_TYPES.indexOf(type),
);
const FEWEST_CARDS = 4;
const FEWEST_TEXTS = 2;
/** An element with more words is not a card but a section of the page. */
const MAX_CARD_WORDS = 150;
/** The cards of a list are content when this share of their words is chosen. */
const CHOSEN_SHARE = 0.15;

/** Fewer chosen words only introduce the page, if the next likely blocks have this much more text. */
const FEW_CHOSEN = 30;
const INTRODUCED_SHARE = 1;
/** The third best of the other blocks represents them: one or two may be a slogan or a button. */
const RANK = 2;
const LEAST_INTRODUCED = 0.1;
const SHARE_OF_INTRODUCED = 0.5;
const LIKELY_ARTICLE = 0.5;

/**
 * Chooses what a few chosen words introduce. A page with only a sure heading and first sentence is an index, and its
 * entries are its content.
 */
function addIntroduced({ tree, words, p, typeP, isChosen }: Draft): void {
  const chosenWords = words.reduce((sum, count, index) => sum + count * isChosen[index]!, 0);
  if (chosenWords >= FEW_CHOSEN || typeP[ARTICLE]! >= LIKELY_ARTICLE) return;
  const isBeside = besideContent(tree.model);
  const { blocks } = tree.model;
  const others = Array.from(tree.candidates.keys()).filter((index) => {
    const block = tree.candidates[index]!;
    return (
      isChosen[index] === 0 && (blocks.flags[block]! & NOT_SHOWN) === 0 && !isBeside(blocks.element[block]!)
    );
  });
  const [third = 0] = others
    .map((index) => p[index]!)
    .sort((a, b) => b - a)
    .slice(RANK);
  if (third < LEAST_INTRODUCED) return;
  const entries = others.filter((index) => p[index]! >= SHARE_OF_INTRODUCED * third);
  const entryWords = entries.reduce((sum, index) => sum + words[index]!, 0);
  if (entryWords > INTRODUCED_SHARE * chosenWords) for (const index of entries) isChosen[index] = 1;
}

/**
 * Keeps the cards of a list whole (products, recipes, jobs): when parts of them are chosen, the rest of all of them
 * is chosen too. If each text were judged by itself, one card would keep its price and the next one its name.
 */
function completeCards({ tree, words, typeP, isChosen }: Draft): void {
  if (typeP[ARTICLE]! >= LIKELY_OTHER_TYPE || typeP[FORUM]! >= LIKELY_OTHER_TYPE) return;
  const { model, candidates } = tree;
  const { parent, blocks } = model;
  const { count, listOf, cardOf } = findLists(tree);
  if (count === 0) return;
  const shown = new Float64Array(count);
  const chosen = new Float64Array(count);
  const isShown = (index: number): boolean => (blocks.flags[candidates[index]!]! & NOT_SHOWN) === 0;
  /** Returns the innermost card around a candidate; `cardOf` then leads to the cards around that. */
  const firstCard = (index: number): number => cardOf[blocks.element[candidates[index]!]!]!;
  const nextCard = (card: number): number => (parent[card]! < 0 ? -1 : cardOf[parent[card]!]!);
  for (let index = 0; index < candidates.length; index++) {
    if (!isShown(index)) continue;
    for (let card = firstCard(index); card >= 0; card = nextCard(card)) {
      shown[listOf[card]!]! += words[index]!;
      chosen[listOf[card]!]! += words[index]! * isChosen[index]!;
    }
  }
  const isContent = (list: number): boolean => chosen[list]! >= CHOSEN_SHARE * shown[list]!;
  for (let index = 0; index < candidates.length; index++) {
    if (!isShown(index)) continue;
    for (let card = firstCard(index); card >= 0 && isChosen[index] === 0; card = nextCard(card))
      if (isContent(listOf[card]!)) isChosen[index] = 1;
  }
}

/** Finds runs of equal siblings that hold a few texts each. */
function findLists(tree: PageTree) {
  const { model, twins, blockCount, words } = tree;
  const isCard = (element: number): boolean =>
    twins[element]! >= FEWEST_CARDS &&
    blockCount[element]! >= FEWEST_TEXTS &&
    words[element]! <= MAX_CARD_WORDS;
  const sizes = new Map<number, number>();
  for (let element = 0; element < model.elementCount; element++) {
    if (isCard(element)) {
      const key = twinsKey(model, element);
      sizes.set(key, (sizes.get(key) ?? 0) + 1);
    }
  }
  const numbers = new Map<number, number>();
  /** For each card, the number of its list. */
  const listOf = new Int32Array(model.elementCount);
  /** For each element, the innermost card at or around it; -1 for none. */
  const cardOf = new Int32Array(model.elementCount).fill(-1);
  for (let element = 0; element < model.elementCount; element++) {
    const outer = model.parent[element]!;
    cardOf[element] = outer < 0 ? -1 : cardOf[outer]!;
    const key = isCard(element) ? twinsKey(model, element) : -1;
    if (key < 0 || sizes.get(key)! < FEWEST_CARDS) continue;
    if (!numbers.has(key)) numbers.set(key, numbers.size);
    listOf[element] = numbers.get(key)!;
    cardOf[element] = element;
  }
  return { count: numbers.size, listOf, cardOf };
}
