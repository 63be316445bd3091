import { describe, expect, test } from "bun:test";
import { articleOf, pageWith } from "../../support/extraction.ts";

const lazy = (name: string): Readonly<Record<string, string>> => ({
  "a grey dot with the file beside it": `<img src="/dot-grey.jpg" data-original="/${name}.jpg" alt="${name}">`,
  "another size": `<img src="/img/${name}-small.jpg" alt="${name}">`,
  "another folder": `<img data-src="/w400/${name}.jpg" alt="${name}">`,
  "a set of sizes": `<img srcset="/${name}-400.jpg 400w, /${name}-800.jpg 800w" alt="${name}">`,
  "an empty place": `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="${name}">`,
  "no address": `<img alt="${name}" class="lazy">`,
});
const twin = (name: string): string =>
  `<noscript><img src="/full/${name}_1600.jpg" alt="${name}"></noscript>`;
const PLACES: Readonly<Record<string, (html: string) => string>> = {
  "between paragraphs": (html) => html,
  "in a box": (html) => `<div class="leaf">${html}</div>`,
  "in a figure": (html) => `<figure><span>${html}</span><figcaption>At the weir.</figcaption></figure>`,
  "in an item": (html) => `<ul><li>Words of an item. ${html}</li><li>Words of another.</li></ul>`,
  "in a cell": (html) =>
    `<table><tr><th>View</th><th>Year</th></tr><tr><td>${html}</td><td>1911</td></tr></table>`,
  "in a link": (html) => `<a href="/large/view.jpg">${html}</a>`,
};

describe("an image and its twin in <noscript> are one", () => {
  for (const [place, write] of Object.entries(PLACES)) {
    for (const [kind, image] of Object.entries(lazy("drum"))) {
      test(`${kind} ${place}`, async () => {
        const { markdown } = await articleOf(pageWith(write(image + twin("drum"))));
        expect(markdown?.match(/!\[drum\]/g)).toHaveLength(1);
      });
    }
  }

  test("two images stay two", async () => {
    for (const [kind, first] of Object.entries(lazy("drum"))) {
      const second = lazy("hut")[kind]!;
      const { markdown } = await articleOf(
        pageWith(`<div>${first}${twin("drum")}${second}${twin("hut")}</div>`),
      );
      expect(markdown?.match(/!\[(?:drum|hut)\]/g)).toEqual(["![drum]", "![hut]"]);
    }
  });
});
