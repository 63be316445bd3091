import { NumberList } from "../number-list.ts";
import type { DocumentLayout } from "../types.ts";

const LEAD_CHARACTERS = 400;
const PASSAGE_CHARACTERS = 900;

/** Collects the layout of a document while its Markdown is read. */
export class LayoutBuilder {
  #titleEnd = 0;
  #contentStart = 0;
  #leadEnd = 0;
  #characters = 0;
  #passageCharacters = 0;
  readonly #passageStarts = new NumberList(64);
  readonly #sectionStarts = new NumberList(64);
  readonly #headingEnds = new NumberList(64);
  readonly #parents = new NumberList(64);
  /** The numbers and levels of the open sections, outermost first. */
  #path: { readonly section: number; readonly level: number }[] = [];

  begin(titleEnd: number, contentStart: number): void {
    this.#titleEnd = titleEnd;
    this.#contentStart = contentStart;
    this.#leadEnd = -1;
    this.#characters = 0;
    this.#passageCharacters = 0;
    for (const list of [this.#passageStarts, this.#sectionStarts, this.#headingEnds]) {
      list.clear();
      list.push(contentStart);
    }
    this.#parents.clear();
    this.#parents.push(0);
    this.#path = [];
  }

  openSection(level: number, position: number): void {
    while (this.#path.length > 0 && this.#path[this.#path.length - 1]!.level >= level) this.#path.pop();
    const section = this.#sectionStarts.length;
    this.#parents.push(this.#path[this.#path.length - 1]?.section ?? 0);
    this.#path.push({ section, level });
    this.#sectionStarts.push(position);
    this.#startPassage(position);
  }

  closeHeading(position: number): void {
    this.#headingEnds.push(position);
  }

  /**
   * @param characters the length of the line as written; a long line is cut into passages in proportion to it
   */
  addLine(start: number, end: number, characters: number): void {
    if (this.#passageCharacters + characters > PASSAGE_CHARACTERS && this.#passageCharacters > 0) {
      this.#startPassage(start);
    }
    const pieces = Math.ceil(characters / PASSAGE_CHARACTERS);
    for (let piece = 1; piece < pieces; piece++) {
      this.#passageCharacters = PASSAGE_CHARACTERS;
      this.#startPassage(start + Math.round(((end - start) * piece) / pieces));
    }
    this.#passageCharacters += characters / Math.max(1, pieces);
    const before = this.#characters;
    this.#characters += characters;
    if (this.#leadEnd >= 0 || this.#characters < LEAD_CHARACTERS) return;
    const share = (LEAD_CHARACTERS - before) / characters;
    this.#leadEnd = start + Math.ceil((end - start) * share);
  }

  end(position: number): DocumentLayout {
    const isEmpty = position === this.#contentStart;
    return {
      titleEnd: this.#titleEnd,
      contentStart: this.#contentStart,
      leadEnd: this.#leadEnd < 0 ? position : this.#leadEnd,
      end: position,
      passageStarts: isEmpty ? new Uint32Array(0) : this.#passageStarts.used().slice(),
      sectionStarts: this.#sectionStarts.used().slice(),
      headingEnds: this.#headingEnds.used().slice(),
      sectionParents: this.#parents.used().slice(),
    };
  }

  // Headings without text between them open no passage of their own.
  #startPassage(position: number): void {
    const { values, length } = this.#passageStarts;
    const last = length === 0 ? -1 : values[length - 1]!;
    if (position > last && this.#passageCharacters > 0) this.#passageStarts.push(position);
    this.#passageCharacters = 0;
  }
}
