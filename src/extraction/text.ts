const BLOCKS = new Set(
  `ADDRESS ARTICLE ASIDE BLOCKQUOTE CAPTION DD DETAILS DIV DL DT FIGCAPTION FIGURE FOOTER H1 H2 H3 H4 H5 H6
   HEADER HR LI MAIN OL P PRE SECTION SUMMARY TABLE TR UL`.split(/\s+/),
);
// Blocks that follow each other line by line; all others are set apart by a blank line.
const LINES = new Set(["LI", "TR", "DT", "DD", "SUMMARY"]);

/** White space as a browser shows it: one space between words, none at the ends. */
export const collapseSpace = (text: string): string => withSingleSpaces(text).trim();

/** A text whose runs of white space are one space each. */
const withSingleSpaces = (text: string): string => (hasRuns(text) ? text.replace(/\s+/g, " ") : text);

const SPACE = 32;
const NO_BREAK_SPACE = 160;
const OGHAM_SPACE = 0x1680;

/** False for texts without white space but single spaces, as most are; a third of an expression's time. */
function hasRuns(text: string): boolean {
  let before = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > SPACE && code !== NO_BREAK_SPACE && code < OGHAM_SPACE) before = code;
    else if (code !== SPACE) {
      if (code < SPACE || code === NO_BREAK_SPACE || /\s/.test(text.charAt(at))) return true;
      before = code;
    } else if (before === SPACE) return true;
    else before = SPACE;
  }
  return false;
}

/** Equal for texts that differ only in case, white space, punctuation or compatibility forms. */
export const foldForComparison = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/**
 * Removes characters that people cannot see but language models read: zero-width characters,
 * bidirectional overrides, Unicode tags and control characters. Joiners and variation selectors stay
 * where they belong: one behind a character whose shape they can change. Idempotent.
 */
export const removeInvisible = (text: string): string =>
  !isPlain(text) && SUSPECT.test(text)
    ? text.replace(INVISIBLE, "").replace(SHAPERS_WITH_BASE, keepShapers)
    : text;

/** True for characters of European and East Asian texts alone, which all can be seen. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x20 && code < 0x7f) continue;
    if (code < 0x20 ? (WHITE_CONTROLS & (1 << code)) === 0 : !isVisible(code)) return false;
  }
  return true;
}

/** Tab, line feed and carriage return. */
const WHITE_CONTROLS = (1 << 9) | (1 << 10) | (1 << 13);

const isVisible = (code: number): boolean =>
  (code >= 0xa0 && code < 0x34f && code !== 0xad) ||
  (code >= 0x370 && code < 0x600) ||
  (code >= 0x2010 && code < 0x2028) ||
  (code >= 0x3000 && code < 0xd800 && code !== 0x3164);

const SHAPER_CLASS = "\\u200c\\u200d\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}";
// Mongolian has selectors of its own, which hide nothing that its letters do not show.
const KEPT_CLASS = `[${SHAPER_CLASS}\\u180b-\\u180d\\u180f]`;
const IGNORABLE_CLASS =
  "\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\ufff9-\\ufffb";
const SUSPECT = new RegExp(`[${IGNORABLE_CLASS}]`, "v");
const INVISIBLE = new RegExp(`[[${IGNORABLE_CLASS}]--${KEPT_CLASS}]`, "gv");
const SHAPERS_WITH_BASE = new RegExp(`(^|[^${SHAPER_CLASS}])([${SHAPER_CLASS}]+)`, "gsv");

