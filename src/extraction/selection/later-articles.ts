import { headingLevel } from "../classification/block-features.ts";
import type { PageTree } from "../classification/page-tree.ts";
import { Tag } from "../page/page-model.ts";
import type { Draft } from "./draft.ts";

/**
 * Drops the articles that a page loads below its own as readers scroll: each of them has a title of its own, and only the first
 * has the page's.
 */
export function dropLaterArticles({ tree, title, isKept }: Draft): void {
  const { model, candidates } = tree;
  if (title === null) return;
  const articles: { readonly box: number; readonly isOwn: boolean }[] = [];
  for (const block of candidates) {
    if (headingLevel(tree, block) !== 1) continue;
    const box = articleAround(tree, model.blocks.element[block]!);
    if (box < 0 || articles.at(-1)?.box === box) continue;
    articles.push({ box, isOwn: isTitle(model.blocks.text[block]!, title) });
  }
  const [own, ...later] = articles;
  if (!own?.isOwn || later.length === 0) return;
  const { parent } = model;
  // Some pages put each of them into a box of its own.
  const isBeside = (box: number): boolean =>
    parent[box] === parent[own.box] || parent[parent[box]!] === parent[parent[own.box]!];
  if (!later.every(({ box, isOwn }) => !isOwn && isBeside(box))) return;
  const isInLater = new Uint8Array(model.elementCount);
  for (const { box } of later) isInLater.fill(1, box, model.elementEnd[box]!);
  for (const block of candidates) if (isInLater[model.blocks.element[block]!] === 1) isKept[block] = 0;
}

function articleAround({ model: { parent, tag } }: PageTree, heading: number): number {
  for (let at = heading, level = 0; at >= 0 && level < MAX_LEVELS; at = parent[at]!, level++)
    if (tag[at] === Tag.article) return at;
  return -1;
}

const MAX_LEVELS = 6;

const isTitle = (heading: string, title: string): boolean => {
  const [one, other] = [heading, title].map((text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim(),
  );
  return one !== "" && (one === other || other!.startsWith(one!));
};
