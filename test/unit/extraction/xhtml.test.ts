import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bodyKind } from "../../../src/articles/index.ts";
import { articleOf, extract, PROSE, pageWith } from "../../support/extraction.ts";

const SWALLOWING =
  "script style title textarea iframe div p span a i table td ul li select noscript object video svg";

describe("XHTML", () => {
  test.each(SWALLOWING.split(" "))("an empty <%s/> holds nothing of what follows", async (name) => {
    for (const empty of [`<${name}/>`, `<${name} id="x" title='a > b' />`, `<${name}\n/ >`]) {
      const xhtml = pageWith(`${empty}<h2>Gates</h2><p>The last lantern. ${PROSE}</p>`);
      const html = pageWith(`<${name}></${name}><h2>Gates</h2><p>The last lantern. ${PROSE}</p>`);
      const read = await articleOf(xhtml, { kind: "xhtml" });
      expect(read.text).toContain("The last lantern.");
      expect([read.text, read.markdown]).toEqual(
        (await articleOf(html).then(({ text, markdown }) => [text, markdown] as const)) as never,
      );
    }
  });

  test("in the head neither, with selectors neither", async () => {
    const xhtml = `<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/><style/><meta name="author" content="Ada"/></head><body><div class="top"/><div class="text"><a id="s1"/><p>The first gate.</p><br/><p>The last lantern.</p></div></body></html>`;
    for (const select of [null, ".text"]) {
      const { text } = await articleOf(xhtml, { kind: "xhtml", select });
      expect(text).toContain("The first gate.");
      expect(text).toContain("The last lantern.");
    }
  });

  test("is told by its type; the same words as HTML are read by the rules of HTML", async () => {
    expect(["application/xhtml+xml", "text/html"].map(bodyKind)).toEqual(["xhtml", "html"]);
    const page = `<title/><p>${PROSE}</p>`;
    expect((await extract(page)).article).toBeNull();
    expect((await extract(page, { kind: "xhtml" })).article?.text).toContain("The mill");
  });

  test("says the same with empty elements written short and long", async () => {
    const name = fc.constantFrom("div", "span", "a", "td", "p", "i", "script", "em");
    const word = fc.constantFrom("gate", "lantern", "weir", "a &lt; b", "/&gt;", "x/y");
    const { tree } = fc.letrec<{ tree: readonly [short: string, long: string] }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        word.map((text) => [text, text] as const),
        name.map((tag) => [`<${tag} class="c"/>`, `<${tag} class="c"></${tag}>`] as const),
        fc.constant(["<br/>", "<br/>"] as const),
        fc
          .tuple(fc.constantFrom("div", "section", "blockquote"), fc.array(tie("tree"), { maxLength: 4 }))
          .map(
            ([tag, inner]) =>
              [0, 1].map((form) => `<${tag}>${inner.map((one) => one[form]).join(" ")}</${tag}>`) as never,
          ),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(fc.array(tree, { maxLength: 6 }), async (trees) => {
        const page = (form: 0 | 1): string => pageWith(trees.map((one) => one[form]).join(""));
        const [short, long] = await Promise.all([articleOf(page(0), { kind: "xhtml" }), articleOf(page(1))]);
        expect(short.text).toBe(long.text);
      }),
      { numRuns: 100 },
    );
  });
});
