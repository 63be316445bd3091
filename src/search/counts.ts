import { KINDS } from "./attributes/attributes.ts";
import {
  type AppliedFilter,
  type AssumedAttributes,
  allowedBits,
  type DocumentBits,
} from "./attributes/filter.ts";
import { checkDeadline } from "./deadline.ts";
import type { CompiledQuery } from "./query/compile.ts";
import { documentsWithPhrases } from "./query/phrases.ts";
import { type IndexReader, NO_DOCUMENT } from "./types.ts";

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

type CountOptions = {
  readonly applied: AppliedFilter;
  readonly assumed: AssumedAttributes;
  readonly deadline: number;
};

/**
 * Counts what a query finds, without ranking it.
 * @throws Failure `timeout`
 */
export function countMatches(
  reader: IndexReader,
  query: CompiledQuery,
  { applied, assumed, deadline }: CountOptions,
): MatchCounts {
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

function matchedBits(reader: IndexReader, query: CompiledQuery, deadline: number): DocumentBits {
  const bits = new Uint32Array(Math.ceil(reader.documentCount / 32));
  const set = (document: number): void => {
    bits[document >>> 5]! |= 1 << (document & 31);
  };
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

/** The most values that one name is shown with. */
const MAX_VALUES = 100;

/** Counts by name and value as they are shown: the most frequent values first. */
export function facetsOf(values: Readonly<Record<string, ReadonlyMap<string, number>>>) {
  const shown = (counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> => {
    const sorted = [...counts].sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
    return Object.fromEntries(sorted.slice(0, MAX_VALUES));
  };
  return Object.fromEntries(Object.entries(values).map(([name, counts]) => [name, shown(counts)]));
}
