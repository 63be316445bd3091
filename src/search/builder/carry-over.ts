import { ByteWriter } from "../segment/bytes.ts";
import { encodePositions } from "../segment/positions-codec.ts";
import type { PostingList } from "../segment/posting-reader.ts";
import type { Segment } from "../segment/segment.ts";
import { NO_SIGNATURE } from "../segment/signatures.ts";
import type { LocatedTerm } from "../segment/term-dictionary.ts";
import { NO_DOCUMENT } from "../types.ts";
import { writeFrequencies } from "./inverter.ts";
import type { RunWriter } from "./run-file.ts";
import { RunSignatures } from "./run-signatures.ts";

/** Marks a document of the old index that is not carried over. */
export const NOT_CARRIED = 0xffff_ffff;

/**
 * Writes the postings of an older index as a run, for the documents that have not changed.
 * @param rows the new row of each old document, or `NOT_CARRIED`
 */
export async function writeCarriedRun(segment: Segment, rows: Uint32Array, writer: RunWriter): Promise<void> {
  const signatures = new RunSignatures();
  const postings = new ByteWriter(64 * 1024);
  for (const entry of segment.terms()) {
    postings.clear();
    const formCounts = new Array<number>(entry.forms.length).fill(0);
    const list = segment.postings(entry);
    let postingCount = 0;
    while (list.next() !== NO_DOCUMENT) {
      const row = rows[list.document]!;
      if (row === NOT_CARRIED) continue;
      copyPosting(list, row, { signatures, formCounts, out: postings });
      postingCount++;
    }
    if (postingCount > 0) await writer.term(describe(entry, formCounts, postingCount), postings.written());
  }
  await writer.finish(signatures.head());
}

type CopyTarget = {
  readonly signatures: RunSignatures;
  readonly formCounts: number[];
  readonly out: ByteWriter;
};

function copyPosting(list: PostingList, row: number, { signatures, formCounts, out }: CopyTarget): void {
  const { frequencies } = list;
  const count = list.readPositions();
  const signature = signatures.note(frequencies, count);
  out.varint(row);
  const start = out.beginPrefixed();
  out.varint(signature);
  if (signature === NO_SIGNATURE) writeFrequencies(frequencies, count, out);
  encodePositions(list, { count, hasForms: true }, out);
  out.endPrefixed(start);
  for (let place = 0; place < count; place++) formCounts[list.forms[place]!]!++;
}

// All forms are kept in their order, because the numbers in the positions refer to it. Merging the runs drops
// forms that no document has any more.
const describe = ({ term, forms }: LocatedTerm, formCounts: readonly number[], postingCount: number) => ({
  term,
  forms,
  formCounts,
  postingCount,
});
