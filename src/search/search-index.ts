import { open } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../base/failure.ts";
import type { DocumentUrl } from "../urls/index.ts";
import { Analyser, analyserFingerprint } from "./analysis/analyser.ts";
import { requireKnownValues } from "./attributes.ts";
import { Corpus } from "./corpus.ts";
import type { RankedDocument } from "./ranking/rescore.ts";
import {
  addCounts,
  candidateLimit,
  countIn,
  type MatchCounts,
  mayBeLoose,
  type Prepared,
  pageOf,
  prepare,
  rankTiers,
  rescorePrepared,
  type SearcherParts,
  type SearchHit,
  type SearchOptions,
  type SearchSettings,
  searchIndex,
  showHit,
  wantedOf,
} from "./searcher.ts";
import { MAGIC } from "./segment/file.ts";
import { Segment } from "./segment/segment.ts";
import { ANALYZER_PROFILES, LANGUAGES, type StoredDocument } from "./types.ts";

/** Settings that may differ each time that an index is opened; profile and language are fixed when it is built. */
export type OpenSettings = Omit<SearchSettings, "profile" | "language">;

/** The most words that an analyser may remember before it forgets them, which limits its memory. */
const MAX_WORDS = 20_000;

/** By fingerprint. All searches share them, because most words of a snippet have been in an earlier one. */
const analysers = new Map<string, Analyser>();

/**
 * An index file that is open for searches and fetches. It is a snapshot: a newer file of the same name does
 * not disturb it. Opening takes a millisecond, and only what a search needs is read.
 */
