import { isUnspaced } from "./analysis/word-parts.ts";
import { checkDeadlineAt } from "./deadline.ts";
import { documentsWithPhrases, type PhraseTerm } from "./query/phrases.ts";
import { type Standing, standingOf } from "./ranking/standing.ts";
import { reversed } from "./segment/terms.ts";
import { FIELDS, type IndexReader, type LengthTotals, type TermWalk } from "./types.ts";

/** Each index of a group asks for the terms of the same query, and the parts of words are often the same. */
const MAX_FREQUENCIES = 4096;

/** A word by its term and its form. */
type CorpusWord = { readonly term: string; readonly form: string };

/** The statistics of several indexes as if they were one, so that the scores in them are comparable. */
export class Corpus implements LengthTotals {
  readonly documentCount: number;
  readonly indexCount: number;
  readonly fieldTotals = new Float64Array(FIELDS.length);
  readonly #readers: readonly IndexReader[];
  readonly #frequencies = new Map<string, number>();
  #standing: Standing | null = null;

  /** @param readers one or more indexes that were built with the same analyser */
  constructor(readers: readonly IndexReader[]) {
    this.#readers = readers;
    this.indexCount = readers.length;
    this.documentCount = readers.reduce((sum, reader) => sum + reader.documentCount, 0);
    for (const { fieldTotals } of readers)
      for (let field = 0; field < FIELDS.length; field++) this.fieldTotals[field]! += fieldTotals[field]!;
  }

  /** Which of all documents stand behind others. */
  get standing(): Standing {
    this.#standing ??= standingOf(this.#readers.map(({ attributes }) => attributes));
    return this.#standing;
  }

  /** How many documents hold a term; 0 for an unknown one. */
  documentFrequency(term: string): number {
    const known = this.#frequencies.get(term);
    if (known !== undefined) return known;
    let documents = 0;
    for (const reader of this.#readers) documents += reader.find(term)?.documentFrequency ?? 0;
    if (this.#frequencies.size === MAX_FREQUENCIES) this.#frequencies.clear();
    this.#frequencies.set(term, documents);
    return documents;
  }

  /** Whether any document holds a term, in this form unless it is null. */
  holds(term: string, form: string | null): boolean {
    return this.#readers.some((reader) => {
      const entry = reader.find(term);
      return entry !== null && (form === null || entry.forms.includes(form));
    });
  }

  /** How many documents have words next to each other in these forms. @throws Failure `timeout` */
  documentsWithPhrase(words: readonly CorpusWord[], deadline: number): number {
    if (words.some(({ term }) => this.documentFrequency(term) === 0)) return 0;
    const countIn = (reader: IndexReader): number => {
      const phrase: PhraseTerm[] = [];
      for (const [offset, { term, form }] of words.entries()) {
        const entry = reader.find(term);
        const number = entry?.forms.indexOf(form) ?? -1;
        if (!entry || number < 0) return 0;
        phrase.push({ entry, form: number, offset });
      }
      return documentsWithPhrases(reader, [[phrase]], deadline).length;
    };
    return this.#readers.reduce((sum, reader) => sum + countIn(reader), 0);
  }

  /**
   * Finds the nearest term in the dictionaries of indexes for an unknown word: within 1 edit from 4 letters and
   * 2 from 8, a transposition being one edit (optimal string alignment). The term of more documents wins a tie.
   * @param form the folded word
   */
  correct(form: string): { readonly term: string; readonly edits: number } | null {
    if (form.length < MIN_LENGTH || form.length > MAX_LENGTH || !/^\p{L}+$/u.test(form)) return null;
    const found = this.#nearest(form, usualPrefixes(form)) ?? this.#nearest(form, rarePrefixes(form));
    let best: string | null = null;
    for (const [term, documents] of found?.terms ?? [])
      if (best === null || documents > found!.terms.get(best)!) best = term;
    return best === null ? null : { term: best, edits: found!.edits };
  }

