import { isUnspaced } from "../analysis/word-parts.ts";
import { checkDeadlineAt } from "../deadline.ts";
import { reversed } from "../segment/term-dictionary.ts";
import type { IndexReader, TermWalk } from "../types.ts";

/** A term that contains a word of a query. */
type LongerWord = { readonly term: string; readonly documentFrequency: number };

/** Each of them costs about as much as another word of the query. */
const MAX_LONGER_WORDS = 8;

/** So many of the most frequent terms are tried as compounds. */
const MAX_TRIED = 64;

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
  // A document with `middleware.ts` also has `middleware`.
  const isPlain = !JOINT.test(beginning);
  const best = new BestTerms(readers, MAX_LONGER_WORDS, (term) => !isPlain || !JOINT.test(term));
  for (const stem of stemsOf(readers, beginning)) best.add(stem);
  for (const reader of readers) best.addAll(reader.walk(beginning), deadline);
  return best.terms;
}

/** Between the parts of a compound stands one of these, or nothing. */
const LINKS = ["", "s", "n", "en", "e", "er", "es", "ens"] as const;

const LETTERS = /^\p{L}+$/u;

const SHORTEST_HEAD = 3;
const SHORTEST_END = 4;
const LONGEST_COMPOUND = 40;

export type CompoundOptions = {
  /** The term of a folded word. */
  readonly stem: (form: string) => string;
  readonly deadline: number;
};

/**
 * The most frequent compounds that a word ends or begins and whose other part is a word of the indexes too:
 * `krankenversicherung` for `versicherung`, because there is `kranke`. There are none in languages without
 * compounds, whose indexes have no table of ends.
 * @param word a folded word and its term
 * @throws Failure `timeout`
 */
export function compoundsOf(
  readers: readonly IndexReader[],
  { form, term }: { readonly form: string; readonly term: string },
  { stem, deadline }: CompoundOptions,
): readonly string[] {
  if (form.length < SHORTEST_END || form.length > LONGEST_COMPOUND) return [];
  const ending = new BestTerms(readers, MAX_TRIED, (found) => found !== term, reversed);
  for (const reader of readers) ending.addAll(reader.walkEnds(term), deadline);
  // `arbete` is in `arbetsmarknad` as its stem, `versicherung` in `versicherungsnummer` as it was typed.
  const beginnings = form.startsWith(term) && term.length >= SHORTEST_HEAD ? [form, term] : [form];
  const shortest = beginnings.at(-1)!;
  const mayBegin = (found: string): boolean =>
    found.length >= shortest.length + SHORTEST_END && LETTERS.test(found);
  const beginning = new BestTerms(readers, MAX_TRIED, mayBegin);
  for (const reader of readers) beginning.addAll(reader.walk(shortest), deadline);
  const found = [
    ...ending.terms.filter((one) => headOf(readers, one.slice(0, -term.length), stem) !== null),
    ...beginning.terms.filter((one) =>
      beginnings.some((part) => one.startsWith(part) && isEnd(readers, one.slice(part.length))),
    ),
  ];
  const best = new BestTerms(readers, MAX_LONGER_WORDS, () => true);
  for (const one of found) best.add(one);
  return best.terms;
}

/** The parts of a compound, as terms; the split with the most frequent end, or none. */
export function compoundParts(
  readers: readonly IndexReader[],
  form: string,
  stem: (form: string) => string,
): readonly string[] {
  let most = 0;
  let best: readonly string[] = [];
  if (form.length > LONGEST_COMPOUND) return best;
  for (let at = SHORTEST_HEAD; at + SHORTEST_END <= form.length; at++) {
    const end = stem(form.slice(at));
    const documents = documentsWith(readers, end);
    const head = documents > most ? headOf(readers, form.slice(0, at), stem) : null;
    if (head === null) continue;
    most = documents;
    best = [head, end];
  }
  return best;
}

/** The term of a compound's first part without what links it to the next; null when no index holds it. */
function headOf(
  readers: readonly IndexReader[],
  written: string,
  stem: (form: string) => string,
): string | null {
  for (const link of LINKS) {
    if (!written.endsWith(link) || written.length - link.length < SHORTEST_HEAD) continue;
    const term = stem(written.slice(0, written.length - link.length));
    if (documentsWith(readers, term) > 0) return term;
  }
  return null;
}

/** Whether the rest of a term is a term, with what links it to the word before. */
const isEnd = (readers: readonly IndexReader[], rest: string): boolean =>
  LINKS.some(
    (link) =>
      rest.startsWith(link) &&
      rest.length - link.length >= SHORTEST_END &&
      documentsWith(readers, rest.slice(link.length)) > 0,
  );

const asWritten = (term: string): string => term;

/** The terms in the most documents of all indexes, the most frequent first. */
class BestTerms {
  readonly #readers: readonly IndexReader[];
  readonly #most: number;
  readonly #isWanted: (term: string) => boolean;
  readonly #keyOf: (term: string) => string;
  readonly #best: LongerWord[] = [];

  /** @param keyOf what terms of equal frequency are sorted by, as the walks are */
  constructor(
    readers: readonly IndexReader[],
    most: number,
    isWanted: (term: string) => boolean,
    keyOf: (term: string) => string = asWritten,
  ) {
    this.#readers = readers;
    this.#most = most;
    this.#isWanted = isWanted;
    this.#keyOf = keyOf;
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
      isBehindLast = this.#last !== undefined && this.#keyOf(walk.term) >= this.#keyOf(this.#last.term);
    }
  }

  add(term: string): void {
    if (!this.#isWanted(term) || this.#best.some((one) => one.term === term)) return;
    const documentFrequency = documentsWith(this.#readers, term);
    const isBefore = (one: LongerWord): boolean =>
      documentFrequency > one.documentFrequency ||
      (documentFrequency === one.documentFrequency && this.#keyOf(term) < this.#keyOf(one.term));
    const place = this.#best.findIndex(isBefore);
    this.#best.splice(place < 0 ? this.#best.length : place, 0, { term, documentFrequency });
    if (this.#best.length > this.#most) this.#best.pop();
  }

  get #last(): LongerWord | undefined {
    return this.#best[this.#most - 1];
  }
}

/** How many documents of some indexes hold a term. */
export const documentsWith = (readers: readonly IndexReader[], term: string): number =>
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
