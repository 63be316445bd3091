import type { AnalyzerProfile, Vocabulary } from "../types.ts";
import { fold } from "./characters.ts";
import { RunTable } from "./run-table.ts";
import { stemFurther } from "./stem-further.ts";
import { stemEnglish } from "./stemmer.ts";
import { isUnspaced, unspacedParts, wordParts } from "./word-parts.ts";

/** Whether text is prose or code: `code-friendly` stems only prose. */
export type TextKind = "prose" | "code";

/** A run's range in its text, end exclusive. */
export type RunPlace = { readonly start: number; readonly end: number; readonly kind: TextKind };

/** The words of a written run, ready to be counted. */
export type Shape = {
  /** Vocabulary numbers, and what each adds to the run's position. */
  readonly words: readonly number[];
  readonly offsets: readonly number[];
  /** 1 for a leaf, 0 for a whole that has parts. */
  readonly leaves: readonly number[];
  /** Positions that the run takes; 0 for a run that yields nothing. */
  readonly width: number;
};

// Part of an index's fingerprint: raise it when the same text gives other terms.
const ANALYSIS_VERSION = 1;

// Bounds the memory of a long build; a cleared cache only costs time.
const MAX_CACHED_RUNS = 200_000;

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
  readonly #prose = new RunTable<Shape>();
  readonly #code: RunTable<Shape>;

  constructor(profile: AnalyzerProfile) {
    this.profile = profile;
    this.#code = profile === "code-friendly" ? new RunTable() : this.#prose;
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
    this.#prose.clear();
    this.#code.clear();
  }

  /** The words of a run that the tokenizer found. */
  shape(run: string, kind: TextKind): Shape {
    return this.shapeAt(run, { start: 0, end: run.length, kind });
  }

  /** The words of the run from `start` to `end` (exclusive). */
  shapeAt(text: string, { start, end, kind }: RunPlace): Shape {
    const cache = kind === "code" ? this.#code : this.#prose;
    const known = cache.find(text, start, end);
    if (known) return known;
    if (cache.size >= MAX_CACHED_RUNS) {
      cache.clear();
      cache.find(text, start, end);
    }
    const run = text.slice(start, end);
    const shape = this.#makeShape(run, kind === "prose" || this.profile !== "code-friendly");
    cache.add(run, shape);
    return shape;
  }

  /** The term of a folded word. */
  stem(form: string): string {
    const stem = stemEnglish(form);
    return this.profile === "aggressive-stem" ? stemFurther(stem) : stem;
  }

  #makeShape(run: string, isStemmed: boolean): Shape {
    const { pieces, width } = isUnspaced(run) ? unspacedParts(run) : wordParts(run);
    const words: number[] = [];
    const offsets: number[] = [];
    const leaves: number[] = [];
    for (const piece of pieces) {
      const form = foldWord(piece.text);
      if (form === "") continue;
      // A whole without joints is stemmed like the plain word that somebody types for it.
      words.push(this.#number(form, isStemmed));
      offsets.push(piece.offset);
      leaves.push(piece.isLeaf ? 1 : 0);
    }
    if (words.length === 1 && offsets[0] === 0 && leaves[0] === 1)
      return { words, offsets: AT_START, leaves: IS_LEAF, width };
    return { words, offsets, leaves, width: words.length === 0 ? 0 : width };
  }

  #number(form: string, isStemmed: boolean): number {
    const own = isStemmed ? this.#stemmedNumbers : this.#writtenNumbers;
    const known = own.get(form);
    if (known !== undefined) return known;
    const term = isStemmed ? this.stem(form) : form;
    const twin = (isStemmed ? this.#writtenNumbers : this.#stemmedNumbers).get(form);
    if (twin !== undefined && this.#terms[twin] === term) {
      own.set(form, twin);
      return twin;
    }
    const number = this.#terms.length;
    this.#terms.push(term);
    this.#forms.push(form);
    own.set(form, number);
    return number;
  }
}

// Shared by the plain words, which are nearly all that the cache holds.
const AT_START: readonly number[] = [0];
const IS_LEAF: readonly number[] = [1];

const MAX_FORM_LENGTH = 64;

/** The form of a word: folded, without a possessive ending and apostrophes at its ends. */
export function foldWord(text: string): string {
  const folded = fold(text);
  const form = folded.includes("'") ? folded.replace(/'s$|^'+|'+$/g, "") : folded;
  return form.length > MAX_FORM_LENGTH ? "" : form;
}
