import { describe, expect, test } from "bun:test";
import { articleOf, PROSE } from "../../support/extraction.ts";

const FULL = "Returns the depth of the quay in metres, or none where nobody has measured it since the flood.";
const countOf = (text: string, part: string): number => text.split(part).length - 1;
const pageOf = (comment: string): string =>
  `<main><h1>Quay</h1><p>${PROSE}</p><h2>depth</h2>${comment}<p>${PROSE}</p></main>`;

describe("the short and the full form of a comment are one", () => {
  test.each([
    ["a shorter one", "Returns the depth of the quay in metres"],
    ["one with an ellipsis", "Returns the depth of the quay…"],
    ["the same", FULL],
  ])("%s", async (_, short) => {
    const { text } = await articleOf(
      pageOf(
        `<p class="shortcomment cmt">${short}</p><div class="fullcomment"><div class="comment cmt"><p>${FULL}</p></div></div>`,
      ),
    );
    expect([countOf(text, "Returns the depth"), countOf(text, FULL)]).toEqual([1, 1]);
  });
});

test("a summary that says something else stays", async () => {
  const summary = "Measured by hand, twice a year, by whoever keeps the light.";
  const { text } = await articleOf(
    pageOf(`<p class="brief">${summary}</p><div class="fullcomment"><p>${FULL}</p></div>`),
  );
  expect([countOf(text, summary), countOf(text, FULL)]).toEqual([1, 1]);
});

test("a paragraph that begins as the next one does stays where no name says that it is short", async () => {
  const start = "Returns the depth of the quay in metres";
  const { text } = await articleOf(pageOf(`<p>${start}</p><p>${FULL}</p>`));
  expect(countOf(text, "Returns the depth")).toBe(2);
});
