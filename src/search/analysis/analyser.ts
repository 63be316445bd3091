import { stemmer as da } from "@orama/stemmers/danish";
import { stemmer as nl } from "@orama/stemmers/dutch";
import { stemmer as fi } from "@orama/stemmers/finnish";
import { stemmer as fr } from "@orama/stemmers/french";
import { stemmer as de } from "@orama/stemmers/german";
import { stemmer as it } from "@orama/stemmers/italian";
import { stemmer as no } from "@orama/stemmers/norwegian";
import { stemmer as pt } from "@orama/stemmers/portuguese";
import { stemmer as ru } from "@orama/stemmers/russian";
import { stemmer as es } from "@orama/stemmers/spanish";
import { stemmer as sv } from "@orama/stemmers/swedish";
import { NumberList } from "../number-list.ts";
import type { AnalyzerProfile, Language } from "../types.ts";
import { RunTable, RunWords, type Shape, UNKNOWN_RUN } from "./run-words.ts";
import { stemEnglish, stemFurther } from "./stemmer.ts";

/** Whether text is prose or code: `code-friendly` stems only prose. */
export type TextKind = "prose" | "code";

const NONE = 0xffff_ffff;

// This is part of an index's fingerprint: raise it when the same text gives other terms.
const ANALYSIS_VERSION = 3;

/** Names the analysis: an index only answers queries that were analysed in the same way. */
export const analyserFingerprint = (profile: AnalyzerProfile, language: Language): string =>
  `${profile}/${language}/${ANALYSIS_VERSION}`;

/**
 * Turns written runs into words of a growing vocabulary. One analyser serves one build or all searches;
 * documents and queries go through the same code. Words are numbered from 0; each is a pair of a term (what postings are
 * kept for: usually a stem) and a form (the folded word as it was written: what `word_match` compares). The profiles differ in their terms:
 * - `default`: parts and plain words become stems of the documents' language (Porter2 for English), whole
 *   identifiers stay unchanged.
 * - `aggressive-stem`: English stems lose more suffixes (`installer`, `installation` and `install` become one).
 * - `code-friendly`: prose is treated as in `default`, code is not stemmed.
 */
export class Analyser {
  readonly profile: AnalyzerProfile;
  readonly language: Language;
  readonly #stemOf: (form: string) => string;
  /** Forms and terms share this list, because nearly all terms are forms too. */
  readonly #strings: string[] = [];
  readonly #numbers = new RunTable();
  /** Strings that the table has no room for. */
  readonly #strays = new Map<string, number>();
  // Maps a string to the word with it as form, or to NONE. A form has two terms where code is not stemmed.
  readonly #stemmedWords = new NumberList();
  readonly #writtenWords = new NumberList();
  // Maps a word to the number of its term.
  readonly #terms = new NumberList();
  readonly #forms = new NumberList();
  /** The runs of prose and those of code; both are the same object when code is stemmed too. */
  readonly prose: RunWords;
  readonly code: RunWords;

  constructor(profile: AnalyzerProfile, language: Language = "en") {
    this.profile = profile;
    this.language = language;
    this.#stemOf = stemmerOf(language);
    this.prose = new RunWords((form) => this.#stemmedWord(form));
    this.code = profile === "code-friendly" ? new RunWords((form) => this.#writtenWord(form)) : this.prose;
  }

  get fingerprint(): string {
    return analyserFingerprint(this.profile, this.language);
  }

  /** Whether words of its language may be several in one, so that an index has a table of their ends. */
  get hasCompounds(): boolean {
    return COMPOUNDING.includes(this.language);
  }

  get size(): number {
    return this.#terms.length;
  }

  /** Terms and forms are numbered together, each string once, from 0 to below this. */
  get stringCount(): number {
    return this.#strings.length;
  }

  term(word: number): string {
    return this.#strings[this.#terms.values[word]!]!;
  }

  form(word: number): string {
    return this.#strings[this.#forms.values[word]!]!;
  }

  /** The number of the string that is the word's term. */
  termNumber(word: number): number {
    return this.#terms.values[word]!;
  }

  string(number: number): string {
    return this.#strings[number]!;
  }

  /** The inverse of `string`; -1 for an unknown string. */
  numberOf(string: string): number {
    const number = this.#numbers.find(string, 0, string.length);
    return number === UNKNOWN_RUN ? (this.#strays.get(string) ?? -1) : number;
  }

  /** Forgets all words and invalidates their numbers, for builders that spill. */
  clear(): void {
    this.#strings.length = 0;
    this.#numbers.clear();
    this.#strays.clear();
    for (const list of [this.#stemmedWords, this.#writtenWords, this.#terms, this.#forms]) list.clear();
    this.forgetRuns();
  }

  /** Forgets the words of runs, which only save time; all words keep their numbers. */
  forgetRuns(): void {
    this.prose.clear();
    this.code.clear();
  }

  /** Returns the words of a run that the tokenizer found. */
  shape(run: string, kind: TextKind): Shape {
    const runs = kind === "code" ? this.code : this.prose;
    return runs.shape(runs.codeAt(run, 0, run.length));
  }

  /** Returns the term of a folded word. */
  stem(form: string): string {
    const stem = this.#stemOf(form);
    return this.profile === "aggressive-stem" && this.language === "en" ? stemFurther(stem) : stem;
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

  /** @param others the list in which the form may have a word already, reused if its term is the same */
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

// Snowball's algorithms, over folded words: a vowel has no accent here, which their rules for plurals do not need.
const STEMMERS = { da, de, es, fi, fr, it, nl, no, pt, ru, sv };

/** Languages that write compounds as one word. */
const COMPOUNDING: readonly Language[] = ["da", "de", "fi", "nl", "no", "sv"];

const WORD = /^\p{L}+$/u;

/** Returns the function that makes terms of the folded words of a language. */
function stemmerOf(language: Language): (form: string) => string {
  if (language === "en") return stemEnglish;
  const stem = STEMMERS[language];
  return (form) => (WORD.test(form) ? stem(form) || form : form);
}
