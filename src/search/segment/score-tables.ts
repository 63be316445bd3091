import { FieldScorer } from "../ranking/formula.ts";
import {
  FIELD_COUNT,
  type FieldNumber,
  type IndexReader,
  type LengthTotals,
  type RankingSettings,
} from "../types.ts";
import type { Signatures } from "./postings.ts";

/** The table has scores for field lengths below this. */
export const TABLE_LENGTHS = 256;

/** A signature can have this many different frequencies, and so have the tables. */
export const TABLE_FREQUENCIES = 16;

const MAX_LENGTH = 0xffff;

/** The most blocks whose maxima are kept, at 9 bytes each. */
const MAX_CACHED_BLOCKS = 500_000;

/** The parts of an index that the tables are computed from. */
type ScoredIndex = Pick<IndexReader, "fieldLength"> & {
  readonly signatures: Signatures;
  readonly lengthsByDocument: Uint16Array;
};

/**
 * Tables of an index that the first phase needs for one ranking, computed once: the score of every field, frequency and
 * small length (exactly `FieldScorer.part`), the signatures without fields of no weight, and each document's field
 * lengths side by side. Computing them for every posting took half of a search.
 */
export class ScoreTables {
  readonly scorer: FieldScorer;
  /** Scores by frequency × fields + field, then by length. */
  readonly parts: Float64Array;
  /** Signature n has `entries[starts[n]]` up to `entries[starts[n + 1]]`, each frequency × fields + field. */
  readonly starts: Uint32Array;
  readonly entries: Uint8Array;
  /** Lengths by document × fields + field. 65 535 stands for any longer length too. */
  readonly lengths: Uint16Array;
  readonly maxima = new BlockCache<BlockMaxima>(MAX_CACHED_BLOCKS);
  readonly #index: ScoredIndex;

  /** @param corpus what the mean lengths of fields are taken from */
  constructor(index: ScoredIndex, ranking: RankingSettings, corpus: LengthTotals) {
    this.#index = index;
    this.scorer = new FieldScorer(corpus, ranking);
    this.parts = this.#makeParts();
    const { starts, entries } = this.#makeEntries();
    this.starts = starts;
    this.entries = entries;
    this.lengths = index.lengthsByDocument;
  }

  /** The score of a signature's entry in a document, from the table if possible. */
  part(entry: number, document: number): number {
    const length = this.lengths[document * FIELD_COUNT + (entry % FIELD_COUNT)]!;
    if (length < TABLE_LENGTHS) return this.parts[entry * TABLE_LENGTHS + length]!;
    return this.partOf((entry % FIELD_COUNT) as FieldNumber, Math.floor(entry / FIELD_COUNT), document); // below FIELD_COUNT
  }

  partOf(field: FieldNumber, frequency: number, document: number): number {
    return this.scorer.part(field, frequency, this.#index.fieldLength(document, field));
  }

  #makeParts(): Float64Array {
    const parts = new Float64Array(TABLE_FREQUENCIES * FIELD_COUNT * TABLE_LENGTHS);
    for (let entry = 0; entry < TABLE_FREQUENCIES * FIELD_COUNT; entry++) {
      const field = (entry % FIELD_COUNT) as FieldNumber; // below FIELD_COUNT
      const frequency = Math.floor(entry / FIELD_COUNT);
      for (let length = 0; length < TABLE_LENGTHS; length++) {
        parts[entry * TABLE_LENGTHS + length] = this.scorer.part(field, frequency, length);
      }
    }
    return parts;
  }

  #makeEntries(): { readonly starts: Uint32Array; readonly entries: Uint8Array } {
    const { starts, fields, frequencies } = this.#index.signatures;
    const kept: number[] = [];
    const keptStarts = new Uint32Array(starts.length);
    for (let number = 1; number + 1 < starts.length; number++) {
      keptStarts[number] = kept.length;
      for (let at = starts[number]!; at < starts[number + 1]!; at++) {
        const field = fields[at]!;
        if (this.scorer.bound(field as FieldNumber) > 0) kept.push(frequencies[at]! * FIELD_COUNT + field); // of FIELDS
      }
    }
    keptStarts[starts.length - 1] = kept.length;
    return { starts: keptStarts, entries: Uint8Array.from(kept) };
  }
}

/** Puts the lengths of each document side by side; `columns` has those of each field. */
export function interleaveLengths(columns: readonly ArrayLike<number>[], documentCount: number): Uint16Array {
  const lengths = new Uint16Array(documentCount * FIELD_COUNT);
  columns.forEach((column, field) => {
    for (let document = 0; document < documentCount; document++) {
      lengths[document * FIELD_COUNT + field] = Math.min(MAX_LENGTH, column[document]!);
    }
  });
  return lengths;
}

/** The highest scores of a list's blocks, without the term's weight. */
export type BlockMaxima = {
  /** Upper bounds for blocks that have not been scored yet. */
  readonly scores: Float64Array;
  /** 1 when a document of the block really has that score. */
  readonly isExact: Uint8Array;
};

/** Keeps what was computed of some blocks, such as those of a term's postings, by a number; the oldest goes first. */
export class BlockCache<Kept> {
  readonly #maxSize: number;
  readonly #kept = new Map<number, { readonly kept: Kept; readonly size: number }>();
  #size = 0;

  /** @param maxSize the most of all together, in what `set` counts */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get(number: number): Kept | undefined {
    return this.#kept.get(number)?.kept;
  }

  set(number: number, kept: Kept, size: number): void {
    this.#size += size;
    this.#kept.set(number, { kept, size });
    for (const [oldest, entry] of this.#kept) {
      if (this.#size <= this.#maxSize) break;
      this.#kept.delete(oldest);
      this.#size -= entry.size;
    }
  }
}
