import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const TEXT = Array.from(
  { length: 5 },
  (_, number) =>
    `<p>Gate ${number} of the weir opens at six and closes when the tide has been in for ${number + 2} hours.</p>`,
).join("");
const inSite = (main: string): string =>
  `<header><a href="/">Weir</a></header><nav><a href="/a">Gates</a> <a href="/b">Tides</a></nav>${main}<footer>© 2020</footer>`;

describe("a link to the source of the page is no content", () => {
  const LINKS = {
    "a paragraph": '<p><a href="https://git.test/weir/docs/edit/main/gates.md">Edit this page</a></p>',
    "a link alone": '<a href="https://git.test/weir/docs/edit/main/gates.md">Edit this page on GitHub</a>',
    "a box":
      '<div class="edit-link"><a href="https://git.test/weir/docs/blob/main/gates.md">Edit on GitHub</a></div>',
    "another language":
      '<p><a href="https://git.test/weir/docs/-/edit/main/gates.md">Diese Seite bearbeiten</a></p>',
    "the source": '<p><a href="_sources/gates.txt">Show Source</a></p>',
  };
  for (const [form, link] of Object.entries(LINKS)) {
    for (const place of ["first", "last"]) {
      test(`${form}, ${place}`, async () => {
        const main = place === "first" ? `<h1>Gates</h1>${link}${TEXT}` : `<h1>Gates</h1>${TEXT}${link}`;
        const { article } = await extract(inSite(`<main><article>${main}</article></main>`));
        expect(article?.text).toContain("Gate 0");
        expect(article?.text).toContain("Gate 4");
        expect(article?.text).not.toMatch(/Edit|bearbeiten|Source/);
      });
    }
  }

  test("but a sentence about editing is", async () => {
    const link =
      '<p>To mend it, <a href="https://git.test/weir/edit/main/a.md">edit this page</a> and send it to us.</p>';
    const { article } = await extract(inSite(`<main><h1>Gates</h1>${TEXT}${link}</main>`));
    expect(article?.text).toContain("To mend it, edit this page and send it to us.");
  });
});

test("rows of links to the pages around it are no content", async () => {
  const row = (side: string): string =>
    `<div class="nav${side}"><table><tr><td><a href="p">Prev</a></td><th>Weir Commands</th><td><a href="n">Next</a></td></tr></table><hr></div>`;
  const { article } = await extract(
    `${row("header")}<h1>Gates</h1>${TEXT}<pre>open gate</pre>${row("footer")}`,
  );
  expect(article?.text).toContain("open gate");
  expect(article?.text).not.toMatch(/Prev|Weir Commands|Next/);
});
