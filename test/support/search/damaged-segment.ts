import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inverseDocumentFrequency } from "../../../src/search/ranking/formula.ts";
import { findCandidates } from "../../../src/search/segment/find-candidates.ts";
import { Segment } from "../../../src/search/segment/segment.ts";
import { temporaryDirectory } from "../temporary.ts";
import { ALL_FIELDS, buildAt, manyDocuments } from "./segment-fixture.ts";

/** What a search and a fetch would be told, of a damaged file too. */
export function readMuch(segment: Segment, turn: number): unknown {
  segment.requireWhole();
  const names = ["w1", "w3", `w${turn % 50}`, "none"];
  const terms = names.flatMap((name) => {
    const entry = segment.find(name);
    if (entry === null) return [];
    const { documentFrequency } = entry;
    return [
      { entry, weight: inverseDocumentFrequency(documentFrequency, segment.documentCount), forms: null },
    ];
  });
  const found = findCandidates(segment, terms, {
    limit: 20,
    ranking: ALL_FIELDS,
    deadline: Number.POSITIVE_INFINITY,
  });
  const prefix = segment.termsWithPrefix(`w${turn % 10}`, 5).map(({ term }) => term);
  const shown = found
    .slice(0, 3)
    .map(({ document }) => [segment.document(document), segment.layout(document)]);
  const places = terms.map(({ entry }) => {
    const list = segment.postings(entry);
    list.advance(turn % segment.documentCount);
    return [list.document, [...list.positions.slice(0, list.readPositions())]];
  });
  const hash = segment.contentHash(turn % segment.documentCount);
  return { terms: terms.map(({ entry }) => entry), found, prefix, shown, places, hash };
}

/** A small index, as the bytes of its file. */
export async function smallSegment(): Promise<Uint8Array> {
  using directory = temporaryDirectory();
  const path = join(directory.path, "index");
  await buildAt(path, manyDocuments(12));
  return await Bun.file(path).bytes();
}

const scratch = temporaryDirectory();
process.once("exit", scratch[Symbol.dispose]);
let files = 0;

/** Opens a file of these bytes as an index, searches in it and reads what it found. */
export function readSegmentBytes(bytes: Uint8Array): unknown {
  // Each has a name of its own: a file that is mapped must not change.
  const path = join(scratch.path, String(files++));
  writeFileSync(path, bytes);
  try {
    using segment = Segment.open(path);
    return readMuch(segment, bytes.length);
  } finally {
    rmSync(path);
  }
}
