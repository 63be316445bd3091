import { Failure } from "../base/failure.ts";
import type { DocumentUrl } from "../urls/index.ts";
import { Analyser, analyserFingerprint } from "./analysis/analyser.ts";
import {
  type AppliedFilter,
  type AssumedAttributes,
  allowedBits,
  applyFilter,
  type DocumentAttributes,
  type DocumentBits,
  hasBit,
  KINDS,
  NO_FILTER,
  type SearchFilter,
} from "./attributes.ts";
import type { Corpus } from "./corpus.ts";
import { checkDeadline } from "./deadline.ts";
import { fragmentOf, PAGE_LEVEL, pageAnchorOf } from "./document/sections.ts";
import { type CompiledQuery, compileQuery } from "./query/compile.ts";
import type { SynonymSettings } from "./query/derived-terms.ts";
import { documentsWithPhrases, scoreDocuments } from "./query/phrases.ts";
import { findSigns } from "./query/signs.ts";
import { RANKING } from "./ranking/formula.ts";
import { type RankedDocument, rescore, type ScoreExplanation } from "./ranking/rescore.ts";
import {
  type Factors,
  factorsOf,
  intentOf,
  type PathPreferences,
  standingAlone,
} from "./ranking/standing.ts";
import { findCandidates } from "./segment/find-candidates.ts";
import type { Segment } from "./segment/segment.ts";
import { makeSnippet, type SnippetSettings, type SnippetStyle } from "./snippet.ts";
import {
  type AnalyzerProfile,
  type IndexReader,
  type Language,
  NO_DOCUMENT,
  type RankingSettings,
  type ScoredDocument,
  type Section,
} from "./types.ts";

/** A tenant's settings for its searches. */
export type SearchSettings = {
  readonly profile: AnalyzerProfile;
  /** The language whose words have terms of their own. */
  readonly language: Language;
  readonly ranking: RankingSettings;
  readonly snippet: SnippetSettings;
  /** Words that are also searched for when another one is typed. */
  readonly synonyms: SynonymSettings;
  /** Pages that stand before or behind others, by their paths. */
  readonly preferences: PathPreferences;
  /** The attributes of documents that do not tell their own. */
  readonly assumed: AssumedAttributes;
};

/** Options of a search besides its query. */
export type SearchWish = {
  /** The most hits to return, 1–100. */
  readonly size: number;
  /** How many of the best hits are left out, as they were on the pages before; by default none. */
  readonly offset?: number | undefined;
  /** Conditions that documents must meet; by default none. */
  readonly filter?: SearchFilter | undefined;
  /** Whether to search only for words as typed: no stems, synonyms or corrections. */
  readonly wordMatch: boolean;
  /** Whether quoted words count as ordinary ones; set where no document has the phrases. */
  readonly isLoose?: boolean | undefined;
  /** Whether hits name all the sections with the best passages. */
  readonly withSections?: boolean | undefined;
  /** The style of snippets; it replaces the one in the settings. */
  readonly snippetStyle?: SnippetStyle | undefined;
};

export type SearchOptions = SearchWish & {
  /** The most hits of each of several indexes; by default any number. */
  readonly perIndex?: number | undefined;
  /** Whether hits explain how their scores came about. */
  readonly explain: boolean;
  /** When to give up, in the time of performance.now(), ms. */
  readonly deadline: number;
};

/** A section of a document as a hit shows it. */
type HitSection = {
  readonly snippet: string;
  /** The anchor of the section, or of the nearest around it that has one; null before the first heading. */
  readonly anchor: string | null;
  /** The headings from the outermost to the section's own. */
  readonly headings: readonly string[];
};

/** Message about hits with `isLoose`. */
export const LOOSE_NOTE = "no document has the quoted words together; these have some of them";

/** A document that was found, with the section that fits best. */
export type SearchHit = HitSection & {
  /** The page's address without fragment. */
  readonly url: DocumentUrl;
  readonly title: string;
  readonly score: number;
  /** At most three, the best first, if they were asked for. */
  readonly sections: readonly HitSection[];
  readonly attributes: Pick<DocumentAttributes, "kind" | "language" | "version" | "date">;
  /** Whether no document has the query's quoted phrases, so that they counted as ordinary words. */
  readonly isLoose: boolean;
  readonly explanation: ScoreExplanation | null;
};

export type SearcherParts = {
  readonly reader: Segment;
  readonly settings: SearchSettings;
  /**
   * An analyser with the settings' profile, for queries and snippets. The words that it has learned make the
   * next search faster. Without one, a search makes its own.
   */
  readonly analyser?: Analyser;
};

