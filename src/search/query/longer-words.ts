import { isUnspaced } from "../analysis/word-parts.ts";
import { checkDeadlineAt } from "../deadline.ts";
import type { IndexReader, TermWalk } from "../types.ts";

/** A term that goes on from what somebody has typed. */
type Continuation = { readonly term: string; readonly documentFrequency: number };

/** Each of them costs about as much as another word of the query. */
const MAX_CONTINUATIONS = 8;

/** What stands between the parts of an identifier or a path. */
const JOINT = /[./:@_-]/;

/** A stem keeps at least this much of its forms. */
const SHORTEST_STEM = 3;

/**
 * The terms of indexes whose words begin with a word that is still being typed: those in the most documents,
 * the most frequent first, ties in code unit order. All terms with the beginning are looked at, so that the
 * choice is the same in one index and in several.
 * @param beginning a folded word; scripts without spaces have none, because each of their characters is found
 * alone
 * @throws Failure `timeout`
 */
export function continuationsOf(
  readers: readonly IndexReader[],
  beginning: string,
  deadline: number,
): readonly string[] {
  if (beginning === "" || isUnspaced(beginning)) return [];
  const best = new BestContinuations(readers, beginning);
  for (const stem of stemsOf(readers, beginning)) best.add(stem);
  for (const reader of readers) best.addAll(reader.walk(beginning), deadline);
  return best.terms;
}

class BestContinuations {
  readonly #readers: readonly IndexReader[];
  readonly #isPlain: boolean;
  readonly #best: Continuation[] = [];

  constructor(readers: readonly IndexReader[], beginning: string) {
    this.#readers = readers;
    this.#isPlain = !JOINT.test(beginning);
  }

  get terms(): readonly string[] {
    return this.#best.map(({ term }) => term);
  }

  /** Adds the terms of one index; a million of them take a tenth of a second. */
  addAll(walk: TermWalk, deadline: number): void {
    let isBehindLast = false;
    for (let step = 1; walk.next(); step++) {
      checkDeadlineAt(step, deadline);
      // Reading a term's text takes longer than all the rest, and most cannot be among the best.
      const most = walk.documentFrequency * this.#readers.length;
      const least = this.#last?.documentFrequency ?? 0;
      if (most < least || (most === least && isBehindLast)) continue;
      this.add(walk.term);
      isBehindLast = this.#last !== undefined && walk.term >= this.#last.term;
    }
  }

  add(term: string): void {
    // A document with `middleware.ts` also has `middleware`.
    if ((this.#isPlain && JOINT.test(term)) || this.#best.some((one) => one.term === term)) return;
    const documentFrequency = documentsWith(this.#readers, term);
    const isBefore = (one: Continuation): boolean =>
      documentFrequency > one.documentFrequency ||
      (documentFrequency === one.documentFrequency && term < one.term);
    const place = this.#best.findIndex(isBefore);
    this.#best.splice(place < 0 ? this.#best.length : place, 0, { term, documentFrequency });
    if (this.#best.length > MAX_CONTINUATIONS) this.#best.pop();
  }

  get #last(): Continuation | undefined {
    return this.#best[MAX_CONTINUATIONS - 1];
  }
}

const documentsWith = (readers: readonly IndexReader[], term: string): number =>
  readers.reduce((sum, reader) => sum + (reader.find(term)?.documentFrequency ?? 0), 0);

/**
 * Terms that are shorter than the beginning although their forms go on from it: `runn` is the beginning of
 * `running`, whose term is `run`. Stems are beginnings of their forms, but for a last letter.
 */
function stemsOf(readers: readonly IndexReader[], beginning: string): string[] {
  const found: string[] = [];
  for (let length = SHORTEST_STEM; length <= beginning.length; length++) {
    const stem = beginning.slice(0, length);
    const bent = stem.endsWith("y") ? [`${stem.slice(0, -1)}i`] : [];
    const whole = length === beginning.length ? [] : [stem, `${stem}e`];
    for (const term of [...whole, ...bent]) {
      if (term.startsWith(beginning)) continue;
      const entries = readers.flatMap((reader) => reader.find(term) ?? []);
      if (entries.some(({ forms }) => forms.some((form) => form.startsWith(beginning)))) found.push(term);
    }
  }
  return found;
}
