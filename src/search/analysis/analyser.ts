import type { AnalyzerProfile, Vocabulary } from "../types.ts";
import { RunWords, type Shape } from "./run-words.ts";
import { stemFurther } from "./stem-further.ts";
import { stemEnglish } from "./stemmer.ts";

/** Whether text is prose or code: `code-friendly` stems only prose. */
export type TextKind = "prose" | "code";

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
  readonly #terms: string[] = [];
  readonly #forms: string[] = [];
  // By form: a form has one term, or two where code stays as it is.
  readonly #stemmedNumbers = new Map<string, number>();
  readonly #writtenNumbers = new Map<string, number>();
  /** Runs of prose, and of code: the same where code is stemmed too. */
  readonly prose: RunWords;
  readonly code: RunWords;

  constructor(profile: AnalyzerProfile) {
    this.profile = profile;
    this.prose = new RunWords((form) => this.#stemmedNumber(form));
    this.code = profile === "code-friendly" ? new RunWords((form) => this.#writtenNumber(form)) : this.prose;
  }

  get fingerprint(): string {
    return analyserFingerprint(this.profile);
  }

  get size(): number {
    return this.#terms.length;
  }

  term(word: number): string {
    return this.#terms[word]!;
  }

  form(word: number): string {
    return this.#forms[word]!;
  }

  clear(): void {
    this.#terms.length = 0;
    this.#forms.length = 0;
    this.#stemmedNumbers.clear();
    this.#writtenNumbers.clear();
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

  #stemmedNumber(form: string): number {
    const known = this.#stemmedNumbers.get(form);
    if (known !== undefined) return known;
    const number = this.#numberOf(form, this.stem(form), this.#writtenNumbers);
    this.#stemmedNumbers.set(form, number);
    return number;
  }

  #writtenNumber(form: string): number {
    const known = this.#writtenNumbers.get(form);
    if (known !== undefined) return known;
    const number = this.#numberOf(form, form, this.#stemmedNumbers);
    this.#writtenNumbers.set(form, number);
    return number;
  }

  /** @param others where the form may have a number already, if its term is the same */
  #numberOf(form: string, term: string, others: ReadonlyMap<string, number>): number {
    const twin = others.get(form);
    if (twin !== undefined && this.#terms[twin] === term) return twin;
    this.#forms.push(form);
    return this.#terms.push(term) - 1;
  }
}
