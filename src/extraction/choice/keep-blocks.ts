import { ElementFlag, type PageModel } from "../page/page-model.ts";
import { Tag, type TagId } from "../page/tags.ts";
import { TextStat } from "../page/word-stats.ts";
import { type Favor, PAGE_TYPES } from "../types.ts";
import { headingLevel } from "./block-features.ts";
import { addIntroduced, completeCards } from "./cards.ts";
import { placeOf } from "./context-features.ts";
import type { PageTree } from "./page-tree.ts";
import { findRegion, NOT_SHOWN, type Region } from "./region.ts";
import { plateauOf } from "./trees.ts";

/** A block is kept from this share of the page's own plateau on, but never below the least probability. */
const THRESHOLDS: Readonly<Record<Favor, { readonly plateauShare: number; readonly least: number }>> = {
  precision: { plateauShare: 0.8, least: 0.5 },
  balanced: { plateauShare: 0.6, least: 0.3 },
  recall: { plateauShare: 0.4, least: 0.2 },
};
/** Of texts of fewer words, which say little about themselves, this share of the threshold is enough. */
const SHORT_WORDS = 3;
const SHORT_SHARE = 0.75;
/**
 * A page of which nothing is sure is an index: its lists are its content, and half of the best probability is enough.
 * Below the second one it is an empty shell, of which nothing is content.
 */
const SURE = 0.5;
const LEAST_BEST = 0.2;
const FEWEST_ENTRIES = 3;
/** Shorter texts repeat for good reasons: prices, names, table cells. */
const REPEAT_WORDS = 6;
/**
 * In lists, tables and code authors say the same of two things, but not after a paragraph that is said again: some pages
 * are there twice, for narrow and for wide screens.
 */
const REPEATING_TAGS: ReadonlySet<TagId> = new Set([Tag.li, Tag.td, Tag.th, Tag.dd, Tag.pre]);

/** Reference pages say the same of many things: where this is as likely, every text counts. */
const DOCUMENTATION = PAGE_TYPES.indexOf("documentation");
const SURELY_DOCUMENTATION = 0.5;
const ARTICLE = PAGE_TYPES.indexOf("article");

/**
 * In the author's own markup only what is surely no content goes; on pages that are articles with this probability, and
 * no documentation, more of it: in the same paragraphs, news announce other stories, letters and advertisements.
 */
const SURELY_NOT_CONTENT = 0.02;
const SURELY_ARTICLE = 0.85;
const DOUBTFUL_IN_ARTICLES = 0.3;
/** Where fewer words are chosen, they introduce the rest of the page, such as the list of an index. */
const FEW_WORDS = 50;
const REMARK_CLASS =
  /(?:^|\s)(?:admonition|tsd-alert-title|note|tip|important|warning|caution|danger|hint|attention|deprecated)(?:\s|$)/;
const LINE_NUMBERS = /^[\d\s]*$/;
/** Paragraphs of links are pointers to other pages, unless the page is documentation. */
const MOSTLY_LINKS = 0.5;
/**
 * On pages that are documentation with this probability, and on all pages where recall is favoured, the container
 * keeps every block from the first probability below on, and from the second on a block in a place like that of a
 * chosen one.
 */
const LIKELY_DOCUMENTATION = 0.15;
const LEAST_OF_DOCUMENTATION = 0.1;
const LEAST_OF_LIKE_PLACES = 0.05;

/** Words of the container of the content: those that are kept, and all that readers see. */
export type MainPart = { readonly kept: number; readonly total: number };

export type Judgement = {
  /** The probability of each candidate. */
  readonly p: Float32Array;
  /** The probability of each page type. */
  readonly typeP: Float32Array;
  readonly favor: Favor;
};

export type KeptBlocks = {
  /** Numbers of blocks, rising. */
  readonly blocks: Int32Array;
  /** Words in the container of the content, and how many of them are kept; null without a container. */
  readonly mainPart: MainPart | null;
};

/**
 * The blocks that are content, by their probabilities: those that reach a share of the page's own plateau,
 * and around them what their container holds; each longer text in one place, save in documentation.
 */
