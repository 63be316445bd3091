import { describe, expect, test } from "bun:test";
import { articleOf, pageWith } from "../../support/extraction.ts";

/** How pages write a note in the margin behind the words that it is about. */
const SHAPES: Readonly<Record<string, (note: string, id: string) => string>> = {
  "a box and an empty label": (note, id) =>
    `<label for="${id}" class="margin-toggle sidenote-number"></label><input type="checkbox" id="${id}" class="margin-toggle"><span class="sidenote">${note}</span>`,
  "a box and a sign": (note, id) =>
    `<label for="${id}">⊕</label><input type="checkbox" id="${id}"/> <span class="marginnote">${note}</span>`,
  "names of their own": (note, id) =>
    `<label for="${id}">⊕</label><input type="checkbox" id="${id}"><small class="gloss">${note}</small>`,
  "no box": (note) => `<span class="side-note">${note}</span>`,
};
const HOLDERS: Readonly<Record<string, (inner: string) => string>> = {
  "a paragraph": (inner) => `<p>${inner}</p>`,
  "an item": (inner) => `<ul><li>${inner}</li><li>Other words of a list.</li></ul>`,
  "a quotation": (inner) => `<blockquote><p>${inner}</p></blockquote>`,
};

describe("notes in the margin are footnotes", () => {
  for (const [shape, note] of Object.entries(SHAPES)) {
    for (const [holder, write] of Object.entries(HOLDERS)) {
      test(`${shape} in ${holder}`, async () => {
        const first = note("Ink <em>freezes</em> at minus four.", "sn-1");
        const second = note("The ruler is of brass.", "sn-2");
        const { markdown, text, content } = await articleOf(
          pageWith(write(`She writes in pencil${first} and rules the page by hand${second}.`)),
        );
        expect(markdown).toContain("She writes in pencil[^1] and rules the page by hand[^2].");
        expect(markdown).toContain("[^1]: Ink *freezes* at minus four.");
        expect(markdown).toContain("[^2]: The ruler is of brass.");
        for (const form of [markdown, text, content]) {
          expect(form).not.toContain("⊕");
          expect(form?.split("The ruler is of brass.")).toHaveLength(2);
        }
      });
    }
  }

  test("but a box of a form and a note alone are not", async () => {
    const form = `<p>Choose: <input type="checkbox" id="a"><span>Mill</span> <input type="checkbox" id="b"><span>Weir</span></p>`;
    const alone = `<div><span class="sidenote">A word to the millers who read this page by the light of a lamp.</span></div>`;
    const { markdown } = await articleOf(pageWith(form + alone));
    expect(markdown).not.toContain("[^");
    expect(markdown).toContain("A word to the millers");
  });
});
