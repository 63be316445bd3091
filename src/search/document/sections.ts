import { decodeLoosely } from "../../base/text.ts";
import { inlineText, readInline } from "../../markdown/index.ts";
import type { DocumentUrl } from "../../urls/index.ts";
import type { DocumentAnchor, Section, SourceDocument } from "../types.ts";
import { forgeSlug, fragmentHash, styleAt, withSlugs } from "./slugs.ts";

/**
 * A section takes about 600 bytes during analysis, so 20 MB of `# a` would take 3 GB. The longest references
 * that people write have a few thousand sections.
 */
export const MAX_SECTIONS = 20_000;

/**
 * The most characters of a heading, and so of its anchor, that are kept. Every hit of the document reads all
 * headings.
 */
const MAX_HEADING = 1000;

/** A page may give each line an id; only the first of these are kept. */
const MAX_ANCHORS = 20_000;

/** A heading's range in the Markdown without its marks; `textEnd` is before the id that it gives itself. */
export type HeadingRange = {
  readonly level: number;
  readonly start: number;
  readonly end: number;
  readonly textEnd: number;
  readonly id: string | null;
};

/** Collects the sections and the fragments of a document while its Markdown is read. */
export class SectionBuilder {
  /** How many headings the document has. */
  headings = 0;
  readonly #url: DocumentUrl;
  readonly #markdown: string;
  /** The ids of the page that the document was made of, in the order of their places; null without a page. */
  readonly #given: readonly DocumentAnchor[] | null;
  #nextGiven = 0;
  readonly #sections: Section[] = [];
  readonly #anchors: DocumentAnchor[] = [];
  readonly #taken = new Set<string>();
  /** Ids of tags that stand alone: they lead to what comes next. */
  #waiting: string[] = [];
  #waitingEnd = 0;
  #open: Omit<Section, "end"> = { level: 0, heading: "", anchor: "", isAnchorWritten: false, start: 0 };

  constructor({ url, markdown, anchors }: SourceDocument) {
    this.#url = url;
    this.#markdown = markdown;
    this.#given = anchors ?? null;
  }

  /** Counts a heading, and tells whether it may open a section. */
  mayOpen(): boolean {
    return ++this.headings <= MAX_SECTIONS;
  }

