import { expect, test } from "bun:test";
import { NO_DOCUMENT } from "../../../src/search/types.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { openFixture } from "../../support/search/segment-fixture.ts";

test("positions are right when nothing else of a posting was read before", async () => {
  // There are more frequencies than short codes in the index, so most are written out in the block.
  const counts = Array.from({ length: 300 }, (_, index) => 1 + ((index * 37) % 200));
  const documents = counts.map((count, index) => ({
    url: docsUrl("site", String(1000 + index)),
    title: "x",
    markdown: `${"mill ".repeat(count)}${"weir ".repeat(index % 7)}`,
  }));
  await using index = await openFixture(documents);
  const postings = index.segment.postings(index.segment.find("mill")!);
  const found: number[] = [];
  while (postings.next() !== NO_DOCUMENT) {
    const count = postings.readPositions();
    const positions = [...postings.positions.slice(0, count)];
    found.push(count);
    expect(positions).toEqual(Array.from({ length: count }, (_, place) => positions[0]! + place));
  }
  expect(found).toEqual(counts);
});
