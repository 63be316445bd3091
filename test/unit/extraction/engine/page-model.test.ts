import { describe, expect, test } from "bun:test";
import { Break, ElementFlag, tagName } from "../../../../src/extraction/page/page-model.ts";
import { scanPage } from "../../../../src/extraction/page/scan.ts";

const blocksOf = (html: string): readonly string[] => scanPage(html).model.blocks.text;

/** The path of tags around the first block with this text. */
function pathOf(html: string, text: string): string {
  const { model } = scanPage(html);
  const block = model.blocks.text.indexOf(text);
  const names: string[] = [];
  for (let element = model.blocks.element[block] ?? -1; element >= 0; element = model.parent[element] ?? -1) {
    names.unshift(tagName(model.tag[element] ?? 0));
  }
  return names.join(" ");
}

describe("the page model", () => {
  test("cuts the text at the borders of blocks", () => {
    expect(blocksOf("<div>one <b>two</b><p>three</p>four<ul><li>five<li>six</ul></div>")).toEqual([
      "one two",
      "three",
      "four",
      "five",
      "six",
    ]);
  });

  test("collapses white space except in preformatted text", () => {
    expect(blocksOf("<p> a \n  b </p><pre>\nx\n  y\n</pre>")).toEqual(["a b", "x\n  y"]);
  });

  test("decodes entities", () => {
    const { model } = scanPage("<p>a &amp; b &lt;c&gt; &#x1F600;</p>");
    expect(model.blocks.text).toEqual(["a & b <c> 😀"]);
    expect(model.decodedText.get(0)).toBe("a & b <c> 😀");
  });

  test("takes one line break for a line and two for a new block", () => {
    expect(blocksOf("<p>a<br>b<br><br>c</p>")).toEqual(["a\nb", "c"]);
  });

  test("leaves out scripts, styles, forms' fields and drawings", () => {
    const html =
      "<p>a<script>x</script><style>y</style><svg><text>z</text></svg><select><option>o</select>b</p>";
    expect(blocksOf(html).join(" ")).toBe("a b");
  });

  test("ends paragraphs, items and cells as browsers do", () => {
    expect(pathOf("<body><p>a<div>b</div>", "b")).toBe("body div");
    expect(pathOf("<body><ul><li><p>a<li>b</ul>", "b")).toBe("body ul li");
    expect(pathOf("<body><table><tr><td>a<td>b<tr><td>c</table>", "c")).toBe("body table tr td");
    expect(pathOf("<body><dl><dt>a<dd>b<dt>c</dl>", "c")).toBe("body dl dt");
  });

  test("keeps an end tag from reaching out of a cell or through a block", () => {
    expect(pathOf("<body><div><table><tr><td>a</div>b</table></div>", "b")).toBe("");
    expect(pathOf("<body><div><table><tr><td><p>a</p></div><p>b</p></table></div>", "b")).toBe(
      "body div table tr td p",
    );
    expect(pathOf("<body><span><div>a</span><p>b</p></div>", "b")).toBe("body span div p");
  });

  test("tells lines, cells and paragraphs apart", () => {
    const { blocks } = scanPage(
      "<p>a</p><table><tr><td>b</td><td>c</td></tr><tr><td>d</td></tr></table>",
    ).model;
    expect([...blocks.breakBefore]).toEqual([Break.paragraph, Break.paragraph, Break.cell, Break.line]);
  });

  test("sets words apart that only a style sets apart", () => {
    expect(blocksOf("<p><span>New York</span><span>London</span><i>19</i><b>99</b></p>")).toEqual([
      "New York London 19 99",
    ]);
    expect(blocksOf("<p><a href=/1>One</a><a href=/2>Two</a></p>")).toEqual(["One Two"]);
  });

  test("leaves words whole that a mark, a comment or code cuts", () => {
    for (const html of ["Cornell<span>s</span>", "<b>O</b>nce", "x<sup>2A</sup>", "two<!-- -->Two"]) {
      expect(blocksOf(`<p>${html}</p>`)[0]).not.toContain(" ");
    }
    expect(blocksOf("<p><code><span>get</span><span>Name</span></code></p>")).toEqual(["getName"]);
    expect(blocksOf("<pre><span>get</span><span>Name</span></pre>")).toEqual(["getName"]);
  });

  test("takes a CDATA section for the broken comment that it is in HTML", () => {
    expect(blocksOf("<body><![CDATA[\n<div>a</div><p>b]]&gt;</p>")).toEqual(["a", "b]]>"]);
  });

  test("drops the signs with which headings link to themselves", () => {
    expect(blocksOf('<h2>Title <a href="#title">¶</a></h2><h2><a href="#b">B</a></h2>')).toEqual([
      "Title",
      "B",
    ]);
  });

  test("numbers elements so that descendants follow", () => {
    const { model } = scanPage("<body><div><p>a</p><p>b</p></div><p>c</p></body>");
    expect([...model.elementEnd.subarray(0, model.elementCount)]).toEqual([5, 4, 3, 4, 5]);
  });
});

