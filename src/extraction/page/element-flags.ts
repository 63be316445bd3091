import { Break, ElementFlag } from "./page-model.ts";
import { TAG_LIMIT, Tag, TagTrait, tagId, traitsOf } from "./tags.ts";

/** The flags that an element has by its tag alone. */
export const flagsOfTag = (tag: number): number => FLAGS_OF_TAG[tag]!;

const FLAGS_OF_TAG = new Uint16Array(TAG_LIMIT);
for (const [flag, names] of [
  [ElementFlag.preformatted, "pre listing xmp textarea"],
  [ElementFlag.noscript, "noscript"],
  [ElementFlag.template, "template"],
  [ElementFlag.cell, "td th"],
  [ElementFlag.heading, "h1 h2 h3 h4 h5 h6 dt"],
  [ElementFlag.form, "form"],
  [ElementFlag.bold, "b strong"],
  [ElementFlag.button, "button"],
  [ElementFlag.toggle, "button summary"],
] as const) {
  for (const name of names.split(" ")) FLAGS_OF_TAG[tagId(name)]! |= flag;
}
for (let tag = 0; tag < TAG_LIMIT; tag++) {
  if ((traitsOf(tag) & TagTrait.textless) !== 0) FLAGS_OF_TAG[tag]! |= ElementFlag.textless;
}

/**
 * What stands between the texts on both sides of a tag, as a `Break`. Inside a cell every block is a line,
 * so that a paragraph does not tear the row apart.
 */
export function breakOf(traits: number, flags: number): number {
  if ((traits & TagTrait.cell) !== 0) return Break.cell;
  return (traits & TagTrait.line) !== 0 || (flags & ElementFlag.cell) !== 0 ? Break.line : Break.paragraph;
}

/** Whether an element shows something that is no text of the page's blocks, see `PageModel.media`. */
export function isMedium(tag: number, type: string | null): boolean {
  if (MEDIA[tag] === 1) return true;
  if (type === null) return false;
  if (tag === Tag.script) return /^\s*math\//i.test(type);
  return tag === Tag.input && type.trim().toLowerCase() === "checkbox";
}

const MEDIA = new Uint8Array(TAG_LIMIT);
for (const name of "br img hr math video audio iframe embed lite-youtube".split(" ")) MEDIA[tagId(name)] = 1;

/** Flags that pass from an element to everything inside it. */
export const INHERITED_FLAGS =
  ElementFlag.link |
  ElementFlag.preformatted |
  ElementFlag.textless |
  ElementFlag.noscript |
  ElementFlag.template |
  ElementFlag.hidden |
  ElementFlag.panel |
  ElementFlag.ariaHidden |
  ElementFlag.cell |
  ElementFlag.heading |
  ElementFlag.form |
  ElementFlag.bold |
  ElementFlag.button |
  ElementFlag.toggle;
