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

/** The number in an attribute of a list or an item; null where it gives none that Markdown can write. */
export function numberOf(element: ContentElement, attribute: "start" | "value"): number | null {
  const number = Number.parseInt(element.getAttribute(attribute) ?? "", 10);
  return Number.isInteger(number) && number >= 0 && number < 1e9 ? number : null;
}

/** The items of an ordered list as lists that count on from their first number: a new one where an item skips numbers. */
export function runsOf(
  items: readonly ListItem[],
  numbers: readonly (number | null)[],
  start: number,
): readonly { readonly start: number; readonly items: readonly ListItem[] }[] {
  const runs: { readonly start: number; readonly items: ListItem[] }[] = [];
  let next = start;
  for (const [index, item] of items.entries()) {
    // Scripts write values of their own that do not count on.
    const number = Math.max(numbers[index] ?? next, next);
    const run = runs.at(-1);
    if (run === undefined || number !== next) runs.push({ start: number, items: [item] });
    else run.items.push(item);
    next = number + 1;
  }
  return runs;
}

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
