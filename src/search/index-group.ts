import { requireKnownValues } from "./attributes/filter.ts";
import { type Corpus, corpusOf } from "./corpus.ts";
import { addCounts, type MatchCounts } from "./counts.ts";
import type { RankedDocument } from "./ranking/rescore.ts";
import type { SearchIndex } from "./search-index.ts";
import {
  candidateLimit,
  countIn,
  type Prepared,
  pageOf,
  prepare,
  rankTiers,
  rescorePrepared,
  type SearchHit,
  type SearchOptions,
  showHit,
} from "./searcher.ts";
import type { Segment } from "./segment/segment.ts";

/** A hit in one of several indexes. */
export type GroupHit = SearchHit & {
  /** The place of its index in the group. */
  readonly index: number;
};

type Member = { readonly index: number; readonly search: SearchIndex; readonly corpus: Corpus };

type Started = Member & {
  readonly prepared: Prepared<Segment>;
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
        .map(([fingerprint, members]) => [fingerprint, corpusOf(members.map(({ reader }) => reader))]),
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
    const candidates = started.flatMap((one): Placed[] =>
      one.prepared.candidates.map(({ document, score }) => ({ one, document, score: score * one.scale })),
    );
    const { perIndex } = options;
    candidates.sort(byScore);
    // In one index no more than these would go on to the second phase.
    const best =
      perIndex === undefined
        ? candidates.slice(0, candidateLimit(options))
        : fewOfEach(candidates, perIndex * RESCORED_FOR_ONE).slice(0, MAX_RESCORED);
    const ranked = rankTiers(best, (tier) =>
      started
        .flatMap((one) => {
          const own = tier.filter((candidate) => candidate.one === one);
          const unscaled = own.map(({ document, score }) => ({ document, score: score / one.scale }));
          if (own.length === 0) return [];
          return rescorePrepared({ ...one.prepared, candidates: unscaled }, options, one.corpus).map(
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

  /**
   * Counts what a query finds in all indexes, and in each.
   * @throws Failure as `search`
   */
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

type Placed = { readonly one: Started; readonly document: number; readonly score: number };

type Hit = Placed & { readonly hit: RankedDocument };

const byScore = (a: Placed, b: Placed): number => b.score - a.score || compareUrls(a, b);

function compareUrls(a: Placed, b: Placed): number {
  const [first, second] = [a, b].map(({ one, document }) => one.search.reader.url(document));
  return first! < second! ? -1 : first! > second! ? 1 : a.one.index - b.one.index;
}
