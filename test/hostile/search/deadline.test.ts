import { expect, test } from "bun:test";
import { docsUrl } from "../../../src/urls/index.ts";
import { HOSTILE_TEXTS } from "../../support/hostile-documents.ts";
import { searchIn } from "../../support/search/searching.ts";
import { openFixture } from "../../support/search/segment-fixture.ts";

const TEXTS: Readonly<Record<string, string>> = {
  "one letter a line": HOSTILE_TEXTS["one letter a line"]!(4_000_000),
  "two words": "a b ".repeat(1_000_000),
  headings: HOSTILE_TEXTS.headings!(4_000_000),
  "a long heading": HOSTILE_TEXTS["a long heading"]!(4_000_000),
  ideographs: "\u4e2d\u6587\u5b57".repeat(1_000_000),
};
const QUERIES = ["a", "a b", '"a a"', '"a b a"', "\u4e2d\u6587", '"\u4e2d\u6587\u5b57\u4e2d"'];
const LIMITED = { options: { deadline: Number.POSITIVE_INFINITY } };

/** The longest CPU time between two looks at the clock during some work, in ms. */
function longestStep(work: () => void): number {
  const { now } = performance;
  let longest = 0;
  let before = process.cpuUsage();
  const look = (): void => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.cpuUsage();
  };
  performance.now = () => {
    look();
    return now.call(performance);
  };
  try {
    work();
  } finally {
    performance.now = now;
  }
  look();
  return longest;
}

// A look happens every millisecond or so, except in text that is unpacked as a whole. Without looks inside a
// document, one of these takes seconds.
for (const [name, markdown] of Object.entries(TEXTS))
  test(`the deadline of a search is checked again and again inside a document: ${name}`, async () => {
    await using index = await openFixture([{ url: docsUrl("t", "d"), title: "d", markdown }]);
    for (const query of QUERIES) {
      const longest = longestStep(() => void searchIn(index.segment, query, LIMITED));
      expect({ query, isShort: longest < 150, longest: longest < 150 ? 0 : longest }).toEqual({
        query,
        isShort: true,
        longest: 0,
      });
    }
  });
