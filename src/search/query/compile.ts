import type { Analyser, TextKind } from "../analysis/analyser.ts";
import { foldWord } from "../analysis/run-words.ts";
import { Tokenizer } from "../analysis/tokenizer.ts";
import { Corpus } from "../corpus.ts";
import { inverseDocumentFrequency, RANKING } from "../ranking/formula.ts";
import type { IndexReader, TermEntry, WeightedTerm } from "../types.ts";
import { deriveTerms, type SynonymSettings, synonymsFor, type TypedTerm } from "./derived-terms.ts";
import type { Phrase, PhraseTerm } from "./phrases.ts";
import { signsIn } from "./signs.ts";
import { longerVersions } from "./spellings.ts";
import { isQuestion, isStatement, QUESTION_WORDS, TELLING_LINE } from "./word-lists.ts";

/** A query's term with the data for the second phase. */
export type QueryTerm = WeightedTerm & {
  /** Its position in the query; a whole identifier shares the position of its first part. */
  readonly position: number;
  /** Whether it is a plain word or a part, as typed: only these count for phrases, distances and titles. */
  readonly isLeaf: boolean;
  /** The typed form, an index into `entry.forms`; -1 when the index has only other forms. */
  readonly typedForm: number;
};

type SeriesTerm = { readonly series: number; readonly entry: TermEntry };

export type CompiledQuery = {
  /** The query's terms that the index holds, each once. */
  readonly terms: readonly QueryTerm[];
  /** Σ of the weights of all leaves, unknown words with the highest idf: the score of a full match. */
  readonly leafWeight: number;
  /** How many leaves the query has, including unknown ones. */
  readonly leafCount: number;
  /** The number of words as typed, including words that were left out. */
  readonly wordCount: number;
  /** Positions in the query of leaves that only other indexes of the corpus hold: they part their neighbours. */
  readonly elsewhere: readonly number[];
  /** Versions that the index has of the series among the terms (indexes of `terms`): `1.2.3` where `1.2` was typed. */
  readonly ofSeries: readonly SeriesTerm[];
  /** The quoted phrases; a document must contain all of them. */
  readonly phrases: readonly Phrase[];
  /** The signs to look for in a query without words; see `signsIn`. */
  readonly signs: string | null;
  /** Whether there are words beside the phrases, which may be searched for without them. */
  readonly isLoosable: boolean;
};

type QueryOptions = {
  /** Whether only words as typed count: no stems, synonyms or corrections. */
  readonly wordMatch: boolean;
  /** Whether quoted words count as ordinary ones. */
  readonly isLoose?: boolean | undefined;
  readonly synonyms: SynonymSettings;
  /** The corpus that the weights of the terms are taken from; null for that of the index alone. */
  readonly corpus: Corpus | null;
  /** When the search must end, on the clock of `performance.now()`, in ms. */
  readonly deadline: number;
};