/** A query in one index after the first phase. */
export type Prepared = {
  readonly parts: SearcherParts;
  readonly analyser: Analyser;
  readonly query: CompiledQuery;
  readonly applied: AppliedFilter;
  /** Factors of the scores; see `factorsOf`. */
  readonly factors: Factors;
  /** The highest first. */
  readonly candidates: readonly ScoredDocument[];
  /** The candidates for signs, which have been ranked already. */
  readonly signed: readonly RankedDocument[];
};

/**
 * Looks up a query in an index and finds the candidates for the second phase. Any text is a query; a query
 * without words, or with none that the index knows, has no candidates.
 * @param corpus what scores are computed from; null for the index alone
 * @throws Failure `timeout` when the deadline passes; `invalid_settings` when the index was built with
 * another analyser than the settings ask for
 */
export function prepare(
  parts: SearcherParts,
  text: string,
  options: SearchOptions,
  corpus: Corpus | null,
): Prepared {
  const { analyser, query } = compile(parts, text, options, corpus);
  const { settings, reader } = parts;
  const { filter = NO_FILTER, deadline } = options;
  const applied = applyFilter(reader, filter, { assumed: settings.assumed, deadline });
  const standing = corpus?.standing ?? standingAlone(reader.attributes);
  const factors = factorsOf(reader, { standing, preferences: settings.preferences, intent: intentOf(text) });
  const prepared = { parts, analyser, query, applied, factors };
  const { terms, signs } = query;
  if (signs !== null) {
    const allowed = allowedBits(applied);
    const isAllowed = (document: number) => allowed === null || hasBit(allowed, document);
    const signed = findSigns(reader, signs, { isAllowed, factors, deadline });
    return { ...prepared, candidates: signed.slice(0, candidateLimit(options)), signed };
  }
  const candidates = terms.length === 0 ? [] : candidatesFor(prepared, options, corpus);
  return { ...prepared, candidates, signed: [] };
}

/** Counts what a query finds in an index, without ranking it. @throws Failure as `prepare` */
export function countIn(
  parts: SearcherParts,
  text: string,
  options: SearchOptions,
  corpus: Corpus | null,
): MatchCounts {
  const { query } = compile(parts, text, options, corpus);
  const { assumed } = parts.settings;
  const { reader } = parts;
  const { deadline, filter = NO_FILTER } = options;
  const applied = applyFilter(reader, filter, { assumed, deadline });
  const matched = matchedBits(reader, query, deadline);
  const { kinds, languages, versions, languageNames, versionNames } = reader.attributes;
  const valuesOf = (
    name: CountedName,
    numbers: Uint16Array,
    names: readonly string[],
    assumedName: string,
  ) => {
    const counts = countNumbers(both(matched, allowedBits(applied, name)), numbers, names.length);
    const values = new Map<string, number>();
    counts.forEach((count, number) => {
      const value = names[number] || assumedName;
      if (count > 0 && value !== "") values.set(value, (values.get(value) ?? 0) + count);
    });
    return values;
  };
  const total = countBits(both(matched, allowedBits(applied)));
  return {
    total,
    totals: [total],
    isExact: query.terms.every(({ entry, forms }) => forms === null || forms.size === entry.forms.length),
    values: {
      kind: valuesOf("kind", kinds, KINDS, ""),
      language: valuesOf("language", languages, languageNames, assumed.language),
      version: valuesOf("version", versions, versionNames, assumed.version),
    },
  };
}

function compile(
  parts: SearcherParts,
  text: string,
  { wordMatch, deadline, isLoose }: SearchOptions,
  corpus: Corpus | null,
): Pick<Prepared, "analyser" | "query"> {
  const { reader, settings } = parts;
  const wanted = analyserFingerprint(settings.profile, settings.language);
  if (reader.analyserFingerprint !== wanted) {
    throw new Failure(
      "invalid_settings",
      `the index was built with the analyser ${reader.analyserFingerprint}, not ${wanted}: build it anew`,
    );
  }
  const analyser = parts.analyser ?? new Analyser(settings.profile, settings.language);
  const { synonyms } = settings;
  const query = compileQuery(reader, analyser, text, { wordMatch, isLoose, synonyms, corpus, deadline });
  return { analyser, query };
}

/** The second phase for the candidates, or some of them. @param wanted how many of the best are needed; see `rescore` */
export const rescorePrepared = (
  { parts: { reader, settings }, query, candidates, factors, signed }: Prepared,
  { deadline, explain }: SearchOptions,
  corpus: Corpus | null,
  wanted?: number,
): RankedDocument[] => {
  if (query.signs !== null)
    return signed.filter(({ document }) => candidates.some((one) => one.document === document));
  return rescore(reader, query, candidates, {
    ranking: settings.ranking,
    corpus: corpus ?? reader,
    factors,
    deadline,
    isExplained: explain,
    wanted,
  });
};

