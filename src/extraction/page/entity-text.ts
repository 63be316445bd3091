import { Tokenizer } from "htmlparser2";

/** Takes a piece of text and the places in the page where it stands; an entity is a piece of its own. */
export type TakeText = (text: string, start: number, end: number) => void;

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
