import { describe, expect, test } from "bun:test";
import { pageText } from "../../../src/pages/index.ts";
import { articleOf } from "../../support/extraction.ts";
import {
  HEADINGS,
  LEADING,
  paragraphs,
  SAYING,
  SHELLS,
  SITES,
  titledPage,
} from "../../support/titled-pages.ts";

const TITLE = "Closing a gate";
const LENGTHS = [1, 3, 8, 30];

/** What the program writes of a page: `# title` and the body. */
async function written(html: string): Promise<{ readonly text: string; readonly heads: readonly string[] }> {
  const { title, markdown } = await articleOf(html, { url: "https://weirside.example/d/closing" });
  const { text } = pageText({ title: title ?? "", markdown: markdown ?? "" });
  return { text, heads: [...text.matchAll(/^# (.+)$/gm)].map(([, head]) => head!) };
}

const each = function* (): Generator<readonly [string, (above: string) => string]> {
  for (const [shellName, shell] of Object.entries(SHELLS))
    for (const [headingName, heading] of Object.entries(HEADINGS))
      for (const length of LENGTHS)
        yield [
          `${shellName}, heading ${headingName}, ${length} paragraphs`,
          (above) =>
            titledPage(`${TITLE} | Weirside manual`, shell(above + heading(TITLE) + paragraphs(length))),
        ];
};

const LEADS =
  /Home\b|Manual|Back to top|Edit this|View source|min read|Reading time|Previous|Next|Link to this/;

describe("the title is written once", () => {
  for (const [name, above] of Object.entries(LEADING))
    test(`and what only leads is left out: ${name}`, async () => {
      for (const [place, page] of each()) {
        const { text, heads } = await written(page(above));
        expect([place, heads]).toEqual([place, [TITLE]]);
        expect([place, text.split(TITLE).length, LEADS.exec(text)]).toEqual([place, 2, null]);
      }
    });

  for (const [name, [above, says]] of Object.entries(SAYING))
    test(`and what says something stands below it at most once: ${name}`, async () => {
      let kept = 0;
      for (const [place, page] of each()) {
        const { text, heads } = await written(page(above));
        expect([place, heads]).toEqual([place, [TITLE]]);
        expect(text.split(says).length).toBeLessThanOrEqual(2);
        if (text.includes(says)) kept++;
      }
      expect(kept).toBeGreaterThan(80);
    });

  test("where it is repeated in the content, and a list of the page stands above it", async () => {
    const { heads, text } = await written(
      titledPage(
        TITLE,
        `<main><div><h1>${TITLE}</h1><h2>Contents</h2><ul><li><a href='#a'>Upper gate</a></li></ul></div><article><h1>${TITLE}</h1>${paragraphs(12)}</article></main>`,
      ),
    );
    expect(heads).toEqual([TITLE]);
    expect(text).not.toContain("Upper gate");
  });

  test("and the headings of a page with many of the first level keep their order below it", async () => {
    const parts = ["Name", "Synopsis", "Options"].map(
      (name, at) =>
        `<h1>${name}</h1>${paragraphs(3, at * 10)}<h2>More on ${name}</h2>${paragraphs(3, at * 10 + 5)}`,
    );
    const page = titledPage("gate(1)", `<main>${parts.join("")}</main>`);
    const { text } = await written(page);
    const levels = [...text.matchAll(/^(#+) /gm)].map(([, signs]) => signs!.length);
    expect(levels).toEqual([1, 2, 3, 2, 3, 2, 3]);
  });

  test("and prose that comes before a later heading of the same words stays above that", async () => {
    const page = titledPage(TITLE, `<main>${paragraphs(9)}<h1>${TITLE}</h1>${paragraphs(6, 20)}</main>`);
    const { text, heads } = await written(page);
    expect(heads).toEqual([TITLE]);
    expect(text.indexOf("of parish 8 ")).toBeLessThan(text.lastIndexOf(TITLE));
  });
});

describe("the site's name is no title of its pages", () => {
  for (const [name, site] of Object.entries(SITES))
    test(`where it stands as ${name}`, async () => {
      const { title: said, before, head } = { head: "", ...site };
      for (const [shellName, shell] of Object.entries(SHELLS))
        for (const level of ["h1", "h2"])
          for (const length of LENGTHS) {
            // A second-level heading under a menu's first-level one may be a section's as well.
            if (level === "h2" && name === "a heading beside a menu") continue;
            const content = `<${level}>${TITLE}</${level}>${paragraphs(length)}`;
            const { text, heads } = await written(titledPage(said, before + shell(content), head));
            const place = `${shellName}, ${level}, ${length} paragraphs`;
            expect([place, heads, text.split(TITLE).length]).toEqual([place, [TITLE], 2]);
          }
    });

  test("but of the page at the site's start", async () => {
    const page = titledPage(
      "Welcome | The Weirside Book",
      `<main><h1>The Weirside Book</h1><h2>Welcome</h2>${paragraphs(5)}</main>`,
      "<meta property='og:site_name' content='The Weirside Book'>",
    );
    const title = async (url: string): Promise<string | null> => (await articleOf(page, { url })).title;
    expect(await title("https://weirside.example/")).toBe("The Weirside Book");
    expect(await title("https://weirside.example/welcome")).toBe("Welcome");
  });

  test("and a link from the page to itself, or to a folder of it, names no site", async () => {
    for (const href of ["", "./", "gates/", "?a", "#top", "index.html", "https://elsewhere.example/"]) {
      const page = titledPage(
        `${TITLE} | Handbook`,
        `<nav><a href='/'>Start</a> <a href='${href}'>${TITLE}</a></nav><main><h1>${TITLE}</h1>${paragraphs(8)}</main>`,
      );
      expect((await articleOf(page, { url: "https://weirside.example/d/index.html" })).title).toBe(TITLE);
    }
  });
});
