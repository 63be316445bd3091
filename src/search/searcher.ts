import { Failure } from "../base/failure.ts";
import type { DocumentUrl } from "../urls/index.ts";
import { Analyser, analyserFingerprint } from "./analysis/analyser.ts";
import { checkDeadline } from "./deadline.ts";
import { type CompiledQuery, compileQuery } from "./query/compile.ts";
import { documentsWithPhrases, scoreDocuments } from "./query/phrases.ts";
import { RANKING } from "./ranking/constants.ts";
import { type RankedDocument, rescore, type ScoreExplanation } from "./ranking/rescore.ts";
import { makeSnippet, type SnippetSettings, type SnippetStyle } from "./snippet/snippet.ts";
import type {
  AnalyzerProfile,
  FindCandidates,
  IndexReader,
  RankingSettings,
  ScoredDocument,
  Section,
} from "./types.ts";

/** A tenant's settings for its searches. */
export type SearchSettings = {
  readonly profile: AnalyzerProfile;
  readonly ranking: RankingSettings;
  readonly snippet: SnippetSettings;
  /** Whether to search also for words that documentation uses for those of the query (a small fixed list). */
  readonly synonyms: boolean;
};

export type SearchOptions = {
  /** The most hits to return, 1–100. */
  readonly size: number;
  /** Whether to search only for words as typed: no stems, synonyms or corrections. */
  readonly wordMatch: boolean;
  /** Whether hits explain how their scores came about. */
  readonly explain: boolean;
  /** The style of snippets; it replaces the one in the settings. */
  readonly snippetStyle?: SnippetStyle | undefined;
  /** When to give up, in the time of performance.now(), ms. */
  readonly deadline: number;
};

export type SearchHit = {
  /** The page's address without fragment. */
  readonly url: DocumentUrl;
  readonly title: string;
  readonly score: number;
  readonly snippet: string;
  /**
   * The anchor of the section that fits best, or of the nearest around it that has one; null for the text
   * before the first heading.
   */
  readonly anchor: string | null;
  /** The headings from the outermost to the section's own. */
  readonly headings: readonly string[];
  readonly explanation: ScoreExplanation | null;
};

export type SearcherParts<Reader extends IndexReader> = {
  readonly reader: Reader;
  /** The first phase for this kind of reader. */
  readonly findCandidates: FindCandidates<Reader>;
  readonly settings: SearchSettings;
  /**
   * An analyser with the settings' profile, for queries and snippets. The words that it has learned make the
   * next search faster. Without one, a search makes its own.
   */
  readonly analyser?: Analyser;
};

/** The results of a query, before any of them is shown. */
export type Ranking = {
  /** The best first; at least as many as `size` asks for, if the index has them. */
  readonly documents: readonly RankedDocument[];
  readonly query: CompiledQuery;
  readonly analyser: Analyser;
};

/**
 * Ranks an index's documents for a query; ties are in the order of their URLs. Any text is a query; a query
 * without words, or with none that the index knows, finds nothing.
 * @throws Failure `timeout` when the deadline passes; `invalid_settings` when the index was built with
 * another analyser than the settings ask for
 */
export function rankIndex<Reader extends IndexReader>(
  parts: SearcherParts<Reader>,
  text: string,
  options: SearchOptions,
): Ranking {
  const { reader, settings } = parts;
  const wanted = analyserFingerprint(settings.profile);
  if (reader.analyserFingerprint !== wanted) {
    throw new Failure(
      "invalid_settings",
      `the index was built with the analyser ${reader.analyserFingerprint}, not ${wanted}: build it anew`,
    );
  }
  const analyser = parts.analyser ?? new Analyser(settings.profile);
  const query = compileQuery(reader, analyser, text, {
    wordMatch: options.wordMatch,
    synonyms: settings.synonyms,
  });
  if (query.terms.length === 0) return { documents: [], query, analyser };
  const documents = rescore(reader, query, candidatesFor(parts, query, options), {
    ranking: settings.ranking,
    deadline: options.deadline,
    isExplained: options.explain,
  });
  return { documents, query, analyser };
}

/**
 * Searches an index and returns the best documents, one hit each, best first, each with its best section and
 * a snippet from it.
 * @throws Failure as `rankIndex`
 */
export function searchIndex<Reader extends IndexReader>(
  parts: SearcherParts<Reader>,
  text: string,
  options: SearchOptions,
): SearchHit[] {
  const { reader, settings } = parts;
  const { documents, query, analyser } = rankIndex(parts, text, options);
  const snippet = { ...settings.snippet, style: options.snippetStyle ?? settings.snippet.style };
  return documents.slice(0, options.size).map((hit) => {
    checkDeadline(options.deadline);
    const document = reader.parts(hit.document, options.deadline);
    const { url, title, sections } = document;
    const parents = reader.layout(hit.document).sectionParents;
    return {
      url,
      title,
      score: hit.score,
      snippet: makeSnippet(document, hit.section, { analyser, terms: query.terms }, snippet),
      ...placeOf(sections, parents, hit.section),
      explanation: hit.explanation,
    };
  });
}

function candidatesFor<Reader extends IndexReader>(
  { reader, findCandidates, settings }: SearcherParts<Reader>,
  query: CompiledQuery,
  { size, deadline }: SearchOptions,
): readonly ScoredDocument[] {
  const limit = Math.max(size, RANKING.candidates);
  const { ranking } = settings;
  if (query.phrases.length === 0) return findCandidates(reader, query.terms, { limit, ranking, deadline });
  const documents = documentsWithPhrases(reader, query.phrases, deadline);
  return scoreDocuments(reader, query.terms, documents, { limit, ranking, deadline });
}

function placeOf(
  sections: readonly Section[],
  parents: Uint32Array,
  section: number,
): Pick<SearchHit, "anchor" | "headings"> {
  const headings: string[] = [];
  let anchor: string | null = null;
  for (let at = section; at > 0; at = parents[at] ?? 0) {
    headings.unshift(sections[at]?.heading ?? "");
    anchor ??= sections[at]?.anchor || null;
  }
  return { anchor, headings };
}
