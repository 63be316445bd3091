import { describe, expect, test } from "bun:test";
import { didYouMean, didYouMeanAny, nearest } from "../../../src/base/nearest.ts";

describe("nearest", () => {
  const OPTIONS = ["--output", "--output-file", "--select", "--no-images", "--no-code", "--log-level"];
  const ROWS: readonly (readonly [typed: string, meant: string | null])[] = [
    ["--ouput", "--output"],
    ["--OUTPUT", "--output"],
    ["--ouptut", "--output"], // swapped neighbours
    ["--outputfile", "--output-file"],
    ["--selct", "--select"],
    ["--sel", "--select"], // its beginning
    ["--no-image", "--no-images"],
    ["--no-", null], // the beginning of two, and as far from both
    ["--banana", null],
    ["", null],
  ];
  for (const [typed, meant] of ROWS) {
    test(`of ${JSON.stringify(typed)} is ${meant ?? "nothing"}`, () => {
      expect(nearest(typed, OPTIONS)).toBe(meant);
    });
  }

  test("takes the level that a word begins", () => {
    expect(nearest("warn", ["info", "warning", "error"])).toBe("warning");
  });

  test("of a very long word is found at once, as nothing", () => {
    expect(nearest("x".repeat(1_000_000), OPTIONS)).toBeNull();
  });
});

test("didYouMean asks only when there is something to ask", () => {
  expect(didYouMean("jsn", ["json"])).toBe("; did you mean json?");
  expect(didYouMean("json", ["json"])).toBe("");
  expect(didYouMean("xml", ["json"])).toBe("");
});

test.each([
  ["d", ["docs-d", "guide"], "; did you mean docs-d?"],
  ["d", ["docs", "dist", "guide"], "; did you mean dist or docs?"],
  ["d", ["a-d", "b_d", "c-d", "d-e"], "; did you mean a-d, b_d or c-d?"],
  ["x", ["docs-d", "guide"], ""],
  ["", ["docs-d"], ""],
  ["docs", ["docs", "old-docs"], "; did you mean docs or old-docs?"],
])("didYouMeanAny of %j in %j", (word, names, said) => {
  expect(didYouMeanAny(word, names)).toBe(said);
});
