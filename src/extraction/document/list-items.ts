import type { Block, ListItem } from "./model.ts";
import { isShown, normalisePhrases } from "./normalise.ts";
import { type ContentElement, textOf } from "./tree.ts";

/** Adds the blocks of an item, or blocks between items, which belong to the item before them. */
export function addToItems(
  items: ListItem[],
  blocks: readonly Block[],
  isNew: boolean,
  isDone: boolean | null = null,
): void {
  if (blocks.length === 0) return;
  const last = items.at(-1);
  if (isNew || !last) items.push({ isDone, blocks: isDone === null ? blocks : withoutTick(blocks) });
  else items[items.length - 1] = { ...last, blocks: [...last.blocks, ...blocks] };
}

/**
 * Tells whether a list lays out a page: its items are sections of their own, as Javadoc writes them. A card with a
 * heading and a paragraph is still an item, unless its element is a section.
 * @param holdsSections whether an item is a `<section>`
 */
export const isLayout = (items: readonly ListItem[], holdsSections: boolean): boolean =>
  items.some(({ blocks }) => isSection(blocks, holdsSections));

function isSection(blocks: readonly Block[], isMarked: boolean): boolean {
  const at = blocks.findIndex((block) => block.kind === "heading");
  if (at < 0) return false;
  return isMarked || blocks.slice(at + 1).some((block) => SECTION_PARTS.has(block.kind));
}

const SECTION_PARTS: ReadonlySet<Block["kind"]> = new Set([
  "heading",
  "list",
  "code-block",
  "table",
  "definitions",
  "admonition",
]);

/** Reads whether a task is done; null for an item that is not a task. */
export function taskState(item: ContentElement): boolean | null {
  const classes = item.classes;
  if (!classes.includes("task-list-item")) return null;
  const sign = /^\s*([☑☐])/u.exec(textOf(item).slice(0, 40))?.[1];
  return sign === undefined ? classes.includes("done") : sign === "☑";
}

// Removes the sign with which our own HTML shows the state.
const withoutTick = (blocks: readonly Block[]): readonly Block[] => withoutStart(blocks, /^[☑☐]\s*/u);

/** Removes GitHub's own mark from the blocks of an alert. */
export const withoutMark = (blocks: readonly Block[]): readonly Block[] =>
  withoutStart(blocks, /^\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*/);

function withoutStart(blocks: readonly Block[], start: RegExp): readonly Block[] {
  const [first, ...rest] = blocks;
  if (first?.kind !== "paragraph") return blocks;
  const [text, ...others] = first.children;
  if (text?.kind !== "text") return blocks;
  const children = normalisePhrases([{ kind: "text", text: text.text.replace(start, "") }, ...others]);
  return isShown(children) ? [{ ...first, children }, ...rest] : rest;
}
