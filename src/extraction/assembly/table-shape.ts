import type { PageModel } from "../page/page-model.ts";
import { Tag, tagName } from "../page/tags.ts";

/** What may stand in what, in capitals; anything else means a table that a parser mends, or one of pages. */
const PARENTS: Readonly<Record<string, readonly string[]>> = {
  CAPTION: ["TABLE"],
  THEAD: ["TABLE"],
  TBODY: ["TABLE"],
  TR: ["TABLE", "THEAD", "TBODY"],
  TD: ["TR"],
  TH: ["TR"],
};
/** Hold parts of a table and nothing else. */
const FRAMES = new Set(["TABLE", "THEAD", "TBODY", "TFOOT", "TR"]);
/** Make of a table what lays out a page. */
const PAGE_PARTS = new Set(["TABLE", "TFOOT", "H1", "H2", "H3", "PRE"]);
const PAGE_TAGS: ReadonlySet<number> = new Set([Tag.article, Tag.main, Tag.nav, Tag.template]);
/** A cell from this length on may make a table without a head a layout; half of what the document model says. */
const LONG_CELL = 600;
/** GitHub's tables of code. */
const CODE_CELL = /blob-code|blob-num/;

/**
 * Follows an open table to tell whether its plain text is its cells as they come, as the document model has
 * it: a table of values, with its parts where they belong. Where it says no, only the model can tell.
 */
export class TableShape {
  readonly #model: PageModel;
  #isPlain: boolean;
  #rows = 0;
  #cells = 0;
  #widest = 0;
  #cellLength = 0;
  #longestCell = 0;
  #hasHead = false;
  #hasCaption = false;

  constructor(model: PageModel, table: number) {
    const { html, openStart, openEnd } = model;
    this.#model = model;
    this.#isPlain = table >= 0 && !/\brole\b/i.test(html.slice(openStart[table]!, openEnd[table]!));
    for (let inner = table + 1; this.#isPlain && inner < model.elementEnd[table]!; inner++) {
      this.#isPlain = !PAGE_TAGS.has(model.tag[inner]!);
    }
  }

  /** Takes in that an element opens inside; empty names start no line of their own. */
  open(name: string, parent: string, element: number): void {
    const allowed = PARENTS[name];
    const isInPlace = allowed
      ? allowed.includes(parent) && this.#isInside(element, parent)
      : !FRAMES.has(parent) && parent !== "CAPTION";
    if (!isInPlace || PAGE_PARTS.has(name)) this.#isPlain = false;
    if (name === "CAPTION") {
      if (this.#rows > 0 || this.#hasCaption) this.#isPlain = false;
      this.#hasCaption = true;
    } else if (name === "TR") {
      this.#rows++;
      this.#cells = 0;
    } else if (name === "TD" || name === "TH") this.#openCell(element);
    if (name === "TH" || name === "THEAD") this.#hasHead = true;
  }

  /** Whether nothing of the page stands between an element and what is open around it. */
  #isInside(element: number, parent: string): boolean {
    const { parent: parents, tag } = this.#model;
    return element >= 0 && tagName(tag[parents[element]!] ?? 0).toUpperCase() === parent;
  }

  #openCell(element: number): void {
    const { classId, names } = this.#model;
    this.#widest = Math.max(this.#widest, ++this.#cells);
    this.#cellLength = 0;
    if (CODE_CELL.test((names[classId[element]!] ?? "").slice(0, 500))) this.#isPlain = false;
  }

  /** Takes in a text, or what stands for one, of this length. */
  add(length: number, parent: string): void {
    if (FRAMES.has(parent)) this.#isPlain = false;
    this.#cellLength += length;
    this.#longestCell = Math.max(this.#longestCell, this.#cellLength);
  }

  /** Whether the table, which has ended, is plain. */
  get isPlain(): boolean {
    if (!this.#isPlain || this.#rows === 0) return false;
    if (this.#widest <= 1) return this.#hasHead && this.#rows > 1;
    return this.#hasHead || this.#hasCaption || (this.#rows > 1 && this.#longestCell < LONG_CELL);
  }
}
