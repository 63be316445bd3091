import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const paragraph = (word: string, number: number): string =>
  `<p>${word} ${number} went down the river in ${1700 + number} with nine loads of tiles, and came to the roofs of the harbour before the ice. Nobody in the village remembers a summer without it.</p>`;
const article = (title: string, attributes = ""): string =>
  `<article class="story"${attributes}><h1>${title}</h1>${[1, 2, 3].map((number) => paragraph(title, number)).join("")}</article>`;
const pageOf = (main: string, title = "Barges - Ford Gazette"): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body><header><a href="/">Ford Gazette</a></header><main>${main}</main><footer>© 2024 Ford Gazette</footer></body></html>`;
const textOf = async (html: string): Promise<string> => (await extract(html)).article?.text ?? "";

describe("an article that a page loads below its own is not content,", () => {
  const SHAPES = {
    "one more": article("Barges") + article("Kilns", ' data-url="/kilns"'),
    "two more": article("Barges") + article("Kilns") + article("Weirs"),
    "in boxes": [article("Barges"), article("Kilns")].map((one) => `<div class="slot">${one}</div>`).join(""),
  };
  for (const [shape, main] of Object.entries(SHAPES))
    test(shape, async () => {
      const text = await textOf(pageOf(main));
      for (const number of [1, 2, 3]) expect(text).toContain(`Barges ${number} went`);
      expect(text).not.toMatch(/Kilns \d went|Weirs \d went/);
    });
});

test("a page of articles keeps all of them", async () => {
  const text = await textOf(pageOf(article("Barges") + article("Kilns") + article("Weirs"), "Ford Gazette"));
  for (const title of ["Barges", "Kilns", "Weirs"]) expect(text).toContain(`${title} 3 went`);
});
