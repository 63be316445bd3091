import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findCandidates, inverseDocumentFrequency, Segment } from "../../../src/search/testing.ts";
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
  const directory = mkdtempSync(join(tmpdir(), "small-segment-"));
  try {
    const path = join(directory, "index");
    await buildAt(path, manyDocuments(12));
    return await Bun.file(path).bytes();
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const scratch = mkdtempSync(join(tmpdir(), "damaged-segment-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
let files = 0;

/** Opens a file of these bytes as an index, searches in it and reads what it found. */
export function readSegmentBytes(bytes: Uint8Array): unknown {
  // Each has a name of its own: a file that is mapped must not change.
  const path = join(scratch, String(files++));
  writeFileSync(path, bytes);
  try {
    using segment = Segment.open(path);
    return readMuch(segment, bytes.length);
  } finally {
    rmSync(path);
  }
}