describe("hidden text", () => {
  test.each([
    ["the hidden attribute", "<p hidden>secret</p>"],
    ["display", '<p style="color:red; display : none">secret</p>'],
    ["visibility", '<div style="visibility:hidden"><p>secret</p></div>'],
    ["a place off the screen", '<p style="position:absolute;left:-9999px">secret</p>'],
    ["a size of nothing", '<p style="width:0;height:0;overflow:hidden">secret</p>'],
    ["a font of no size", '<span style="font-size:0">secret</span>'],
    ["a class of the page's own style", "<style>.x{display:none}</style><p class='a x'>secret</p>"],
    [
      "an id of the page's own style",
      "<style>@media print{a{b:c}} #x , h9{display:none}</style><p id=x>secret</p>",
    ],
    ["opacity", '<p style="opacity:0">secret</p>'],
    ["the colour of its background", '<p style="color:#fff;background:white">secret</p>'],
    ["clipping", '<p style="clip-path:inset(100%)">secret</p>'],
    ["escapes", '<p style="display:\\6e one">secret</p>'],
    ["a closed popover", "<div popover>secret</div>"],
    ["a closed dialog", "<dialog>secret</dialog>"],
    ["a stronger rule", "<style>p.x{display:none}.x{display:block}</style><p class=x>secret</p>"],
    ["a sheet behind it", "<p class=x>secret</p><style>.x{opacity:0}</style>"],
    ["a class for screen readers", '<span class="sr-only">secret</span>'],
    [
      "what stands before it",
      "<style>.t ~ .s{display:none}</style><input class=t><b></b><p class=s>secret</p>",
    ],
    ["what stands right before it", "<style>i + p.s{display:none}</style><i></i><p class=s>secret</p>"],
    [
      "what stands before it, in a box",
      "<style>.d .t~.s , h9{visibility:hidden}.t:checked~.s{visibility:visible}</style><div class=d><input class=t><p class=s>secret</p></div>",
    ],
  ])("is left out: %s", (_, html) => {
    expect(blocksOf(`<body><p>before</p>${html}<p>after</p>`).join(" ")).toBe("before after");
  });

  test.each([
    ["the sign stands behind it", "<style>.t ~ .s{display:none}</style><p class=s>kept</p><input class=t>"],
    [
      "the sign stands in another box",
      "<style>.t ~ .s{display:none}</style><div><input class=t></div><p class=s>kept</p>",
    ],
    ["something stands between", "<style>i + p{display:none}</style><i></i><b></b><p>kept</p>"],
    ["it is in no such box", "<style>.d .t ~ .s{display:none}</style><input class=t><p class=s>kept</p>"],
    [
      "a ticked sign shows it",
      "<style>.t ~ .s{display:none}.t:checked ~ .s{display:block}</style><input class=t type=radio checked><p class=s>kept</p>",
    ],
    [
      "its own style shows it",
      "<style>.t ~ .s{display:none}</style><input class=t><p class=s style='display: block'>kept</p>",
    ],
    [
      "only a ticked sign hides it",
      "<style>.t:checked ~ .s{display:none}</style><input class=t><p class=s>kept</p>",
    ],
  ])("is kept where %s", (_, html) => {
    expect(blocksOf(`<body><p>before</p>${html}<p>after</p>`).join(" ")).toBe("before kept after");
  });

  test("is kept where a rule shows the class again", () => {
    const html = "<style>.tab{display:none}.tab.active{display:block}</style><p class='tab active'>a</p>";
    expect(blocksOf(html)).toEqual(["a"]);
  });

  test("is shown where a rule undoes what is inherited, or scripts fade it in", () => {
    expect(
      blocksOf('<div style="visibility:hidden">a<p style="visibility:visible">b</p></div><p>c</p>'),
    ).toEqual(["b", "c"]);
    const faded = '<script src="x.js"></script><p>a</p><p style="opacity:0;transition:opacity 1s">b</p>';
    expect(blocksOf(faded)).toEqual(["a", "b"]);
    expect(blocksOf(faded.replace(/<script.*?script>/, ""))).toEqual(["a"]);
  });

  test("is a panel right behind a button", () => {
    const { blocks } = scanPage("<h3><button>Why?</button></h3><div><div hidden>Because</div></div>").model;
    expect(blocks.text).toEqual(["Why?", "Because"]);
    expect((blocks.flags[1] ?? 0) & ElementFlag.panel).not.toBe(0);
    expect(blocksOf("<button>Menu</button><p>shown</p><p hidden>secret</p>")).not.toContain("secret");
  });

  test("is shown where another rule shows it on some screens", () => {
    const sheet = ".a{display:none}.b{display:none}@media (min-width: 9em){.a{display : flex}}";
    const print = "@media print{.b{display:block}}@media screen{.b{display: none}}";
    const html = `<style>${sheet}${print}</style><p class=a>wide</p><p class=b>secret</p><p>c</p>`;
    expect(blocksOf(html)).toEqual(["wide", "c"]);
  });

  test("is kept where a whole sheet hides it on paper or on some screens alone", () => {
    const sheets = ["print", "(max-width: 9em)", "PRINT and (color)"].map(
      (media, index) => `<style media="${media}">.a${index}{display:none}</style>`,
    );
    const html = "<p class=a0>one</p><p class=a1>two</p><p class=a2>three</p><p class=b>secret</p><p>end</p>";
    const everywhere = '<style media="screen">.b{display:none}</style>';
    expect(blocksOf(sheets.join("") + everywhere + html).join(" ")).toBe("one two three end");
  });

  test("is a panel where the reader can open it", () => {
    const { blocks } = scanPage(
      '<button aria-controls="x">Open</button><div id="x" hidden><p>inside</p></div>',
    ).model;
    expect(blocks.text).toContain("inside");
    expect((blocks.flags[1] ?? 0) & ElementFlag.panel).not.toBe(0);
  });

  test("is shown where it is what React streams in", () => {
    expect(blocksOf('<div hidden id="S:0"><p>late</p></div>')).toEqual(["late"]);
  });

  test("is shown where the page would show next to nothing else", () => {
    const text = "Many words of an article. ".repeat(200);
    expect(blocksOf(`<div style="visibility:hidden"><p>${text}</p></div>`)).toHaveLength(1);
    expect(blocksOf(`<p>${text}</p><div style="visibility:hidden"><p>${text}</p></div>`)).toHaveLength(1);
  });
});