export class SearchIndex implements Disposable {
  /** The document that was fetched last of all indexes of the process. */
  static #last: {
    readonly index: SearchIndex;
    readonly document: number;
    readonly content: StoredDocument;
  } | null = null;
  readonly #segment: Segment;
  readonly #settings: SearchSettings;
  readonly #analyser: Analyser;

  private constructor(segment: Segment, settings: OpenSettings) {
    this.#segment = segment;
    const analysis = analysisOf(segment);
    this.#settings = { ...settings, ...analysis };
    const known = analysers.get(segment.analyserFingerprint);
    this.#analyser = known ?? new Analyser(analysis.profile, analysis.language);
    analysers.set(segment.analyserFingerprint, this.#analyser);
  }

  /**
   * Opens an index file; dispose it after use.
   * @throws Failure `index_missing`, `index_outdated` (another version's format or analysis),
   * `index_corrupt`, `unreadable_input`
   */
  static open(path: string, settings: OpenSettings): SearchIndex {
    const segment = Segment.open(path);
    try {
      return new SearchIndex(segment, settings);
    } catch (error) {
      segment[Symbol.dispose]();
      throw error;
    }
  }

  /** Whose index it is, as its builder has written it; null without one. */
  get owner(): string | null {
    return this.#segment.owner;
  }

  get pageCount(): number {
    return this.#segment.documentCount;
  }

  /**
   * Does what `searchIndex` does.
   * @throws Failure `timeout`, `index_corrupt`; `invalid_usage` for a value of a filter that no document has
   */
  search(query: string, options: SearchOptions): SearchHit[] {
    this.#requireKnownValues(options);
    return searchIndex(this.searcher(), query, options);
  }

  /** Counts what a query finds. @throws Failure as `search` */
  count(query: string, options: SearchOptions): MatchCounts {
    this.#requireKnownValues(options);
    return countIn(this.searcher(), query, options, null);
  }

  /** Attributes of its documents for filters. */
  get known() {
    return { attributes: this.#segment.attributes, assumed: this.#settings.assumed };
  }

  #requireKnownValues({ filter }: SearchOptions): void {
    if (filter) requireKnownValues([this.known], filter);
  }

  /** The segment that its documents and terms are read from. */
  get reader(): Segment {
    return this.#segment;
  }

  /** The parts of a search that is about to begin. @throws Failure `index_corrupt` */
  searcher(): SearcherParts {
    this.#segment.requireWhole();
    if (this.#analyser.size > MAX_WORDS) this.#analyser.clear();
    return { reader: this.#segment, settings: this.#settings, analyser: this.#analyser };
  }

  /** The document with this address; null when the index has none. @throws Failure `index_corrupt` */
  fetch(url: DocumentUrl): StoredDocument | null {
    this.#segment.requireWhole();
    const document = this.#segment.findDocument(url);
    if (document < 0) return null;
    // A client reads a long document part by part, and decoding 19 MB takes 100 ms.
    if (SearchIndex.#last?.index !== this || SearchIndex.#last.document !== document)
      SearchIndex.#last = { index: this, document, content: this.#segment.document(document) };
    return SearchIndex.#last.content;
  }

  [Symbol.dispose](): void {
    if (SearchIndex.#last?.index === this) SearchIndex.#last = null;
    this.#segment[Symbol.dispose]();
  }
}

/** The index of a folder of documents, in a hidden folder that is left out when documents are read. */
export const indexFileOf = (folder: string): string => join(folder, ".article-extractor", "search.index");

/** Refuses to overwrite a file that is no index. @throws Failure `invalid_usage` */
export async function refuseForeignFile(path: string): Promise<void> {
  const file = await open(path).catch(() => null);
  if (file === null) return;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    if (bytesRead > 0 && buffer.toString("latin1", 0, bytesRead) !== MAGIC)
      throw new Failure("invalid_usage", `${path} exists and is not a search index: name another file`);
  } finally {
    await file.close();
  }
}

/** `SearchIndex.owner` of a file; null also where there is no index that can be read. */
export function ownerOfIndex(path: string): string | null {
  using segment = Segment.openIfWhole(path);
  return segment?.owner ?? null;
}

function analysisOf({ analyserFingerprint: fingerprint, path }: Segment) {
  for (const profile of ANALYZER_PROFILES) {
    const language = LANGUAGES.find((candidate) => analyserFingerprint(profile, candidate) === fingerprint);
    if (language) return { profile, language };
  }
  throw new Failure(
    "index_outdated",
    `the search index ${path} was built for the analysis ${fingerprint}, which this version does not have; build it again`,
  );
}

/** A hit in one of several indexes. */
type GroupHit = SearchHit & {
  /** The place of its index in the group. */
  readonly index: number;
};

type Member = { readonly index: number; readonly search: SearchIndex; readonly corpus: Corpus };

type Started = Member & {
  readonly prepared: Prepared;
  /** Makes scores from different corpora comparable; 1 within one. */
  readonly scale: number;
};

/**
 * Several open indexes that are searched as if their documents were in one: document frequencies and mean
 * lengths are those of all together, so that a document has the same score as in one index of all. Indexes
 * with another analyser profile or language have other terms; they form a corpus of their own, whose scores are scaled by
 * what a document that has all words would get. Ranking settings of an index apply to its documents.
 */
export class IndexGroup {
  readonly indexes: readonly SearchIndex[];
  readonly #members: readonly Member[];

  constructor(indexes: readonly SearchIndex[]) {
    this.indexes = indexes;
    const corpora = new Map(
      Map.groupBy(indexes, ({ reader }) => reader.analyserFingerprint)
        .entries()
        .map(([fingerprint, members]) => [fingerprint, new Corpus(members.map(({ reader }) => reader))]),
    );
    this.#members = indexes.map((search, index) => {
      const corpus = corpora.get(search.reader.analyserFingerprint)!;
      return { index, search, corpus };
    });
  }

  /**
   * Returns the best documents of all indexes, best first; ties are in the order of their URLs.
   * @throws Failure `timeout`, `index_corrupt`; `invalid_usage` for a value of a filter that no document has
   */
  search(text: string, options: SearchOptions): GroupHit[] {
    const started = this.#start(text, options);
    const prepared = started.map((one) => one.prepared);
    if (mayBeLoose(prepared, options)) return this.search(text, { ...options, isLoose: true });
    const candidates = started.flatMap((one): Placed[] =>
      one.prepared.candidates.map(({ document, score }) => ({ one, document, score: score * one.scale })),
    );
    const { perIndex } = options;
    candidates.sort(byScore);
    // A single index would not send more candidates to the second phase.
    const best =
      perIndex === undefined
        ? candidates.slice(0, candidateLimit(options))
        : fewOfEach(candidates, perIndex * RESCORED_FOR_ONE).slice(0, MAX_RESCORED);
    const ranked = rankTiers(best, (tier) =>
      [...Map.groupBy(tier, ({ one }) => one)]
        .flatMap(([one, own]) => {
          const unscaled = own.map(({ document, score }) => ({ document, score: score / one.scale }));
          const prepared = { ...one.prepared, candidates: unscaled };
          return rescorePrepared(prepared, options, one.corpus, wantedOf(options)).map(
            (hit): Hit => ({ one, hit, document: hit.document, score: hit.score * one.scale }),
          );
        })
        .sort(byScore),
    );
    const shown = perIndex === undefined ? ranked : fewOfEach(ranked, perIndex);
    return pageOf(shown, options).map(({ one, hit, score }) => ({
      ...showHit(one.prepared, { ...hit, score }, options),
      index: one.index,
    }));
  }

  /** Counts what a query finds in all indexes, and in each. @throws Failure as `search` */
  count(text: string, options: SearchOptions): MatchCounts {
    this.#requireKnownValues(options);
    return addCounts(
      this.#members.map(({ search, corpus }) => countIn(search.searcher(), text, options, corpus)),
    );
  }

  #requireKnownValues({ filter }: SearchOptions): void {
    if (filter)
      requireKnownValues(
        this.indexes.map(({ known }) => known),
        filter,
      );
  }

  #start(text: string, options: SearchOptions): Started[] {
    this.#requireKnownValues(options);
    const started = this.#members.map((member) => ({
      ...member,
      prepared: prepare(member.search.searcher(), text, options, member.corpus),
    }));
    const reference = started[0]?.prepared.query.leafWeight ?? 0;
    return started.map((one) => {
      const { leafWeight } = one.prepared.query;
      const isComparable = one.corpus === started[0]?.corpus || leafWeight === 0;
      return { ...one, scale: isComparable ? 1 : reference / leafWeight };
    });
  }
}

/** How many candidates the second phase chooses each hit of an index from, where hits of each are limited. */
const RESCORED_FOR_ONE = 4;
/** The most candidates of all indexes then. */
const MAX_RESCORED = 1500;

/** The first ones of each index, in their order. */
function fewOfEach<One extends Placed>(all: readonly One[], most: number): One[] {
  const counts = new Map<Started, number>();
  return all.filter(({ one }) => {
    const count = (counts.get(one) ?? 0) + 1;
    counts.set(one, count);
    return count <= most;
  });
}

type Placed = {
  readonly one: Started;
  readonly document: number;
  readonly score: number;
  /** Its URL once it was compared, because reading one takes longer than sorting. */
  url?: string;
};

type Hit = Placed & { readonly hit: RankedDocument };

const byScore = (a: Placed, b: Placed): number => b.score - a.score || compareUrls(a, b);

function compareUrls(a: Placed, b: Placed): number {
  // The documents of an index are numbered in the order of their URLs.
  if (a.one === b.one) return a.document - b.document;
  for (const placed of [a, b]) placed.url ??= placed.one.search.reader.url(placed.document);
  return a.url! < b.url! ? -1 : a.url! > b.url! ? 1 : a.one.index - b.one.index;
}
