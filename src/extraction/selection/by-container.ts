import { headingLevel } from "../classification/block-features.ts";
import { placeOf } from "../classification/context-features.ts";
import { Layout } from "../classification/layout-tables.ts";
import type { PageTree } from "../classification/page-tree.ts";
import { findRegion, NOT_SHOWN } from "../classification/region.ts";
import { Tag } from "../page/page-model.ts";
import { statOf, TextStat } from "../page/word-stats.ts";
import { isCodeBlock } from "./by-probability.ts";
import { type Draft, keptBlocks, likelihood } from "./draft.ts";

/**
 * In the author's own markup of documentation only blocks that are surely not content are dropped. On other pages more
 * is dropped, and most on pages that are articles with this probability: news put links to other stories, letters and
 * advertisements into the same paragraphs.
 */
const SURELY_NOT_CONTENT = 0.02;
const DOUBTFUL = 0.06;
const SURELY_ARTICLE = 0.85;
const DOUBTFUL_IN_ARTICLES = 0.18;
/** When fewer words are chosen, they only introduce the rest of the page, such as the list of an index. */
const FEW_WORDS = 50;
/** The fewest chosen paragraphs that tell how an author writes them. */
const FEWEST_STYLED = 3;
const LEAST_OF_STYLED = 0.25;
export const REMARK_CLASS =
  /(?:^|\s)(?:admonition|alert|tsd-alert-title|note|tip|important|warning|caution|danger|hint|attention|deprecated)(?:\s|$)/;
/** Paragraphs of links point to other pages, unless the page is documentation. */
const MOSTLY_LINKS = 0.5;
/**
 * On pages that are documentation with this probability, and on all pages when recall is favoured, the container
 * keeps every block from the first probability below on, and from the second one on a block in a place like that of a
 * chosen one.
 */
export const LIKELY_DOCUMENTATION = 0.15;
const LEAST_OF_DOCUMENTATION = 0.1;
const LEAST_OF_LIKE_PLACES = 0.05;
const LEAST_OF_HEADINGS = 0.2;

/** The number of kept words and of all visible words in the container of the content. */
export type MainPart = { readonly kept: number; readonly total: number };

export function findContainer(draft: Draft): void {
  const { tree, words, isKept } = draft;
  const isChosen = Uint8Array.from(tree.candidates, (block) => isKept[block]!);
  draft.region = findRegion(tree, words, isChosen, FEW_WORDS);
}

/**
 * Chooses further blocks in the container of the chosen ones: F1 over pages whose references end early has taught the
 * trees to refuse the last table, list or command of an article.
 */
export function addFromContainer(draft: Draft): void {
  const { tree, p, favor, region, isKept } = draft;
  const { model, candidates } = tree;
  const keepsNearlyAll = favor === "recall" || likelihood(draft, "documentation") > LIKELY_DOCUMENTATION;
  const isArticle = likelihood(draft, "article") > SURELY_ARTICLE;
  const leastOfAuthors = keepsNearlyAll ? SURELY_NOT_CONTENT : isArticle ? DOUBTFUL_IN_ARTICLES : DOUBTFUL;
  const places = keepsNearlyAll ? placesOf(tree, isKept) : new Set<number>();
  const isDocumented = (index: number): boolean =>
    keepsNearlyAll &&
    (p[index]! >= LEAST_OF_DOCUMENTATION ||
      (p[index]! >= LEAST_OF_LIKE_PLACES && places.has(placeOf(tree, index))));
  const isPlain = plainnessOf(draft);
  // The loop starts at the end, so that a heading knows whether its section stays.
  for (let index = candidates.length - 1, next = -1; index >= 0; index--) {
    const element = model.blocks.element[candidates[index]!]!;
    const isShown = (model.blocks.flags[candidates[index]!]! & NOT_SHOWN) === 0;
    if (region?.isInside[element] !== 1 || !isShown) continue;
    const isByAuthor = isPlain(index) && p[index]! >= leastOfAuthors && isAuthored(draft, index, next);
    const isCode = p[index]! >= SURELY_NOT_CONTENT && isCodeBlock(tree, candidates[index]!);
    if (isByAuthor || isDocumented(index) || isCode) isKept[candidates[index]!] = 1;
    next = index;
  }
}

/**
 * Returns a function that tells whether a candidate is in the author's own markup. If the author's paragraphs have
 * classes, as paragraphs from word processors do, a class says nothing about another paragraph.
 */
