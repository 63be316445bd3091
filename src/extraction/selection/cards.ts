import { type PageTree, twinsKey } from "../classification/page-tree.ts";
import { NOT_SHOWN } from "../classification/region.ts";
import { type Draft, likelihood } from "./draft.ts";

/** News sites announce other stories in cards, and in a thread each post is judged by itself. */
const LIKELY_OTHER_TYPE = 0.3;
const FEWEST_CARDS = 4;
const FEWEST_TEXTS = 2;
/** An element with more words is not a card but a section of the page. */
const MAX_CARD_WORDS = 150;
/** The cards of a list are content when this share of their words is chosen. */
const CHOSEN_SHARE = 0.3;
/** A block below this probability is a button or a label. */
const LEAST_IN_CARDS = 0.05;

/**
 * Keeps the cards of a list whole (products, recipes, jobs): when parts of them are chosen, the rest of all of them
 * is chosen too. If each text were judged by itself, one card would keep its price and the next one its name.
 */
export function completeCards(draft: Draft): void {
  const { tree, p, words, isKept } = draft;
  if (likelihood(draft, "article") >= LIKELY_OTHER_TYPE || likelihood(draft, "forum") >= LIKELY_OTHER_TYPE)
    return;
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
      chosen[listOf[card]!]! += words[index]! * isKept[candidates[index]!]!;
    }
  }
  const isContent = (list: number): boolean => chosen[list]! >= CHOSEN_SHARE * shown[list]!;
  for (let index = 0; index < candidates.length; index++) {
    if (!isShown(index)) continue;
    for (let card = firstCard(index); card >= 0 && isKept[candidates[index]!] === 0; card = nextCard(card))
      if (p[index]! >= LEAST_IN_CARDS && isContent(listOf[card]!)) isKept[candidates[index]!] = 1;
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
