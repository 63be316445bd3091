import { decodeLoosely } from "../../base/text.ts";
import { type Inline, isPlainText, readInline } from "../../markdown/index.ts";
import type { Analyser, TextKind } from "../analysis/analyser.ts";
import { Tokenizer } from "../analysis/tokenizer.ts";
import { NumberList, withRoom } from "../number-list.ts";
import {
  type AnalysedDocument,
  type DocumentLayout,
  FIELDS,
  type FieldNumber,
  type SourceDocument,
} from "../types.ts";
import { definedRuns, scanLines } from "./lines.ts";
import { linkedFragments, MAX_SECTIONS, PAGE_LEVEL, SectionBuilder, writtenId } from "./sections.ts";

const TITLE = 0;
const H1 = 1;
const H2 = 2;
const HEADINGS = 3;
const BODY = 4;
const CODE = 5;
const PATH = 6;
const URL_FIELD = 7;

// The gap keeps phrases and proximity from spanning separate texts.
const GAP = 16;
const HEADING_GAP = 4;

/** Turns documents into tokens, one after another; the arrays are reused for each. */
export class DocumentAnalyser {
  readonly #analyser: Analyser;
  readonly #tokenizer = new Tokenizer();
  readonly #layout = new LayoutBuilder();
  readonly #lengths = new Uint32Array(FIELDS.length);
  #words = new Uint32Array(4096);
  #fields = new Uint8Array(4096);
  #positions = new Uint32Array(4096);
  #count = 0;
  #position = 0;
  /** How many of the next runs also count as headings. */
  #definedRuns = 0;

  constructor(analyser: Analyser) {
    this.#analyser = analyser;
  }

  /** The result is valid until the next call; `onCut` receives the reason why part of the document is cut or changed. */
  analyse(source: SourceDocument, onCut: (reason: string) => void = () => {}): AnalysedDocument {
    const { markdown } = source;
    this.#count = 0;
    this.#position = 0;
    this.#lengths.fill(0);
    this.#add(source.title, TITLE, "prose");
    const titleEnd = this.#position;
    this.#addUrl(source.url);
    this.#layout.begin(titleEnd, this.#position);
    const sections = new SectionBuilder(source);
    this.#addMarkdown(markdown, sections);
    const { headings } = sections;
    if (headings > MAX_SECTIONS)
      onCut(`of its ${headings} headings those after the first ${MAX_SECTIONS} open no section of their own`);
    let fragments: Uint32Array | null = null;
    return {
      url: source.url,
      title: source.title,
      markdown,
      fieldLengths: this.#lengths,
      tokenCount: this.#count,
      words: this.#words,
      fields: this.#fields,
      positions: this.#positions,
      layout: this.#layout.end(this.#position),
      ...sections.finish(),
      // Only an index that is stored needs them.
      get linkedFragments() {
        fragments ??= linkedFragments(markdown);
        return fragments;
      },
    };
  }

  #addUrl(url: string): void {
    const parts = /^[a-z]+:\/\/([^/?#]*)([^?#]*)([^#]*)/.exec(url);
    const path = decodeLoosely(parts?.[2] ?? url);
    const whole = `${parts?.[1] ?? ""} ${path} ${decodeLoosely(parts?.[3] ?? "")}`;
    this.#position += GAP;
    this.#add(whole, URL_FIELD, "prose");
    this.#position += GAP;
    this.#add(path, PATH, "prose");
    this.#position += GAP;
  }

  #addMarkdown(markdown: string, sections: SectionBuilder): void {
    let previousEnd = 0;
    scanLines(markdown, (kind, start, end, level, textStart) => {
      if (kind === "heading" && sections.mayOpen()) {
        this.#addHeading(markdown, start, end, level, sections);
        previousEnd = end;
        return;
      }
      if (sections.openPage(start)) {
        this.#position += HEADING_GAP;
        this.#layout.openSection(PAGE_LEVEL, this.#position);
        this.#layout.closeHeading(this.#position);
      }
      const firstOfLine = this.#position;
      sections.noteLine(start, end, kind === "code");
      if (kind === "code") this.#add(markdown, CODE, "code", start, end);
      else {
        this.#definedRuns = definedRuns(markdown, start, end, previousEnd);
        if (isPlainText(markdown, textStart, end)) this.#add(markdown, BODY, "prose", textStart, end);
        else this.#addInlines(readInline(markdown.slice(textStart, end)), BODY);
        this.#definedRuns = 0;
      }
      previousEnd = end;
      this.#layout.addLine(firstOfLine, this.#position, end - start);
    });
  }