  open({ level, start, end, textEnd, id }: HeadingRange): void {
    const markdown = this.#markdown;
    const lineStart = markdown.lastIndexOf("\n", start - 1) + 1;
    this.#takeGiven(lineStart);
    this.#sections.push({ ...this.#open, end: Math.max(this.#open.start, lineStart) });
    const heading = inlineText(
      readInline(markdown.slice(start, Math.min(textEnd, start + MAX_HEADING))),
    ).trim();
    const named = id && (forgeSlug(this.#url, heading + markdown.slice(textEnd, end)) ?? id);
    const own = this.#given ? this.#givenUntil(end) : [named, ...idsOfTags(markdown, start, textEnd)];
    const [anchor = "", ...others] = own.flatMap((one) => (one !== null && this.#take(one) ? [one] : []));
    for (const other of others) this.#anchors.push({ id: other, start: lineStart });
    this.#settle();
    const isAnchorWritten = anchor !== "" || this.#given !== null;
    this.#open = { level, heading, anchor, isAnchorWritten, start: lineStart };
  }

  /** Notes the ids of the tags in a line; code has none. */
  noteLine(start: number, end: number, isCode: boolean): void {
    if (this.#given) return;
    const ids = isCode ? [] : idsOfTags(this.#markdown, start, end);
    if (ids.length === 0 && this.#waiting.length === 0) return;
    if (ids.length > 0 && isOnlyTags(this.#markdown.slice(start, end))) {
      for (const id of ids) this.#waiting.push(id);
      this.#waitingEnd = end;
      return;
    }
    this.#settle();
    const lineStart = this.#markdown.lastIndexOf("\n", start - 1) + 1;
    for (const id of ids) this.#add({ id, start: lineStart });
  }

  finish(): { readonly sections: readonly Section[]; readonly anchors: readonly DocumentAnchor[] } {
    const { length } = this.#markdown;
    this.#takeGiven(length + 1);
    this.#settle();
    this.#sections.push({ ...this.#open, end: length });
    return { sections: withSlugs(this.#sections, styleAt(this.#url, "github")), anchors: this.#anchors };
  }

  /** Gives waiting ids the place of the next line that is not blank. */
  #settle(): void {
    if (this.#waiting.length === 0) return;
    const markdown = this.#markdown;
    let next = this.#waitingEnd;
    while (next < markdown.length && /\s/.test(markdown[next]!)) next++;
    const start = markdown.lastIndexOf("\n", next - 1) + 1;
    for (const id of this.#waiting) this.#add({ id, start });
    this.#waiting = [];
  }

  #add(anchor: DocumentAnchor): void {
    if (this.#take(anchor.id)) this.#anchors.push(anchor);
  }

  /** An id that a page has twice leads to the first. */
  #take(id: string): boolean {
    if (id === "" || this.#taken.has(id) || this.#taken.size >= MAX_ANCHORS) return false;
    this.#taken.add(id);
    return true;
  }

  /** Takes the page's ids before a place. */
  #takeGiven(before: number): void {
    const given = this.#given ?? [];
    for (; this.#nextGiven < given.length && given[this.#nextGiven]!.start < before; this.#nextGiven++)
      this.#add(given[this.#nextGiven]!);
  }

  #givenUntil(end: number): readonly string[] {
    const given = this.#given ?? [];
    const first = this.#nextGiven;
    while (this.#nextGiven < given.length && given[this.#nextGiven]!.start <= end) this.#nextGiven++;
    return given.slice(first, this.#nextGiven).map(({ id }) => id);
  }
}

// `{#id}`, `{ #id .class }`, `{: #id }` and `{/*id*/}` at the end of a heading.
const HEADING_ID =
  /(?<!\s)\s*(?:\{:?\s{0,3}#([^\s{}#]{1,200})(?:\s[^{}]{0,200})?\}|\{\/\*\s{0,3}([^\s{}*]{1,200})\s{0,3}\*\/\})\s{0,3}$/;
const MAX_ID_TAIL = 460;

const TAG_ID =
  /<(?:a\s[^<>]{0,300}?\bname|[a-z][\w-]{0,30}\s(?:[^<>]{0,300}?\s)?id)\s{0,3}=\s{0,3}(?:"([^"\s<>]{1,200})"|'([^'\s<>]{1,200})'|([^"'\s<>]{1,200}))/gi;

const CLOSING_BRACE = 0x7d;

/**
 * The id that a heading gives itself.
 * @returns where the heading's text ends, and the id; null for none
 */
export function writtenId(
  markdown: string,
  start: number,
  end: number,
): { readonly end: number; readonly id: string | null } {
  let last = end - 1;
  while (last > start && markdown[last] === " ") last--;
  if (markdown.charCodeAt(last) !== CLOSING_BRACE) return { end, id: null };
  const from = Math.max(start, end - MAX_ID_TAIL);
  const match = HEADING_ID.exec(markdown.slice(from, end));
  return match ? { end: from + match.index, id: match[1] ?? match[2] ?? null } : { end, id: null };
}

/** Only a page that a program wrote on one line has more ids there. */
const MAX_LINE_IDS = 1000;

/** The ids and names of the tags in a line. */
function idsOfTags(markdown: string, start: number, end: number): readonly string[] {
  const line = markdown.slice(start, end);
  if (!line.includes("<")) return [];
  const ids = line.matchAll(TAG_ID).map(([, double, single, bare]) => double ?? single ?? bare ?? "");
  return [...ids.take(MAX_LINE_IDS)];
}

/** Whether a line has no words besides its tags, so that its ids belong to what follows. */
const isOnlyTags = (line: string): boolean => /^(?:\s*<[^<>]{1,400}>)+\s*$/.test(line);

const LINKED_FRAGMENT = /\]\((?!\w{1,10}:|\/\/)[^()\s#]{0,300}#([^()\s]{1,200})\)/g;
const MAX_FRAGMENTS = 500;

/** Hashes of the fragments in a document's links within its own site, each once, ascending. */
export function linkedFragments(markdown: string): Uint32Array {
  const hashes = new Set<number>();
  for (const { 1: fragment = "" } of markdown.matchAll(LINKED_FRAGMENT)) {
    hashes.add(fragmentHash(decodeLoosely(fragment)));
    if (hashes.size === MAX_FRAGMENTS) break;
  }
  return Uint32Array.from(hashes).sort();
}
