import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const PARAGRAPHS = [
  "<p>The gate opens at six and closes again at nine, when the tide has come in.</p>",
  "<p>On days of flood the weir is opened by hand, as it has been since the mill was built.</p>",
];
const inSite = (main: string): string =>
  `<header>Weir</header><nav><a href="/a">Gates</a></nav><main><h1>Gates</h1>${main}</main><footer>© 2020</footer>`;
const markdownOf = async (main: string): Promise<string> =>
  (await extract(inSite(main))).article?.markdown ?? "";

describe("a box of a remark stays", () => {
  const BOXES = {
    "alert alert-warning": "WARNING",
    "alert alert-info": "NOTE",
    "alert alert-danger alert-dismissible": "CAUTION",
  };
  for (const [names, kind] of Object.entries(BOXES)) {
    for (const count of [1, 2]) {
      for (const at of [0, 1, count]) {
        test(`${names} behind ${at} of ${count} paragraphs`, async () => {
          const box = `<div class="${names}" role="alert">Mind the gate.</div>`;
          const markdown = await markdownOf(PARAGRAPHS.slice(0, count).toSpliced(at, 0, box).join(""));
          expect(markdown).toContain(`> [!${kind}]\n> Mind the gate.`);
        });
      }
    }
  }
});

describe("a button in a sentence is a word of it", () => {
  const SENTENCES = {
    "Press Save all to keep the table.": "<p>Press <button>Save all</button> to keep the table.</p>",
    "Press Save all.": '<p>Press <button class="btn" type="button">Save all</button>.</p>',
    "Save all keeps the table of this year.":
      "<p><button>Save all</button> keeps the table of this year.</p>",
    "1. Press Save all.": "<ol><li>Press <button>Save all</button>.</li></ol>",
    "Press Save, then Close, to leave.":
      "<p>Press <button>Save</button>, then <button>Close</button>, to leave.</p>",
  };
  for (const [shown, html] of Object.entries(SENTENCES)) {
    test(shown, async () => {
      expect(await markdownOf(PARAGRAPHS[0] + html + PARAGRAPHS[1])).toContain(shown);
    });
  }

  test.each([
    "<p>The gate opens at six. <button>Read more</button></p>",
    "<p><button>Subscribe</button></p>",
    "<p><button>Like</button> 12</p>",
    "<button>Open the menu</button><p>The gate opens at six.</p>",
    "<p>The gate <button hidden>Close</button> opens.</p>",
  ])("but not in %s", async (html) => {
    expect(await markdownOf(PARAGRAPHS[0] + html + PARAGRAPHS[1])).not.toMatch(
      /Read more|Subscribe|Like|menu|Close/,
    );
  });
});

describe("an ordered list counts as the page does", () => {
  test.each([
    ['<ol start="5"><li>five</li><li>six</li></ol>', "5. five\n6. six"],
    ['<ol><li value="3">three</li><li>four</li></ol>', "3. three\n4. four"],
    ['<ol><li>one</li><li value="7">seven</li><li>eight</li></ol>', "1. one\n\n7) seven\n8) eight"],
    ['<ol><li value="1">one</li><li value="1">again</li></ol>', "1. one\n2. again"],
    ['<ol><li value="x">one</li><li value="-4">two</li></ol>', "1. one\n2. two"],
    ['<ol start="2"><li></li><li value="9">nine</li></ol>', "9. nine"],
  ])("%s", async (html, markdown) => {
    expect(await markdownOf(PARAGRAPHS[0] + html + PARAGRAPHS[1])).toContain(`\n\n${markdown}\n\n`);
  });
});

test("what rustdoc has open is not folded, and its label is none of the text", async () => {
  const markdown = await markdownOf(
    `<details class="toggle top-doc" open><summary class="hideme"><span>Expand description</span></summary>
      <div class="docblock">${PARAGRAPHS[0]}<h2>Tides</h2>${PARAGRAPHS[1]}</div></details>`,
  );
  expect(markdown).toContain("## Tides");
  expect(markdown).not.toMatch(/<details|Expand description/);
});

describe("the last element of a page stays without a body's tags, too", () => {
  const ENDINGS = {
    "open --gate": "<pre>open --gate</pre>",
    upstream: "<ul><li>upstream</li><li>downstream</li></ul>",
    sluice: "<table><tr><th>Part</th><th>Depth</th></tr><tr><td>sluice</td><td>4</td></tr></table>",
  };
  const frames = [
    (html: string) => `<nav><a href="/a">Gates</a></nav><h1>Gates</h1>${html}<footer>© 2020</footer>`,
    (html: string) => `<title>Gates</title><h1>Gates</h1>${html}<footer>© 2020</footer>`,
    (html: string) =>
      `<html><head><title>Gates</title></head><h1>Gates</h1>${html}<footer>© 2020</footer></html>`,
  ];
  for (const [word, html] of Object.entries(ENDINGS)) {
    test.each(frames)(`${word} %#`, async (frame) => {
      const prose = [0, 1, 2, 3].map((number) =>
        PARAGRAPHS[number % 2]!.replace("<p>", `<p>Of gate ${number}. `),
      );
      const { article } = await extract(frame(prose.join("") + html));
      expect(article?.text).toContain(word);
      expect(article?.text).not.toContain("2020");
    });
  }
});
