import { decodeLoosely } from "../base/text.ts";
import { SLUG_STYLES, withSlugs } from "./document/slugs.ts";
import type { Section, StoredDocument } from "./types.ts";

/** A part of a document's Markdown, UTF-16 code units, end exclusive. */
export type TextRange = { readonly start: number; readonly end: number };

/**
 * Finds what the fragment of an address leads to: a section from its heading to the next of its level; for an
 * id inside a section the text from its line to the next such id that is indented no deeper, or to the
 * section's end.
 * @param fragment without `#`, in any case, percent-encoded or not: browsers, people and models write it
 * differently. What a generator makes of a heading finds the heading too, even where that has another id.
 */
export function rangeOfFragment(document: StoredDocument, fragment: string): TextRange | null {
  const wanted = decodeLoosely(fragment);
  return (
    rangeWhere(document, (anchor) => anchor === fragment) ??
    rangeWhere(document, (anchor) => anchor === wanted) ??
    rangeWhere(document, (anchor) => anchor.toLowerCase() === wanted.toLowerCase()) ??
    rangeOfSlug(document, wanted.toLowerCase())
  );
}

// What stands in a fragment as it is (WHATWG URL, "fragment percent-encode set").
const PLAIN_FRAGMENT = /^[!#-;=?-_a-z{|}~]*$/;

/**
 * An id as it is written after the `#` of an address. Browsers look for an id that is equal to the fragment first, and
 * then for the decoded one, so that an id is encoded only where it has to be.
 */
export const fragmentOf = (id: string): string =>
  PLAIN_FRAGMENT.test(id) ? id : id.replace(/[%\s"<>`\p{Cc}]/gu, encodeURIComponent);

function rangeWhere(document: StoredDocument, isWanted: (anchor: string) => boolean): TextRange | null {
  const { sections, anchors } = document;
  const section = sections.findIndex(({ anchor }) => anchor !== "" && isWanted(anchor));
  if (section >= 0) return wholeSection(document, section);
  const inner = anchors.findIndex(({ id }) => isWanted(id));
  return inner < 0 ? null : rangeOfAnchor(document, inner);
}

function rangeOfSlug(document: StoredDocument, wanted: string): TextRange | null {
  const unnamed = document.sections.map((section) => ({ ...section, isAnchorWritten: false }));
  for (const style of SLUG_STYLES) {
    const at = withSlugs(unnamed, style).findIndex(({ anchor, level }) => level > 0 && anchor === wanted);
    if (at >= 0) return wholeSection(document, at);
  }
  return null;
}

/** The range of a section with its subsections, without the blank lines at its end. */
export function wholeSection({ sections, markdown }: StoredDocument, index: number): TextRange {
  const { start, level } = sections[index]!;
  const next = sections.slice(index + 1).find((other) => other.level <= level);
  return withoutBlankEnd(markdown, { start, end: next?.start ?? markdown.length });
}

function rangeOfAnchor(document: StoredDocument, index: number): TextRange {
  const { sections, anchors, markdown } = document;
  const { start } = anchors[index]!;
  const holder = sections.findLastIndex((section) => section.start <= start);
  if (sections[holder]!.level > 0 && sections[holder]!.start === start) return wholeSection(document, holder);
  const indent = indentAt(markdown, start);
  const next = anchors
    .slice(index + 1)
    .find((other) => other.start > start && indentAt(markdown, other.start) <= indent);
  const end = Math.min(sections[holder]!.end, next?.start ?? markdown.length);
  return withoutBlankEnd(markdown, { start, end });
}

function indentAt(markdown: string, start: number): number {
  let at = start;
  while (markdown[at] === " " || markdown[at] === "\t") at++;
  return at - start;
}

function withoutBlankEnd(markdown: string, { start, end }: TextRange): TextRange {
  let at = end;
  while (at > start && /\s/.test(markdown[at - 1]!)) at--;
  return { start, end: at };
}

/** An entry of a document's table of contents. */
export type OutlineEntry = {
  readonly level: number;
  readonly heading: string;
  /** The fragment that leads to it; null when the page has none. */
  readonly anchor: string | null;
  /** The length of the section with its subsections. */
  readonly characters: number;
};

/** The headings of a document in their order; without the deepest levels when there are more than `most`. */
export function outlineOf(document: StoredDocument, most: number): OutlineEntry[] {
  const { sections } = document;
  let deepest = 6;
  const isShown = ({ level }: Section): boolean => level > 0 && level <= deepest;
  while (deepest > 1 && sections.filter(isShown).length > most) deepest--;
  const entries: OutlineEntry[] = [];
  sections.forEach((section, index) => {
    if (!isShown(section) || entries.length >= most) return;
    const { level, heading, anchor } = section;
    const { start, end } = wholeSection(document, index);
    entries.push({ level, heading, anchor: fragmentOf(anchor) || null, characters: end - start });
  });
  return entries;
}
