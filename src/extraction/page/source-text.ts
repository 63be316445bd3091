import { Tokenizer } from "htmlparser2";

/** Tells whether a text shows nothing. */
export function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (isInk(text.charCodeAt(index))) return false;
  return true;
}

/** Tells whether the text at these UTF-16 units shows nothing. */
export function isBlankAt(codes: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (isInk(codes[at]!)) return false;
  return true;
}

const isInk = (code: number): boolean => code > 32 && code !== 160 && code !== 0x200b && code !== 0xfeff;

/**
 * Tells whether a space-separated attribute contains this word, in any case.
 * @param token in lower case
 */
export function hasToken(list: string | null, token: string): boolean {
  if (list === null || list.length < token.length) return false;
  const words = list.toLowerCase();
  // Nearly all lists lack the word, and searching the string takes a tenth of splitting it.
  return words.includes(token) && words.split(/\s+/).includes(token);
}

export function containsAmpersand(codes: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (codes[at]! === AMPERSAND) return true;
  return false;
}

const AMPERSAND = 38;

/** Pages longer than this get an array of their own, which is freed after them. */
const MAX_KEPT_UNITS = 1 << 20;
const BYTES_PER_UNIT = 2;

let kept: Uint16Array | null = null;

/**
 * Returns the UTF-16 units of a page, because reading an array takes a third of the time of reading a string. The
 * array is reused for the next page and may be longer than this one.
 */
export function codesOf(html: string): Uint16Array {
  const codes = html.length > MAX_KEPT_UNITS ? new Uint16Array(html.length) : keptCodes(html.length);
  // Every machine that runs this is little-endian, so UTF-16 LE is the layout of the array.
  Buffer.from(codes.buffer).write(html, 0, html.length * BYTES_PER_UNIT, "utf16le");
  return codes;
}

function keptCodes(length: number): Uint16Array {
  if (kept === null || kept.length < length) {
    let size = 1 << 16;
    while (size < length) size *= 2;
    kept = new Uint16Array(size);
  }
  return kept;
}

/** Receives a piece of text with its start and end in the page; an entity is a piece of its own. */
type TakeText = (text: string, start: number, end: number) => void;

const DOUBLE_QUOTE = 34;
const SINGLE_QUOTE = 39;

/** Decodes the entities in texts and attribute values with the tables and rules of htmlparser2. */
export class EntityText {
  readonly #html: string;
  readonly #take: TakeText;
  readonly #tokenizer: Tokenizer;
  /** The offset in the page that the tokenizer counts from. */
  #offset = 0;
  #piece = "";
  #value = "";

  /** @param take gets the texts */
  constructor(html: string, take: TakeText) {
    this.#html = html;
    this.#take = take;
    const ignore = (): void => {};
    this.#tokenizer = new Tokenizer(
      { decodeEntities: true },
      {
        ontext: (start, end) => this.#text(start, end),
        ontextentity: (codePoint, end) => this.#entity(codePoint, end),
        onattribdata: (start, end) => {
          this.#value += this.#piece.slice(start, end);
        },
        onattribentity: (codePoint) => {
          this.#value += String.fromCodePoint(codePoint);
        },
        onattribend: ignore,
        onattribname: ignore,
        oncdata: ignore,
        onclosetag: ignore,
        oncomment: ignore,
        ondeclaration: ignore,
        onend: ignore,
        onopentagend: ignore,
        onopentagname: ignore,
        onprocessinginstruction: ignore,
        onselfclosingtag: ignore,
      },
    );
  }

  /** Decodes a text between two tags, or at the end of the page. */
  text(start: number, end: number): void {
    // The "<" after it tells the decoder that an entity has ended.
    this.#read("", this.#html.slice(start, end + 1), start);
    if (end === this.#html.length) this.#tokenizer.end();
    this.#tokenizer.reset();
  }

  /** Decodes the text of a title, in which "<" is an ordinary character. */
  title(start: number, end: number): void {
    this.#read("<title>", `${this.#html.slice(start, end)}</title>`, start);
    this.#tokenizer.reset();
  }

  /** Decodes the attribute value at this place, without its quotes. */
  attribute(start: number, end: number): string {
    const before = this.#html.charCodeAt(start - 1);
    const isQuoted = before === DOUBLE_QUOTE || before === SINGLE_QUOTE;
    const value = this.#html.slice(start, end);
    this.#value = "";
    this.#read(
      "<a b=",
      isQuoted ? this.#html.slice(start - 1, start) + value + String.fromCharCode(before) : `${value} `,
      0,
    );
    this.#tokenizer.reset();
    return this.#value;
  }

  #read(prefix: string, text: string, start: number): void {
    this.#offset = start - prefix.length;
    this.#piece = prefix + text;
    this.#tokenizer.write(this.#piece);
  }

  #text(start: number, end: number): void {
    this.#take(this.#piece.slice(start, end), this.#offset + start, this.#offset + end);
  }

  #entity(codePoint: number, end: number): void {
    // The entity began where the text before it ended, so its own text goes back to the ampersand.
    const start = this.#piece.lastIndexOf("&", end - 1);
    this.#take(String.fromCodePoint(codePoint), this.#offset + start, this.#offset + end);
  }
}

/** Decodes the character references in an attribute value without quotes. */
export function decodeAttribute(value: string): string {
  const quote = value.includes('"') ? (value.includes("'") ? "" : "'") : '"';
  const source = quote + value + quote;
  return new EntityText(source, () => {}).attribute(quote.length, quote.length + value.length);
}
