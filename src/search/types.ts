import { wordsIn } from "../base/text.ts";
import type { DocumentUrl } from "../urls/index.ts";

/**
 * The fields in which terms are counted. Their order gives their numbers (0–7) everywhere: in boosts, in
 * `Postings.frequencies`, in field lengths. `headings` are those of level 3 and deeper.
 */
export const FIELDS = wordsIn("title headings_h1 headings_h2 headings body code path url");

export const FIELD_COUNT = FIELDS.length;

export type FieldName = (typeof FIELDS)[number];

/** The number of a field is its index in `FIELDS`. */
export type FieldNumber = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** The factor of each field's part of the score, from 0 (the field does not count) to 5. */
export type Boosts = Readonly<Record<FieldName, number>>;

export const ANALYZER_PROFILES = ["default", "aggressive-stem", "code-friendly"] as const;

/** How text becomes terms; `Analyser` explains how the profiles differ. */
export type AnalyzerProfile = (typeof ANALYZER_PROFILES)[number];

/**
 * The languages whose words have terms of their own, as BCP 47 tags. Documents in other languages are treated
 * as English ones, whose stems change words of other scripts in nothing.
 */
export const LANGUAGES = ["da", "de", "en", "es", "fi", "fr", "it", "nl", "no", "pt", "ru", "sv"] as const;

export type Language = (typeof LANGUAGES)[number];

/** How documents are scored; it may change without a new index. */
export type RankingSettings = {
  /** The saturation of repeated terms, 0.5–3. */
  readonly k1: number;
  /** How much a field's length counts, 0.1–1. */
  readonly b: number;
  readonly boosts: Boosts;
};

/** A document to index. */
export type SourceDocument = {
  readonly url: DocumentUrl;
  /** One line, possibly empty. */
  readonly title: string;
  /** Without front matter. */
  readonly markdown: string;
  /** The ids that the page has on the web, if the document was made of such a page. */
  readonly anchors?: readonly DocumentAnchor[] | undefined;
  /** Its own statements about itself besides its text. */
  readonly declared?: DeclaredAttributes | undefined;
};

/** Attributes that a document declares, in front matter or in HTML. */
type DeclaredAttributes = {
  /** A BCP 47 tag. */
  readonly language?: string | undefined;
  /** Any form that begins with `YYYY-MM-DD`. */
  readonly date?: string | undefined;
  /** Whether it is of a form that only reference has, such as the description of an API. */
  readonly isReference?: boolean | undefined;
};

/** A fragment of a document's address, and the place that it leads to. */
export type DocumentAnchor = {
  readonly id: string;
  /** Start of its element's line in the Markdown, in UTF-16 code units. */
  readonly start: number;
};

/**
 * The numbers of a document that the second phase of ranking reads. A document's tokens are numbered in one
 * stream of positions: title, gap, URL, gap, the URL's path again, gap, then headings, text and code in the
 * order of the Markdown, starting at `contentStart`. Gaps keep phrases from spanning two parts.
 */
export type DocumentLayout = {
  /** The position after the title's last token; the title begins at 0. */
  readonly titleEnd: number;
  /** The position of the Markdown's first token. */
  readonly contentStart: number;
  /** The position after the first 400 characters or so of the Markdown's text. */
  readonly leadEnd: number;
  /** The position after the last token. */
  readonly end: number;
  /**
   * The first position of each passage (about 900 characters, never spanning two sections), ascending; the
   * first is `contentStart`. Empty for a document without content.
   */
  readonly passageStarts: Uint32Array;
  /** The first position of each section with its heading, ascending; section 0 comes before all headings. */
  readonly sectionStarts: Uint32Array;
  /** The position after the last token of each section's heading; its start when it has no heading. */
  readonly headingEnds: Uint32Array;
  /** The section that contains each section; 0 for those at the top and for section 0 itself. */
  readonly sectionParents: Uint32Array;
};

/** A section as it is shown. */
export type Section = {
  /** 1–6; 0 for the text before the first heading. */
  readonly level: number;
  /** The plain text of the heading; empty for section 0. */
  readonly heading: string;
  /**
   * The fragment that leads to the heading: its id, or what the collection's generator makes of its text.
   * Empty for section 0, and for a heading of a web page that has no id.
   */
  readonly anchor: string;
  /** Whether the document or its page says the anchor, so that no generator makes it. */
  readonly isAnchorWritten: boolean;
  /** The range in `markdown` (UTF-16 code units, end exclusive), with the heading but without subsections. */
  readonly start: number;
  readonly end: number;
};

/**
 * A document as analysis passes it to the builder. The typed arrays belong to the analyser, and their values
 * are valid until its next document.
 */
export type AnalysedDocument = {
  readonly url: DocumentUrl;
  readonly title: string;
  /** Without front matter; what is stored for snippets and fetches. */
  readonly markdown: string;
  /** The number of tokens in each field, by field number. */
  readonly fieldLengths: Uint32Array;
  /** How many entries of `words`, `fields` and `positions` are used. */
  readonly tokenCount: number;
  /** Numbers of words in the analyser's vocabulary. */
  readonly words: Uint32Array;
  /** The field number of each token. */
  readonly fields: Uint8Array;
  /** Positions, never descending; a whole identifier shares its position with its first part. */
  readonly positions: Uint32Array;
  readonly layout: DocumentLayout;
  readonly sections: readonly Section[];
  /** The document's other fragments, in the order of their places. */
  readonly anchors: readonly DocumentAnchor[];
  /** Hashes of the fragments that it links to within its own site. */
  readonly linkedFragments: Uint32Array;
};