export function keepBlocks(tree: PageTree, { p, typeP, favor }: Judgement): KeptBlocks {
  const { stats } = tree.model.blocks;
  const words = Float32Array.from(
    tree.candidates,
    (block) => stats[block * TextStat.count + TextStat.words]!,
  );
  const { plateauShare, least } = THRESHOLDS[favor];
  const best = p.reduce((most, value) => Math.max(most, value), 0);
  const isIndex = best < SURE && best >= LEAST_BEST && p.length >= FEWEST_ENTRIES;
  const threshold = isIndex ? best / 2 : Math.max(least, plateauShare * plateauOf(p, words).plateau);
  // Code needs no more than the least: hardly anything but content is written in it.
  const leastOfCode = Math.min(least, threshold);
  const isChosen = Uint8Array.from(p, (value, index) => {
    const enough = words[index]! < SHORT_WORDS ? SHORT_SHARE * threshold : threshold;
    return value >= enough || (value >= leastOfCode && isCodeBlock(tree, tree.candidates[index]!)) ? 1 : 0;
  });
  if (favor !== "precision") {
    addIntroduced(tree, { words, p, typeP }, isChosen);
    completeCards(tree, { words, typeP }, isChosen);
  }
  dropTemplates(tree, words, isChosen);
  const region = findRegion(tree, words, isChosen, FEW_WORDS);
  if (region !== null && favor !== "precision") addFromRegion(tree, { region, p, typeP, favor, isChosen });
  const keepsRepeats = typeP[DOCUMENTATION]! > SURELY_DOCUMENTATION;
  const blocks = withoutRepeats(tree, { words, isChosen, region, keepsRepeats });
  return { blocks, mainPart: region && measure(tree, region, blocks) };
}

