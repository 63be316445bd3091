import { isPlainCode, KEEPS_LINES } from "../document/code.ts";
import { isVideoSource } from "../document/structures.ts";
import { type PageModel, textOf } from "../page/page-model.ts";
import { Tag, TagTrait, tagId, tagName, traitsOf } from "../page/tags.ts";
import { removeInvisible, TextWriter } from "../text.ts";
import type { ContentSink } from "./content-walk.ts";
import { TableShape } from "./table-shape.ts";
import { videoLabel } from "./video-label.ts";

/** Holds one or more lines of its own, of which the first paragraph is the first. */
const ITEMS = new Set(["LI", "DD", "TD", "TH", "FIGCAPTION"]);
/** What these hold is laid out by the document model. */
const RUBY = tagId("ruby");
/** Say something inside of a table alone. */
const TABLE_PARTS = new Set(["CAPTION", "THEAD", "TBODY", "TFOOT", "TR", "TD", "TH"]);
/** Hold phrases: the model writes blocks in them otherwise. */
const PHRASES = new Set(["DT", "SUMMARY"]);
const LISTS = new Set(["UL", "OL", "MENU"]);
const FORMULA = /latex|[\s"'_/-](?:tex|math|eqn|equation)|chart\?cht=tx/i;
/** May hold text in several pieces. */
const HOLDERS = new Set("LI DT DD TD TH FIGCAPTION ADDRESS SUMMARY CAPTION H1 H2 H3 H4 H5 H6".split(" "));
const HEADING = /^H[1-6]$/;
/** The document model leaves these out unless they show a video. */
const EMBEDDED = new Set("iframe embed".split(" ").map(tagId));
const VIDEOS = new Set("iframe embed video audio".split(" ").map(tagId));
/** May hold a video as a paragraph of its own. */
const FRAMES = new Set(["FIGURE", "BLOCKQUOTE"]);

/** Content that stands in no element with other content, and that is written set apart by a blank line. */
export type TextPiece = {
  readonly text: string;
  /** Whether the document model would write the same, as far as elements tell. */
  readonly isExact: boolean;
  /** Its blocks, as places among the chosen ones. */
  readonly from: number;
  readonly until: number;
  /** Whether there is preformatted text in it. */
  readonly hasCode: boolean;
};

/**
 * Writes chosen content as plain text, without a document: as the document model would write it, where that
 * is paragraphs, headings, lists, quotations and figures.
 */
export class TextSink implements ContentSink {
  readonly #model: PageModel;
  readonly #pieces: TextPiece[] = [];
  #writer = new TextWriter();
  /** How many elements are open, phrases included. */
  #depth = 0;
  /** Blocks so far, and those before the piece. */
  #blockCount = 0;
  #firstBlock = 0;
  #isDivisible = true;
  #hasCode = false;
  #hasVideo = false;
  /** Names of what is open; empty for a paragraph that stands on the line of its item. */
  readonly #names: string[] = [];
  /** Whether the innermost open element holds nothing yet. */
  #isFresh = false;
  #headings = 0;
  #isHeadingFresh = true;
  #isExact = true;
  #table: TableShape | null = null;
  /** How many elements are open around the last caption. */
  #captionDepth = Number.POSITIVE_INFINITY;

  constructor(model: PageModel) {
    this.#model = model;
  }

  /** The pieces so far, in page order. */
  get pieces(): readonly TextPiece[] {
    return this.#pieces;
  }

  /** Blocks that have a piece. */
  get blockCount(): number {
    return this.#blockCount;
  }

  /** Whether the document model could write each piece without the others. */
  get isDivisible(): boolean {
    return this.#isDivisible;
  }

  open(tag: number, element: number): void {
    if (this.#depth++ === 0) this.#firstBlock = this.#blockCount;
    if (tag === RUBY) this.#isExact = false;
    if (tag === Tag.pre) this.#openCode(element);
    if (tag === Tag.code && element >= 0 && this.#keepsLines(element)) this.#isExact = false;
    if (tag === Tag.label) this.gap();
    if ((traitsOf(tag) & TagTrait.block) === 0) return;
    const name = this.#nameOf(tagName(tag).toUpperCase());
    if (this.#headings > 0 && !this.#isHeadingFresh) this.#isExact = false;
    if (this.#isUnusual(name) || !this.#isInPlace(name, element)) this.#isExact = false;
    this.#requireLastCaption();
    this.#followTable(name, element);
    if (name !== "") this.#writer.open(name, this.#names.at(-1) ?? "");
    if (HEADING.test(name)) {
      // The document model may take the list for the layout of the page.
      if (this.#names.includes("LI")) this.#isExact = false;
      this.#headings++;
      this.#isHeadingFresh = true;
    }
    this.#names.push(name);
    this.#isFresh = true;
  }

  /** The name that counts for the text; empty for what starts no line of its own. */
  #nameOf(name: string): string {
    const parent = this.#names.at(-1) ?? "";
    if (this.#headings > 0 || (name === "P" && this.#isFresh && ITEMS.has(parent))) return "";
    return name === "P" && (parent === "UL" || parent === "OL") ? "LI" : name;
  }

  /** Items and terms without a list around them, figures in items, captions of nothing, blocks in phrases. */
  #isUnusual(name: string): boolean {
    const parent = this.#names.at(-1) ?? "";
    if (PHRASES.has(parent) || (parent === "DL") !== (name === "DT" || name === "DD")) return true;
    if ((parent === "DETAILS" && this.#isFresh) !== (name === "SUMMARY")) return true;
    if (name === "DL" || name === "DETAILS") return this.#headings > 0 || this.#names.includes(name);
    if (name === "FIGCAPTION" && parent !== "FIGURE") return true;
    return name === "LI" ? !LISTS.has(parent) : name === "FIGURE" && ITEMS.has(parent);
  }

  #followTable(name: string, element: number): void {
    if (this.#table !== null) this.#table.open(name, this.#names.at(-1) ?? "", element);
    else if (name === "TABLE") this.#table = new TableShape(this.#model, element);
    else if (TABLE_PARTS.has(name)) this.#isExact = false;
    if (name === "TABLE" && this.#headings > 0) this.#isExact = false;
  }

  /** What shows something stands in a frame of blocks, beside them. */
  #checkPlace(length: number): void {
    const parent = this.#names.at(-1) ?? "";
    if (parent === "DL" || (parent === "DETAILS" && this.#isFresh)) this.#isExact = false;
    this.#table?.add(length, parent);
  }

  /** Terms may stand in one element inside their list; nothing else of the page may come between. */
  #isInPlace(name: string, element: number): boolean {
    if (element < 0 || (name !== "DT" && name !== "DD" && name !== "SUMMARY")) return true;
    const { parent, tag } = this.#model;
    const holder = parent[element]!;
    if (name === "SUMMARY") return tag[holder] === Tag.details;
    return tag[holder] === Tag.dl || (tag[holder] === Tag.div && tag[parent[holder]!] === Tag.dl);
  }

  close(tag: number): void {
    this.#close(tag);
    if (--this.#depth === 0) this.#endPiece();
  }

  #openCode(element: number): void {
    const { html, openStart, closeEnd } = this.#model;
    this.#hasCode = true;
    if (this.#headings > 0 || element < 0) this.#isExact = false;
    else if (!isPlainCode(html.slice(openStart[element]!, closeEnd[element]!))) this.#isExact = false;
  }

  #keepsLines(element: number): boolean {
    const { html, openStart, openEnd } = this.#model;
    return KEEPS_LINES.test(
      html.slice(openStart[element]!, Math.min(openEnd[element]!, openStart[element]! + 600)),
    );
  }

  #endPiece(): void {
    const text = this.#writer.finish();
    const [from, until, isExact, hasCode] = [
      this.#firstBlock,
      this.#blockCount,
      this.#isExact,
      this.#hasCode,
    ];
    if (text !== "" || !isExact) this.#pieces.push({ text, isExact, from, until, hasCode });
    // A video at the edge of its piece gets lost without the blocks around.
    if (!isExact && this.#hasVideo) this.#isDivisible = false;
    this.#writer = new TextWriter();
    this.#isExact = true;
    this.#hasCode = false;
    this.#hasVideo = false;
  }

  #close(tag: number): void {
    if (tag === Tag.label) this.gap();
    if ((traitsOf(tag) & TagTrait.block) === 0) return;
    const name = this.#names.pop() ?? "";
    if (HEADING.test(name)) this.#headings--;
    if (name === "TABLE" && !this.#names.includes("TABLE")) this.#endTable();
    if (name !== "") this.#writer.close(name, this.#names.at(-1) ?? "");
    if (name === "FIGCAPTION") this.#captionDepth = this.#names.length;
    else if (this.#names.length < this.#captionDepth) this.#captionDepth = Number.POSITIVE_INFINITY;
    this.#isFresh = false;
  }

  #endTable(): void {
    if (this.#table?.isPlain !== true) this.#isExact = false;
    this.#table = null;
  }

  // The model writes what stands after a caption before it.
  #requireLastCaption(): void {
    if (this.#names.length >= this.#captionDepth) this.#isExact = false;
  }

  block(): void {
    this.#blockCount++;
    // Pieces of an item with others between them are paragraphs, and those of a heading one line.
    if (!this.#isFresh && HOLDERS.has(this.#names.at(-1) ?? "")) this.#isExact = false;
  }

  text(text: number): void {
    // A block that began in another piece.
    if (this.#depth === 0 || this.#blockCount === this.#firstBlock) this.#isDivisible = false;
    this.#requireLastCaption();
    const visible = removeInvisible(textOf(this.#model, text));
    this.#checkPlace(visible.length);
    // Some highlighters indent with no-break spaces.
    this.#writer.text(this.#names.includes("PRE") ? visible.replaceAll("\u00a0", " ") : visible);
    this.#isFresh = false;
    this.#isHeadingFresh = false;
  }

  gap(): void {
    this.#writer.text(" ");
  }

  line(): void {
    this.#writer.text("\n");
  }

  media(tag: number, element: number): void {
    this.#checkPlace(0);
    if (tag === Tag.br && this.#headings > 0) this.gap();
    else if (tag === Tag.br || tag === Tag.hr) {
      const name = tagName(tag).toUpperCase();
      const parent = this.#names.at(-1) ?? "";
      this.#writer.open(name, parent);
      this.#writer.close(name, parent);
    } else if (tag === Tag.img) this.#image(element);
    else if (tag !== Tag.input) this.#embedded(tag, element);
  }

  #embedded(tag: number, element: number): void {
    const { html, openStart, openEnd, closeEnd } = this.#model;
    const start = openStart[element]!;
    if (EMBEDDED.has(tag) && !isVideoSource(html.slice(start, openEnd[element]!))) return;
    const label = VIDEOS.has(tag) ? videoLabel(html.slice(start, closeEnd[element]!)) : "";
    if (label === null) return;
    this.#hasVideo = true;
    const isParagraph = VIDEOS.has(tag) && (this.#depth === 0 || FRAMES.has(this.#names.at(-1) ?? ""));
    if (isParagraph) {
      this.open(Tag.p, -1);
      this.#writer.text(label);
      this.close(Tag.p);
    } else {
      this.#isExact = false;
      this.#isDivisible = false;
    }
  }

  #image(element: number): void {
    const { html, openStart, closeEnd } = this.#model;
    // Formulas are drawn as images, too.
    if (FORMULA.test(html.slice(openStart[element]!, closeEnd[element]!))) {
      this.#isExact = false;
      if (this.#depth === 0) this.#isDivisible = false;
    }
    this.gap();
  }
}
