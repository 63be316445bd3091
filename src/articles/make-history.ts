/** Comparisons without a difference, one after another, after which pages of a make come plainly. */
const COMPARISONS = 8;
/** One page in so many is still compared after that. */
const SAMPLE = 20;

/** A page's place among those of its make, and whether it is to be rendered now; otherwise it waits. */
export type Place = { readonly place: number; readonly isCompared: boolean };

/** The pages whose wait is over. */
export type Released = {
  /** They stand as they came: a page behind them was compared, and rendering changed nothing. */
  readonly stand: readonly number[];
  /** They are rendered after all. */
  readonly compared: readonly number[];
};

const NOBODY: Released = { stand: [], compared: [] };

/**
 * What is known of the pages of one make: decides which are rendered and compared with what came plainly, and which
 * wait for the next comparison. A page that came plainly stands only when a page behind it was compared without a
 * difference. At a difference everything that waits is rendered; a make that was trusted is so no more.
 */
export class MakeHistory {
  #last = 0;
  /** Comparisons without a difference since the last difference. */
  #same = 0;
  #isMixed = false;
  /** Pages that came since the last one was chosen for a comparison. */
  #passed = 0;
  readonly #compared = new Set<number>();
  #waiting: number[] = [];
  /** What the scripts of the pages compared before have read; null before the first. */
  #asked: string | null = null;

  /** The pages that wait, and whether a comparison is under way that may release them. */
  get waiting(): number {
    return this.#waiting.length;
  }
  get isComparing(): boolean {
    return this.#compared.size > 0;
  }

  /** Takes in the next page. */
  next(): Place {
    const place = ++this.#last;
    const isLearning = this.#same + this.#compared.size < COMPARISONS;
    const isCompared = this.#isMixed || isLearning || ++this.#passed >= SAMPLE;
    if (!isCompared) this.#waiting.push(place);
    else this.#begin(place);
    return { place, isCompared };
  }

  /**
   * Notes what rendering did to a page.
   * @param asked what the page's scripts have read; pages of one make that read different things may hold any content
   */
  note(place: number, { isSame, asked }: { readonly isSame: boolean; readonly asked: string }): Released {
    this.#compared.delete(place);
    const isAlike = this.#asked === null || this.#asked === asked;
    this.#asked = asked;
    if (!isSame || !isAlike) return this.#differ();
    this.#same++;
    if (this.#same < COMPARISONS || this.#isMixed) return NOBODY;
    const stand = this.#waiting.filter((other) => other < place);
    this.#waiting = this.#waiting.filter((other) => other > place);
    return { ...NOBODY, stand };
  }

  /** Forgets a page that ends without a result: its comparison, or its wait. */
  leave(place: number): void {
    this.#compared.delete(place);
    this.#waiting = this.#waiting.filter((other) => other !== place);
  }

  /** Has the last of the pages that wait compared, because no other page comes. */
  compareLast(): Released {
    const last = this.#waiting.pop();
    if (last === undefined) return NOBODY;
    this.#begin(last);
    return { ...NOBODY, compared: [last] };
  }

  #begin(place: number): void {
    this.#compared.add(place);
    this.#passed = 0;
  }

  #differ(): Released {
    this.#isMixed ||= this.#same >= COMPARISONS;
    this.#same = 0;
    const compared = this.#waiting;
    this.#waiting = [];
    for (const place of compared) this.#begin(place);
    return { ...NOBODY, compared };
  }
}
