import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import {
  ByteReader,
  ByteWriter,
  bitWidth,
  codeUnitBytes,
  decodeCodeUnits,
  packBits,
  packedLength,
  unpackBits,
} from "../../../src/search/segment/bytes.ts";
import { SegmentFile, SegmentFileWriter } from "../../../src/search/segment/file.ts";
import {
  decodePositions,
  encodePositions,
  readSignatureKey,
  SignatureNumbers,
  Signatures,
  signatureKey,
} from "../../../src/search/segment/postings.ts";
import { encodeLengths, openLengths } from "../../../src/search/segment/segment.ts";
import {
  decodeLayout,
  decodeStored,
  encodeLayout,
  encodeStored,
} from "../../../src/search/segment/stored.ts";
import { StringTableCursor, StringTableWriter } from "../../../src/search/segment/terms.ts";
import { FIELDS } from "../../../src/search/types.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const anyString = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
});

describe("what was written is read back", () => {
  test("varints up to 2^53 − 1", () => {
    fc.assert(
      fc.property(fc.array(fc.maxSafeNat()), (values) => {
        const writer = new ByteWriter(1);
        for (const value of values) writer.varint(value);
        const reader = new ByteReader(writer.written());
        expect(values.map(() => reader.varint())).toEqual(values);
        expect(reader.offset).toBe(writer.length);
      }),
    );
  });

  test("a length that precedes what it measures", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 5 }), (bytes, before) => {
        const writer = new ByteWriter(1);
        writer.raw(before);
        const start = writer.beginPrefixed();
        writer.raw(bytes);
        writer.endPrefixed(start);
        const reader = new ByteReader(writer.written(), before.length);
        expect([...reader.raw(reader.varint())]).toEqual([...bytes]);
      }),
    );
  });

  test("packed numbers of every width", () => {
    const values = fc
      .integer({ min: 0, max: 32 })
      .chain((width) => fc.uint32Array({ max: 2 ** width - 1, maxLength: 200, size: "max" }));
    fc.assert(
      fc.property(values, fc.nat(4), (numbers, bytesAfter) => {
        const width = bitWidth(numbers.reduce((all, value) => all | value, 0));
        const count = numbers.length;
        const bytes = new Uint8Array(packedLength(count, width) + 3 + bytesAfter).fill(0xff);
        expect(packBits(numbers, { count, width }, bytes, 3)).toBe(bytes.length - bytesAfter);
        const unpacked = new Uint32Array(count);
        unpackBits(new DataView(bytes.buffer), 3, { count, width }, unpacked);
        expect([...unpacked]).toEqual([...numbers]);
      }),
    );
  });

  test("strings, lone surrogates included, in bytes that sort as the strings do", () => {
    fc.assert(
      fc.property(anyString, anyString, (a, b) => {
        const bytes = codeUnitBytes(a);
        expect(decodeCodeUnits(bytes, 0, bytes.length)).toBe(a);
        expect(Math.sign(Buffer.compare(bytes, codeUnitBytes(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  test("positions with and without forms", () => {
    const places = fc.array(fc.tuple(fc.nat(1_000_000), fc.nat(0xffff)), { maxLength: 50 });
    fc.assert(
      fc.property(places, fc.boolean(), (pairs, hasForms) => {
        const sorted = pairs.toSorted(([a], [b]) => a - b);
        const positions = Uint32Array.from(sorted, ([position]) => position);
        const forms = Uint16Array.from(sorted, ([, form]) => (hasForms ? form : 0));
        const writer = new ByteWriter(1);
        encodePositions({ positions, forms }, { count: sorted.length, hasForms }, writer);
        const read = { positions: new Uint32Array(sorted.length), forms: new Uint16Array(sorted.length) };
        decodePositions(
          new ByteReader(writer.written()),
          { count: sorted.length, hasForms, deadline: Number.POSITIVE_INFINITY },
          read,
        );
        expect(read).toEqual({ positions, forms });
      }),
    );
  });

  test("signatures, the most frequent first", () => {
    const vector = fc.uint32Array({ minLength: FIELDS.length, maxLength: FIELDS.length, max: 20 });
    fc.assert(
      fc.property(fc.array(vector, { maxLength: 30 }), (vectors) => {
        const counts = new Map<number, number>();
        for (const frequencies of vectors) {
          const key = signatureKey(
            frequencies,
            frequencies.reduce((sum, f) => sum + f, 0),
          );
          expect(key >= 0).toBe(frequencies.every((frequency) => frequency <= 15));
          if (key < 0) continue;
          const read = new Uint32Array(FIELDS.length);
          readSignatureKey(key, read);
          expect(read).toEqual(frequencies);
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
        const numbers = new SignatureNumbers(counts);
        const signatures = new Signatures(numbers.encode());
        for (const key of counts.keys()) {
          const number = numbers.numberOf(key);
          const read = new Uint32Array(FIELDS.length);
          for (let at = signatures.starts[number]!; at < signatures.starts[number + 1]!; at++) {
            read[signatures.fields[at]!] = signatures.frequencies[at]!;
          }
          const wanted = new Uint32Array(FIELDS.length);
          expect(signatures.positionCounts[number]).toBe(readSignatureKey(key, wanted));
          expect(read).toEqual(wanted);
        }
        const byNumber = [...counts].sort(([a], [b]) => numbers.numberOf(a) - numbers.numberOf(b));
        expect(byNumber.map(([, count]) => count)).toEqual([...counts.values()].sort((a, b) => b - a));
      }),
    );
  });

  test("layouts", () => {
    const ascending = fc
      .array(fc.nat(5000), { maxLength: 20 })
      .map((values) => Uint32Array.from(values).sort());
    const layout = fc
      .tuple(ascending, ascending, fc.array(fc.nat(500), { minLength: 4, maxLength: 4 }))
      .map(([passageStarts, sectionStarts, [titleEnd = 0, contentStart = 0, leadEnd = 0, end = 0]]) => ({
        titleEnd,
        contentStart,
        leadEnd,
        end,
        passageStarts,
        sectionStarts,
        headingEnds: sectionStarts.map((start) => start + 3),
        sectionParents: sectionStarts.map((_, index) => index >> 1),
      }));
    fc.assert(
      fc.property(layout, (value) => {
        const writer = new ByteWriter(1);
        encodeLayout(value, writer);
        expect(decodeLayout(new ByteReader(writer.written()))).toEqual(value);
      }),
    );
  });

  test("stored documents, whose offsets survive lone surrogates", () => {
    const section = fc.record({
      level: fc.nat(6),
      heading: fc.string(),
      anchor: fc.string(),
      isAnchorWritten: fc.boolean(),
      start: fc.nat(99),
      end: fc.nat(99),
    });
    const sections = fc
      .array(section, { maxLength: 5 })
      .map((list) =>
        list
          .toSorted((a, b) => a.start - b.start)
          .map((value) => ({ ...value, end: value.start + value.end })),
      );
    const anchors = fc
      .array(fc.record({ id: fc.string(), start: fc.nat(99) }), { maxLength: 5 })
      .map((list) => list.toSorted((a, b) => a.start - b.start));
    const linked = fc.uint32Array({ maxLength: 5 }).map((hashes) => hashes.toSorted());
    fc.assert(
      fc.property(
        fc.record({ title: fc.string(), markdown: anyString, sections, anchors }),
        linked,
        (stored, linkedFragments) => {
          const writer = new ByteWriter(1);
          encodeStored({ ...stored, linkedFragments }, writer);
          const read = decodeStored(new ByteReader(writer.written()));
          expect(read).toEqual({ ...stored, markdown: stored.markdown.toWellFormed() });
          expect(read.markdown.length).toBe(stored.markdown.length);
        },
      ),
    );
  });

  test("field lengths in columns of any width", () => {
    const column = (count: number) =>
      fc
        .constantFrom(200, 60_000, 4_000_000_000)
        .chain((max) => fc.uint32Array({ minLength: count, maxLength: count, max }));
    const columns = fc
      .nat(9)
      .chain((count) => fc.tuple(fc.constant(count), fc.tuple(...FIELDS.map(() => column(count)))));
    fc.assert(
      fc.property(columns, ([count, lengths]) => {
        const opened = openLengths(new Uint8Array(encodeLengths(lengths)), count);
        expect(opened.map((values) => [...values])).toEqual(lengths.map((values) => [...values]));
      }),
    );
  });
});

describe("a table of strings", () => {
  const keys = fc.uniqueArray(anyString, { maxLength: 80 }).map((list) => list.toSorted(byCodeUnits));

  test("finds a string that it has, or the next one", async () => {
    await fc.assert(
      fc.asyncProperty(keys, fc.array(anyString, { maxLength: 10 }), async (sorted, others) => {
        using directory = temporaryDirectory();
        using file = await writeTable(join(directory.path, "table"), sorted);
        const cursor = new StringTableCursor(file, { entries: "terms", blocks: "termBlocks" });
        sorted.forEach((key, ordinal) => {
          expect(cursor.seek(key)).toBe(true);
          expect([cursor.ordinal, cursor.value, cursor.payloadEnd - cursor.payloadStart]).toEqual([
            ordinal,
            ordinal * 300,
            ordinal % 4,
          ]);
          expect(cursor.goTo(ordinal)).toBe(true);
          expect(cursor.key).toBe(key);
        });
        for (const other of others) {
          expect(cursor.seek(other)).toBe(sorted.includes(other));
          const next = sorted.find((key) => key >= other);
          expect(cursor.isAtEntry ? cursor.key : undefined).toBe(next);
        }
        expect(cursor.goTo(sorted.length)).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  test("is walked in order", async () => {
    using directory = temporaryDirectory();
    const sorted = Array.from({ length: 100 }, (_, index) => `key${index}`).sort(byCodeUnits);
    using file = await writeTable(join(directory.path, "table"), sorted);
    const cursor = new StringTableCursor(file, { entries: "terms", blocks: "termBlocks" });
    const walked: string[] = [];
    while (cursor.next()) walked.push(cursor.key);
    expect(walked).toEqual(sorted);
  });
});

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

async function writeTable(path: string, sorted: readonly string[]): Promise<SegmentFile> {
  const table = new StringTableWriter();
  sorted.forEach((key, ordinal) => {
    const payload = new ByteWriter();
    payload.raw(new Uint8Array(ordinal % 4));
    table.add(key, ordinal * 300, payload);
  });
  await using writer = await SegmentFileWriter.create(path, `${path}.new`);
  await writer.section("terms", () => writer.write(table.entries()));
  await writer.section("termBlocks", () => writer.write(table.blocks()));
  await writer.finish();
  return SegmentFile.open(path);
}
