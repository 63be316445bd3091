import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const WORD = "quarry";
const KINDS = {
  paragraph: `<p>The ${WORD} floods twice a year.</p>`,
  "paragraph of a word": `<p>${WORD}</p>`,
  "heading and paragraph": `<h1>Floods</h1><p>The ${WORD} floods.</p>`,
  code: `<pre>ls ${WORD}</pre>`,
  list: `<ul><li>one</li><li>${WORD}</li></ul>`,
  quotation: `<blockquote>The ${WORD} floods.</blockquote>`,
  table: `<table><tr><th>Place</th><th>Depth</th></tr><tr><td>${WORD}</td><td>4</td></tr></table>`,
  definitions: `<dl><dt>Place</dt><dd>The ${WORD}.</dd></dl>`,
};
const FRAMES = {
  "before a footer": (content: string) => `${content}<footer>Read on</footer>`,
  "behind a menu": (content: string) => `<nav><a href="/">Home</a></nav>${content}`,
  "beside a sidebar": (content: string) => `<header>Site</header>${content}<aside>Other things</aside>`,
  "in a whole page": (content: string) =>
    `<header><a href="/">Site</a></header><nav><a href="/a">A</a></nav>${content}<footer>© 2020</footer>`,
};

describe("a page of a few words has them", () => {
  for (const [frame, around] of Object.entries(FRAMES)) {
    for (const [kind, html] of Object.entries(KINDS)) {
      for (const tag of ["main", "article", "body"]) {
        test(`${kind} in ${tag} ${frame}`, async () => {
          const { article } = await extract(around(`<${tag}>${html}</${tag}>`));
          expect(article?.text ?? "").toContain(WORD);
          expect(article?.text ?? "").not.toMatch(/Read on|Other things|2020/);
        });
      }
    }
  }
});

test("a message of an application that has not begun is no content", async () => {
  expect((await extract('<header>Site</header><div id="root">Loading</div>')).article).toBeNull();
});
