import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { ROOT, tryExpressions } from "../support/regular-expressions.ts";

// Files that make an expression of a text while they work, and why it takes linear time.
const MADE_AT_WORK: readonly string[] = [
  // The name of an attribute, of those that the page's code knows, in a tag of bounded length.
  "src/markdown/inline.ts",
  "src/search/query/signs.ts",
  // A part of an address, escaped: nothing is repeated.
  "src/articles/error-pages.ts",
  // A copy of a literal, which has its own place of the last match.
  "src/extraction/text-body.ts",
];

// One that is slow is to be written in another way (a run is matched from its first character only after a look
// back: `(?<!x)x+$`; spaces that are single already are matched once), or its text is bounded.
test("every regular expression takes linear time on texts of up to 300 kB made against it, or sees bounded texts", async () => {
  const { count, unbounded } = await tryExpressions(300_000);
  expect(count).toBeGreaterThan(800);
  expect(unbounded).toEqual([]);
}, 600_000);

test("no other expression is made of a text while the program works", async () => {
  const making: string[] = [];
  for (const file of [...new Glob("src/**/*.ts").scanSync({ cwd: ROOT })].sort()) {
    const code = await Bun.file(join(ROOT, file)).text();
    // Those of constants are made once and tried as the literals are.
    if (/(?<!^const \w+ = |^ +pattern: )new RegExp\(/m.test(code)) making.push(file);
  }
  expect(making.sort()).toEqual([...MADE_AT_WORK].sort());
});