  /** How many documents hold each of the nearest terms with some prefixes, in the order in which they were found. */
  #nearest(form: string, prefixes: ReadonlySet<string>) {
    let edits = form.length >= MIN_LENGTH_OF_TWO_EDITS ? 2 : 1;
    let terms = new Map<string, number>();
    for (const prefix of prefixes) {
      for (const reader of this.#readers) {
        for (const entry of reader.termsWithPrefix(prefix, MAX_CANDIDATES)) {
          const own = fewestEdits(form, entry.forms, edits);
          if (own > edits) continue;
          if (own < edits) terms = new Map();
          edits = own;
          terms.set(entry.term, (terms.get(entry.term) ?? 0) + entry.documentFrequency);
        }
      }
    }
    return terms.size === 0 ? null : { terms, edits };
  }

  /**
   * The terms of indexes whose words begin with a word that is still being typed: those in the most documents,
   * the most frequent first, ties in code unit order. All terms with the beginning are looked at, so that the
   * choice is the same in one index and in several.
   * @param beginning a folded word; scripts without spaces have none: each of their characters is found alone
   * @throws Failure `timeout`
   */
  continuations(beginning: string, deadline: number): readonly string[] {
    if (beginning === "" || isUnspaced(beginning)) return [];
    // A document with `middleware.ts` also has `middleware`.
    const isPlain = !JOINT.test(beginning);
    const best = new BestTerms(this, MAX_LONGER_WORDS, (term) => !isPlain || !JOINT.test(term));
    for (const stem of this.#stemsOf(beginning)) best.add(stem);
    for (const reader of this.#readers) best.addAll(reader.walk(beginning), deadline);
    return best.terms;
  }

  /** The most frequent terms that begin in one of some ways and meet a condition. @throws Failure `timeout` */
  termsFrom(
    beginnings: readonly string[],
    isWanted: (term: string) => boolean,
    deadline: number,
  ): readonly string[] {
    const best = new BestTerms(this, MAX_LONGER_WORDS, isWanted);
    for (const beginning of beginnings)
      for (const reader of this.#readers) best.addAll(reader.walk(beginning), deadline);
    return best.terms;
  }

  /**
   * Returns the most frequent compounds that a word ends or begins and whose other part is also a word of the indexes:
   * `krankenversicherung` for `versicherung`, because of `kranke`. Languages without compounds have none, since their
   * indexes have no table of ends.
   * @param word a folded word and its term
   * @throws Failure `timeout`
   */
  compounds({ form, term }: CorpusWord, { stem, deadline }: CompoundOptions): readonly string[] {
    if (form.length < SHORTEST_END || form.length > LONGEST_COMPOUND) return [];
    const ending = new BestTerms(this, MAX_TRIED, (found) => found !== term, reversed);
    for (const reader of this.#readers) ending.addAll(reader.walkEnds(term), deadline);
    // `arbete` is in `arbetsmarknad` as its stem, `versicherung` in `versicherungsnummer` as it was typed.
    const beginnings = form.startsWith(term) && term.length >= SHORTEST_HEAD ? [form, term] : [form];
    const shortest = beginnings.at(-1)!;
    const mayBegin = (found: string): boolean =>
      found.length >= shortest.length + SHORTEST_END && LETTERS.test(found);
    const beginning = new BestTerms(this, MAX_TRIED, mayBegin);
    for (const reader of this.#readers) beginning.addAll(reader.walk(shortest), deadline);
    const found = [
      ...ending.terms.filter((one) => this.#headOf(one.slice(0, -term.length), stem) !== null),
      ...beginning.terms.filter((one) =>
        beginnings.some((part) => one.startsWith(part) && this.#isEnd(one.slice(part.length))),
      ),
    ];
    const best = new BestTerms(this, MAX_LONGER_WORDS, () => true);
    for (const one of found) best.add(one);
    return best.terms;
  }

  /** The parts of a compound, as terms; the split with the most frequent end, or none. */
  compoundParts(form: string, stem: CompoundOptions["stem"]): readonly string[] {
    let most = 0;
    let best: readonly string[] = [];
    if (form.length > LONGEST_COMPOUND) return best;
    for (let at = SHORTEST_HEAD; at + SHORTEST_END <= form.length; at++) {
      const end = stem(form.slice(at));
      const documents = this.documentFrequency(end);
      const head = documents > most ? this.#headOf(form.slice(0, at), stem) : null;
      if (head === null) continue;
      most = documents;
      best = [head, end];
    }
    return best;
  }

  /** The term of a compound's first part without what links it to the next; null when no index holds it. */
  #headOf(written: string, stem: CompoundOptions["stem"]): string | null {
    for (const link of LINKS) {
      if (!written.endsWith(link) || written.length - link.length < SHORTEST_HEAD) continue;
      const term = stem(written.slice(0, written.length - link.length));
      if (this.documentFrequency(term) > 0) return term;
    }
    return null;
  }

  /** Whether the rest of a term is a term, with what links it to the word before. */
  #isEnd(rest: string): boolean {
    const isTerm = (end: string) => end.length >= SHORTEST_END && this.documentFrequency(end) > 0;
    return LINKS.some((link) => rest.startsWith(link) && isTerm(rest.slice(link.length)));
  }

  /**
   * Returns terms that are shorter than the beginning although their forms continue it: `runn` is the beginning of
   * `running`, whose term is `run`. Except for a last letter, stems are beginnings of their forms.
   */
  #stemsOf(beginning: string): string[] {
    const found: string[] = [];
    for (let length = SHORTEST_STEM; length <= beginning.length; length++) {
      const stem = beginning.slice(0, length);
      const bent = stem.endsWith("y") ? [`${stem.slice(0, -1)}i`] : [];
      const whole = length === beginning.length ? [] : [stem, `${stem}e`];
      for (const term of [...whole, ...bent]) {
        if (term.startsWith(beginning)) continue;
        const entries = this.#readers.flatMap((reader) => reader.find(term) ?? []);
        if (entries.some(({ forms }) => forms.some((form) => form.startsWith(beginning)))) found.push(term);
      }
    }
    return found;
  }
}

// Words of 4 letters or more may have 1 edit, of 8 or more 2; shorter words are not corrected.
const MIN_LENGTH = 4;
const MIN_LENGTH_OF_TWO_EDITS = 8;
const MAX_LENGTH = 40;

// The first letters are rarely wrong, and they limit the part of the dictionary that is read.
const PREFIX_LENGTH = 2;
const MAX_CANDIDATES = 20_000;
const ALPHABETS = [
  "abcdefghijklmnopqrstuvwxyz",
  "абвгдежзийклмнопрстуфхцчшщъыьэюя",
  "αβγδεζηθικλμνξοπρστυφχψω",
];

/** The second has the first two letters swapped. */
const usualPrefixes = (form: string): ReadonlySet<string> =>
  new Set([form.slice(0, PREFIX_LENGTH), `${form[1]}${form[0]}`]);

/** Those of words whose first letter is one too many, another one, or missing. */
function rarePrefixes(form: string): ReadonlySet<string> {
  const letters = [...(ALPHABETS.find((one) => one.includes(form[1]!)) ?? "")];
  return new Set([
    form.slice(1, 4),
    ...letters.flatMap((one) => [one + form.slice(1, 3), one + form.slice(0, 2)]),
  ]);
}

const TOO_MANY = Number.POSITIVE_INFINITY;

const fewestEdits = (form: string, candidates: readonly string[], allowed: number): number =>
  candidates.reduce(
    (least, one) => Math.min(least, boundedEdits(form, one, Math.min(least, allowed))),
    TOO_MANY,
  );

/** The number of edits between two words, or `TOO_MANY`. */
function boundedEdits(a: string, b: string, allowed: number): number {
  if (Math.abs(a.length - b.length) > allowed) return TOO_MANY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let edits = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) edits = Math.min(edits, beforeLast[column - 2]! + 1);
      current.push(edits);
      least = Math.min(least, edits);
    }
    if (least > allowed) return TOO_MANY;
    beforeLast = last;
    last = current;
  }
  const edits = last[b.length]!;
  return edits <= allowed ? edits : TOO_MANY;
}

