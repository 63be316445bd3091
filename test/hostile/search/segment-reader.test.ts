import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import type { SourceDocument } from "../../../src/search/index.ts";
import { FIELDS, type FieldNumber, type IndexReader, NO_DOCUMENT } from "../../../src/search/types.ts";
import { buildMemoryIndex } from "../../support/search/memory-index.ts";
import { manyDocuments, openFixture, sourceDocuments } from "../../support/search/segment-fixture.ts";

const FIELD_NUMBERS = FIELDS.map((_, field) => field as FieldNumber); // one for each field

/** Describes every posting of an index as plain values. */
function describePostings(reader: IndexReader): unknown {
  return reader.termsWithPrefix("", 1_000_000).map((entry) => {
    const postings = reader.postings(entry);
    const documents: unknown[] = [];
    while (postings.next() !== NO_DOCUMENT) {
      const frequencies = [...postings.frequencies];
      const count = postings.readPositions();
      const places = Array.from({ length: count }, (_, place) => [
        postings.positions[place],
        entry.forms[postings.forms[place]!],
      ]);
      documents.push({ document: postings.document, frequencies, places: places.sort(comparePlaces) });
    }
    return {
      term: entry.term,
      forms: entry.forms.toSorted(),
      documentFrequency: entry.documentFrequency,
      documents,
    };
  });
}

const comparePlaces = (a: unknown[], b: unknown[]): number =>
  Number(a[0]) - Number(b[0]) || (String(a[1]) < String(b[1]) ? -1 : 1);

function describeDocuments(reader: IndexReader): unknown {
  return Array.from({ length: reader.documentCount }, (_, document) => ({
    lengths: FIELD_NUMBERS.map((field) => reader.fieldLength(document, field)),
    layout: reader.layout(document),
    stored: reader.document(document),
  }));
}

const mappingsOf = (path: string): number =>
  readFileSync("/proc/self/maps", "utf8")
    .split("\n")
    .filter((line) => line.endsWith(path)).length;

describe("a segment", () => {
  test.skipIf(process.platform !== "linux")("gives its memory back when it is closed", async () => {
    await using fixture = await openFixture(manyDocuments(20));
    expect(mappingsOf(fixture.path)).toBe(1);
    fixture.segment[Symbol.dispose]();
    expect(mappingsOf(fixture.path)).toBe(0);
    expect(() => fixture.segment.requireWhole()).toThrow("was closed");
  });

  test("returns the same as the plain index in memory", async () => {
    await fc.assert(
      fc.asyncProperty(sourceDocuments(12), fc.constantFrom(1, 1 << 24), async (documents, memoryBytes) => {
        await using fixture = await openFixture(documents, { memoryBytes });
        expectSame(fixture.segment, documents);
      }),
      { numRuns: 60 },
    );
  });

  test("has lists of many blocks, whatever was spilled", async () => {
    const documents = manyDocuments(700);
    for (const memoryBytes of [1 << 24, 60_000]) {
      await using fixture = await openFixture(documents, { memoryBytes });
      expectSame(fixture.segment, documents);
    }
  });

  test("keeps frequencies above 15 and terms that are twice at one position", async () => {
    const often = "mill ".repeat(400);
    const documents = [1, 2, 3].map((number) => ({
      ...manyDocuments(1, number)[0]!,
      title: "Mill",
      markdown: `${often}\n\n# ${often}`,
    }));
    await using fixture = await openFixture(documents);
    expectSame(fixture.segment, documents);
  });

  test("reaches the same document by leaps as step by step", async () => {
    const documents = manyDocuments(700);
    await using fixture = await openFixture(documents);
    const { segment } = fixture;
    for (const entry of segment.termsWithPrefix("w", 60)) {
      const all: number[] = [];
      for (const list = segment.postings(entry); list.next() !== NO_DOCUMENT; ) all.push(list.document);
      for (const step of [1, 3, 50, 300]) {
        const list = segment.postings(entry);
        for (let target = 0; target < segment.documentCount + step; target += step) {
          const wanted = all.find((document) => document >= target) ?? NO_DOCUMENT;
          expect(list.advance(target)).toBe(wanted);
          target = Math.max(target, Math.min(wanted, segment.documentCount));
        }
      }
    }
  });

  test("finds documents by their address", async () => {
    const documents = manyDocuments(100);
    await using fixture = await openFixture(documents);
    for (const { url } of documents) {
      const document = fixture.segment.findDocument(url);
      expect(fixture.segment.document(document).url).toBe(url);
    }
    expect(fixture.segment.findDocument("docs://many/none")).toBe(-1);
  });

  test("may be empty", async () => {
    await using fixture = await openFixture([]);
    expect(fixture.segment.documentCount).toBe(0);
    expect(fixture.segment.find("river")).toBeNull();
    expect(fixture.segment.termsWithPrefix("", 10)).toEqual([]);
  });
});

function expectSame(segment: IndexReader, documents: readonly SourceDocument[]): void {
  const memory = buildMemoryIndex(documents, "default");
  expect(segment.documentCount).toBe(memory.documentCount);
  expect([...segment.fieldTotals]).toEqual([...memory.fieldTotals]);
  expect(describePostings(segment)).toEqual(describePostings(memory));
  expect(describeDocuments(segment)).toEqual(
    (describeDocuments(memory) as { stored: { title: string; markdown: string } }[]).map((row) => ({
      ...row,
      stored: {
        ...row.stored,
        title: row.stored.title.toWellFormed(),
        markdown: row.stored.markdown.toWellFormed(),
      },
    })),
  );
}