const JOINER = /^[\u200c\u200d]/u;
// Joiners belong to Indic and Arabic words and to emoji sequences; between other characters they hide.
const JOINABLE =
  /[\p{M}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
const SELECTOR = /^[\ufe00-\ufe0f]/u;
const SELECTABLE = /[\p{Emoji}\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{S}\p{P}]/u;
const IDEOGRAPHIC_SELECTOR = /^[\u{e0100}-\u{e01ef}]/u;
const IDEOGRAPH = /\p{Script=Han}/u;

// A run of them can spell out bytes, so a base keeps one selector and one joiner at most.
function keepShapers(_match: string, base: string, run: string): string {
  let rest = run;
  const isSelected =
    (SELECTOR.test(run) && SELECTABLE.test(base)) || (IDEOGRAPHIC_SELECTOR.test(run) && IDEOGRAPH.test(base));
  const selector = isSelected ? String.fromCodePoint(run.codePointAt(0) ?? 0) : "";
  rest = rest.slice(selector.length);
  const joiner = JOINER.test(rest) && (isSelected || JOINABLE.test(base)) ? rest.charAt(0) : "";
  return base + selector + joiner;
}

/** Collects the lines of a text as its elements, named in capitals, open and close. */
export class TextWriter {
  #out = "";
  /** Finished cells of the line, and what follows them: one string of both would be copied for each cell. */
  #cells: string[] = [];
  #line = "";
  /** Whether white space would not be shown here: at the start of a line or cell, or after a space. */
  #isSpaced = true;
  #preDepth = 0;
  #isPreStart = false;
  #cellDepth = 0;
  /** Cells so far in the row of each open table; the first entry is for rows without one. */
  readonly #rowCells: number[] = [0];
  /** A block ended inside the cell: the next text starts a line, if one comes before the cell ends. */
  #hasCellBreak = false;
  #isCellEmpty = true;
  #pendingBreaks = 0;

  text(value: string): void {
    if (this.#preDepth > 0) this.#preText(value);
    else {
      const collapsed = withSingleSpaces(value);
      const shown = this.#isSpaced || this.#hasCellBreak ? collapsed.trimStart() : collapsed;
      if (shown === "") return;
      this.#breakCellLine();
      this.#line += shown;
      this.#isSpaced = shown.endsWith(" ");
      this.#isCellEmpty = false;
    }
  }

  open(name: string, parent: string): void {
    if (name === "TABLE") this.#rowCells.push(0);
    if (name === "TD" || name === "TH") this.#openCell();
    // The second line break in a row ends the paragraph.
    else if (name === "BR") this.#breakBlock(this.#line.trim() === "" ? 2 : 1, name);
    else if (BLOCKS.has(name)) this.#breakBlock(breaksAround(name, parent), name);
    if (name === "PRE") {
      this.#preDepth++;
      this.#isPreStart = true;
    }
  }

  close(name: string, parent: string): void {
    if (name === "PRE") this.#preDepth--;
    if (name === "TD" || name === "TH") this.#cellDepth--;
    if (BLOCKS.has(name)) this.#breakBlock(breaksAround(name, parent), name);
    if (name === "TABLE" && this.#rowCells.length > 1) this.#rowCells.pop();
  }

  finish(): string {
    this.#endLine(0);
    return this.#out;
  }

  #preText(value: string): void {
    // HTML drops the line break right after the start tag.
    const shown = this.#isPreStart ? value.replace(/^\n/, "") : value;
    this.#isPreStart = false;
    if (shown === "") return;
    this.#breakCellLine();
    this.#line += shown;
    this.#isSpaced = shown.endsWith(" ");
    this.#isCellEmpty = false;
  }

  #openCell(): void {
    const row = this.#rowCells.length - 1;
    if ((this.#rowCells[row] ?? 0) > 0) {
      this.#cells.push(this.#line.trimEnd());
      this.#line = "";
    }
    this.#rowCells[row] = (this.#rowCells[row] ?? 0) + 1;
    this.#cellDepth++;
    this.#isSpaced = true;
    this.#isCellEmpty = true;
    this.#hasCellBreak = false;
  }

  #breakBlock(breaks: number, name: string): void {
    if (this.#preDepth > 0) {
      const isStarted = this.#cells.length > 0 || this.#line !== "";
      if (name === "BR" || (isStarted && !this.#line.endsWith("\n"))) this.#line += "\n";
    } else if (name === "TR" || name === "TABLE") {
      this.#endLine(this.#cellDepth > 0 ? 1 : breaks);
      if (name === "TR") this.#rowCells[this.#rowCells.length - 1] = 0;
    } else if (this.#cellDepth > 0) this.#hasCellBreak = true;
    else this.#endLine(breaks);
  }

  // A cell holds lines of one row: a paragraph that fills it must not tear the row apart.
  #breakCellLine(): void {
    if (this.#hasCellBreak && !this.#isCellEmpty) this.#endLine(1);
    this.#hasCellBreak = false;
  }

  #endLine(breaks: number): void {
    // Empty cells keep the others in their columns, but for those at the end.
    const line = (this.#cells.length > 0 ? [...this.#cells, this.#line].join("\t") : this.#line).trimEnd();
    if (line !== "") {
      if (this.#out !== "") this.#out += "\n".repeat(Math.max(this.#pendingBreaks, 1));
      this.#out += line;
      this.#pendingBreaks = breaks;
    } else this.#pendingBreaks = Math.max(this.#pendingBreaks, breaks);
    if (this.#cells.length > 0) this.#cells = [];
    this.#line = "";
    this.#isSpaced = true;
  }
}

const LISTS = new Set(["UL", "OL", "DL"]);

function breaksAround(name: string, parent: string): number {
  const isInnerList = LISTS.has(name) && (LINES.has(parent) || LISTS.has(parent));
  return isInnerList || LINES.has(name) ? 1 : 2;
}

/**
 * What a link to its own heading shows: a sign, or a character of an icon font (from the private use area),
 * or nothing. Such a link is a tool of the site.
 */
export const PERMALINK_SIGN = /^[\s¶§#🔗\u2060\u200b\ue000-\uf8ff]*$/u;
