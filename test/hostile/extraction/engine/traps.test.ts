import { describe, expect, test } from "bun:test";
import { scanPage } from "../../../../src/extraction/page/scan.ts";
import { articleOf, extract, PROSE } from "../../../support/extraction.ts";

describe("the one-pass engine", () => {
  test("reads 100 000 levels of nesting", async () => {
    const html = `${"<div>".repeat(100_000)}<p>${PROSE}</p>`;
    expect((await articleOf(html)).text).toBe(PROSE.trim());
    expect(scanPage(html).model.elementCount).toBe(100_001);
  });

  test("reads 100 000 levels of elements that mean something", async () => {
    const html = `${"<blockquote>".repeat(100_000)}<p>${PROSE}</p>`;
    expect((await articleOf(html)).text).toBe(PROSE.trim());
  });

  test("reads a million attributes", async () => {
    const attributes = Array.from({ length: 1_000_000 }, (_, index) => `a${index}=b`).join(" ");
    expect((await articleOf(`<p ${attributes}>${PROSE}</p>`)).text).toBe(PROSE.trim());
  });

  test("reads 10 000 tables in tables", async () => {
    const html = `${"<table><tr><td>".repeat(10_000)}<p>${PROSE}</p>`;
    expect((await articleOf(html)).text).toBe(PROSE.trim());
  });

  test("reads attributes of two megabytes", async () => {
    const long = "nav ".repeat(500_000);
    expect((await articleOf(`<p title="${long}" data-x="${long}">${PROSE}</p>`)).text).toBe(PROSE.trim());
  });

  test("is not slowed by end tags that match nothing nearby", async () => {
    const html = `<i>${"<b>".repeat(50_000)}${"</i></u></section>".repeat(50_000)}<p>${PROSE}</p>`;
    expect((await extract(html)).article?.text).toContain(PROSE.trim());
  });

  test("is not slowed by comments and rules in style sheets that never end", () => {
    expect(scanPage(`<style>${"/*".repeat(200_000)}</style><p>a</p>`).model.blocks.text).toEqual(["a"]);
    expect(scanPage(`<style>${"@media{".repeat(100_000)}</style><p>a</p>`).model.blocks.text).toEqual(["a"]);
  });

  test("is not slowed by frames of code or formulas in each other that hold none", async () => {
    for (const start of ['<div class="highlight">', '<span class="katex">']) {
      const { text, markdown } = await articleOf(`<p>${PROSE}</p>${start.repeat(40_000)}<p>${PROSE}</p>`);
      expect(text).toStartWith(PROSE.trim());
      expect(markdown).toStartWith(PROSE.trim());
    }
  });

  test("knows 100 000 different element names", async () => {
    const html = Array.from({ length: 100_000 }, (_, index) => `<x-${index}>`).join("");
    expect((await articleOf(`${html}<p>${PROSE}</p>`)).text).toBe(PROSE.trim());
  });
});
