import { describe, expect, test } from "bun:test";
import { articleOf, pageWith } from "../../support/extraction.ts";

const PARTS = [
  "The sluice keeper writes the level of the weir into her ledger every morning.",
  "In March the level rose above the second mark.",
  "Nobody remembers a spring like this one.",
];

/** Elements that hold text without paragraphs; text in the first place is what stands before it there. */
const HOLDERS: Readonly<Record<string, (inner: string) => string>> = {
  "a box": (inner) => `<div>${inner}</div>`,
  "a box with a class": (inner) => `<div class="leaf">${inner}</div>`,
  "a paragraph": (inner) => `<p>${inner}</p>`,
  "an item": (inner) => `<ul><li>${inner}</li><li>Other words of a list.</li></ul>`,
  "a quotation": (inner) => `<blockquote>${inner}</blockquote>`,
  "a definition": (inner) => `<dl><dt>Weir</dt><dd>${inner}</dd></dl>`,
  "a layout cell": (inner) => `<table><tr><td><h2>Levels</h2>${inner}</td></tr></table>`,
  "a cell of a page": (inner) => `<table width="100%"><tr><td><h1>Levels</h1>${inner}</td></tr></table>`,
};

describe("two line breaks separate paragraphs", () => {
  for (const [holder, write] of Object.entries(HOLDERS)) {
    for (const gap of ["<br><br>", "<br /> <br />", "<br><br><br>"]) {
      test(`in ${holder} with ${gap}`, async () => {
        const { markdown, text } = await articleOf(pageWith(write(PARTS.join(gap))));
        const lines = (markdown ?? "").split("\n").map((line) => line.replace(/^[>\s-]+/, ""));
        for (const part of PARTS) expect(lines).toContain(part);
        for (const part of PARTS) expect(text.split("\n").map((line) => line.trim())).toContain(part);
      });
    }
  }

  test("in a cell of values, as far as a table can say it", async () => {
    const rows = `<tr><th>Mark</th><th>Level</th></tr><tr><td>1</td><td>${PARTS.join("<br><br>")}</td></tr>`;
    const { markdown } = await articleOf(pageWith(`<table>${rows}</table>`));
    expect(markdown).toContain(`| 1 | ${PARTS.join("<br>")} |`);
  });

  test("where they close a mark around both", async () => {
    const { markdown } = await articleOf(pageWith(`<p><b>${PARTS[0]}<br><br>${PARTS[1]}</b></p>`));
    expect(markdown).toContain(`**${PARTS[0]}**\n\n**${PARTS[1]}**`);
  });
});
