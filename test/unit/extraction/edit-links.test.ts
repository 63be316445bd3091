import { describe, expect, test } from "bun:test";
import { articleOf, PROSE, pageWith } from "../../support/extraction.ts";

const edit = (words: string, address = "/w/index.php?title=Weir&amp;action=edit&amp;section=2"): string =>
  `<a href="${address}">${words}</a>`;

/** What wikis put beside the words of a heading. */
const MARKS: Readonly<Record<string, string>> = {
  "in brackets": `<span class="m">[${edit("edit")}]</span>`,
  "with another link": `<span><span>[</span>${edit("<span>edit source</span>")}<span> | </span><a href="/talk">talk</a><span>]</span></span>`,
  "in other words": `<small>[${edit("Bearbeiten")} | ${edit("Quelltext bearbeiten", "?veaction=edit")}]</small>`,
  "as a link alone": edit("Modifica", "/weir?do=edit"),
};
const SHAPES: Readonly<Record<string, (title: string, mark: string, level: number) => string>> = {
  "behind the heading": (title, mark, level) => `<div><h${level}>${title}</h${level}>${mark}</div>`,
  "inside the heading": (title, mark, level) => `<h${level}>${title} ${mark}</h${level}>`,
  "first in the heading": (title, mark, level) => `<h${level}>${mark} <span>${title}</span></h${level}>`,
  "behind the heading of a section": (title, mark, level) =>
    `<section><h${level}>${title}</h${level}> ${mark}<p>${PROSE}</p></section>`,
};

describe("links to edit a section leave its heading", () => {
  for (const [shape, write] of Object.entries(SHAPES)) {
    for (const [kind, mark] of Object.entries(MARKS)) {
      test(`${kind} ${shape}`, async () => {
        const [first, middle, last] = [
          write("Ice", mark, 2),
          write("Early years", mark, 3),
          write("Tolls", mark, 2),
        ];
        const body = `${first}<p>${PROSE}</p>${middle}<p>Short.</p>${last}<p>${PROSE}</p>`;
        const { markdown, text } = await articleOf(pageWith(body));
        const lines = (markdown ?? "").split("\n");
        for (const heading of ["## Ice", "### Early years", "## Tolls"]) expect(lines).toContain(heading);
        for (const word of ["edit", "Bearbeiten", "Modifica", "talk"]) expect(text).not.toContain(word);
      });
    }
  }

  test("but a link of the text stays", async () => {
    const { markdown } = await articleOf(
      pageWith(
        `<h2>Ice</h2><p>See ${edit("the form")} for more.</p><p>${PROSE}</p><h2><a href="/ice">Thaw</a></h2><p>${PROSE}</p>`,
      ),
    );
    expect(markdown).toContain("the form");
    expect(markdown).toContain("Thaw");
  });
});
