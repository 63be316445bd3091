import { describe, expect, test } from "bun:test";
import { articleOf, innerText, pageWith } from "../../support/extraction.ts";

const textOf = async (inner: string): Promise<string> => innerText((await articleOf(pageWith(inner))).text);

describe("the plain text", () => {
  test("sets blocks apart by a blank line", async () => {
    expect(await textOf("<p>One.</p><p>Two.</p><h2>Three</h2><blockquote>Four</blockquote>")).toBe(
      "One.\n\nTwo.\n\nThree\n\nFour",
    );
  });

  test("shows white space as a browser does", async () => {
    expect(await textOf("<p>  a \n\t b<b> c</b> <i> d </i>e&nbsp; f </p>")).toBe("a b c d e f");
  });

  test("joins words only where the page does", async () => {
    expect(await textOf("<p>un<b>believ</b>able <a href=/x>link</a><sup>2</sup></p>")).toBe(
      "unbelievable link2",
    );
  });

  test("breaks lines where the page does", async () => {
    expect(await textOf("<p>one<br>two<br/>three</p>")).toBe("one\ntwo\nthree");
  });

  test("puts list items on lines of their own, inner lists included", async () => {
    expect(
      await textOf(
        "<p>Before</p><ul><li>one<ul><li>two</li><li>three</li></ul></li><li>four</li></ul><p>After</p>",
      ),
    ).toBe("Before\n\none\ntwo\nthree\nfour\n\nAfter");
  });

  test("puts terms and definitions on lines of their own", async () => {
    expect(await textOf("<dl><dt>Weir</dt><dd>A low dam</dd><dt>Sluice</dt><dd>A gate</dd></dl>")).toBe(
      "Weir\nA low dam\nSluice\nA gate",
    );
  });

  test("leaves out what is no text", async () => {
    expect(
      await textOf("<p>a<!-- b --><script>c</script><style>d</style></p><svg><text>e</text></svg><p>f</p>"),
    ).toBe("a\n\nf");
  });
});

describe("tables in the plain text", () => {
  const table = (...rows: readonly string[]): string =>
    `<table>${rows.map((row) => `<tr>${row}</tr>`).join("")}</table>`;

  test("have a line for each row and a tab between cells", async () => {
    expect(await textOf(table("<th>Name</th><th>Age</th>", "<td>Ann</td><td>40</td>"))).toBe(
      "Name\tAge\nAnn\t40",
    );
  });

  test("have no stray space around their cells", async () => {
    expect(await textOf("<table>\n <tr>\n  <td> a </td>\n  <td>\n b</td>\n </tr>\n</table>")).toBe("a\tb");
  });

  test("keep their columns beside empty cells", async () => {
    expect(
      await textOf(
        table(
          "<th></th><th>A</th><th>B</th>",
          "<td>x</td><td></td><td>2</td>",
          "<td></td><td></td><td>3</td>",
        ),
      ),
    ).toBe("\tA\tB\nx\t\t2\n\t\t3");
  });

  test("have no line for a row of empty cells", async () => {
    expect(await textOf(table("<td>a</td><td>b</td>", "<td></td><td> </td>", "<td>c</td><td>d</td>"))).toBe(
      "a\tb\nc\td",
    );
  });

  test("keep a row together whose cells hold one paragraph each", async () => {
    expect(
      await textOf(table("<td><p>a</p></td><td>\n<div><p>b</p></div>\n</td><td>c<br></td><td>d</td>")),
    ).toBe("a\tb\tc\td");
  });

  test("have lines inside a cell that holds several paragraphs", async () => {
    expect(await textOf(table("<td>a</td><td><p>b</p><p>c</p></td><td>d</td>"))).toBe("a\tb\nc\td");
  });

  test("inside tables lose no word", async () => {
    const text = await textOf(table(`<td>a</td><td>b${table("<td>c</td><td>d</td>")}</td><td>e</td>`));
    expect(text.split(/\s+/)).toEqual(["a", "b", "c", "d", "e"]);
    expect(text).toContain("c\td");
  });
});

describe("preformatted text", () => {
  const code = "  first\n\n\n    second  \n\tthird &amp; last";
  const shown = "  first\n\n\n    second  \n\tthird & last";

  test("keeps leading spaces, tabs and blank lines exactly", async () => {
    expect(await textOf(`<p>a</p><pre>${code}</pre><p>b</p>`)).toBe(`a\n\n${shown}\n\nb`);
    expect(await textOf(`<p>a</p><pre><code class="language-js">${code}</code></pre><p>b</p>`)).toBe(
      `a\n\n${shown}\n\nb`,
    );
  });

  test("loses the line break right after its start tag, and only that one", async () => {
    expect(await textOf("<p>a</p><pre>\n\n  b\n</pre>")).toBe("a\n\n\n  b");
  });

  test("keeps the lines that highlighters wrap", async () => {
    expect(
      await textOf(
        `<pre><code><span class="l">  a</span>\n<span class="l"></span>\n<span class="l">b</span></code></pre>`,
      ),
    ).toBe("  a\n\nb");
    expect(await textOf(`<pre><code><div>  a</div><div>\n</div><div>b</div></code></pre>`)).toBe("  a\n\nb");
    expect(await textOf(`<pre>a<br><br>  b<br>c</pre>`)).toBe("a\n\n  b\nc");
  });

  test("has the same lines whether the page ends them with one character or two", async () => {
    expect(await textOf("<pre>a\r\n\r\n  b\rc</pre>")).toBe("a\n\n  b\nc");
  });
});
