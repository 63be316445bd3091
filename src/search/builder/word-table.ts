import { withRoom } from "../number-list.ts";
import type { Vocabulary } from "../types.ts";
import type { RunTerm } from "./run-format.ts";

const MAX_FORM = 0xffff;
const NONE = 0xffff_ffff;

// The numbers of a word or a term lie side by side, so that a token touches one cache line for each.

/** Numbers for a word: its term, its form's number within the term, its positions, the term's next word. */
export const WORD = 4;
export const FORM = 1;
export const USES = 2;
const NEXT = 3;

/** Numbers for a term: two for the code that groups tokens, then its first and its last word. */
export const TERM = 4;
const FIRST = 2;
const LAST = 3;

/** A run's data about the words of a vocabulary. A term has the number of its string. */
export class WordTable {
  readonly #vocabulary: Vocabulary;
  #wordCount = 0;
  #termCount = 0;
  /** `WORD` numbers for each word. */
  words = new Uint32Array(1024 * WORD);
  /** `TERM` numbers for each term; the first two start at 0. */
  terms = new Uint32Array(1024 * TERM);

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** All term numbers are below this; not every number belongs to a term. */
  get termCount(): number {
    return this.#termCount;
  }

  /** Adds the words that are new in the vocabulary. */
  learn(): void {
    const vocabulary = this.#vocabulary;
    if (this.#wordCount === vocabulary.size) return;
    this.terms = withRoom(this.terms, vocabulary.stringCount * TERM);
    for (let at = this.#termCount * TERM; at < vocabulary.stringCount * TERM; at += TERM) {
      this.terms[at] = 0;
      this.terms[at + FIRST] = NONE;
    }
    this.#termCount = vocabulary.stringCount;
    this.words = withRoom(this.words, vocabulary.size * WORD);
    for (let word = this.#wordCount; word < vocabulary.size; word++) {
      this.#learnWord(word, vocabulary.termNumber(word));
    }
    this.#wordCount = vocabulary.size;
  }

  /** All terms in code unit order. */
  sortedTerms(): string[] {
    const texts: string[] = [];
    for (let term = 0; term < this.#termCount; term++) {
      if (this.terms[term * TERM + FIRST] !== NONE) texts.push(this.#vocabulary.string(term));
    }
    // The built-in order of strings is that of their code units, and far faster than a comparison function.
    return texts.sort();
  }

  /** @param text a term of the table */
  numberOf(text: string): number {
    return this.#vocabulary.numberOf(text);
  }

  /** The forms of a term, and how often each was used. */
  formsOf(term: number): Pick<RunTerm, "forms" | "formCounts"> {
    const forms: string[] = [];
    const formCounts: number[] = [];
    for (let word = this.terms[term * TERM + FIRST]!; word !== NONE; word = this.words[word * WORD + NEXT]!) {
      if (forms.length > MAX_FORM) break;
      forms.push(this.#vocabulary.form(word));
      formCounts.push(this.words[word * WORD + USES]!);
    }
    return { forms, formCounts };
  }

  /** Forgets all words, in the vocabulary too. */
  clear(): void {
    this.#vocabulary.clear();
    this.#wordCount = 0;
    this.#termCount = 0;
  }

  #learnWord(word: number, term: number): void {
    const { words, terms } = this;
    let form = 0;
    if (terms[term * TERM + FIRST] === NONE) terms[term * TERM + FIRST] = word;
    else {
      const last = terms[term * TERM + LAST]! * WORD;
      words[last + NEXT] = word;
      form = Math.min(MAX_FORM, words[last + FORM]! + 1);
    }
    terms[term * TERM + LAST] = word;
    words[word * WORD] = term;
    words[word * WORD + FORM] = form;
    words[word * WORD + USES] = 0;
    words[word * WORD + NEXT] = NONE;
  }
}