/** A page that scripts put together out of templates holds its content there; beside shown content they hold spare parts. */
function dropTemplates({ model, candidates }: PageTree, words: Float32Array, isChosen: Uint8Array): void {
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

/** Counts the words of the container, each text that readers see once. */
function measure({ model, candidates }: PageTree, region: Region, blocks: Int32Array): MainPart {
  const { element, flags, stats, text } = model.blocks;
  const isKept = new Set(blocks);
  const keptTexts = new Set(Array.from(blocks, (block) => text[block]!));
  let kept = 0;
  let total = 0;
  for (const block of candidates) {
    const isShown = (flags[block]! & NOT_SHOWN) === 0 && region.isInside[element[block]!] === 1;
    // A copy of what is kept is not lost.
    if (!isKept.has(block) && (!isShown || keptTexts.has(text[block]!))) continue;
    const words = stats[block * TextStat.count + TextStat.words]!;
    total += words;
    if (isKept.has(block)) kept += words;
  }
  return { kept, total };
}

type Evidence = Judgement & {
  readonly region: Region;
  /** 1 for each candidate that is chosen; the additions are written here. */
  readonly isChosen: Uint8Array;
};

/**
 * Chooses what the container of the chosen blocks holds besides: F1 over pages whose references end early
 * has taught the trees to refuse the last table, list or command of an article.
 */
function addFromRegion(tree: PageTree, { region, p, typeP, favor, isChosen }: Evidence): void {
  const { model, candidates } = tree;
  const isArticle = typeP[ARTICLE]! > SURELY_ARTICLE && favor !== "recall";
  const leastOfAuthors = isArticle ? DOUBTFUL_IN_ARTICLES : SURELY_NOT_CONTENT;
  const keepsNearlyAll = favor === "recall" || typeP[DOCUMENTATION]! > LIKELY_DOCUMENTATION;
  const places = keepsNearlyAll ? placesOf(tree, isChosen) : new Set<number>();
  // From the end, so that a heading knows whether its section stays.
  for (let index = candidates.length - 1, next = -1; index >= 0; index--) {
    const element = model.blocks.element[candidates[index]!]!;
    const isShown = (model.blocks.flags[candidates[index]!]! & NOT_SHOWN) === 0;
    if (region.isInside[element] === 0 || !isShown) continue;
    const isAuthored =
      region.isPlain[element] === 1 &&
      p[index]! >= leastOfAuthors &&
      (isAuthorsBlock(tree, index) || followsText(tree, isChosen, index)) &&
      (headingLevel(tree, candidates[index]!) === 0 || opensSection(tree, isChosen, index, next));
    const isDocumented =
      keepsNearlyAll &&
      (p[index]! >= LEAST_OF_DOCUMENTATION ||
        (p[index]! >= LEAST_OF_LIKE_PLACES && places.has(placeOf(tree, index))));
    const isCode = p[index]! >= SURELY_NOT_CONTENT && isCodeBlock(tree, candidates[index]!);
    if (isAuthored || isDocumented || isCode) isChosen[index] = 1;
    next = index;
  }
}

/** Whether a block is code; columns of line numbers are none. Templates write no code, whatever they wrap around it. */
const isCodeBlock = ({ model }: PageTree, block: number): boolean =>
  (model.blocks.flags[block]! & ElementFlag.preformatted) !== 0 &&
  !LINE_NUMBERS.test(model.blocks.text[block]!);

/**
 * Authors write their text into paragraphs and other blocks, and their remarks into boxes. Text of any other box is a
 * template's: with it, segments lose .002.
 */
function isAuthorsBlock(tree: PageTree, index: number): boolean {
  const { model, candidates } = tree;
  const block = candidates[index]!;
  const tag = model.tag[model.blocks.element[block]!];
  if (tag === Tag.div) return REMARK_CLASS.test(model.names[model.classId[model.blocks.element[block]!]!]!);
  const at = block * TextStat.count;
  const { stats } = model.blocks;
  const isLinks = stats[at + TextStat.linkChars]! > MOSTLY_LINKS * stats[at + TextStat.chars]!;
  // What a heading announces is its section.
  return tag !== Tag.p || !isLinks || (index > 0 && headingLevel(tree, tree.candidates[index - 1]!) > 0);
}

/**
 * Whether text without a link, in no element but a box, stands right behind a chosen block or a heading: in a box without
 * a name under the same parent, or in that parent itself.
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
    blocks.stats[block * TextStat.count + TextStat.linkChars] === 0 &&
    (isChosen[index - 1] === 1 || headingLevel(tree, before) > 0) &&
    (around === element || (around === parent[element] && classId[element] === 0))
  );
}

/** Whether something of a heading's section is chosen. */
function opensSection(tree: PageTree, isChosen: Uint8Array, heading: number, next: number): boolean {
  if (next < 0 || isChosen[next] === 0) return false;
  const level = headingLevel(tree, tree.candidates[next]!);
  return level === 0 || level > headingLevel(tree, tree.candidates[heading]!);
}

/** The places where chosen blocks stand: equal numbers for equal tags and classes. */
function placesOf(tree: PageTree, isChosen: Uint8Array): ReadonlySet<number> {
  const places = new Set<number>();
  for (let index = 0; index < isChosen.length; index++) {
    if (isChosen[index] === 1) places.add(placeOf(tree, index));
  }
  return places;
}

type Chosen = {
  /** Of each candidate. */
  readonly words: Float32Array;
  readonly isChosen: Uint8Array;
  readonly region: Region | null;
  readonly keepsRepeats: boolean;
};

/** Drops what is said again elsewhere: another copy of the same card. */
function withoutRepeats({ model, candidates }: PageTree, chosen: Chosen): Int32Array {
  const { words, isChosen, region, keepsRepeats } = chosen;
  const kept: number[] = [];
  const seen = new Map<string, number>();
  // Whether the last longer text was dropped.
  let isCopy = false;
  for (let index = 0; index < candidates.length; index++) {
    if (isChosen[index] === 0) continue;
    const block = candidates[index]!;
    const element = model.blocks.element[block]!;
    const isMeant: boolean = !isCopy && region?.isPlain[element] === 1 && mayRepeat(model, element);
    if (words[index]! >= REPEAT_WORDS && !keepsRepeats) {
      // Under one parent the author repeats; elsewhere it is another copy of the card.
      const text = model.blocks.text[block]!;
      const parent = parentOf(model, block);
      isCopy = !isMeant && (seen.get(text) ?? parent) !== parent;
      if (isCopy) continue;
      seen.set(text, parent);
    }
    kept.push(block);
  }
  return Int32Array.from(kept);
}

/** Some publishing systems set a paragraph into each item, cell and remark. */
function mayRepeat({ tag, parent, classId, names }: PageModel, element: number): boolean {
  const holder = tag[element] === Tag.p ? parent[element]! : element;
  return holder >= 0 && (REPEATING_TAGS.has(tag[holder]!) || REMARK_CLASS.test(names[classId[holder]!]!));
}

function parentOf({ blocks, parent, tag }: PageModel, block: number): number {
  const holder = parent[blocks.element[block]!] ?? -1;
  return holder >= 0 && tag[holder] === Tag.body ? -1 : holder;
}
