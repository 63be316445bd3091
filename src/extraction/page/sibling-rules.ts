/*
 * Rules that hide an element by what stands before it: `.toggle ~ .source { display: none }`. References close the source of
 * their functions so, and a box that a reader ticks opens it.
 */

/** Each element is compared with every rule. */
const MAX_RULES = 50;
const MAX_SELECTOR = 300;
/** A compound selector of nothing but names. */
const COMPOUND = /^(?:[a-z][\w-]{0,80})?(?:[.#][\w-]{1,80}){0,8}$/i;
const HIDES = /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

type Rule = {
  readonly around: readonly (readonly string[])[];
  readonly before: readonly string[];
  readonly isNext: boolean;
  readonly own: readonly string[];
};

/** The rules that the children of an element before this one have met: any of them, and the last one. */
type Met = { readonly any: Set<number>; last: readonly number[] };

export class SiblingRules {
  readonly #rules: Rule[] = [];
  readonly #names: ReadonlySet<string>[] = [];
  readonly #parents: number[] = [];
  readonly #met = new Map<number, Met>();

  add(selector: string, body: string): void {
    if (!/[~+]/.test(selector) || selector.length > MAX_SELECTOR) return;
    if (this.#rules.length === MAX_RULES || !HIDES.test(body)) return;
    const sign = Math.max(selector.lastIndexOf("~"), selector.lastIndexOf("+"));
    const own = selector.slice(sign + 1).trim();
    const outer = selector
      .slice(0, sign)
      .split(/[\s>]/)
      .filter((part) => part !== "");
    const before = outer.pop() ?? "";
    if (![...outer, before, own].every((compound) => compound !== "" && COMPOUND.test(compound))) return;
    this.#rules.push({
      around: outer.map(namesIn),
      before: namesIn(before),
      isNext: selector[sign] === "+",
      own: namesIn(own),
    });
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /**
   * Tells whether a rule hides an element; it is asked of each element of a page in their order.
   * @param names its tag, then each class as `.class` and the id as `#id`
   */
  hides(element: number, parent: number, names: readonly string[]): boolean {
    const own = new Set(names);
    this.#names[element] = own;
    this.#parents[element] = parent;
    const met = this.#met.get(parent) ?? { any: new Set<number>(), last: [] };
    this.#met.set(parent, met);
    const isHidden = this.#rules.some(
      (rule, index) =>
        (rule.isNext ? met.last.includes(index) : met.any.has(index)) &&
        has(own, rule.own) &&
        this.#isInside(parent, rule.around),
    );
    met.last = [...this.#rules.keys()].filter((index) => has(own, this.#rules[index]!.before));
    for (const index of met.last) met.any.add(index);
    return isHidden;
  }

  /** Tells whether all of the given ancestors surround an element, the last one innermost. */
  #isInside(from: number, around: readonly (readonly string[])[]): boolean {
    let left = around.length;
    for (let at = from; at >= 0 && left > 0; at = this.#parents[at] ?? -1)
      if (has(this.#names[at] ?? NONE, around[left - 1]!)) left--;
    return left === 0;
  }
}

const NONE: ReadonlySet<string> = new Set();

const has = (own: ReadonlySet<string>, names: readonly string[]): boolean =>
  names.every((name) => own.has(name));

function namesIn(compound: string): readonly string[] {
  const tag = /^[a-z][\w-]*/i.exec(compound)?.[0].toLowerCase();
  const names = compound.match(/[.#][\w-]+/g) ?? [];
  return tag === undefined ? names : [tag, ...names];
}