describe("what a page says about itself", () => {
  test("is read in the same pass", () => {
    const { facts } = scanPage(
      `<html lang="de" dir="ltr"><head><title>A &amp; B</title><base href="/x/"><link rel="canonical" href="c">
       <meta name="robots" content="noindex"><meta property="og:title" content="OG">
       <script type="application/ld+json">{"a":1}</script></head>
       <body><h1>Head <b>line</b></h1><a href="/1" rel="nofollow">One</a><a rel="author" href="/w">Ada</a>
       <time pubdate datetime="2020-01-02">then</time></body>`,
    );
    expect(facts.title).toBe("A & B");
    expect(facts.headings.map(({ text }) => text)).toEqual(["Head line"]);
    expect([facts.htmlLang, facts.dir, facts.baseHref, facts.canonicalHref]).toEqual([
      "de",
      "ltr",
      "/x/",
      "c",
    ]);
    expect(facts.robots).toEqual(["noindex"]);
    expect(facts.meta.get("og:title")).toBe("OG");
    expect(facts.jsonLd).toEqual(['{"a":1}']);
    expect(facts.links).toEqual([
      { href: "/1", isNofollow: true, text: "One" },
      { href: "/w", isNofollow: false, text: "Ada" },
    ]);
    expect(facts.authors.map(({ text }) => text)).toEqual(["Ada"]);
    expect(facts.times).toMatchObject([{ datetime: "2020-01-02", role: "published", text: "then" }]);
  });

  test("names the element of each heading, author and date", () => {
    const { facts, model } = scanPage(
      `<body><p>x</p><h1>Head</h1><b itemprop="author">Ada</b>
       <i itemprop="dateModified" datetime="2020-01-03"></i><u itemprop="dateCreated" datetime="2020-01-01"></u>`,
    );
    const tagOf = (element: number): string => tagName(model.tag[element] ?? 0);
    expect(facts.headings.map(({ element }) => tagOf(element))).toEqual(["h1"]);
    expect(facts.authors.map(({ element }) => tagOf(element))).toEqual(["b"]);
    expect(facts.times.map(({ element, role }) => [tagOf(element), role])).toEqual([
      ["i", "modified"],
      ["u", "created"],
    ]);
  });
});
