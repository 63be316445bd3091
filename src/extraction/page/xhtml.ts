import { codesOf } from "./page-codes.ts";
import { TagTrait, tagAt, traitsOf } from "./tags.ts";
import { Tokenizer, type TokenSink } from "./tokenizer.ts";

/**
 * XHTML in the syntax of HTML: an element that XML closes with "/>" gets an end tag, where HTML would have it hold
 * all that follows. Elements that never hold anything (`br`) stay as they are.
 */
export function htmlOfXhtml(source: string): string {
  if (!source.includes("/")) return source;
  const codes = codesOf(source);
  const closer = new ElementCloser(source, codes);
  new Tokenizer(source, codes, closer).run();
  return closer.finish();
}

class ElementCloser implements TokenSink {
  readonly #source: string;
  readonly #codes: Uint16Array;
  readonly #parts: string[] = [];
  #written = 0;
  #name = "";
  #isVoid = false;

  constructor(source: string, codes: Uint16Array) {
    this.#source = source;
    this.#codes = codes;
  }

  finish(): string {
    return this.#parts.join("") + this.#source.slice(this.#written);
  }

  startTag(nameStart: number, nameEnd: number): number {
    const tag = tagAt(this.#codes, nameStart, nameEnd);
    this.#isVoid = (traitsOf(tag) & TagTrait.void) !== 0;
    this.#name = this.#source.slice(nameStart, nameEnd);
    return tag;
  }

  startTagEnd(end: number, isSelfClosing: boolean): void {
    if (!isSelfClosing || this.#isVoid) return;
    const slash = this.#source.lastIndexOf("/", end - 1);
    this.#parts.push(this.#source.slice(this.#written, slash), `></${this.#name}>`);
    this.#written = end;
  }

  text(): void {}
  attribute(): void {}
  endTag(): void {}
}
