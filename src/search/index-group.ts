import { type Corpus, corpusOf } from "./corpus.ts";
import type { RankedDocument } from "./ranking/rescore.ts";
import type { SearchIndex } from "./search-index.ts";
import {
  candidateLimit,
  type Prepared,
  prepare,
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
 * with another analyser profile have other terms; they form a corpus of their own, whose scores are scaled by
 * what a document that has all words would get. Ranking settings of an index apply to its documents.
 */
export class IndexGroup {
  readonly indexes: readonly SearchIndex[];
  readonly #members: readonly Member[];

  constructor(indexes: readonly SearchIndex[]) {
    this.indexes = indexes;
    const corpora = new Map(
      Map.groupBy(indexes, ({ profile }) => profile)
        .entries()
        .map(([profile, members]) => [profile, corpusOf(members.map(({ reader }) => reader))]),
    );
    this.#members = indexes.map((search, index) => ({ index, search, corpus: corpora.get(search.profile)! }));
  }

  /**
   * Returns the best documents of all indexes, best first; ties are in the order of their URLs.
   * @throws Failure `timeout`, `index_corrupt`
   */
  search(text: string, options: SearchOptions): GroupHit[] {
    const started = this.#start(text, options);
    const limit = candidateLimit(options);
    const scores = started.flatMap(({ prepared, scale }) =>
      prepared.candidates.map(({ score }) => score * scale),
    );
    // In one index no more than these would go on to the second phase.
    const least = scores.sort((a, b) => b - a)[limit - 1] ?? 0;
    const ranked = started.flatMap((one) => {
      const candidates = one.prepared.candidates.filter(({ score }) => score * one.scale >= least);
      if (candidates.length === 0) return [];
      return rescorePrepared({ ...one.prepared, candidates }, options, one.corpus).map((document) => ({
        one,
        document: { ...document, score: document.score * one.scale },
      }));
    });
    return ranked
      .sort((a, b) => b.document.score - a.document.score || compareUrls(a, b))
      .slice(0, options.size)
      .map(({ one, document }) => ({ ...showHit(one.prepared, document, options), index: one.index }));
  }

  #start(text: string, options: SearchOptions): Started[] {
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

type Placed = { readonly one: Started; readonly document: RankedDocument };

function compareUrls(a: Placed, b: Placed): number {
  const [first, second] = [a, b].map(({ one, document }) => one.search.reader.url(document.document));
  return first! < second! ? -1 : first! > second! ? 1 : a.one.index - b.one.index;
}
