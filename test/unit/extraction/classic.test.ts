import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { articleOf, extract, PROSE } from "../../support/extraction.ts";
import { framed } from "../../support/framed.ts";

const CLASSIC = { engine: "readability" } as const;
const SITE = join(import.meta.dir, "../../site");
const PAGES = readdirSync(SITE, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".html"),
);
const readPage = (name: string): Promise<string> => Bun.file(join(SITE, name)).text();

/** Letters and digits alone: how blocks are set apart is each program's own. */
/** The numbers before the lines of the one listing that has them are no code, whoever has chosen it. */
const LINE_NUMBERS = "123456789";
const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, "");

function lettersByReadability(html: string): string {
  // linkedom's declarations describe its own classes, which implement the parts of the DOM used here.
  const found = new Readability(parseHTML(html).document as unknown as Document).parse();
  return lettersOf(found?.textContent ?? "");
}

describe("the engine readability", () => {
  // The sanitised HTML has formulas and notes in a form of its own.
  test.each(PAGES.filter((name) => name !== "docs/forecast.html"))(
    "takes the content of %s that Readability takes",
    async (name) => {
      const html = await readPage(name);
      const { text, title } = await articleOf(html, CLASSIC);
      // The title is no part of the content, whichever engine finds that.
      const expected = lettersByReadability(html)
        .replace(lettersOf(title ?? ""), "")
        .replace(LINE_NUMBERS, "");
      expect(lettersOf(text).replace(lettersOf(title ?? ""), "")).toBe(expected);
    },
  );

  test.each(PAGES)("takes the metadata of %s that ours takes", async (name) => {
    const html = await readPage(name);
    const { title, byline, publishedDate, lang, image, siteName, sources } = await articleOf(html);
    const classic = await articleOf(html, CLASSIC);
    expect(classic).toMatchObject({ title, byline, publishedDate, lang, image, siteName, sources });
    expect([classic.confidence, classic.pageType]).toEqual([null, null]);
  });

  test("gives the same again", async () => {
    const html = await readPage("docs/configuration.html");
    expect(await articleOf(html, CLASSIC)).toEqual(await articleOf(html, CLASSIC));
  });

  test("makes the renderings that are asked for, and no others", async () => {
    const html = framed("<p>One <b>word</b>.</p>");
    const all = await articleOf(html, CLASSIC);
    expect(all.content).toContain("<p>One <strong>word</strong>.</p>");
    expect(all.markdown).toContain("One **word**.");
    for (const renderings of [[], ["content"], ["markdown"]] as const) {
      const { content, markdown, text, wordCount } = await articleOf(html, { ...CLASSIC, renderings });
      const asked = new Set<string>(renderings);
      expect(content).toBe(asked.has("content") ? all.content : null);
      expect(markdown).toBe(asked.has("markdown") ? all.markdown : null);
      expect([text, wordCount]).toEqual([all.text, all.wordCount]);
    }
  });

  test("lists the links and images of its content, when asked", async () => {
    const html = framed(
      '<p>See <a href="gate.html">the gate</a>.</p><p><img src="mill.png" alt="The mill"></p>',
    );
    for (const renderings of [
      ["links", "images"],
      ["links", "images", "markdown"],
    ] as const) {
      const { links, images, content, markdown } = await articleOf(html, { ...CLASSIC, renderings });
      expect(links).toEqual([{ url: "https://site.test/dir/gate.html", text: "the gate" }]);
      expect(images?.map(({ url, alt }) => [url, alt])).toEqual([
        ["https://site.test/dir/mill.png", "The mill"],
      ]);
      expect([content, markdown === null]).toEqual([null, renderings.length === 2]);
    }
    const { links, images } = await articleOf(html, CLASSIC);
    expect([links, images]).toEqual([null, null]);
  });

  const BLOCKS: Readonly<Record<string, readonly [html: string, markdown: RegExp]>> = {
    "code block": [
      "<pre><code class=language-sh>weir plan\nweir ring</code></pre>",
      /```\nweir plan\nweir ring\n```/,
    ],
    "code block with a fence in it": ["<pre><code>```\nweir\n```</code></pre>", /````\n```\nweir\n```\n````/],
    table: [
      "<table><tr><th>Gate</th></tr><tr><td>north</td></tr></table>",
      /\| Gate +\|\n\| -+ \|\n\| north \|/,
    ],
    list: ["<ul><li>oak</li><li>elm</li></ul>", /- oak\n- elm/],
    quotation: ["<blockquote><p>It turns.</p></blockquote>", /> It turns\./],
  };
  for (const [what, [html, markdown]] of Object.entries(BLOCKS)) {
    test.each([
      ["first", `${html}<p>${PROSE}</p><p>${PROSE}</p>`],
      ["amid", `<p>${PROSE}</p>${html}<p>${PROSE}</p>`],
      ["last", `<p>${PROSE}</p><p>${PROSE}</p>${html}`],
    ])(`writes a ${what} that stands %s`, async (_, content) => {
      const page = `<html><head><title>Gates</title></head><body><article>${content}</article></body></html>`;
      expect((await articleOf(page, CLASSIC)).markdown).toMatch(markdown);
    });
  }

  test("makes links and images absolute, and leaves out what is not wanted", async () => {
    const page = framed(
      '<p>See <a href="../gate_1(a).html">the gate</a>.</p><p><img src="mill.png" alt="The [mill]"></p><pre><code>weir</code></pre>',
    );
    const { markdown, content } = await articleOf(page, CLASSIC);
    expect(markdown).toContain("[the gate](https://site.test/gate%5F1%28a%29.html)");
    expect(markdown).toContain("![The \\[mill\\]](https://site.test/dir/mill.png)");
    expect(content).toContain('src="https://site.test/dir/mill.png"');
    const bare = await articleOf(page, { ...CLASSIC, includeImages: false, includeCode: false });
    expect(bare.markdown).not.toMatch(/mill\.png|weir/);
    expect(bare.text).not.toContain("weir");
  });

  test("reads what the selectors leave", async () => {
    const page = framed('<p class="note">A note that nobody needs.</p><p id="gate">The gate is open.</p>');
    const without = await articleOf(page, { ...CLASSIC, exclude: [".note", ".no-such"] });
    expect(without.markdown).not.toContain("nobody needs");
    expect(without.warnings).toEqual(['No element matches the excluded selector ".no-such"']);
    const selected = await articleOf(page, { ...CLASSIC, select: "#gate" });
    expect([selected.text, selected.markdown]).toEqual(["The gate is open.", "The gate is open."]);
    const { article, emptySelection } = await extract(page, { ...CLASSIC, select: ".no-such" });
    expect([article, emptySelection]).toEqual([null, { selector: ".no-such", elements: 0 }]);
  });

  test("warns of few words", async () => {
    const { warnings } = await articleOf(framed(""), { ...CLASSIC, minWordCount: 10_000 });
    expect(warnings).toEqual([expect.stringMatching(/^Content below minimum word count/)]);
  });

  test.each(["", "<p></p>", "<html><body><img src=x></body></html>", "<script>let a</script>"])(
    "finds nothing on an empty page: %j",
    async (html) => expect((await extract(html, CLASSIC)).article).toBeNull(),
  );

  test("has no say in Markdown, text and what is XHTML's syntax", async () => {
    for (const kind of ["markdown", "plain"] as const) {
      const body = "# Tides\n\nThe mill_wheel turns.\n";
      expect(await extract(body, { ...CLASSIC, kind })).toEqual(await extract(body, { kind }));
    }
    const page = framed("<p>before<a id='x'/> after</p>");
    expect((await articleOf(page, { ...CLASSIC, kind: "xhtml" })).text).toContain("before after");
  });
});
