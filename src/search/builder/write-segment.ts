import { encodeAttributes } from "../attributes/attributes.ts";
import { type SlugStyle, styleAt, withSlugs } from "../document/slugs.ts";
import { ByteReader, ByteWriter } from "../segment/bytes.ts";
import { encodeLengths, totalsOf } from "../segment/field-lengths.ts";
import type { SegmentFileWriter } from "../segment/file-writer.ts";
import type { SegmentMeta } from "../segment/segment.ts";
import { StoredBlockWriter } from "../segment/stored-blocks.ts";
import { encodeReadStored, openStored } from "../segment/stored-codec.ts";
import { StringTableWriter } from "../segment/string-table.ts";
import { TermEndWriter, TermWriter } from "../segment/term-dictionary.ts";
import type { DocumentTable } from "./document-table.ts";
import { mergeSignatures, RunMerger } from "./merge.ts";
import type { RunSource } from "./run-format.ts";

export type SegmentParts = {
  readonly table: DocumentTable;
  /** Runs that together hold the postings of all documents. */
  readonly runs: readonly RunSource[];
  /** The records of all documents, in the order in which they came. */
  readonly stored: Uint8Array;
  readonly layouts: Uint8Array;
  readonly analyserFingerprint: string;
  /** Whether the ends of terms are looked for; see `Vocabulary`. */
  readonly hasCompounds: boolean;
  /** How the collection's generator makes the anchors of headings; analysis takes it to be GitHub's. */
  readonly slugStyle: SlugStyle;
  readonly owner: string | undefined;
  /** How it did for the records that are carried over. */
  readonly carriedStyle: SlugStyle;
};

/** Writes all sections of an index from the results of a build, and finishes the file. */
export async function writeSegment(file: SegmentFileWriter, parts: SegmentParts): Promise<void> {
  const order = parts.table.sorted();
  const lengths = parts.table.lengths(order);
  await writeStored(file, parts, order);
  await writeUrls(file, parts, order);
  await file.section("hashes", () => file.write(bytesOf(parts.table.hashes(order))));
  await writeLayouts(file, parts, order);
  await file.section("lengths", () => file.write(encodeLengths(lengths)));
  await writeTerms(file, parts, { order, lengths });
  const { columns, names } = encodeAttributes(parts.table.attributes(order));
  await file.section("attributes", () => file.write(columns));
  await file.section("attributeNames", () => file.write(names));
  const meta: SegmentMeta = {
    documentCount: order.length,
    analyserFingerprint: parts.analyserFingerprint,
    fieldTotals: [...totalsOf(lengths)],
    slugStyle: parts.slugStyle,
    owner: parts.owner,
  };
  await file.section("meta", () => file.write(new TextEncoder().encode(JSON.stringify(meta))));
  await file.finish();
}

async function writeStored(
  file: SegmentFileWriter,
  { table, stored, slugStyle, carriedStyle }: SegmentParts,
  order: Uint32Array,
): Promise<void> {
  const styled = new ByteWriter();
  const blocks = new StoredBlockWriter((bytes) => file.write(bytes));
  let index: Uint8Array = new Uint8Array(0);
  await file.section("stored", async () => {
    for (const row of order) {
      const { storedStart, storedEnd } = table.place(row);
      const record = stored.subarray(storedStart, storedEnd);
      const url = table.urls[row]!;
      const style = styleAt(url, slugStyle);
      const isStyled = style === styleAt(url, "github") && style === styleAt(url, carriedStyle);
      await blocks.add(isStyled ? record : withSlugsOf(style, record, styled));
    }
    index = await blocks.finish();
  });
  await file.section("storedOffsets", () => file.write(index));
}

/** The record with the anchors that a generator gives its headings. */
function withSlugsOf(style: SlugStyle, bytes: Uint8Array, writer: ByteWriter): Uint8Array {
  const record = openStored(new ByteReader(bytes));
  writer.clear();
  encodeReadStored(record, withSlugs(record.sections, style), writer);
  return writer.written();
}

async function writeUrls(
  file: SegmentFileWriter,
  { table }: SegmentParts,
  order: Uint32Array,
): Promise<void> {
  const urls = new StringTableWriter();
  const nothing = new ByteWriter(0);
  for (const row of order) urls.add(table.urls[row]!, 0, nothing);
  await file.section("urls", () => file.write(urls.entries()));
  await file.section("urlBlocks", () => file.write(urls.blocks()));
}

async function writeLayouts(
  file: SegmentFileWriter,
  { table, layouts }: SegmentParts,
  order: Uint32Array,
): Promise<void> {
  const offsets = new Uint32Array(order.length + 1);
  await file.section("layouts", async () => {
    let offset = 0;
    for (let number = 0; number < order.length; number++) {
      const { layoutStart, layoutEnd } = table.place(order[number]!);
      await file.write(layouts.subarray(layoutStart, layoutEnd));
      offset += layoutEnd - layoutStart;
      offsets[number + 1] = offset;
    }
  });
  await file.section("layoutOffsets", () => file.write(bytesOf(offsets)));
}

async function writeTerms(
  file: SegmentFileWriter,
  { table, runs, hasCompounds }: SegmentParts,
  { order, lengths }: { readonly order: Uint32Array; readonly lengths: readonly Uint32Array[] },
): Promise<void> {
  const signatures = mergeSignatures(runs);
  const dictionary = new TermWriter();
  const ends = hasCompounds ? new TermEndWriter() : null;
  const merger = new RunMerger({ runs, signatures, finalNumbers: table.finalNumbers(order), lengths });
  await file.section("signatures", () => file.write(signatures.encode()));
  await file.section("postings", async () => {
    let start = 0;
    for (const { term, documentFrequency, forms, postings } of merger.terms()) {
      dictionary.add({ term, documentFrequency, forms, postingBytes: postings.length }, start);
      ends?.add({ term, documentFrequency });
      const writing = file.writeFrom(postings);
      if (writing !== null) await writing;
      start += postings.length;
    }
  });
  await file.section("terms", () => file.write(dictionary.table.entries()));
  await file.section("termBlocks", () => file.write(dictionary.table.blocks()));
  const endTable = ends?.finish();
  if (!endTable) return;
  await file.section("termEnds", () => file.write(endTable.entries()));
  await file.section("termEndBlocks", () => file.write(endTable.blocks()));
}

const bytesOf = (values: Uint32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
