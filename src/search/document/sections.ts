import { inlineText, readInline } from "../../markdown/index.ts";
import type { DocumentAnchor, Section } from "../types.ts";
import { idsOfTags, isOnlyTags } from "./anchors.ts";
import { withSlugs } from "./slugs.ts";

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

  constructor(markdown: string, given: readonly DocumentAnchor[] | null) {
    this.#markdown = markdown;
    this.#given = given;
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
    const own = this.#given ? this.#givenUntil(end) : [id, ...idsOfTags(markdown, start, textEnd)];
    const [anchor = "", ...others] = own.flatMap((one) => (one !== null && this.#take(one) ? [one] : []));
    for (const other of others) this.#anchors.push({ id: other, start: lineStart });
    this.#settle();
    const heading = inlineText(
      readInline(markdown.slice(start, Math.min(textEnd, start + MAX_HEADING))),
    ).trim();
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
    return { sections: withSlugs(this.#sections, "github"), anchors: this.#anchors };
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