/** A number above that of every document, which marks the end of postings. */
export const NO_DOCUMENT = 0x7fff_ffff;

/** The documents that hold a term, in ascending order. It starts before the first. */
export interface Postings {
  readonly documentFrequency: number;
  /** The document number; -1 before the first move, `NO_DOCUMENT` at the end. */
  readonly document: number;
  /** Moves to the next document. */
  next(): number;
  /** Moves to the first document at or after `target`, which must not be before the current one. */
  advance(target: number): number;
  /** How often the term occurs in each field of the document, by its number; each move reuses the array. */
  readonly frequencies: Uint32Array;
  /**
   * Reads the term's positions in the current document in ascending order, each once per form.
   * @param deadline in the time of performance.now(), ms; by default there is none
   * @returns how many entries of `positions` and `forms` are used
   * @throws Failure `timeout`
   */
  readPositions(deadline?: number): number;
  readonly positions: Uint32Array;
  /** The form at each position, as an index into `TermEntry.forms`. */
  readonly forms: Uint16Array;
}

/** The dictionary's data about a term. */
export type TermEntry = {
  readonly term: string;
  /** The dictionary's own number or offset of the term. */
  readonly id: number;
  readonly documentFrequency: number;
  /** The forms in code unit order; at most 65 535. */
  readonly forms: readonly string[];
};

/** Terms in code unit order, read one by one without their forms. It starts before the first. */
export interface TermWalk {
  /** Moves to the next term; returns false at the end. */
  next(): boolean;
  readonly term: string;
  readonly documentFrequency: number;
}

/** A document as it is shown and fetched. */
export type StoredDocument = {
  readonly url: DocumentUrl;
  readonly title: string;
  readonly markdown: string;
  readonly sections: readonly Section[];
  /** Fragments besides those of the sections, in the order of their places. */
  readonly anchors: readonly DocumentAnchor[];
};

/** A document as a hit shows it; parts of its Markdown are read without the rest. */
export type DocumentParts = Omit<StoredDocument, "markdown" | "anchors"> & {
  /** A range of the Markdown, such as that of a `Section`; shorter at its end. @throws Failure `timeout` */
  markdownOf(start: number, end: number): string;
};

/** The attributes of all documents of an index, by document number. */
export type AttributeTable = {
  /** Hashes that all variants of a page share (`DocumentAttributes.page`). */
  readonly pages: Uint32Array;
  /** Places in `KINDS`. */
  readonly kinds: Uint16Array;
  /** Places in `languageNames`. */
  readonly languages: Uint16Array;
  /** Places in `versionNames`. */
  readonly versions: Uint16Array;
  /** Days since 1970; 0 when a date is not known. */
  readonly dates: Uint16Array;
  /** The first name is empty and stands for an unknown language. */
  readonly languageNames: readonly string[];
  readonly versionNames: readonly string[];
};

/**
 * An immutable index as ranking reads it: a segment, or a small index in memory. Documents are numbered from
 * 0 in the order of their URLs (code units), so that the smaller number wins a tie of scores.
 */
export interface IndexReader {
  readonly documentCount: number;
  /** The fingerprint of the analyser with which the index was built. */
  readonly analyserFingerprint: string;
  /** The sum of `fieldLengths` over all documents, by field number. */
  readonly fieldTotals: Float64Array;
  /** The exact number of tokens in a field of a document. */
  fieldLength(document: number, field: FieldNumber): number;
  find(term: string): TermEntry | null;
  postings(entry: TermEntry): Postings;
  /** At most `limit` terms with a prefix, in code unit order, for correcting typing mistakes. */
  termsWithPrefix(prefix: string, limit: number): readonly TermEntry[];
  /** The terms with a prefix, in code unit order. */
  walk(prefix: string): TermWalk;
  /** Long terms of letters with an end, in the order of their letters from the last to the first; in languages
   * with compounds only. */
  walkEnds(end: string): TermWalk;
  layout(document: number): DocumentLayout;
  /** The documents' attributes for filters and ranking. */
  readonly attributes: AttributeTable;
  url(document: number): DocumentUrl;
  document(document: number): StoredDocument;
  /** @param deadline the deadline of the search */
  parts(document: number, deadline: number): DocumentParts;
}

/** A term of a query with the factor of its score. */
export type WeightedTerm = {
  readonly entry: TermEntry;
  /** The inverse document frequency, times a factor from the analysis of the query. */
  readonly weight: number;
  /** The forms that count (indexes into `entry.forms`), for `word_match`; null counts all. */
  readonly forms: ReadonlySet<number> | null;
};

/** A candidate of the first phase. */
export type ScoredDocument = { readonly document: number; readonly score: number };

/** Totals that the mean lengths of fields are computed from; each index has its own. */
export type LengthTotals = Pick<IndexReader, "documentCount" | "fieldTotals">;

export type CandidateOptions = {
  /** The most candidates to return, at least 1. */
  readonly limit: number;
  readonly ranking: RankingSettings;
  /** The source of the mean lengths of fields; by default the index alone. */
  readonly corpus?: LengthTotals;
  /** The documents that may be found, a bit each; by default all. */
  readonly allowed?: Uint32Array | null;
  /** The factor of each document's score, above 0; by default 1. */
  readonly factors?: Float64Array | null;
  /** When the search must end, on the clock of `performance.now()`, in ms. */
  readonly deadline: number;
};
