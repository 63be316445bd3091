import { PAGE_TYPES } from "../types.ts";
import { type PageTree, twinsKey } from "./page-tree.ts";
import { besideContent, NOT_SHOWN } from "./region.ts";

const ARTICLE = PAGE_TYPES.indexOf("article");
const FORUM = PAGE_TYPES.indexOf("forum");

/** News sites announce other stories in cards, and in a thread each post is judged by itself. */
const LIKELY_OTHER_TYPE = 0.3;
const FEWEST_CARDS = 4;
const FEWEST_TEXTS = 2;
/** An element with more words is not a card but a section of the page. */
const MOST_WORDS = 150;
/** The cards of a list are content when this share of their words is chosen. */
const CHOSEN_SHARE = 0.15;

/**
 * When fewer words are chosen, they only introduce the page, provided that the next likely blocks have this much more
 * text.
 */
const FEW_WORDS = 30;
const INTRODUCED_SHARE = 1;
/** The third best of the other blocks represents them: one or two may be a slogan or a button. */
const RANK = 2;
const LEAST_INTRODUCED = 0.1;
const SHARE_OF_INTRODUCED = 0.5;
const SURELY_ARTICLE = 0.5;

type Judged = {
  /** The number of words of each candidate. */
  readonly words: Float32Array;
  readonly p: Float32Array;
  /** The probability of each page type. */
  readonly typeP: Float32Array;
};

/**
 * Chooses what a few chosen words introduce. A page with only a sure heading and first sentence is an index, and its
 * entries are its content.
 * @param isChosen 1 for each candidate that is chosen; the additions are written here
 */
export function addIntroduced(tree: PageTree, { words, p, typeP }: Judged, isChosen: Uint8Array): void {
  const chosenWords = words.reduce((sum, count, index) => sum + count * isChosen[index]!, 0);
  if (chosenWords >= FEW_WORDS || typeP[ARTICLE]! >= SURELY_ARTICLE) return;
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
 * @param isChosen 1 for each candidate that is chosen; the additions are written here
 */
export function completeCards(
  tree: PageTree,
  { words, typeP }: Omit<Judged, "p">,
  isChosen: Uint8Array,
): void {
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
    for (let card = firstCard(index); card >= 0 && isChosen[index] === 0; card = nextCard(card)) {
      if (isContent(listOf[card]!)) isChosen[index] = 1;
    }
  }
}

/** Finds runs of equal siblings that hold a few texts each. */
function findLists(tree: PageTree) {
  const { model, twins, blockCount, words } = tree;
  const isCard = (element: number): boolean =>
    twins[element]! >= FEWEST_CARDS && blockCount[element]! >= FEWEST_TEXTS && words[element]! <= MOST_WORDS;
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
