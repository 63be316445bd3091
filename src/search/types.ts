import type { DocumentUrl } from "../urls/index.ts";

/**
 * The fields that a term is counted in, in the order of their numbers (0–7) everywhere: in boosts, in
 * `Postings.frequencies`, in field lengths. `headings` are those of level 3 and deeper.
 */
export const FIELDS = [
  "title",
  "headings_h1",
  "headings_h2",
  "headings",
  "body",
  "code",
  "path",
  "url",
] as const;

export type FieldName = (typeof FIELDS)[number];

/** The number of a field: its place in `FIELDS`. */
export type FieldNumber = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** A factor for each field's part of the score, 0 (the field counts nothing) to 5. */
export type Boosts = Readonly<Record<FieldName, number>>;

export const ANALYZER_PROFILES = ["default", "aggressive-stem", "code-friendly"] as const;

/** How text becomes terms; `createAnalyser` says how the profiles differ. */
export type AnalyzerProfile = (typeof ANALYZER_PROFILES)[number];

/** How documents are analysed and scored. An index is built for one analyser; ranking may change later. */
export type RankingSettings = {
  /** Saturation of repeated terms, 0.5–3. */
  readonly k1: number;
  /** How much a field's length counts, 0.1–1. */
  readonly b: number;
  readonly boosts: Boosts;
};

/** A document to index. */
export type SourceDocument = {
  readonly url: DocumentUrl;
  /** One line; may be empty. */
  readonly title: string;
  /** Without front matter. */
  readonly markdown: string;
};

/**
 * The numbers that the second phase of ranking reads of a document. A document's tokens are numbered in one
 * stream of positions: title, gap, URL, gap, the URL's path again, gap, then headings, text and code as they
 * come in the Markdown (`contentStart` is where that begins). Gaps keep phrases from crossing.
 */
export type DocumentLayout = {
  /** Position after the title's last token; the title begins at 0. */
  readonly titleEnd: number;
  /** Position of the first token of the Markdown. */
  readonly contentStart: number;
  /** Position after the first 400 characters or so of the Markdown's text. */
  readonly leadEnd: number;
  /** Position after the last token. */
  readonly end: number;
  /** First position of each passage (about 900 characters, none crosses a section), ascending; the first is `contentStart`. Empty for a document without content. */
  readonly passageStarts: Uint32Array;
  /** First position of each section, its heading included, ascending; section 0 is what precedes the first heading. */
  readonly sectionStarts: Uint32Array;
  /** Position after the last token of each section's heading; equals its start where it has none. */
  readonly headingEnds: Uint32Array;
  /** The section that each section is below; 0 for those at the top, and for section 0 itself. */
  readonly sectionParents: Uint32Array;
};

/** A section as it is shown. */
export type Section = {
  /** 1–6; 0 for the text before the first heading. */
  readonly level: number;
  /** Plain text of the heading; empty for section 0. */
  readonly heading: string;
  /** Slug of the heading as documentation generators make it, unique in the document; empty for section 0. */
  readonly anchor: string;
  /** Range in `markdown` (UTF-16 code units, end exclusive), heading line included, subsections excluded. */
  readonly start: number;
  readonly end: number;
};

/**
 * A document as analysis hands it to the builder. The typed arrays belong to the analyser and hold these
 * values until its next document.
 */
export type AnalysedDocument = {
  readonly url: DocumentUrl;
  readonly title: string;
  /** Without front matter; what is stored for snippets and fetches. */
  readonly markdown: string;
  /** Tokens in each field, by field number. */
  readonly fieldLengths: Uint32Array;
  /** How many entries of `words`, `fields` and `positions` are used. */
  readonly tokenCount: number;
  /** Numbers of words in the analyser's vocabulary. */
  readonly words: Uint32Array;
  /** Field number of each token. */
  readonly fields: Uint8Array;
  /** Never descending; a whole identifier shares its position with its first part. */
  readonly positions: Uint32Array;
  readonly layout: DocumentLayout;
  readonly sections: readonly Section[];
};

/**
 * The words that an analyser has met, numbered from 0. A word is a pair of a term (what postings are kept
 * for: usually a stem) and a form (the folded word as it was written: what `word_match` compares).
 */
