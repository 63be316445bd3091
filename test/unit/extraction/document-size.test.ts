import { expect, test } from "bun:test";
import { articleOf, extract } from "./support.ts";

test("a page of a million tags is read as text, and refused as a document", async () => {
  const page = `<article><p>${"<i>tide</i> ".repeat(500_000)}</p></article>`;
  expect((await articleOf(page, { renderings: [] })).wordCount).toBe(500_000);
  await expect(extract(page, { renderings: ["markdown"] })).rejects.toMatchObject({ code: "too_large" });
}, 60_000);
