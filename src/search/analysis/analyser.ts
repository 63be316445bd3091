import { NumberList } from "../number-list.ts";
import type { AnalyzerProfile, Vocabulary } from "../types.ts";
import { RunTable, UNKNOWN_RUN } from "./run-table.ts";
import { RunWords, type Shape } from "./run-words.ts";
import { stemFurther } from "./stem-further.ts";
import { stemEnglish } from "./stemmer.ts";

/** Whether text is prose or code: `code-friendly` stems only prose. */
export type TextKind = "prose" | "code";

const NONE = 0xffff_ffff;

// Part of an index's fingerprint: raise it when the same text gives other terms.
const ANALYSIS_VERSION = 1;

/** Names the analysis: an index answers only queries that were analysed in the same way. */
export const analyserFingerprint = (profile: AnalyzerProfile): string => `${profile}/${ANALYSIS_VERSION}`;

/**
 * Turns written runs into words of a vocabulary that grows. One analyser serves one build or one reader; it
 * is the same code for documents and for queries. Profiles:
 * - `default`: parts and plain words as Porter2 stems, whole identifiers as they are;
 * - `aggressive-stem`: stems lose further suffixes (`installer`, `installation`, `install` are one);
 * - `code-friendly`: prose as in `default`, code unstemmed.
 */
export class Analyser implements Vocabulary {
  readonly profile: AnalyzerProfile;
  /** Forms and terms, each once: nearly all terms are forms too. */
  readonly #strings: string[] = [];
  readonly #numbers = new RunTable();
  /** Those that the table has no place for. */
  readonly #strays = new Map<string, number>();
  // By string: the word that has it as its form, or NONE. A form has one term, or two where code stays as it is.
  readonly #stemmedWords = new NumberList();
  readonly #writtenWords = new NumberList();
  // By word: numbers of strings.
  readonly #terms = new NumberList();
  readonly #forms = new NumberList();
  /** Runs of prose, and of code: the same where code is stemmed too. */
  readonly prose: RunWords;
  readonly code: RunWords;

  constructor(profile: AnalyzerProfile) {
    this.profile = profile;
    this.prose = new RunWords((form) => this.#stemmedWord(form));
    this.code = profile === "code-friendly" ? new RunWords((form) => this.#writtenWord(form)) : this.prose;
  }

  get fingerprint(): string {
    return analyserFingerprint(this.profile);
  }

  get size(): number {
    return this.#terms.length;
  }

  get stringCount(): number {
    return this.#strings.length;
  }

  term(word: number): string {
    return this.#strings[this.#terms.values[word]!]!;
  }

  form(word: number): string {
    return this.#strings[this.#forms.values[word]!]!;
  }

  termNumber(word: number): number {
    return this.#terms.values[word]!;
  }

  string(number: number): string {
    return this.#strings[number]!;
  }

  numberOf(string: string): number {
    const number = this.#numbers.find(string, 0, string.length);
    return number === UNKNOWN_RUN ? (this.#strays.get(string) ?? -1) : number;
  }

  clear(): void {
    this.#strings.length = 0;
    this.#numbers.clear();
    this.#strays.clear();
    for (const list of [this.#stemmedWords, this.#writtenWords, this.#terms, this.#forms]) list.clear();
    this.prose.clear();
    this.code.clear();
  }

  /** The words of a run that the tokenizer found. */
  shape(run: string, kind: TextKind): Shape {
    const runs = kind === "code" ? this.code : this.prose;
    return runs.shape(runs.codeAt(run, 0, run.length));
  }

  /** The term of a folded word. */
  stem(form: string): string {
    const stem = stemEnglish(form);
    return this.profile === "aggressive-stem" ? stemFurther(stem) : stem;
  }

  #stemmedWord(form: string): number {
    const string = this.#intern(form);
    const known = this.#stemmedWords.values[string]!;
    if (known !== NONE) return known;
    const stem = this.stem(form);
    const term = stem === form ? string : this.#intern(stem);
    return this.#makeWord(string, term, this.#stemmedWords, this.#writtenWords);
  }

  #writtenWord(form: string): number {
    const string = this.#intern(form);
    const known = this.#writtenWords.values[string]!;
    return known === NONE ? this.#makeWord(string, string, this.#writtenWords, this.#stemmedWords) : known;
  }

  /** @param others where the form may be a word already, which is the same if its term is */
  #makeWord(form: number, term: number, own: NumberList, others: NumberList): number {
    const twin = others.values[form]!;
    const isSame = twin !== NONE && this.#terms.values[twin] === term;
    const word = isSame ? twin : this.#terms.length;
    own.values[form] = word;
    if (isSame) return word;
    this.#terms.push(term);
    this.#forms.push(form);
    return word;
  }

  #intern(string: string): number {
    const known = this.numberOf(string);
    if (known >= 0) return known;
    const number = this.#strings.push(string) - 1;
    if (!this.#numbers.add(string, number)) this.#strays.set(string, number);
    this.#stemmedWords.push(NONE);
    this.#writtenWords.push(NONE);
    return number;
  }
}