/** How many of the best documents a page of hits needs; undefined for all, where it is not in the first tier. */
export const wantedOf = ({ size, offset = 0, perIndex }: SearchOptions): number | undefined =>
  perIndex === undefined && offset + size <= RANKING.candidates ? offset + size : undefined;

/**
 * Searches an index and returns the best documents, one hit each, best first, each with its best section and
 * a snippet from it; ties are in the order of their URLs.
 * @throws Failure as `prepare`
 */
export function searchIndex(parts: SearcherParts, text: string, options: SearchOptions): SearchHit[] {
  const prepared = prepare(parts, text, options, null);
  if (mayBeLoose([prepared], options)) return searchIndex(parts, text, { ...options, isLoose: true });
  const documents = rankTiers(prepared.candidates, (candidates) =>
    rescorePrepared({ ...prepared, candidates }, options, null, wantedOf(options)),
  );
  return pageOf(documents, options).map((ranked) => showHit(prepared, ranked, options));
}

/** Whether to search again without the phrases of a query: no document has them, and there are words beside them. */
export const mayBeLoose = (all: readonly Prepared[], { isLoose }: SearchOptions): boolean =>
  !isLoose &&
  all.every(({ candidates }) => candidates.length === 0) &&
  all.some(({ query }) => query.isLoosable);

/**
 * Ranks candidates in tiers, each of the size of one second phase, so that a page of hits does not depend on the number
 * of requested pages. A document of a later tier has at most the lowest score of the tier before.
 * @param rankTier runs the second phase for some candidates
 */
export function rankTiers<Candidate, Ranked extends { readonly score: number }>(
  candidates: readonly Candidate[],
  rankTier: (tier: readonly Candidate[]) => readonly Ranked[],
): Ranked[] {
  const ranked: Ranked[] = [];
  for (let start = 0; start < candidates.length; start += RANKING.candidates) {
    const most = ranked.at(-1)?.score ?? Number.POSITIVE_INFINITY;
    for (const one of rankTier(candidates.slice(start, start + RANKING.candidates)))
      ranked.push(one.score <= most ? one : { ...one, score: most });
  }
  return ranked;
}

/** The hits that are asked for. */
export const pageOf = <Ranked>(ranked: readonly Ranked[], { size, offset = 0 }: SearchOptions): Ranked[] =>
  ranked.slice(offset, offset + size);

/** A ranked document as it is shown. */
export function showHit(
  { parts: { reader, settings }, analyser, query }: Prepared,
  { document, score, sections: best, explanation }: RankedDocument,
  { deadline, snippetStyle, withSections = false, isLoose = false }: SearchOptions,
): SearchHit {
  checkDeadline(deadline);
  const shown = reader.parts(document, deadline);
  const { url, title, sections } = shown;
  const parents = reader.layout(document).sectionParents;
  const snippet = { ...settings.snippet, style: snippetStyle ?? settings.snippet.style };
  const show = (section: number): HitSection => ({
    snippet: makeSnippet(shown, section, { analyser, ...query }, snippet),
    ...placeOf(sections, parents, section),
  });
  return {
    url,
    title,
    score,
    ...show(best[0] ?? 0),
    sections: withSections ? best.map(show) : [],
    attributes: attributesIn(reader, document, settings.assumed),
    isLoose,
    explanation,
  };
}

function candidatesFor(
  { parts, query, applied, factors }: Omit<Prepared, "candidates" | "signed">,
  options: SearchOptions,
  corpus: Corpus | null,
): readonly ScoredDocument[] {
  const { reader, settings } = parts;
  const { deadline } = options;
  const limit = candidateLimit(options);
  const allowed = allowedBits(applied);
  const { ranking } = settings;
  const first = { limit, ranking, corpus: corpus ?? reader, deadline, allowed, factors };
  if (query.phrases.length === 0) return findCandidates(reader, query.terms, first);
  const documents = documentsWithPhrases(reader, query.phrases, deadline);
  const kept = allowed === null ? documents : documents.filter((document) => hasBit(allowed, document));
  return scoreDocuments(reader, query.terms, kept, first);
}

/** Returns the number of documents that enter the second phase, in whole tiers. */
export const candidateLimit = ({ size, offset = 0 }: SearchOptions): number =>
  Math.max(1, Math.ceil((offset + size) / RANKING.candidates)) * RANKING.candidates;

function attributesIn(
  { attributes: table }: IndexReader,
  document: number,
  assumed: AssumedAttributes,
): SearchHit["attributes"] {
  return {
    kind: KINDS[table.kinds[document]!] ?? "guide",
    language: table.languageNames[table.languages[document]!] || assumed.language,
    version: table.versionNames[table.versions[document]!] || assumed.version,
    date: table.dates[document]!,
  };
}