function plainnessOf({ tree, p, region, isKept }: Draft): (index: number) => boolean {
  const { model, candidates } = tree;
  const elementOf = (index: number): number => model.blocks.element[candidates[index]!]!;
  const isParagraph = (index: number): boolean => model.tag[elementOf(index)] === Tag.p;
  const all = [...candidates.keys()].filter(
    (index) => isKept[candidates[index]!] === 1 && isParagraph(index),
  );
  const named = all.filter((index) => model.classId[elementOf(index)] !== 0);
  const isStyled = all.length >= FEWEST_STYLED && 2 * named.length > all.length;
  const mayBeStyled = (index: number): boolean =>
    isParagraph(index) &&
    p[index]! >= LEAST_OF_STYLED &&
    statOf(model, candidates[index]!, TextStat.linkChars) === 0;
  return (index) =>
    region?.isPlain[elementOf(index)] === 1 ||
    (isStyled && mayBeStyled(index) && region?.isPlain[model.parent[elementOf(index)]!] === 1);
}

const isAuthored = (draft: Draft, index: number, next: number): boolean =>
  (isAuthorsBlock(draft.tree, index) || followsText(draft, index)) &&
  (headingLevel(draft.tree, draft.tree.candidates[index]!) === 0 ||
    opensSection(draft.tree, draft.isKept, index, next));

/**
 * Tells whether a block is the author's. Authors write their text into paragraphs and other blocks, and their remarks
 * into boxes; text of any other box is a template's. Accepting such text costs .002 on segments.
 */
function isAuthorsBlock(tree: PageTree, index: number): boolean {
  const { model, candidates } = tree;
  const block = candidates[index]!;
  const tag = model.tag[model.blocks.element[block]!];
  if (isBox(tree, model.blocks.element[block]!))
    return REMARK_CLASS.test(model.names[model.classId[model.blocks.element[block]!]!]!);
  const isLinks =
    statOf(model, block, TextStat.linkChars) > MOSTLY_LINKS * statOf(model, block, TextStat.chars);
  // A heading announces its section.
  return tag !== Tag.p || !isLinks || (index > 0 && headingLevel(tree, tree.candidates[index - 1]!) > 0);
}

/** A cell of a table that may lay out the page is a box like any other. */
const isBox = ({ model: { tag }, layouts }: PageTree, element: number): boolean =>
  tag[element] === Tag.div || (tag[element] === Tag.td && layouts[element] !== Layout.values);

/**
 * Tells whether text without a link, directly in a box, follows a chosen block or a heading: in an unnamed box under
 * the same parent, or in that parent itself.
 */
function followsText(draft: Draft, index: number): boolean {
  const { tree, isKept } = draft;
  const { blocks, parent, classId } = tree.model;
  const block = tree.candidates[index]!;
  const before = tree.candidates[index - 1];
  if (before === undefined) return false;
  const element = blocks.element[block]!;
  const around = parent[blocks.element[before]!];
  return (
    isBox(tree, element) &&
    statOf(tree.model, block, TextStat.linkChars) === 0 &&
    (isKept[before] === 1 || headingLevel(tree, before) > 0) &&
    (around === element || (around === parent[element] && classId[element] === 0))
  );
}

/** Tells whether part of a heading's section is chosen. */
function opensSection(tree: PageTree, isKept: Uint8Array, heading: number, next: number): boolean {
  if (next < 0 || isKept[tree.candidates[next]!] === 0) return false;
  const level = headingLevel(tree, tree.candidates[next]!);
  return level === 0 || level > headingLevel(tree, tree.candidates[heading]!);
}

/** Chooses the headings of chosen sections: nobody keeps a text without the words that say what it is about. */
export function addHeadings({ tree, p, region, isKept }: Draft): void {
  const { element, flags } = tree.model.blocks;
  for (let index = tree.candidates.length - 2; index >= 0; index--) {
    const block = tree.candidates[index]!;
    const isShown = (flags[block]! & NOT_SHOWN) === 0 && region?.isInside[element[block]!] === 1;
    if (!isShown || headingLevel(tree, block) < 2 || p[index]! < LEAST_OF_HEADINGS) continue;
    if (opensSection(tree, isKept, index, index + 1)) isKept[block] = 1;
  }
}

/** Numbers the places of chosen blocks: equal numbers for equal tags and classes. */
const placesOf = (tree: PageTree, isKept: Uint8Array): ReadonlySet<number> =>
  new Set(
    [...tree.candidates].flatMap((block, index) => (isKept[block] === 1 ? [placeOf(tree, index)] : [])),
  );

/** Counts the words of the container; each visible text counts once. Null without a container. */
export function mainPartOf({ tree: { model, candidates }, region, isKept }: Draft): MainPart | null {
  if (region === null) return null;
  const { element, flags, text } = model.blocks;
  const keptTexts = new Set(Array.from(keptBlocks({ isKept }), (block) => text[block]!));
  let kept = 0;
  let total = 0;
  for (const block of candidates) {
    const isShown = (flags[block]! & NOT_SHOWN) === 0 && region.isInside[element[block]!] === 1;
    // A copy of a kept text is not lost.
    if (isKept[block] === 0 && (!isShown || keptTexts.has(text[block]!))) continue;
    const words = statOf(model, block, TextStat.words);
    total += words;
    if (isKept[block] === 1) kept += words;
  }
  return { kept, total };
}
