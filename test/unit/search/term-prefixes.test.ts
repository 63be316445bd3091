import { expect, test } from "bun:test";
import fc from "fast-check";
import { Analyser } from "../../../src/search/analysis/analyser.ts";
import { ANALYZER_PROFILES } from "../../../src/search/index.ts";
import { TermPrefixes } from "../../../src/search/snippet.ts";

test("the prefix of a term is found in every run from which analysis takes the term", () => {
  const letters = "abdeghiklmnorstuyzABEGISUY".split("");
  const unit = fc.constantFrom(...letters, "1", "_", "-", ".", "/", "::", "'", "é", "ß", "水");
  const ending = fc.constantFrom("", "s", "ing", "ies", "ied", "ying", "y", "ed", "'s", "ization", "eed");
  for (const profile of ANALYZER_PROFILES) {
    const analyser = new Analyser(profile);
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1, maxLength: 12 }), ending, (start, end) => {
        const run = start + end;
        for (const word of analyser.shape(run, "prose").words) {
          const prefixes = new TermPrefixes([analyser.term(word)]);
          expect(prefixes.mayBeIn(`(${run} x`, 1, 1 + run.length)).toBe(true);
        }
      }),
      { numRuns: 3000 },
    );
  }
});

test("a run without the first letters of a term is recognised", () => {
  const prefixes = new TermPrefixes(["list", "die"]);
  expect(
    ["listing", "ArrayList", "array_list", "dying"].map((run) => prefixes.mayBeIn(run, 0, run.length)),
  ).toEqual([true, true, true, true]);
  expect(["map", "enlist", "Element", "do"].map((run) => prefixes.mayBeIn(run, 0, run.length))).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
