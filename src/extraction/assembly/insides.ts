import { ElementFlag, type PageModel } from "../page/page-model.ts";
import { Tag, tagId } from "../page/tags.ts";

const MATH = tagId("math");

/**
 * What elements hold, by lists of the page's elements of a kind: asking again at each level of a nest takes a
 * search of such a list, where reading the source again took the square of its length.
 */
export class Insides {
  readonly #model: PageModel;
  readonly #lists = new Map<readonly number[], readonly number[]>();
  #hidden: readonly number[] | null = null;
  #formulas: readonly number[] | null = null;

  constructor(model: PageModel) {
    this.#model = model;
  }

  /** Whether an element, or one inside it, has one of these tags; to be asked with the same list each time. */
  holds(tags: readonly number[], element: number): boolean {
    let list = this.#lists.get(tags);
    if (list === undefined) {
      const { tag } = this.#model;
      list = this.#elementsWhere((other) => tags.includes(tag[other]!));
      this.#lists.set(tags, list);
    }
    return this.#holdsOneOf(list, element);
  }

  /** Whether the page hides an element or something inside it. */
  hides(element: number): boolean {
    const { flags } = this.#model;
    this.#hidden ??= this.#elementsWhere((other) => (flags[other]! & ElementFlag.hidden) !== 0);
    return this.#holdsOneOf(this.#hidden, element);
  }

  /** Whether MathML or the TeX of a formula stands in an element. */
  holdsFormula(element: number): boolean {
    const { media, tag } = this.#model;
    this.#formulas ??= [...media].filter((medium) => tag[medium] === MATH || tag[medium] === Tag.script);
    return this.#holdsOneOf(this.#formulas, element);
  }

  #elementsWhere(isListed: (element: number) => boolean): readonly number[] {
    const list: number[] = [];
    for (let element = 0; element < this.#model.elementCount; element++) {
      if (isListed(element)) list.push(element);
    }
    return list;
  }

  #holdsOneOf(list: readonly number[], element: number): boolean {
    let from = 0;
    let until = list.length;
    while (from < until) {
      const middle = (from + until) >>> 1;
      if (list[middle]! < element) from = middle + 1;
      else until = middle;
    }
    return from < list.length && list[from]! < this.#model.elementEnd[element]!;
  }
}