/** Longer paths, such as those of signatures, are cut. */
const MAX_PATH = 400;

/**
 * The headings that lead to a hit's section as one text, without the title, which is often the first. The outermost
 * ones are left out of a path of over 400 characters.
 */
export function headingPath({ title, headings }: Pick<SearchHit, "title" | "headings">): string {
  const path = headings.filter((heading) => heading !== "" && heading !== title);
  while (path.length > 1 && path.join(" › ").length > MAX_PATH) path.shift();
  const text = path.join(" › ");
  return text.length > MAX_PATH ? `${text.slice(0, MAX_PATH).toWellFormed()}…` : text;
}

function placeOf(sections: readonly Section[], parents: Uint32Array, section: number) {
  const headings: string[] = [];
  // Headings have an anchor, but for those amid a page of a printed document.
  let anchor = sections[section]?.anchor ? null : pageAnchorOf(sections, section);
  for (let at = section; at > 0; at = parents[at] ?? 0) {
    if (sections[at]?.level !== PAGE_LEVEL) headings.unshift(sections[at]?.heading ?? "");
    anchor ??= fragmentOf(sections[at]?.anchor ?? "") || null;
  }
  return { anchor, headings };
}

/** The attributes of documents whose values are counted. */
type CountedName = "kind" | "language" | "version";

/** How many documents a query finds, and how many of them have each value. */
export type MatchCounts = {
  readonly total: number;
  /** The same in each index. */
  readonly totals: readonly number[];
  /** False when `total` may be too high, because not every place of a word was looked at. */
  readonly isExact: boolean;
  /** Each name is counted over what the other names of the filter allow. */
  readonly values: Readonly<Record<CountedName, ReadonlyMap<string, number>>>;
};

function matchedBits(reader: Segment, query: CompiledQuery, deadline: number): DocumentBits {
  const bits = new Uint32Array(Math.ceil(reader.documentCount / 32));
  const set = (document: number): void => {
    bits[document >>> 5]! |= 1 << (document & 31);
  };
  if (query.signs !== null) {
    const everything = { isAllowed: () => true, factors: null, deadline };
    for (const { document } of findSigns(reader, query.signs, everything)) set(document);
    return bits;
  }
  if (query.phrases.length > 0) {
    for (const document of documentsWithPhrases(reader, query.phrases, deadline)) set(document);
    return bits;
  }
  for (const { entry } of query.terms) {
    const postings = reader.postings(entry);
    for (let count = 1; postings.next() !== NO_DOCUMENT; count++) {
      if ((count & 0xfff) === 0) checkDeadline(deadline);
      set(postings.document);
    }
  }
  return bits;
}

const both = (bits: DocumentBits, allowed: DocumentBits | null): DocumentBits =>
  allowed === null ? bits : bits.map((word, index) => word & allowed[index]!);

function countBits(bits: DocumentBits): number {
  let count = 0;
  for (const word of bits) for (let left = word; left !== 0; left &= left - 1) count++;
  return count;
}

function countNumbers(bits: DocumentBits, numbers: Uint16Array, size: number): Uint32Array {
  const counts = new Uint32Array(size);
  for (let place = 0; place < bits.length; place++) {
    for (let left = bits[place]!; left !== 0; left &= left - 1)
      counts[numbers[place * 32 + 31 - Math.clz32(left & -left)]!]!++;
  }
  return counts;
}

/** The counts of several indexes together. */
export function addCounts(all: readonly MatchCounts[]): MatchCounts {
  const valuesOf = (name: CountedName): ReadonlyMap<string, number> => {
    const sums = new Map<string, number>();
    for (const { values } of all)
      for (const [value, count] of values[name]) sums.set(value, (sums.get(value) ?? 0) + count);
    return sums;
  };
  return {
    total: all.reduce((sum, { total }) => sum + total, 0),
    totals: all.flatMap(({ totals }) => totals),
    isExact: all.every(({ isExact }) => isExact),
    values: { kind: valuesOf("kind"), language: valuesOf("language"), version: valuesOf("version") },
  };
}

/** The most values to show for one name. */
const MAX_VALUES = 100;

/** Counts by name and value as they are shown: the most frequent values first. */
export function facetsOf(values: Readonly<Record<string, ReadonlyMap<string, number>>>) {
  const shown = (counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> => {
    const sorted = [...counts].sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
    return Object.fromEntries(sorted.slice(0, MAX_VALUES));
  };
  return Object.fromEntries(Object.entries(values).map(([name, counts]) => [name, shown(counts)]));
}