const QUOTE_FIRST = /^\s*["\u201c\u201e\u00ab]/;

type Leaf = { readonly run: string; readonly isDropped: boolean; readonly isUnfinished: boolean };

/**
 * Looks up the words of a query in an index. Its last word also stands for longer ones unless it is quoted.
 * @throws Failure `timeout`
 */
export function compileQuery(
  reader: IndexReader,
  analyser: Analyser,
  text: string,
  options: QueryOptions,
): CompiledQuery {
  const builder = new QueryBuilder(reader, analyser, options);
  const parsed = parseQuery(text);
  const query = parsed.words.length <= MAX_QUERY_WORDS ? parsed : builder.tellingPart(parsed);
  const isAsked = isQuestion(query.text, query.words.map(foldWord));
  for (const leaf of withoutQuestionWords(query, isAsked)) if (!leaf.isDropped) builder.addWord(leaf);
  // A question quotes its subject, and a message its names; the answer need not use the same words.
  const isText = options.isLoose || (isAsked && !QUOTE_FIRST.test(text)) || isPasted(query);
  const quoted = isText ? [] : query.phrases;
  const phrases = quoted.map(({ start, end }) => builder.phrase(query.words.slice(start, end)));
  const within = quoted.reduce((sum, { start, end }) => sum + end - start, 0);
  const isLoosable = quoted.length > 0 && within < query.words.length;
  const signs = query.words.length === 0 ? signsIn(text) : null;
  return { ...builder.finish(query.words.length, phrases), isLoosable, signs };
}

/** Whether quotes are part of a message or of code, and not set around a phrase by a person. */
const isPasted = ({ text, words, phrases }: ParsedQuery): boolean =>
  phrases.length > 0 &&
  (text.trim().includes("\n") ||
    phrases.some(({ isGlued }) => isGlued) ||
    isStatement(
      text,
      words.filter((_, at) => !phrases.some(({ start, end }) => at >= start && at < end)).map(foldWord),
    ));

/** Removes question words when others remain; quoted words stay. */
function withoutQuestionWords(query: ParsedQuery, isAsked: boolean): readonly Leaf[] {
  const folded = query.words.map(foldWord);
  const isQuoted = (index: number) => query.phrases.some(({ start, end }) => index >= start && index < end);
  const leaves = query.words.map((run, index) => ({
    run,
    isDropped: isAsked && !isQuoted(index) && QUESTION_WORDS.has(folded[index]!),
    isUnfinished: index === query.words.length - 1 && !isQuoted(index),
  }));
  if (leaves.some(({ isDropped }) => !isDropped)) return leaves;
  return leaves.map((leaf) => ({ ...leaf, isDropped: false }));
}

class QueryBuilder {
  readonly #reader: IndexReader;
  readonly #analyser: Analyser;
  readonly #options: QueryOptions;
  readonly #terms = new Map<string, QueryTerm>();
  /** The terms of the words, even terms that the index does not have; a repeated term counts once. */
  readonly #typed = new Map<string, TypedTerm>();
  readonly #elsewhere: number[] = [];
  #position = 0;

  constructor(reader: IndexReader, analyser: Analyser, options: QueryOptions) {
    this.#reader = reader;
    this.#analyser = analyser;
    this.#options = options;
  }

  addWord({ run, isUnfinished }: Leaf): void {
    const { words, offsets, leaves, width } = this.#analyser.shape(run, "prose");
    const ending = isUnfinished ? foldWord(run) : "";
    for (let i = 0; i < words.length; i++) {
      const term = this.#analyser.term(words[i]!);
      const form = this.#analyser.form(words[i]!);
      const position = this.#position + offsets[i]!;
      const isLeaf = leaves[i] === 1;
      const word = { term, form, written: words.length === 1 ? run : form, position, isLeaf };
      this.#addTerm({ ...word, isUnfinished: ending.endsWith(form) });
    }
    this.#position += width;
  }

  #addTerm(word: Omit<TypedTerm, "documents" | "weight">): void {
    if (this.#typed.has(word.term) || this.#terms.has(word.term)) return;
    const { wordMatch } = this.#options;
    const entry = this.#reader.find(word.term);
    const documents = this.#documentsWith(word.term, entry);
    const weight = this.#weightOf(documents);
    this.#typed.set(word.term, { ...word, documents, weight });
    const form = entry ? entry.forms.indexOf(word.form) : -1;
    if (word.isLeaf && this.#isElsewhere(word, entry !== null && (!wordMatch || form >= 0)))
      this.#elsewhere.push(word.position);
    if (entry && (!wordMatch || form >= 0)) {
      const forms = wordMatch ? new Set([form]) : null;
      const { position, isLeaf } = word;
      this.#terms.set(word.term, { entry, weight, forms, position, isLeaf, typedForm: form });
    }
    if (this.#analyser.profile === "code-friendly") this.#addUnstemmed(word);
  }

  #isElsewhere({ term, form }: { readonly term: string; readonly form: string }, isHere: boolean): boolean {
    const { corpus, wordMatch } = this.#options;
    return corpus !== null && !isHere && corpus.holds(term, wordMatch ? form : null);
  }

  // In this profile code is not stemmed, so its words are stored unchanged.
  #addUnstemmed({ form, position }: { readonly form: string; readonly position: number }): void {
    const entry = this.#terms.has(form) ? null : this.#reader.find(form);
    if (!entry) return;
    const typedForm = entry.forms.indexOf(form);
    const weight = this.#weightOf(this.#documentsWith(form, entry));
    this.#terms.set(form, { entry, weight, forms: null, position, isLeaf: false, typedForm });
  }

  /** Adds terms derived from the typed terms; see `deriveTerms`. */
  #derive(): void {
    const { corpus, synonyms, deadline } = this.#options;
    const derived = deriveTerms([...this.#typed.values()], {
      corpus: corpus ?? new Corpus([this.#reader]),
      weightOf: (documents) => this.#weightOf(documents),
      stem: (form) => this.#analyser.stem(form),
      synonyms: synonymsFor(synonyms, this.#analyser),
      language: this.#analyser.language,
      hasCompounds: this.#analyser.hasCompounds,
      deadline,
    });
    for (const { term, weight, position, isLeaf } of derived) {
      const entry = this.#terms.has(term) ? null : this.#reader.find(term);
      if (entry) this.#terms.set(term, { entry, weight, forms: null, position, isLeaf, typedForm: -1 });
      else if (isLeaf && !this.#terms.has(term)) this.#elsewhere.push(position);
    }
  }

  #documentsWith(term: string, entry: TermEntry | null): number {
    const { corpus } = this.#options;
    return corpus ? corpus.documentFrequency(term) : (entry?.documentFrequency ?? 0);
  }

  /** @param documents how many documents hold the term; an unknown word counts as a rare one */
  #weightOf(documents: number): number {
    const idf = inverseDocumentFrequency(
      documents || 0.5,
      (this.#options.corpus ?? this.#reader).documentCount,
    );
    return idf ** RANKING.idfExponent;
  }

  /** A phrase as prose contains it and, when code is analysed differently, as code contains it. */
  phrase(runs: readonly string[]): Phrase {
    const kinds: readonly TextKind[] =
      this.#analyser.profile === "code-friendly" ? ["prose", "code"] : ["prose"];
    return kinds.flatMap((kind) => this.#variant(runs, kind) ?? []);
  }

  /** @returns null when the index does not have one of the words as written */
  #variant(runs: readonly string[], kind: TextKind): [readonly PhraseTerm[]] | null {
    const terms: PhraseTerm[] = [];
    let offset = 0;
    for (const run of runs) {
      const { words, offsets, width } = this.#analyser.shape(run, kind);
      for (let i = 0; i < words.length; i++) {
        const entry = this.#reader.find(this.#analyser.term(words[i]!));
        const form = entry?.forms.indexOf(this.#analyser.form(words[i]!)) ?? -1;
        if (!entry || form < 0) return null;
        terms.push({ entry, form, offset: offset + offsets[i]! });
      }
      offset += width;
    }
    return [terms];
  }

  /**
   * The words of a long text that say most: those of its last line, exceptions and errors first, the rarest first
   * among equals; what no document holds comes last.
   */
  tellingPart({ text, words, telling }: ParsedQuery): ParsedQuery {
    const weigh = (run: string): number => {
      const { words: pieces } = this.#analyser.shape(run, "prose");
      const documents = pieces.map((word) => {
        const term = this.#analyser.term(word);
        return this.#documentsWith(term, this.#reader.find(term));
      });
      return Math.max(0, ...documents.filter((count) => count > 0).map((count) => this.#weightOf(count)));
    };
    const first = new Map<string, number>();
    for (const [at, run] of words.entries()) {
      const before = first.get(run);
      if (before === undefined || (telling[at] && !telling[before])) first.set(run, at);
    }
    const chosen = [...first.entries()]
      .map(([run, at]) => ({ at, weight: weigh(run) * (telling[at] ? TELLING : 1) }))
      .sort((a, b) => b.weight - a.weight || a.at - b.at)
      .slice(0, MAX_QUERY_WORDS)
      .sort((a, b) => a.at - b.at);
    return { text, words: chosen.map(({ at }) => words[at]!), telling, phrases: [] };
  }

  finish(wordCount: number, phrases: readonly Phrase[]): Omit<CompiledQuery, "isLoosable" | "signs"> {
    if (!this.#options.wordMatch) this.#derive();
    const leaves = [...this.#typed.values()].filter(({ isLeaf }) => isLeaf);
    const { corpus, deadline } = this.#options;
    const terms = [...this.#terms.values()];
    const ofSeries = leaves.flatMap(({ form }) => {
      const series = terms.findIndex(({ entry }) => entry.term === form);
      const longer = longerVersions(form, corpus ?? new Corpus([this.#reader]), deadline);
      return longer.map((term) => ({ series, entry: this.#reader.find(term) }));
    });
    return {
      terms,
      ofSeries: ofSeries.filter((one): one is SeriesTerm => one.entry !== null && one.series >= 0),
      leafWeight: leaves.reduce((sum, { weight }) => sum + weight, 0),
      leafCount: leaves.length,
      wordCount,
      elsewhere: this.#elsewhere,
      phrases,
    };
  }
}

/** A query as typed: its words in order, and which of them were in double quotes. */
type ParsedQuery = {
  readonly text: string;
  /** The written runs. */
  readonly words: readonly string[];
  /** Whether each is in a line that says what the text is about. */
  readonly telling: readonly boolean[];
  /** Quoted ranges of `words` (end exclusive), of one or more words, and whether code touches their quotes. */
  readonly phrases: readonly { readonly start: number; readonly end: number; readonly isGlued: boolean }[];
};

/** Of a longer text the telling part is read: more words say nothing more, and the cost stays limited. */
const MAX_QUERY_WORDS = 64;

/** A line tells what it is in its first characters. */
const TOLD_WITHIN = 200;

/** How much more a word of a telling line counts when words are chosen. */
const TELLING = 4;

// Somebody may paste a whole log; of a longer one the two ends are read.
const MAX_QUERY_LENGTH = 32_768;

const QUOTES = /["\u201c\u201d\u201e\u00ab\u00bb]/;

/** Parses any text as a query; a text without words finds nothing, and an unpaired quote is ignored. */
export function parseQuery(written: string): ParsedQuery {
  const half = MAX_QUERY_LENGTH / 2;
  const text =
    written.length > MAX_QUERY_LENGTH ? `${written.slice(0, half)}\n${written.slice(-half)}` : written;
  const lastLine = text.trimEnd().lastIndexOf("\n") + 1;
  let lineEnd = -1;
  let isTelling = false;
  const parts = text.split(QUOTES);
  const tokenizer = new Tokenizer();
  const words: string[] = [];
  const telling: boolean[] = [];
  const phrases: { start: number; end: number; isGlued: boolean }[] = [];
  let place = 0;
  parts.forEach((part, index) => {
    const start = words.length;
    tokenizer.reset(part, 0, part.length);
    while (tokenizer.next()) {
      words.push(part.slice(tokenizer.start, tokenizer.end));
      const at = place + tokenizer.start;
      if (at > lineEnd) {
        const lineStart = text.lastIndexOf("\n", at) + 1;
        lineEnd = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at);
        isTelling =
          lineStart >= lastLine ||
          TELLING_LINE.test(text.slice(lineStart, Math.min(lineEnd, lineStart + TOLD_WITHIN)));
      }
      telling.push(isTelling);
    }
    place += part.length + 1;
    if (index % 2 === 0 || index === parts.length - 1 || words.length === start) return;
    const isGlued = GLUED_BEFORE.test(parts[index - 1]!) || GLUED_AFTER.test(parts[index + 1]!);
    phrases.push({ start, end: words.length, isGlued });
  });
  return { text, words, telling, phrases };
}

/** Characters before and after quotes in code, in messages and for inches, but not around a person's phrase. */
const GLUED_BEFORE = /[\p{L}\p{N}_=,[{<\\'`/]$|[\p{L}\p{N}_]\($/u;
const GLUED_AFTER = /^[\p{L}\p{N}_=:[\]{}<>\\'`/]/u;