/** A term that contains a word of a query. */
type LongerWord = { readonly term: string; readonly documentFrequency: number };

/** Most longer words per word; each costs about as much as another word of the query. */
const MAX_LONGER_WORDS = 8;

/** Number of the most frequent terms that are tried as compounds. */
const MAX_TRIED = 64;

/** Separators between the parts of an identifier or a path. */
const JOINT = /[./:@_-]/;

/** A stem keeps at least this much of its forms. */
const SHORTEST_STEM = 3;

/** Linking letters between the parts of a compound. */
const LINKS = ["", "s", "n", "en", "e", "er", "es", "ens"] as const;

const LETTERS = /^\p{L}+$/u;

const SHORTEST_HEAD = 3;
const SHORTEST_END = 4;
const LONGEST_COMPOUND = 40;

type CompoundOptions = {
  /** The term of a folded word. */
  readonly stem: (form: string) => string;
  readonly deadline: number;
};

/** The terms in the most documents of all indexes, the most frequent first. */
class BestTerms {
  readonly #corpus: Corpus;
  readonly #most: number;
  readonly #isWanted: (term: string) => boolean;
  readonly #keyOf: (term: string) => string;
  readonly #best: LongerWord[] = [];

  /** @param keyOf what terms of equal frequency are sorted by, as the walks are */
  constructor(
    corpus: Corpus,
    most: number,
    isWanted: (term: string) => boolean,
    keyOf: (term: string) => string = (term) => term,
  ) {
    this.#corpus = corpus;
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
      const most = walk.documentFrequency * this.#corpus.indexCount;
      const least = this.#last?.documentFrequency ?? 0;
      if (most < least || (most === least && isBehindLast)) continue;
      this.add(walk.term);
      isBehindLast = this.#last !== undefined && this.#keyOf(walk.term) >= this.#keyOf(this.#last.term);
    }
  }

  add(term: string): void {
    if (!this.#isWanted(term) || this.#best.some((one) => one.term === term)) return;
    const documentFrequency = this.#corpus.documentFrequency(term);
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