  #addHeading(markdown: string, start: number, end: number, level: number, sections: SectionBuilder): void {
    const written = writtenId(markdown, start, end);
    this.#position += HEADING_GAP;
    this.#layout.openSection(level, this.#position);
    const inlines = readInline(markdown.slice(start, written.end));
    this.#addInlines(inlines, level === 1 ? H1 : level === 2 ? H2 : HEADINGS);
    this.#layout.closeHeading(this.#position);
    this.#position += HEADING_GAP;
    sections.open({ level, start, end, textEnd: written.end, id: written.id });
  }

  #addInlines(inlines: readonly Inline[], field: FieldNumber): void {
    for (const inline of inlines) {
      if (inline.kind === "text" || inline.kind === "image") this.#add(inline.text, field, "prose");
      else if (inline.kind === "code") this.#add(inline.text, field === BODY ? CODE : field, "code");
      else if (inline.kind === "math") this.#add(inline.tex, field, "prose");
      else if (inline.kind === "link" || inline.kind === "span") this.#addInlines(inline.children, field);
    }
  }

  #add(text: string, field: FieldNumber, kind: TextKind, start = 0, end = text.length): void {
    const runs = kind === "code" ? this.#analyser.code : this.#analyser.prose;
    const tokenizer = this.#tokenizer;
    const first = this.#position;
    tokenizer.reset(text, start, end);
    while (tokenizer.next()) {
      const code = runs.codeAt(text, tokenizer.start, tokenizer.end);
      const isDefined = this.#definedRuns > 0;
      if (isDefined) this.#definedRuns--;
      if (code >= 0) this.#addWord(code, field, isDefined);
      else this.#addShape(runs.shapes, ~code, field, isDefined);
    }
    this.#lengths[field]! += this.#position - first;
  }

  #addWord(word: number, field: FieldNumber, isDefined: boolean): void {
    this.#reserve(2);
    this.#push(word, field, 0);
    if (isDefined) {
      this.#push(word, HEADINGS, 0);
      this.#lengths[HEADINGS]!++;
    }
    this.#position++;
  }

  /** @param place the index of the shape in `RunWords.shapes` */
  #addShape(shapes: Uint32Array, place: number, field: FieldNumber, isDefined: boolean): void {
    const width = shapes[place]!;
    const count = shapes[place + 1]!;
    this.#reserve(2 * count);
    for (let at = place + 2; at < place + 2 + count * 2; at += 2) {
      const offset = shapes[at + 1]! >>> 1;
      this.#push(shapes[at]!, field, offset);
      if (isDefined) this.#push(shapes[at]!, HEADINGS, offset);
    }
    if (isDefined) this.#lengths[HEADINGS]! += width;
    this.#position += width;
  }

  #push(word: number, field: number, offset: number): void {
    const at = this.#count++;
    this.#words[at] = word;
    this.#fields[at] = field;
    this.#positions[at] = this.#position + offset;
  }

  #reserve(count: number): void {
    const length = this.#count + count;
    if (length <= this.#words.length) return;
    this.#words = withRoom(this.#words, length);
    this.#fields = withRoom(this.#fields, length);
    this.#positions = withRoom(this.#positions, length);
  }
}

const LEAD_CHARACTERS = 400;
const PASSAGE_CHARACTERS = 900;

/** Collects the layout of a document while its Markdown is read. */
class LayoutBuilder {
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

  /** @param characters the line's length as written; a long line is cut into passages in proportion */
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
