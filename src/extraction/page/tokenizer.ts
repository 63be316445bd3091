import { Tag } from "./page-model.ts";

/** The events of the tokenizer, in page order; all places are offsets in the page. */
export interface TokenSink {
  /** Reports text without a tag, never empty; `hasEntity` is set when an ampersand may start an entity. */
  text(start: number, end: number, hasEntity: boolean): void;
  /** Reports a start tag's name and returns its tag number. Its attributes and `startTagEnd` follow. */
  startTag(nameStart: number, nameEnd: number): number;
  /** Reports an attribute of the start tag; the offsets of its value are equal when it has none. */
  attribute(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void;
  /** @param end offset after the tag */
  startTagEnd(end: number, isSelfClosing: boolean): void;
  endTag(nameStart: number, nameEnd: number): void;
}

const TAB = 9;
const LINE_FEED = 10;
const FORM_FEED = 12;
const RETURN = 13;
const SPACE = 32;
const EXCLAMATION = 33;
const DOUBLE_QUOTE = 34;
const AMPERSAND = 38;
const SINGLE_QUOTE = 39;
const SLASH = 47;
const LESS = 60;
const EQUALS = 61;
const GREATER = 62;
const QUESTION = 63;

const isSpace = (code: number): boolean =>
  code === SPACE || code === LINE_FEED || code === TAB || code === RETURN || code === FORM_FEED;

const isLetter = (code: number): boolean => ((code | 32) - 97) >>> 0 < 26;

/** The elements whose content up to their own end tag is text without tags. */
const RAW_NAMES: ReadonlyMap<number, string> = new Map([
  [Tag.script, "script"],
  [Tag.style, "style"],
  [Tag.title, "title"],
  [Tag.textarea, "textarea"],
  [Tag.xmp, "xmp"],
]);

/** Splits a page into tags and texts in one pass; skips comments, declarations and tags that are cut off. */
export class Tokenizer {
  readonly #html: string;
  readonly #codes: Uint16Array;
  readonly #sink: TokenSink;
  readonly #length: number;
  #at = 0;

  /** @param codes the page's UTF-16 units; it may be longer than the page */
  constructor(html: string, codes: Uint16Array, sink: TokenSink) {
    this.#html = html;
    this.#codes = codes;
    this.#sink = sink;
    this.#length = html.length;
  }

  run(): void {
    const length = this.#length;
    // The start of the text before the next tag; a "<" that starts no tag belongs to it.
    let textStart = 0;
    while (this.#at < length) {
      this.#text(textStart);
      const open = this.#at;
      if (open >= length) return;
      textStart = this.#markup(open) ? this.#at : open;
    }
    // The page ends with a bare "<" or "</".
    if (textStart < length) this.#sink.text(textStart, length, false);
  }

  /** Reports the text from `start` up to the next "<" at or after the current place that may open markup. */
  #text(start: number): void {
    const codes = this.#codes;
    const length = this.#length;
    let at = this.#at;
    let hasEntity = false;
    for (; at < length; at++) {
      const code = codes[at]!;
      // Reporting a text of 20 million "<" in as many pieces took a gigabyte.
      if (code === LESS && opensMarkup(codes[at + 1] ?? 0)) break;
      if (code === AMPERSAND) hasEntity = true;
    }
    this.#at = at;
    if (at > start) this.#sink.text(start, at, hasEntity);
  }

