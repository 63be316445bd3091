import { describe, expect, test } from "bun:test";
import { articleOf, PROSE, pageWith } from "../../../support/extraction.ts";

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
  "a row that ends in empty cells":
    "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td></td></tr></table>",
  "a video in a cell": `<table><tr><td>Turns</td><td>${VIDEO}</td></tr><tr><td>a</td><td>b</td></tr></table>`,
  "a video in an item": `<ul><li>See it ${VIDEO}</li></ul>`,
  "a frame that shows no video": '<p>One</p><iframe src="https://site.test/map?a=1&amp;b=2"></iframe>',
  "an alert of several paragraphs":
    '<div class="admonition note"><p class="admonition-title">Note</p><p>One.</p><p>Two.</p></div>',
  tabs: '<div class="tabs"><div role="tab">A</div><div role="tab">B</div><div role="tabpanel"><p>First</p></div><div role="tabpanel"><p>Second</p></div></div>',
  terms: "<dl><dt>Neap</dt><dd>A small tide.</dd><dd><p>Twice.</p><p>Each month.</p></dd></dl>",
  "terms in boxes, of several words and without a list":
    "<dl><div><dt>Neap<br>tide</dt><dd>Small.</dd></div><div><div><dt>Ebb</dt><dd>Out.</dd></div></div></dl><dt>Flood</dt><dd>In.</dd>",
  "terms that are headings":
    "<dl><dt><h3>Neap</h3></dt><dd>A small tide.</dd><dd><dl><dt>a</dt><dd>b</dd></dl></dd></dl>",
  "a table with a caption, lists and paragraphs":
    "<table><caption>Turns</caption><thead><tr><th>Day</th><th><p>Turns</p></th></tr></thead><tbody><tr><td><ul><li>Mon</li><li>Tue</li></ul></td><td><p>One.</p><p>Two.</p></td></tr><tr><td></td><td>Text<p>and more</p>after</td></tr></tbody></table>",
  "a table with its feet first":
    "<table><tfoot><tr><td>Sum</td><td>9</td></tr></tfoot><tr><td>Mon</td><td>4</td></tr><tr><td>Tue</td><td>5</td></tr></table>",
  "a table without a head":
    "<table><tr><td>Mon</td><td>4<br>5</td></tr><tr><td>Tue</td></tr><tr><td></td><td>6</td></tr></table>",
  "tables that lay out a page": `<table><tr><td><h2>Left</h2><p>${PROSE}</p></td><td><p>${PROSE}</p></td></tr></table><table role="presentation"><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table><table><tr><td>One column</td></tr><tr><td>of two rows</td></tr></table><table><tr><td>${PROSE.repeat(4)}</td><td>a</td></tr><tr><td>b</td><td>c</td></tr></table>`,
  "a table in a table": `<table><tr><td>Out</td><td>${TABLE}</td></tr><tr><td>a</td><td>b</td></tr></table>`,
  "a table in an item, and parts of one out of place": `<ul><li>${TABLE}</li></ul><table><p>Lost</p><tr><td>a</td>b<td>c</td></tr><caption>Late</caption><tr><th>d</th></tr></table>`,
  "a table with a picture and code":
    '<table><tr><th>Day</th><th>How</th></tr><tr><td><img src="/a.png" alt="A mill"></td><td><pre>mill\n --turn</pre></td></tr></table>',
  "folded text in folded text":
    "<details><summary>More</summary><details><summary>Most</summary><p>One.</p></details><ul><li>Two</li></ul></details>",
  "folded text without a title, and with a late one":
    "<details><p>One.</p><p>Two.</p></details><details><p>Three.</p><summary>More</summary></details><details>Four<summary><h3>Five</h3> six</summary></details>",
  "folded text": "<details><summary>More</summary><p>One.</p><p>Two.</p></details>",
  "an emoji of two references": "<h3>Down &#11015;&#65039; here</h3>",
  "remarks by their class alone":
    '<div class="note"><p>Mind it.</p></div><div class="warning"><h3>Security</h3><p>No.</p></div><div class="tip"><b>Tip</b><p>So.</p></div><p class="note"><b>Note</b> that.</p>',
  "a remark laid out as a table":
    '<div class="note"><table><tr><td rowspan="2"><img alt="[Note]" src="n.png"></td><th>Note</th></tr><tr><td><p>Turn it.</p></td></tr></table></div>',
  "code of lines without a frame of code":
    '<div class="fragment"><div class="line">int main()</div><div class="line">{</div><div class="line">}</div></div>',
  "code with line breaks by its style": '<p><code style="white-space: pre">a = 1\n  b = 2</code></p>',
  "terms with a type and terms of code":
    '<dl><dt>q<span class="classifier">float</span></dt><dd>A number.</dd></dl><dl><dt><pre>int a(\n  int b)</pre></dt><dd>Opens.</dd></dl>',
  "a list that lays out a page":
    "<ul><li><section><h3>Methods</h3><ul><li><h4>run</h4><pre>run()</pre></li></ul></section></li></ul><ul><li><h3>Card</h3><p>Text.</p></li></ul>",
  "formulas between delimiters": "<p>Where \\(x_1\\) is, and $$y^2$$ too.</p><div>\\[a = b\\]</div>",
  "a heading that folds its section": "<details><summary><h4>fn a()</h4></summary><p>Makes.</p></details>",
  "code beside words": "<p>Turn the <code>mill </code>by<code> gate</code></p>",
};

describe("the text is the same whichever renderings are asked for", () => {
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
