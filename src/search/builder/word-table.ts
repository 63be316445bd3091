import type { Vocabulary } from "../types.ts";
import type { RunTerm } from "./run-format.ts";

const MAX_FORM = 0xffff;
const NONE = 0xffff_ffff;

// What is known of a word or a term stands side by side, so that a token touches one line of the cache for each.

/** Numbers of a word: its term, its form's number in the term, positions that it has, the term's next word. */
export const WORD = 4;
export const FORM = 1;
export const USES = 2;
const NEXT = 3;

/** Numbers of a term: two for whoever groups tokens, then its first and its last word. */
export const TERM = 4;
const FIRST = 2;
const LAST = 3;

/** The terms of a vocabulary's words, numbered as they are met. */
export class WordTable {
  readonly #vocabulary: Vocabulary;
  readonly #numbers = new Map<string, number>();
  readonly texts: string[] = [];
  #wordCount = 0;
  /** `WORD` numbers of each word. */
  words = new Uint32Array(1024 * WORD);
  /** `TERM` numbers of each term; the first two are 0 at first. */
  terms = new Uint32Array(1024 * TERM);

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** @param text of a term that the table has */
  numberOf(text: string): number {
    return this.#numbers.get(text)!;
  }

  /** Takes in the words that the vocabulary has got since. */
  learn(): void {
    const vocabulary = this.#vocabulary;
    for (let word = this.#wordCount; word < vocabulary.size; word++)
      this.#learnWord(word, vocabulary.term(word));
    this.#wordCount = vocabulary.size;
  }

  /** The forms of a term and how often each was used. */
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

  /** Forgets all words, and those of the vocabulary too. */
  clear(): void {
    this.#vocabulary.clear();
    this.#numbers.clear();
    this.texts.length = 0;
    this.#wordCount = 0;
  }

  #learnWord(word: number, text: string): void {
    this.words = withRoom(this.words, (word + 1) * WORD);
    let form = 0;
    let term = this.#numbers.get(text);
    if (term === undefined) {
      term = this.texts.push(text) - 1;
      this.#numbers.set(text, term);
      this.terms = withRoom(this.terms, (term + 1) * TERM);
      this.terms.fill(0, term * TERM, (term + 1) * TERM);
      this.terms[term * TERM + FIRST] = word;
    } else {
      const last = this.terms[term * TERM + LAST]! * WORD;
      this.words[last + NEXT] = word;
      form = Math.min(MAX_FORM, this.words[last + FORM]! + 1);
    }
    this.terms[term * TERM + LAST] = word;
    this.words[word * WORD] = term;
    this.words[word * WORD + FORM] = form;
    this.words[word * WORD + USES] = 0;
    this.words[word * WORD + NEXT] = NONE;
  }
}

function withRoom(values: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  if (length <= values.length) return values;
  const grown = new Uint32Array(values.length * 2);
  grown.set(values);
  return grown;
}
