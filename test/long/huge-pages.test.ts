import { expect, test } from "bun:test";
import { articleOf } from "../support/extraction.ts";
import { documentOf } from "../support/generated-document.ts";

test.each([
  ["paragraph", 50_000],
  ["section", 20_000],
  ["list", 20_000],
  ["announcement", 10_000],
])("a page of many blocks is whole: %s, %i times", async (kind, count) => {
  const page = documentOf(
    Array.from({ length: count }, () => kind),
    "article",
  );
  const { text } = await articleOf(page.html, { renderings: [] });
  const plain = text.replace(/\s+/g, " ");
  let at = 0;
  const lost = page.wanted.filter((words) => {
    const found = plain.indexOf(words, at);
    if (found >= 0) at = found + words.length;
    return found < 0;
  });
  expect(lost).toEqual([]);
  for (const words of page.unwanted) expect(plain).not.toContain(words);
});