  /** Reads the markup from the "<" at `open`; returns false for text, and moves to the next character. */
  #markup(open: number): boolean {
    const code = open + 1 < this.#length ? this.#codes[open + 1]! : 0;
    this.#at = open + 1;
    if (isLetter(code)) this.#startTag(open + 1);
    else if (code === SLASH) return this.#endTag(open + 2);
    else if (code === EXCLAMATION) this.#declaration(open + 2);
    else if (code === QUESTION) this.#skipPast(">", open + 2);
    else return false;
    return true;
  }

  #startTag(start: number): void {
    const end = this.#nameEnd(start);
    const tag = this.#sink.startTag(start, end);
    this.#at = end;
    const name = this.#attributes() ? RAW_NAMES.get(tag) : undefined;
    if (name !== undefined) this.#rawText(name);
  }

  #nameEnd(start: number): number {
    const codes = this.#codes;
    const length = this.#length;
    let at = start;
    for (; at < length; at++) {
      const code = codes[at]!;
      if (code === GREATER || code === SLASH || isSpace(code)) break;
    }
    return at;
  }

  /** Reads the tag to its end; returns true when it opens an element, false when closed or cut off. */
  #attributes(): boolean {
    const codes = this.#codes;
    const length = this.#length;
    let at = this.#at;
    let isAfterSlash = false;
    while (at < length) {
      const code = codes[at]!;
      if (code === GREATER) {
        this.#at = at + 1;
        this.#sink.startTagEnd(at + 1, isAfterSlash);
        return !isAfterSlash;
      }
      if (isSpace(code)) at++;
      else if (code === SLASH) {
        isAfterSlash = true;
        at++;
      } else {
        isAfterSlash = false;
        at = this.#attribute(at);
      }
    }
    this.#at = length;
    return false;
  }

  /** Reads an attribute and returns the place after it. */
  #attribute(start: number): number {
    const codes = this.#codes;
    const length = this.#length;
    // The first character belongs to the name whatever it is.
    let at = start + 1;
    for (; at < length; at++) {
      const code = codes[at]!;
      if (code === EQUALS || code === GREATER || code === SLASH || isSpace(code)) break;
    }
    const nameEnd = at;
    while (at < length && isSpace(codes[at]!)) at++;
    if (at < length && codes[at]! === EQUALS) return this.#value(start, nameEnd, at + 1);
    this.#sink.attribute(start, nameEnd, at, at);
    return at;
  }

  #value(nameStart: number, nameEnd: number, from: number): number {
    const codes = this.#codes;
    const length = this.#length;
    let at = from;
    while (at < length && isSpace(codes[at]!)) at++;
    const quote = at < length ? codes[at]! : 0;
    if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
      const start = at + 1;
      for (at = start; at < length && codes[at]! !== quote; at++);
      this.#sink.attribute(nameStart, nameEnd, start, at);
      return at + 1;
    }
    const start = at;
    for (; at < length; at++) {
      const code = codes[at]!;
      if (code === GREATER || isSpace(code)) break;
    }
    this.#sink.attribute(nameStart, nameEnd, start, at);
    return at;
  }

  /** Reads the text of an element that contains only text, and its end tag. */
  #rawText(name: string): void {
    const html = this.#html;
    const start = this.#at;
    let open = html.indexOf("<", start);
    while (open >= 0 && !this.#isEndTagOf(name, open)) open = html.indexOf("<", open + 1);
    const end = open < 0 ? this.#length : open;
    // Of these elements only a title has entities.
    const hasEntity = name === "title" && html.slice(start, end).includes("&");
    if (end > start) this.#sink.text(start, end, hasEntity);
    this.#at = end;
    if (open >= 0) this.#endTag(open + 2);
  }

  #isEndTagOf(name: string, open: number): boolean {
    const codes = this.#codes;
    const end = open + 2 + name.length;
    if (end >= this.#length || codes[open + 1]! !== SLASH) return false;
    for (let index = 0; index < name.length; index++)
      if ((codes[open + 2 + index]! | 32) !== name.charCodeAt(index)) return false;
    return codes[end]! === GREATER || isSpace(codes[end]!);
  }

  /** Reads an end tag from after its "</"; returns false when these are text. */
  #endTag(from: number): boolean {
    const codes = this.#codes;
    const length = this.#length;
    let at = from;
    while (at < length && isSpace(codes[at]!)) at++;
    this.#at = at;
    if (at >= length) return false;
    if (codes[at]! === GREATER) {
      this.#at = at + 1;
      return false;
    }
    const start = at;
    if (isLetter(codes[at]!)) {
      for (; at < length; at++) {
        const code = codes[at]!;
        if (code === GREATER || isSpace(code)) break;
      }
      if (at < length) this.#sink.endTag(start, at);
    }
    this.#skipPast(">", at);
    return true;
  }

  /** Skips everything between "<!" and its end. A CDATA section has no meaning in HTML and ends there too. */
  #declaration(start: number): void {
    // A comment may be as short as `<!-->`.
    if (this.#html.startsWith("--", start)) this.#skipPast("-->", start);
    else this.#skipPast(">", start);
  }

  #skipPast(mark: string, from: number): void {
    const found = this.#html.indexOf(mark, from);
    this.#at = found < 0 ? this.#length : found + mark.length;
  }
}

const opensMarkup = (code: number): boolean =>
  isLetter(code) || code === SLASH || code === EXCLAMATION || code === QUESTION;
