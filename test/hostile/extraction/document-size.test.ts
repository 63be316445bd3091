import { expect, test } from "bun:test";
import { articleOf, extract, PROSE } from "../../support/extraction.ts";

test("a page of 380 000 tags is written in every form, and refused only where selectors are to match it", async () => {
  const page = `<article><p>${"<i>tide</i> ".repeat(190_000)}</p></article>`;
  const { wordCount, markdown, content } = await articleOf(page);
  expect(wordCount).toBe(190_000);
  expect(markdown).toBe("*tide* ".repeat(190_000).trim());
  expect(content?.match(/tide/g)).toHaveLength(190_000);
  await expect(extract(page, { select: "article" })).rejects.toMatchObject({ code: "too_complex" });
});

test("short references to a long base end at 20 million characters, and keep their words", async () => {
  const base = `https://h.test/${"x".repeat(8000)}/`;
  const references = Array.from(
    { length: 3000 },
    (_, i) => `<a href="a${i}">word${i}</a> <img src="i${i}" alt="">`,
  );
  const page = `<base href="${base}"><article><p>${PROSE}</p><p>${references.join("\n")}</p></article>`;
  const { content, markdown, text } = await articleOf(page, { select: "article" });
  for (const rendering of [content, markdown]) {
    expect(rendering).toContain(`${base}a0`);
    expect(rendering).toContain(`${base}i0`);
    expect(rendering?.length).toBeLessThan(20_500_000);
    expect(rendering).not.toContain(`${base}a2999`);
    expect(rendering).toContain("word2999");
  }
  expect(text).toContain("word2999");
});
