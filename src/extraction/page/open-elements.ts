import { grown } from "./columns.ts";
import { TAG_LIMIT, TagTrait, traitsOf } from "./tags.ts";

/**
 * The stack of open elements. It answers in constant time where the innermost element of a tag, the
 * innermost special element and the innermost scope lie, so that no page can make the reader search its
 * depth again and again.
 */
export class OpenElements {
  #size = 0;
  #element = new Int32Array(64);
  #tag = new Int32Array(64);
  #previousSame = new Int32Array(64);
  #previousSpecial = new Int32Array(64);
  #previousScope = new Int32Array(64);
  #previousBlock = new Int32Array(64);
  readonly #innermost = new Int32Array(TAG_LIMIT).fill(-1);
  #special = -1;
  #scope = -1;
  #block = -1;

  get size(): number {
    return this.#size;
  }
  /** Position of the innermost special element; -1 for none. */
  get special(): number {
    return this.#special;
  }
  /** Position of the innermost element that end tags outside do not reach through. */
  get scope(): number {
    return this.#scope;
  }
  /** The innermost block-level element; -1 for none. */
  get blockElement(): number {
    return this.#block < 0 ? -1 : this.#element[this.#block]!;
  }
  /** The innermost open element; -1 for none. */
  get top(): number {
    return this.#size === 0 ? -1 : this.#element[this.#size - 1]!;
  }
  get topTag(): number {
    return this.#size === 0 ? 0 : this.#tag[this.#size - 1]!;
  }

  /** Position of the innermost open element of this tag; -1 for none. */
  innermost(tag: number): number {
    return this.#innermost[tag]!;
  }

  elementAt(position: number): number {
    return this.#element[position]!;
  }

  push(element: number, tag: number): void {
    const position = this.#size++;
    if (position === this.#element.length) this.#grow();
    const traits = traitsOf(tag);
    this.#element[position] = element;
    this.#tag[position] = tag;
    this.#previousSame[position] = this.#innermost[tag]!;
    this.#previousSpecial[position] = this.#special;
    this.#previousScope[position] = this.#scope;
    this.#previousBlock[position] = this.#block;
    this.#innermost[tag] = position;
    if ((traits & TagTrait.special) !== 0) this.#special = position;
    if ((traits & TagTrait.scope) !== 0) this.#scope = position;
    if ((traits & TagTrait.block) !== 0) this.#block = position;
  }

  /** Takes the innermost element off; answers its tag. */
  pop(): number {
    const position = --this.#size;
    const tag = this.#tag[position]!;
    this.#innermost[tag] = this.#previousSame[position]!;
    this.#special = this.#previousSpecial[position]!;
    this.#scope = this.#previousScope[position]!;
    this.#block = this.#previousBlock[position]!;
    return tag;
  }

  #grow(): void {
    this.#element = grown(this.#element);
    this.#tag = grown(this.#tag);
    this.#previousSame = grown(this.#previousSame);
    this.#previousSpecial = grown(this.#previousSpecial);
    this.#previousScope = grown(this.#previousScope);
    this.#previousBlock = grown(this.#previousBlock);
  }
}
