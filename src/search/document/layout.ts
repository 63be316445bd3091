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
  #passageStarts: number[] = [];
  #sectionStarts: number[] = [];
  #headingEnds: number[] = [];
  #parents: number[] = [];
  /** Numbers of the open sections, outermost first, and their levels. */
  #path: { readonly section: number; readonly level: number }[] = [];

  begin(titleEnd: number, contentStart: number): void {
    this.#titleEnd = titleEnd;
    this.#contentStart = contentStart;
    this.#leadEnd = -1;
    this.#characters = 0;
    this.#passageCharacters = 0;
    this.#passageStarts = [contentStart];
    this.#sectionStarts = [contentStart];
    this.#headingEnds = [contentStart];
    this.#parents = [0];
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

  /** @param characters length of the line as written; a long one is cut into passages in proportion */
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
      passageStarts: Uint32Array.from(isEmpty ? [] : this.#passageStarts),
      sectionStarts: Uint32Array.from(this.#sectionStarts),
      headingEnds: Uint32Array.from(this.#headingEnds),
      sectionParents: Uint32Array.from(this.#parents),
    };
  }

  // Headings without text between them open no passage of their own.
  #startPassage(position: number): void {
    const last = this.#passageStarts[this.#passageStarts.length - 1] ?? -1;
    if (position > last && this.#passageCharacters > 0) this.#passageStarts.push(position);
    this.#passageCharacters = 0;
  }
}
