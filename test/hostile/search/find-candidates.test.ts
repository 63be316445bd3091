import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "../../../src/base/failure.ts";
import { FieldScorer, inverseDocumentFrequency } from "../../../src/search/ranking/formula.ts";
import { findCandidates } from "../../../src/search/segment/find-candidates.ts";
import type { Segment } from "../../../src/search/segment/segment.ts";
import {
  type Boosts,
  type CandidateOptions,
  FIELDS,
  type FieldNumber,
  type IndexReader,
  NO_DOCUMENT,
  type RankingSettings,
  type ScoredDocument,
  type WeightedTerm,
} from "../../../src/search/types.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import {
  ALL_FIELDS,
  manyDocuments,
  openFixture,
  sourceDocuments,
} from "../../support/search/segment-fixture.ts";

const NO_DEADLINE = Number.POSITIVE_INFINITY;

/** Does the first phase by its definition: it scores every posting of every term. */
function scoreAll(
  reader: IndexReader,
  terms: readonly WeightedTerm[],
  { ranking }: CandidateOptions,
): Map<number, number> {
  const scorer = new FieldScorer(reader, ranking);
  const sums = new Map<number, number>();
  for (const { entry, weight, forms } of terms) {
    const list = reader.postings(entry);
    while (list.next() !== NO_DOCUMENT) {
      const count = list.readPositions();
      const used = Array.from({ length: count }, (_, place) => list.forms[place]!);
      if (forms !== null && !used.some((form) => forms.has(form))) continue;
      let score = 0;
      FIELDS.forEach((_, field) => {
        const length = reader.fieldLength(list.document, field as FieldNumber); // a field of the list
        score += scorer.part(field as FieldNumber, list.frequencies[field]!, length);
      });
      sums.set(list.document, (sums.get(list.document) ?? 0) + weight * score);
    }
  }
  return sums;
}

function exhaustive(
  reader: IndexReader,
  terms: readonly WeightedTerm[],
  options: CandidateOptions,
): ScoredDocument[] {
  return [...scoreAll(reader, terms, options)]
    .map(([document, score]) => ({ document, score }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.document - b.document)
    .slice(0, options.limit);
}

const boost = fc.constantFrom(0, 0.5, 1, 2.5, 5);
const settings: fc.Arbitrary<RankingSettings> = fc.record({
  k1: fc.constantFrom(0.5, 1.2, 3),
  b: fc.constantFrom(0.1, 0.75, 1),
  boosts: fc.record(
    Object.fromEntries(FIELDS.map((name) => [name, boost])) as Record<keyof Boosts, typeof boost>,
  ), // one per field
});

const weighted = (
  segment: Segment,
  term: string,
  forms: ReadonlySet<number> | null = null,
): WeightedTerm[] => {
  const entry = segment.find(term);
  if (entry === null) return [];
  return [{ entry, weight: inverseDocumentFrequency(entry.documentFrequency, segment.documentCount), forms }];
};

function expectExhaustive(segment: Segment, terms: readonly WeightedTerm[], options: CandidateOptions): void {
  const found = findCandidates(segment, terms, options);
  const wanted = exhaustive(segment, terms, options);
  expect(found.length).toBe(wanted.length);
  const sums = scoreAll(segment, terms, options);
  found.forEach(({ document, score }, place) => {
    // Sums of terms in another order differ in their last bits, so near ties may swap places.
    expect(score).toBeCloseTo(wanted[place]!.score, 9);
    expect(score).toBeCloseTo(sums.get(document)!, 9);
  });
}

describe("findCandidates", () => {
  test("returns exactly the best documents, whatever it skips", async () => {
    await using fixture = await openFixture(manyDocuments(4000));
    const { segment } = fixture;
    const term = fc.nat(60).map((number) => `w${number}`);
    fc.assert(
      fc.property(
        fc.uniqueArray(term, { minLength: 1, maxLength: 6 }),
        settings,
        fc.constantFrom(1, 3, 10, 200, 9999),
        (names, ranking, limit) => {
          const terms = names.flatMap((name) => weighted(segment, name));
          expectExhaustive(segment, terms, { limit, ranking, deadline: NO_DEADLINE });
          const all = findCandidates(segment, terms, { limit: 9999, ranking, deadline: NO_DEADLINE });
          const found = findCandidates(segment, terms, { limit, ranking, deadline: NO_DEADLINE });
          expect(found).toEqual(all.slice(0, limit));
        },
      ),
      { numRuns: 12 },
    );
  });

  test("counts a term only when it has one of the requested forms", async () => {
    await fc.assert(
      fc.asyncProperty(
        sourceDocuments(12),
        fc.array(fc.nat(3), { maxLength: 3 }),
        settings,
        async (documents, forms, ranking) => {
          await using fixture = await openFixture(documents);
          const terms = ["mill", "river", "gate"].flatMap((name) =>
            weighted(fixture.segment, name, new Set(forms)),
          );
          expectExhaustive(fixture.segment, terms, { limit: 5, ranking, deadline: NO_DEADLINE });
        },
      ),
      { numRuns: 40 },
    );
  });

  test("returns equal scores in the order of the documents", async () => {
    const documents = Array.from({ length: 500 }, (_, index) => ({
      url: docsUrl("same", String(index).padStart(4, "0")),
      title: "same",
      markdown: "the same words",
    }));
    await using fixture = await openFixture(documents);
    const terms = weighted(fixture.segment, "word");
    const found = findCandidates(fixture.segment, terms, {
      limit: 7,
      ranking: ALL_FIELDS,
      deadline: NO_DEADLINE,
    });
    expect(found.map(({ document }) => document)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test("finds nothing without terms", async () => {
    await using fixture = await openFixture(manyDocuments(10));
    expect(
      findCandidates(fixture.segment, [], { limit: 5, ranking: ALL_FIELDS, deadline: NO_DEADLINE }),
    ).toEqual([]);
  });

  test("stops at its deadline", async () => {
    await using fixture = await openFixture(manyDocuments(10));
    const search = () =>
      findCandidates(fixture.segment, weighted(fixture.segment, "w1"), {
        limit: 5,
        ranking: ALL_FIELDS,
        deadline: performance.now() - 1,
      });
    expect(search).toThrow(Failure);
    expect(search).toThrow("longer than its limit");
  });
});
