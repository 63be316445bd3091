import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { createPaint, wrap } from "../../../src/cli/terminal/notices.ts";

test("wrap breaks at spaces and leaves a word that is too long on a line of its own", () => {
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("a incomprehensible b", 5)).toEqual(["a", "incomprehensible", "b"]);
  expect(wrap("", 10)).toEqual([]);
});

test("wrap keeps every word, in order, within the width that its words allow", () => {
  const word = fc.stringMatching(/^[a-z]{1,12}$/);
  fc.assert(
    fc.property(fc.array(word), fc.integer({ min: 1, max: 40 }), (words, width) => {
      const lines = wrap(words.join(" "), width);
      expect(lines.join(" ")).toBe(words.join(" "));
      for (const line of lines) expect(line.length <= width || !line.includes(" ")).toBeTrue();
    }),
  );
});

test("paint without colours changes nothing", () => {
  expect(createPaint(false).red("error:")).toBe("error:");
  expect(createPaint(true).red("error:")).toBe("\u001b[31merror:\u001b[0m");
});
