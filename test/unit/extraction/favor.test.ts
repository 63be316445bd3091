import { describe, expect, test } from "bun:test";
import { articleOf } from "../../support/extraction.ts";
import { framed } from "../../support/framed.ts";
import { documentOf } from "../../support/generated-document.ts";

const LINKS = "Closing gate 5 by hand";
const page = documentOf(["paragraph", "paragraph", "paragraph", "paragraph", "link list"], "article").html;
const HINT = "Reading the tide table takes a minute and saves a day.";
const boxed = framed(`<div class="teaser"><a href="/tides">${HINT}</a></div>`);

describe("what is unsure", () => {
  test("at the end of an article stays, unless precision is favoured", async () => {
    expect((await articleOf(page, { favor: "precision" })).text).not.toContain(LINKS);
    expect((await articleOf(page, { favor: "balanced" })).text).toContain(LINKS);
    expect((await articleOf(page, { favor: "recall" })).text).toContain(LINKS);
  });

  test("in a box of the template stays only when recall is favoured", async () => {
    for (const favor of ["precision", "balanced"] as const)
      expect((await articleOf(boxed, { favor })).text, favor).not.toContain(HINT);
    expect((await articleOf(boxed, { favor: "recall" })).text).toContain(HINT);
  });

  test("beside the content goes in any case", async () => {
    const { html, unwanted } = documentOf(["paragraph", "section", "list"], "sidebar");
    const { text } = await articleOf(html, { favor: "recall" });
    for (const words of unwanted) expect(text).not.toContain(words);
  });

  test("is decided alike when selectors leave a part of the page", async () => {
    const options = { exclude: ["footer"] };
    expect((await articleOf(page, { ...options, favor: "precision" })).text).not.toContain(LINKS);
    expect((await articleOf(page, { ...options, favor: "balanced" })).text).toContain(LINKS);
  });
});

describe("the warning of partial content", () => {
  const part = (n: number) =>
    `<div class="related-posts"><a href="/s/${n}">Offer ${n} of the week from the harbour shop, with delivery to parish ${n}</a></div>`;
  const cards = Array.from({ length: 30 }, (_, n) => part(n)).join("");

  test("says how much of the page's main part is given", async () => {
    const { warnings } = await articleOf(framed(cards), { favor: "precision" });
    expect(warnings).toEqual([
      expect.stringMatching(/^partial content \(\d+ of \d+ words of the page's main part\)$/),
    ]);
  });

  test("is not given for a page that comes through whole", async () => {
    expect((await articleOf(page)).warnings).toEqual([]);
  });
});
