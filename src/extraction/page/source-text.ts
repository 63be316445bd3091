import { Tokenizer } from "htmlparser2";

/** True for texts that show nothing. */
export function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (isInk(text.charCodeAt(index))) return false;
  return true;
}

/** The same for the text at these UTF-16 units. */
export function isBlankAt(codes: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (isInk(codes[at]!)) return false;
  return true;
}

const isInk = (code: number): boolean => code > 32 && code !== 160 && code !== 0x200b && code !== 0xfeff;

/**
 * True when a list of words in an attribute holds this one, in any case.
 * @param token in lower case
 */
export function hasToken(list: string | null, token: string): boolean {
  if (list === null || list.length < token.length) return false;
  const words = list.toLowerCase();
  // Nearly all lists lack the word, and looking for it costs a tenth of taking the list apart.
  return words.includes(token) && words.split(/\s+/).includes(token);
}

export function containsAmpersand(codes: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (codes[at]! === AMPERSAND) return true;
  return false;
}

const AMPERSAND = 38;

/** Larger pages get an array of their own, which goes when they are read. */
const MAX_KEPT_UNITS = 1 << 20;
const BYTES_PER_UNIT = 2;

let kept: Uint16Array | null = null;

/**
 * The UTF-16 units of a page: reading them from an array costs a third of asking a string for each. The
 * array is used again for the next page and may be longer than this one.
 */
export function codesOf(html: string): Uint16Array {
  const codes = html.length > MAX_KEPT_UNITS ? new Uint16Array(html.length) : keptCodes(html.length);
  // UTF-16 little-endian is what every machine that runs this has in memory.
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

/** Takes a piece of text and the places in the page where it stands; an entity is a piece of its own. */
type TakeText = (text: string, start: number, end: number) => void;

const DOUBLE_QUOTE = 34;
const SINGLE_QUOTE = 39;

/** Decodes the entities of texts and attribute values, by the tables and rules of htmlparser2. */
export class EntityText {
  readonly #html: string;
  readonly #take: TakeText;
  readonly #tokenizer: Tokenizer;
  /** Offset in the page of what the tokenizer counts from. */
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

  /** Hands over a text between two tags, or at the end of the page. */
  text(start: number, end: number): void {
    // The "<" behind it tells the decoder that an entity has ended.
    this.#read("", this.#html.slice(start, end + 1), start);
    if (end === this.#html.length) this.#tokenizer.end();
    this.#tokenizer.reset();
  }

  /** Hands over the text of a title, in which a "<" is a character like any other. */
  title(start: number, end: number): void {
    this.#read("<title>", `${this.#html.slice(start, end)}</title>`, start);
    this.#tokenizer.reset();
  }

  /** The value of the attribute that stands here, without its quotes. */
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
    // It began where the text before it ended; its own text goes back to the ampersand.
    const start = this.#piece.lastIndexOf("&", end - 1);
    this.#take(String.fromCodePoint(codePoint), this.#offset + start, this.#offset + end);
  }
}

/** The value of an attribute, without its quotes, with its character references decoded. */
export function decodeAttribute(value: string): string {
  const quote = value.includes('"') ? (value.includes("'") ? "" : "'") : '"';
  const source = quote + value + quote;
  return new EntityText(source, () => {}).attribute(quote.length, quote.length + value.length);
}
