const BLOCKS = new Set(
  `ADDRESS ARTICLE ASIDE BLOCKQUOTE CAPTION DD DETAILS DIV DL DT FIGCAPTION FIGURE FOOTER H1 H2 H3 H4 H5 H6
   HEADER HR LI MAIN OL P PRE SECTION SUMMARY TABLE TBODY TFOOT THEAD TR UL`.split(/\s+/),
);
// Blocks that follow each other line by line; all others are set apart by a blank line.
const LINES = new Set(["LI", "TR", "DT", "DD", "SUMMARY"]);

/**
 * The plain text of cleaned content: blocks set apart by a blank line, list items and table rows on
 * lines of their own, table cells separated by a tab, preformatted text exactly as it is.
 */
export function renderText(root: Element): string {
  const writer = new TextWriter();
  let node: Node | null = root.firstChild;
  while (node) {
    if (node.nodeType === 3) writer.text(node.nodeValue ?? "");
    else if (node.nodeType === 1) writer.open((node as Element).tagName, parentName(node));
    if (node.nodeType === 1 && node.firstChild) {
      node = node.firstChild;
      continue;
    }
    while (node) {
      if (node.nodeType === 1) writer.close((node as Element).tagName, parentName(node));
      if (node.nextSibling) {
        node = node.nextSibling;
        break;
      }
      node = node.parentNode === root ? null : node.parentNode;
    }
  }
  return writer.finish();
}

/** White space as a browser shows it: one space between words, none at the ends. */
export const collapseSpace = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Equal for texts that differ only in case, white space, punctuation or compatibility forms. */
export const foldForComparison = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/**
 * Removes characters that people cannot see but language models read: zero-width characters,
 * bidirectional overrides, Unicode tags and control characters. Joiners stay where scripts need them.
 */
export const removeInvisible = (text: string): string =>
  INVISIBLE.test(text) ? text.replace(INVISIBLE_ALL, "").replace(LONE_JOINER, "") : text;

const INVISIBLE_CLASS =
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]";
const INVISIBLE = new RegExp(`${INVISIBLE_CLASS}|[\\u200c\\u200d]`, "u");
const INVISIBLE_ALL = new RegExp(INVISIBLE_CLASS, "gu");
// Joiners belong to Indic and Arabic words and to emoji sequences; between other characters they hide.
const LONE_JOINER =
  /(?<![\p{M}\p{Script=Arabic}\p{Script=Devanagari}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]+/gu;

/** Collects the lines of a text as its elements, named in capitals, open and close. */
export class TextWriter {
  #out = "";
  #line = "";
  #preDepth = 0;
  #pendingBreaks = 0;

  text(value: string): void {
    if (this.#preDepth > 0) this.#line += value;
    else {
      const collapsed = value.replace(/\s+/g, " ");
      // A space at the start of a line or after another one is not shown.
      this.#line += this.#line === "" || this.#line.endsWith(" ") ? collapsed.trimStart() : collapsed;
    }
  }

  open(name: string, parent: string): void {
    if (name === "BR") this.#breakLine(1);
    else if (name === "TD" || name === "TH") this.#separateCell();
    else if (BLOCKS.has(name)) this.#breakLine(LINES.has(name) || isCell(parent) ? 1 : 2);
    if (name === "PRE") this.#preDepth++;
  }

  close(name: string, parent: string): void {
    if (BLOCKS.has(name)) this.#breakLine(LINES.has(name) || isCell(parent) ? 1 : 2);
    if (name === "PRE") this.#preDepth--;
  }

  finish(): string {
    this.#breakLine(0);
    return this.#out;
  }

  #separateCell(): void {
    if (this.#line.trim() !== "") this.#line = `${this.#line.trimEnd()}\t`;
  }

  #breakLine(breaks: number): void {
    const line = this.#preDepth > 0 ? this.#line.replace(/^\n/, "").trimEnd() : this.#line.trim();
    if (line !== "") {
      if (this.#out !== "") this.#out += "\n".repeat(Math.max(this.#pendingBreaks, 1));
      this.#out += line;
      this.#pendingBreaks = breaks;
    } else this.#pendingBreaks = Math.max(this.#pendingBreaks, breaks);
    this.#line = "";
  }
}

// Cells hold lines of one row: a paragraph inside must not tear the row apart.
const isCell = (parent: string): boolean => parent === "TD" || parent === "TH";

const parentName = (node: Node): string => (node.parentNode as Element | null)?.tagName ?? "";
