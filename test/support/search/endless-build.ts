// A build that never ends, for the test that kills one. Its argument is the index file.
import { setTimeout as sleep } from "node:timers/promises";
import { buildSegment } from "../../../src/search/builder/build-segment.ts";
import type { SourceDocument } from "../../../src/search/index.ts";
import { buildAnalysis, manyDocuments } from "./segment-fixture.ts";

async function* endless(): AsyncGenerator<SourceDocument> {
  yield* manyDocuments(100);
  for (;;) {
    console.log("building");
    await sleep(50);
  }
}

await buildSegment(endless(), {
  path: process.argv[2] ?? "",
  analysis: buildAnalysis(),
  previous: null,
  memoryBytes: 10_000,
});
