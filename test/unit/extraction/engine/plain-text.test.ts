import { describe, expect, test } from "bun:test";
import { articleOf, PROSE, pageWith } from "../support.ts";

const TABLE = "<table><tr><th>Day</th><th>Turns</th></tr><tr><td>Monday</td><td>412</td></tr></table>";
const VIDEO = '<iframe src="https://www.youtube.com/embed/abcdefgh" title="The  mill"></iframe>';

const PIECES: Readonly<Record<string, string>> = {
  "a table between paragraphs": `${TABLE}<p>Between the two.</p>${TABLE}`,
  "more tables than get a document each": `${TABLE}<p>And another day.</p>`.repeat(40),
  "code that is its text": "<pre><code>mill <span>--turn</span>\n  --slowly</code></pre>",
  "code that begins with white space": "<pre>\n\n   mill\n  --slowly</pre><pre><code>  a\nb</code></pre>",
  "code indented with no-break spaces": "<pre>mill\n&nbsp;&nbsp;--slowly</pre>",
  "code with line numbers": '<pre><span class="lineno">1</span>mill\n<span class="lineno">2</span>gate</pre>',
  "code with a title":
    '<div class="highlight"><div class="filename">mill.sh</div><pre>mill --turn</pre></div><p>After.</p>',
  "code in a frame of its own": '<div class="code-box"><div><pre>mill --turn\n  now</pre></div></div>',
  "a code frame around prose": `<section class="code"><p>${PROSE}</p><pre>mill</pre><p>${PROSE}</p></section>`,
  "code in an item": "<ul><li><pre>mill\n --turn</pre></li><li>Turn <pre>gate</pre> it</li></ul>",
  "a video": VIDEO,
  "a video with a caption": `<figure>${VIDEO}<figcaption>It turns</figcaption></figure>`,
  "a video in a quotation": `<blockquote><p>See it.</p>${VIDEO}</blockquote>`,
  "a video in a cell": `<table><tr><td>Turns</td><td>${VIDEO}</td></tr><tr><td>a</td><td>b</td></tr></table>`,
  "a video in an item": `<ul><li>See it ${VIDEO}</li></ul>`,
  "a frame that shows no video": '<p>One</p><iframe src="https://site.test/map?a=1&amp;b=2"></iframe>',
  "an alert of several paragraphs":
    '<div class="admonition note"><p class="admonition-title">Note</p><p>One.</p><p>Two.</p></div>',
  tabs: '<div class="tabs"><div role="tab">A</div><div role="tab">B</div><div role="tabpanel"><p>First</p></div><div role="tabpanel"><p>Second</p></div></div>',
  terms: "<dl><dt>Neap</dt><dd>A small tide.</dd><dd><p>Twice.</p><p>Each month.</p></dd></dl>",
  "folded text": "<details><summary>More</summary><p>One.</p><p>Two.</p></details>",
  "an emoji of two references": "<h3>Down &#11015;&#65039; here</h3>",
  "code beside words": "<p>Turn the <code>mill </code>by<code> gate</code></p>",
};

describe("the text without a document is the text with one", () => {
  for (const [name, inner] of Object.entries(PIECES)) {
    test(name, async () => {
      const page = pageWith(inner);
      expect((await articleOf(page, { renderings: [] })).text).toBe((await articleOf(page)).text);
      const [bare, whole] = [{ includeCode: false, renderings: [] }, { includeCode: false }] as const;
      expect((await articleOf(page, bare)).text).toBe((await articleOf(page, whole)).text);
    });
  }

  test("frames of code that nest 2 000 levels deep", async () => {
    const page = pageWith(`${'<div class="code">'.repeat(2000)}<pre>mill</pre>${"</div>".repeat(2000)}`);
    expect((await articleOf(page, { renderings: [] })).text).toContain("mill");
  });
});

describe("the text", () => {
  test("keeps the selector of an emoji that is two references", async () => {
    expect((await articleOf(pageWith("<h3>Down &#11015;&#65039; here</h3>"))).text).toContain("Down ⬇️ here");
  });

  test("keeps the spaces at the ends of code", async () => {
    const { text } = await articleOf(pageWith("<p>Turn the <code>mill </code>by<code> gate</code></p>"));
    expect(text).toContain("Turn the mill by gate");
  });
});
