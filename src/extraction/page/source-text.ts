import { Tokenizer } from "htmlparser2";

export { Parser } from "htmlparser2";

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
    const text = this.#html.slice(start, end);
    // In the text of a title, tags are ordinary characters; the decoder would open them and continue inside.
    if (text.includes("<")) this.#read("<title>", `${text}</title>`, start);
    // The "<" after it tells the decoder that an entity has ended.
    else this.#read("", this.#html.slice(start, end + 1), start);
    if (end === this.#html.length) this.#tokenizer.end();
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

/** A fixed list of short lower-case ASCII words, searched by UTF-16 units: a lookup needs no substring. */
export class CodeWords {
  /** The words concatenated, and the offset of each; one more entry ends the last. */
  readonly #codes: Uint16Array;
  readonly #starts: Int32Array;
  /** The number of each word plus one, by hash; 0 is free. At most a quarter of the slots is taken. */
  readonly #slots: Int16Array;
  readonly #mask: number;
  readonly #longest: number;

  /** @param words distinct */
  constructor(words: readonly string[]) {
    let size = 16;
    while (size < words.length * 4) size *= 2;
    this.#slots = new Int16Array(size);
    this.#mask = size - 1;
    this.#longest = Math.max(...words.map((word) => word.length));
    this.#codes = Uint16Array.from(words.join(""), (letter) => letter.charCodeAt(0));
    this.#starts = new Int32Array(words.length + 1);
    words.forEach((word, index) => {
      const start = this.#starts[index]!;
      const end = start + word.length;
      this.#starts[index + 1] = end;
      let slot = hashOf(this.#codes, start, end) & this.#mask;
      while (this.#slots[slot]! !== 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = index + 1;
    });
  }

  /** Returns the position in the list of the word at these units, in any case; -1 for one not listed. */
  find(codes: Uint16Array, start: number, end: number): number {
    if (end - start > this.#longest || end <= start) return -1;
    const starts = this.#starts;
    let slot = hashOf(codes, start, end) & this.#mask;
    for (let index = this.#slots[slot]!; index > 0; index = this.#slots[slot]!) {
      const word = starts[index - 1]!;
      if (starts[index]! - word === end - start && this.#isAt(word, codes, start, end)) return index - 1;
      slot = (slot + 1) & this.#mask;
    }
    return -1;
  }

  #isAt(word: number, codes: Uint16Array, start: number, end: number): boolean {
    const own = this.#codes;
    for (let at = start; at < end; at++) {
      const code = codes[at]!;
      const isCapital = (code - 65) >>> 0 < 26;
      if ((isCapital ? code | 32 : code) !== own[word + at - start]!) return false;
    }
    return true;
  }
}

/** Lists of such words, one bit for each list, looked up in the same way. A word may be in several lists. */
export class WordLists {
  readonly #words: CodeWords;
  readonly #bits: Int32Array;

  /** @param lists the words of each, separated by white space; at most 32 lists */
  constructor(lists: readonly string[]) {
    const bits = new Map<string, number>();
    for (const [list, words] of lists.entries())
      for (const word of words.split(/\s+/)) bits.set(word, (bits.get(word) ?? 0) | (1 << list));
    this.#words = new CodeWords([...bits.keys()]);
    this.#bits = Int32Array.from(bits.values());
  }

  /** Returns the bits of the lists that have the word at these units, in any case. */
  find(codes: Uint16Array, start: number, end: number): number {
    const word = this.#words.find(codes, start, end);
    return word < 0 ? 0 : this.#bits[word]!;
  }
}

/** Hashes the length and three letters; reading every letter of every name on a page takes twice the time. */
function hashOf(codes: Uint16Array, start: number, end: number): number {
  const first = codes[start]! | 32;
  const middle = codes[(start + end) >>> 1]! | 32;
  const last = codes[end - 1]! | 32;
  const hash = Math.imul(first, 0x1f35) + Math.imul(middle, 0x02c7) + Math.imul(last, 0x51) + (end - start);
  return hash ^ (hash >>> 9);
}

/** The maximum slots tried before a text goes to the map: a page must not make all of its texts collide. */
const MAX_PROBES = 16;
const FIRST_SIZE = 512;
/** Longer texts are rare, and the map hashes them. */
const MAX_LENGTH = 300;

/** Numbers the distinct texts of a page from 1 on. Equal texts have equal numbers. */
export class TextTable {
  readonly #html: string;
  readonly #codes: Uint16Array;
  /** The texts by number; 0 is the empty one. */
  readonly texts: string[] = [""];
  #slots = new Int32Array(FIRST_SIZE);
  /** The offsets of the texts in `#slots`. */
  readonly #starts: number[] = [0];
  readonly #hashes: number[] = [0];
  /** The texts that are long, decoded or found no slot. */
  readonly #others = new Map<string, number>();

  constructor(html: string, codes: Uint16Array) {
    this.#html = html;
    this.#codes = codes;
  }

  /** Returns the number of a text that stands in the page unescaped. */
  numberAt(start: number, end: number): number {
    if (end <= start) return 0;
    if (end - start > MAX_LENGTH) return this.numberOf(this.#html.slice(start, end));
    const hash = this.#hash(start, end);
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const number = slots[(hash + probe) & mask]!;
      if (number === 0) break;
      if (this.#hashes[number] === hash && this.#isAt(number, start, end)) return number;
    }
    const text = this.#html.slice(start, end);
    const known = this.#others.size > 0 ? this.#others.get(text) : undefined;
    if (known !== undefined) return known;
    if (this.texts.length * 2 > slots.length) this.#grow();
    const number = this.#add(text, start, hash);
    if (!this.#place(number)) this.#others.set(text, number);
    return number;
  }

  numberOf(text: string): number {
    if (text === "") return 0;
    let number = this.#others.get(text) ?? this.#placedNumber(text);
    if (number < 0) {
      number = this.#add(text, -1, 0);
      this.#others.set(text, number);
    }
    return number;
  }

  /** Returns the number of a text in the slots; -1 for others. */
  #placedNumber(text: string): number {
    if (text.length > MAX_LENGTH) return -1;
    let hash = text.length;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
    const mask = this.#slots.length - 1;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const number = this.#slots[(hash + probe) & mask]!;
      if (number === 0) return -1;
      if (this.texts[number] === text) return number;
    }
    return -1;
  }

  #add(text: string, start: number, hash: number): number {
    this.#starts.push(start);
    this.#hashes.push(hash);
    return this.texts.push(text) - 1;
  }

  #hash(start: number, end: number): number {
    const codes = this.#codes;
    let hash = end - start;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ codes[at]!, 0x01000193);
    return hash ^ (hash >>> 15);
  }

  #isAt(number: number, start: number, end: number): boolean {
    const codes = this.#codes;
    const other = this.#starts[number]!;
    if (this.texts[number]!.length !== end - start) return false;
    for (let index = end - start - 1; index >= 0; index--)
      if (codes[other + index]! !== codes[start + index]!) return false;
    return true;
  }

  #place(number: number): boolean {
    const mask = this.#slots.length - 1;
    const hash = this.#hashes[number]!;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = (hash + probe) & mask;
      if (this.#slots[slot] !== 0) continue;
      this.#slots[slot] = number;
      return true;
    }
    return false;
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let number = 1; number < this.texts.length; number++) {
      if (this.#starts[number]! >= 0 && !this.#place(number)) this.#others.set(this.texts[number]!, number);
    }
  }
}
