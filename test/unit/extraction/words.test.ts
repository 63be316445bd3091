import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countWords } from "../../../src/extraction/text.ts";

/** UAX 29 as the runtime has it, on the text as a whole. */
function segmented(text: string): number {
  let count = 0;
  for (const { isWordLike } of new Intl.Segmenter("und", { granularity: "word" }).segment(text))
    if (isWordLike) count++;
  return count;
}

describe("the number of words", () => {
  const cases: readonly (readonly [text: string, words: number])[] = [
    ["", 0],
    [" \n\t ", 0],
    ["... -- !? 🙂 👩‍👩‍👧 →", 0],
    ["The mill turns.", 3],
    ["don't can’t o'clock rock-n-roll", 6],
    ["Donaudampfschifffahrtsgesellschaft Größe", 2],
    ["3.14 1,000,000 2024-03-12 10:30 50% v2", 9],
    ["10\u202f000 Menschen", 2],
    ["a\u00a0b\u2003c\u3000d", 4],
    ["snake_case e.g. U.S.A. a/b user@site.test", 7],
    ["한국어 문장입니다", 2],
    ["🙂word🙂", 1],
  ];
  for (const [text, words] of cases) {
    test(`of ${JSON.stringify(text)} is ${words}`, () => {
      expect(countWords(text)).toBe(words);
    });
  }

  test("counts the words of scripts without spaces", () => {
    expect(countWords("水車は春から再び回っている。")).toBeGreaterThan(4);
    expect(countWords("水车从春天开始再次转动")).toBeGreaterThan(4);
    expect(countWords("กังหันน้ำหมุนอีกครั้ง")).toBeGreaterThan(2);
  });

  test("is that of the Unicode rules on the whole text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ..."abz09AZ'’.,:;_-!?\")( \t\n\u00a0\u202f\ufeff\u0085\u2028\u3000\u200d\u200b\u00ad\u0301é🙂",
        ..."水車春天回っているカタカナ水车ภาษาไทยกังหันن한국어क्ष",
        "word",
        "don't",
        "3.14",
        "👩‍👧",
        "ﬁ",
      ),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join("");
        expect(countWords(text)).toBe(segmented(text));
      }),
      { numRuns: 3000 },
    );
  });
});