export type Vocabulary = {
  readonly size: number;
  /** Terms and forms are strings that are numbered together, each once, from 0 to below this. */
  readonly stringCount: number;
  term(word: number): string;
  form(word: number): string;
  /** The string's number that is the word's term. */
  termNumber(word: number): number;
  string(number: number): string;
  /** The inverse of `string`; -1 for a string that it does not have. */
  numberOf(string: string): number;
  /** Forgets all words: numbers given before are void. For builders that spill. */
  clear(): void;
};

/** Beyond every document's number: where postings end. */
export const NO_DOCUMENT = 0x7fff_ffff;

/** The documents that hold a term, in ascending order; begins before the first. */
export interface Postings {
  readonly documentFrequency: number;
  /** Document number; -1 before the first move, `NO_DOCUMENT` at the end. */
  readonly document: number;
  /** Moves on by one. */
  next(): number;
  /** Moves to the first document at or after `target`, which is not before the current one. */
  advance(target: number): number;
  /** How often the term occurs in each field of the current document, by field number. Reused on each move. */
  readonly frequencies: Uint32Array;
  /**
   * Reads the term's positions in the current document, in ascending order, each once for a form.
   * @param deadline performance.now() time, ms; none where it is left out
   * @returns how many entries of `positions` and `forms` are used
   * @throws Failure `timeout`
   */
  readPositions(deadline?: number): number;
  readonly positions: Uint32Array;
  /** Which form stands at each position: an index into `TermEntry.forms`. */
  readonly forms: Uint16Array;
}

/** What the dictionary knows of a term. */
export type TermEntry = {
  readonly term: string;
  /** The dictionary's own number or offset of it. */
  readonly id: number;
  readonly documentFrequency: number;
  /** Forms in code unit order; at most 65 535. */
  readonly forms: readonly string[];
};

/** A document as it is shown and fetched. */
export type StoredDocument = {
  readonly url: DocumentUrl;
  readonly title: string;
  readonly markdown: string;
  readonly sections: readonly Section[];
};

/** A document as a hit shows it: parts of its Markdown are read without the rest. */
export type DocumentParts = Omit<StoredDocument, "markdown"> & {
  /** A range of the Markdown, as `Section` has it; shorter where the Markdown ends. @throws Failure `timeout` */
  markdownOf(start: number, end: number): string;
};

/**
 * An immutable index as ranking reads it: a segment, or a small index in memory. Documents are numbered from
 * 0 in the order of their URLs (code units), so that the smaller number wins a tie of scores.
 */
export interface IndexReader {
  readonly documentCount: number;
  /** Of the analyser that the index was built with. */
  readonly analyserFingerprint: string;
  /** Sum of `fieldLengths` over all documents, by field number. */
  readonly fieldTotals: Float64Array;
  /** Tokens in a field of a document (exact). */
  fieldLength(document: number, field: FieldNumber): number;
  find(term: string): TermEntry | null;
  postings(entry: TermEntry): Postings;
  /**
   * All terms with a prefix, in code unit order: for the correction of typing mistakes.
   * @param limit at most so many
   */
  termsWithPrefix(prefix: string, limit: number): readonly TermEntry[];
  layout(document: number): DocumentLayout;
  document(document: number): StoredDocument;
  /** @param deadline as that of a search */
  parts(document: number, deadline: number): DocumentParts;
}

/** A term of a query with the factor of its score. */
export type WeightedTerm = {
  readonly entry: TermEntry;
  /** Inverse document frequency, times what the query's analysis says about it. */
  readonly weight: number;
  /** Only these forms count (indexes into `entry.forms`); null: all. For `word_match`. */
  readonly forms: ReadonlySet<number> | null;
};

/** A candidate of the first phase. */
export type ScoredDocument = { readonly document: number; readonly score: number };

/**
 * The first phase: the `limit` documents with the highest sums over terms of
 * `weight × fieldScore(frequencies, lengths)`, ties to the smaller number, in that order. With `forms`, a
 * term counts for a document only where one of its positions has such a form.
 * @throws Failure `timeout` when `deadline` (performance.now() time, ms) passes
 */
export type FindCandidates<Reader extends IndexReader = IndexReader> = (
  reader: Reader,
  terms: readonly WeightedTerm[],
  options: { readonly limit: number; readonly ranking: RankingSettings; readonly deadline: number },
) => readonly ScoredDocument[];
