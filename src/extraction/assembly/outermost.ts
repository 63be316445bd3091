import type { PageModel } from "../page/page-model.ts";

const UNKNOWN = -2;

/**
 * Finds the outermost element of a kind around others. It looks at the ancestors of what it is asked for and
 * remembers them: the content of a page stands in few of its elements.
 */
export class OutermostElements {
  readonly #parent: Int32Array;
  readonly #isOne: (element: number) => boolean;
  readonly #known: Int32Array;

  /** @param isOne whether an element is of the kind; asked at most once for each */
  constructor({ parent, elementCount }: PageModel, isOne: (element: number) => boolean) {
    this.#parent = parent;
    this.#isOne = isOne;
    this.#known = new Int32Array(elementCount).fill(UNKNOWN);
  }

  /** The outermost one around an element, itself included; -1 for none. */
  around(element: number): number {
    if (element < 0) return -1;
    const known = this.#known;
    let top = element;
    let outermost = -1;
    for (; top >= 0 && known[top] === UNKNOWN; top = this.#parent[top]!) {
      if (this.#isOne(top)) outermost = top;
    }
    if (top >= 0 && known[top]! >= 0) outermost = known[top]!;
    // Ancestors have smaller numbers: those outside of it stand in none.
    for (let at = element; at !== top; at = this.#parent[at]!) known[at] = at >= outermost ? outermost : -1;
    return outermost;
  }
}
