import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { articleOf } from "../../support/extraction.ts";
import {
  BLOCK_KINDS,
  documentOf,
  type GeneratedDocument,
  generatedDocument,
  SHELL_NAMES,
} from "../../support/generated-document.ts";

/** What is wrong with the extraction of a page whose content is known. */
async function faultsOf({ html, wanted, unwanted }: GeneratedDocument): Promise<string[]> {
  const { markdown, text } = await articleOf(html);
  const shown = (markdown ?? "").replace(/\\(.)/g, "$1").replace(/\s+/g, " ");
  const plain = text.replace(/\s+/g, " ");
  return [
    ...wanted.filter((words) => !shown.includes(words)).map((words) => `the Markdown lacks: ${words}`),
    ...wanted.filter((words) => !plain.includes(words)).map((words) => `the text lacks: ${words}`),
    ...unwanted.filter((words) => shown.includes(words)).map((words) => `beside the content: ${words}`),
  ];
}

const paragraphs = (count: number): string[] => Array.from({ length: count }, () => "paragraph");

describe.each(SHELL_NAMES)("a page of a site, %s:", (shell) => {
  test.each(BLOCK_KINDS)("%s is kept at the start, in the middle and at the end", async (kind) => {
    for (const count of [2, 4, 25]) {
      for (const at of [0, count / 2, count]) {
        const kinds = paragraphs(count).toSpliced(at, 0, kind);
        expect(await faultsOf(documentOf(kinds, shell)), `${kind} at ${at} of ${count}`).toEqual([]);
      }
    }
  });

  test.each(BLOCK_KINDS)("%s many times after one paragraph", async (kind) => {
    for (const count of [3, 60]) {
      const kinds = ["paragraph", ...Array.from({ length: count }, () => kind)];
      expect(await faultsOf(documentOf(kinds, shell)), `${count} of ${kind}`).toEqual([]);
    }
  });

  test.each([1, 10, 300, 800, 3000])("%i paragraphs, or sections, are whole", async (count) => {
    expect(await faultsOf(documentOf(paragraphs(count), shell))).toEqual([]);
    const sections = Array.from({ length: count }, () => "section");
    expect(await faultsOf(documentOf(sections, shell))).toEqual([]);
  });
});

describe("any blocks in any order, in any shell:", () => {
  test.each([
    [12, 150],
    [1000, 15],
  ])("at most %i blocks, %i pages", async (maxBlocks, numRuns) => {
    await fc.assert(
      fc.asyncProperty(generatedDocument(maxBlocks), async (page) => {
        expect(await faultsOf(page)).toEqual([]);
      }),
      { numRuns },
    );
  });
});

test("what an author says twice in the article is there twice, in lists and tables", async () => {
  const said = "Sets the width of the gate in whole metres of the river";
  const prose = (at: number): string =>
    `<p>Paragraph ${at} tells at some length how the weir was built, who opened its gates and when.</p>`;
  const html = `<!doctype html><title>The weir</title><body><header><nav><a href="/">Home</a></nav></header>
    <main><article><h1>The weir</h1>${[1, 2, 3, 4].map(prose).join("")}
    <ul><li><p>${said}</p></li><li><p>Opens it</p></li></ul>${prose(5)}
    <h2>Lock</h2><ul><li>${said}</li><li>Shuts it</li></ul>
    <table><tr><th>Option</th><th>Meaning</th></tr><tr><td>a</td><td>${said}</td></tr><tr><td>b</td><td>${said}</td></tr></table>
    </article></main><footer><p>All rights reserved</p></footer>`;
  const { text } = await articleOf(html);
  expect(text.split(said).length - 1).toBe(4);
});

describe("a page that is an index keeps its list:", () => {
  const entries = (count: number): string =>
    Array.from({ length: count }, (_, at) => `<li><a href="/gate/${at}">Opening gate ${at}</a></li>`).join(
      "",
    );
  const site = (body: string): string =>
    `<!doctype html><title>Index - Weir manual</title><header><nav><a href="/">Home</a> <a href="/x">Search</a></nav></header>
    <main><h1>Index</h1>${body}</main><footer><p>© Weirside</p></footer>`;
  const prose =
    "<p>In parish two the miller counts his bridges before the sluice of the weir is closed again.</p>";

  test.each([
    ["of ten links", `<h2>A</h2><ul>${entries(10)}</ul>`, 10],
    ["of three hundred links", `<h2>A</h2><ul>${entries(300)}</ul>`, 300],
    ["behind a paragraph", `${prose}<h2>A</h2><ul>${entries(30)}</ul>`, 30],
  ])("%s", async (_, body, count) => {
    const { markdown } = await articleOf(site(body));
    expect(markdown?.match(/^- \[Opening gate \d+\]/gm)).toHaveLength(count);
  });

  test("a book's table of contents", async () => {
    const chapters = Array.from(
      { length: 14 },
      (_, at) =>
        `<li><a href="c${at}">Chapter ${at}</a><ul><li><a href="c${at}#a">Steps of ${at}</a></li></ul></li>`,
    );
    const { text } = await articleOf(
      `<!doctype html><title>The weir</title><div class="navheader"><a href="n">Next</a></div>
      <div class="book"><h1>The weir</h1><p>Weirside, 2026</p><div class="toc"><h2>Contents</h2><ul>${chapters.join("")}</ul></div></div>`,
    );
    for (let at = 0; at < 14; at++) expect(text).toContain(`Steps of ${at}`);
    expect(text).not.toContain("Next");
  });
});

test("the navigation around a chapter of a book stays out", async () => {
  const bar = (name: string): string =>
    `<div class="${name}"><table><tr><th colspan="3">Opening the gate</th></tr><tr><td><a href="p">Prev</a></td><th>Gates</th><td><a href="n">Next</a></td></tr></table></div>`;
  const { text, markdown } = await articleOf(
    `<!doctype html><title>Opening the gate</title>${bar("navheader")}<div class="section"><h3>Opening the gate</h3>
    <p>The gate of the weir is opened by the miller, who counts the bridges before he does so, every night.</p>
    <p>Then he lifts the lower gate slowly, and waits for the water to come to rest.</p></div>${bar("navfooter")}`,
  );
  expect(text).not.toContain("Prev");
  expect(markdown).not.toContain("|");
});
