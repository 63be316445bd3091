import { describe, expect, test } from "bun:test";
import type { Article } from "../../../src/extraction/index.ts";
import { articleOf, extract, type PageCase, pageUrl } from "../../support/extraction.ts";

const markdown = (body: string, page: PageCase = {}): Promise<Article> =>
  articleOf(body, { ...page, kind: "markdown" });
const plain = (body: string, page: PageCase = {}): Promise<Article> =>
  articleOf(body, { ...page, kind: "plain" });

describe("a Markdown body", () => {
  test("passes through, its first heading being the title", async () => {
    const article = await markdown("# The *mill*\n\nTurns `again` & again.\n\n* one\n* two\n");
    expect(article.title).toBe("The mill");
    expect(article.sources.title).toBe("heading");
    expect(article.markdown).toBe("Turns `again` & again.\n\n* one\n* two");
    expect(article.text).toBe("Turns again & again.\n\none\ntwo");
    expect(article.content).toContain("<li>one</li>");
    expect(article.wordCount).toBe(5);
  });

  const titles: readonly (readonly [body: string, title: string | null])[] = [
    ["Mill\n====\n\nText", "Mill"],
    ["## Second level\n\nText", "Second level"],
    ["# Closed #\n\nText", "Closed"],
    ["# `run_all` and my_name [link](/x) &amp; more\n\nText", "run_all and my_name link & more"],
    ["#\n\n# Real\n\nText", "Real"],
    ["![logo](/l.png)\n\n# Real\n\nText", "Real"],
    ["<!-- note -->\n\n# Real\n\nText", "Real"],
    ["```\n# comment\n```\n\n# Real\n\nText", "Real"],
    ["#hashtag\n\nText", null],
    ["    # code\n\nText", null],
    ["Text only", null],
  ];
  for (const [body, title] of titles) {
    test(`${JSON.stringify(body)} has the title ${JSON.stringify(title)}`, async () => {
      expect((await markdown(body)).title).toBe(title);
    });
  }

  test("keeps a heading in its place that text stands before", async () => {
    const article = await markdown("Foreword.\n\n# The mill\n\nTurns.");
    expect(article.title).toBe("The mill");
    expect(article.markdown).toBe("Foreword.\n\n# The mill\n\nTurns.");
    expect(article.text).toBe("Foreword.\n\nThe mill\n\nTurns.");
  });

  test("loses its front matter", async () => {
    for (const front of [
      "---\ntitle: X\ntags: [a]\n---\n",
      "---\n# comment\nkey: v\n...\n",
      "---\n---\n",
      "\ufeff---\nkey: v\n---\n\n",
      '---\r\n"key": v\r\n---\r\n',
      '---\r"key": v\r---\r',
      '\ufeff+++\ntitle = "X"\n+++\n',
      '{\r\n  "title": "X"\r\n}\r\n',
    ]) {
      expect((await markdown(`${front}# The mill\n\nTurns.`)).markdown).toBe("Turns.");
    }
    expect((await extract("---\ntitle: X\n---", { kind: "markdown" })).article).toBeNull();
  });

  test("keeps what stands between two rules", async () => {
    expect((await markdown("---\n\nFirst.\n\n---\n\nSecond.")).text).toBe("First.\n\nSecond.");
    expect((await markdown("---\nkey: never closed")).text).toBe("key: never closed");
  });

  test("yields its links", async () => {
    const { links } = await extract("[a](/a) <https://b.test/> [c][ref] [d](#d)\n\n[ref]: c", {
      kind: "markdown",
    });
    expect(links.map((link) => link.url)).toEqual(
      ["https://site.test/a", "https://b.test/", "https://site.test/dir/c"].map(pageUrl),
    );
  });

  test("without words is none", async () => {
    for (const body of ["", " \n ", "---\n", "![](/a.png)", "***"]) {
      expect((await extract(body, { kind: "markdown" })).article).toBeNull();
    }
  });

  test("keeps indentation and blank lines of code in its text", async () => {
    expect((await markdown("a\n\n```js\n  x\n\n\n  y\n```\n\nb")).text).toBe("a\n\n  x\n\n\n  y\n\nb");
  });
});

describe("leaving images and code out of a Markdown body", () => {
  const BODY = [
    "# Title",
    "",
    "Intro with ![one](/1.png) and `![no](image)` and \\![escaped](/x) and [link](/l).",
    "",
    "- item ![two](/2.png)",
    "  ```js",
    "  const a = '![in](code)';",
    "  ```",
    "- ```",
    "  only code",
    "  ```",
    "- last",
    "",
    "> quoted ![three][ref]",
    "> ~~~",
    "> code in a quotation",
    "> ~~~",
    "",
    "| a | ![four](/4.png) |",
    "| - | - |",
    "| 1 | 2 |",
    "",
    "```md",
    "![five](/5.png)",
    "",
    "  indented",
    "```",
    "",
    "    indented code ![six](/6.png)",
    "",
    '<img src="/7.png"> end  two spaces.',
    "",
    "[ref]: /3.png",
  ].join("\n");

  test("removes every image and nothing else from the Markdown", async () => {
    const whole = await markdown(BODY);
    const bare = await markdown(BODY, { includeImages: false });
    let expected = whole.markdown ?? "";
    for (const image of [
      "![one](/1.png)",
      "![two](/2.png)",
      "![three][ref]",
      "![four](/4.png)",
      '<img src="/7.png">',
    ]) {
      expected = expected.replace(image, "");
    }
    expect(bare.markdown).toBe(expected);
    expect(bare.text).toBe(whole.text);
    expect(bare.title).toBe(whole.title);
    expect(bare.content).not.toContain("<img");
  });

  test("removes every fenced block and nothing else from the Markdown", async () => {
    const bare = await markdown(BODY, { includeCode: false });
    for (const gone of [
      "in](code",
      "only code",
      "code in a quotation",
      "five",
      "indented code",
      "~~~",
      "```",
    ]) {
      expect(bare.markdown).not.toContain(gone);
    }
    for (const kept of [
      "![one](/1.png) and `![no](image)` and \\![escaped](/x)",
      "- item ![two](/2.png)\n",
      "- last",
      "> quoted ![three][ref]\n",
      "| 1 | 2 |",
      "end  two spaces.",
      "[ref]: /3.png",
    ]) {
      expect(bare.markdown).toContain(kept);
    }
    expect(bare.content).not.toContain("<pre");
    expect(bare.text).not.toContain("only code");
    expect(bare.text).toContain("last");
  });

  test("leaves a body alone that has neither", async () => {
    const body =
      "Just *text*,  with\ttabs\n\n\n\nand  blank lines `x`\n\n* * *\n\n1. a\n\n   b\n2) c\n\n> q\nlazy\n\n- [ ] task";
    const whole = await markdown(body);
    expect(whole.markdown).toBe(body);
    for (const options of [
      { includeImages: false },
      { includeCode: false },
      { includeImages: false, includeCode: false },
    ]) {
      expect(await markdown(body, options)).toEqual(whole);
    }
  });

  test("leaves plain text alone", async () => {
    const body = "Text ![one](/1.png)\n\n```\ncode\n```";
    expect(await plain(body, { includeImages: false, includeCode: false })).toEqual(await plain(body));
  });
});

describe("a plain text body", () => {
  test("is the article as it stands", async () => {
    const article = await plain("\n\n   indented first\n\n\n  <b>second</b> &amp; *third*\t\r\nfourth  \n\n");
    expect(article.title).toBeNull();
    expect(article.text).toBe("   indented first\n\n\n  <b>second</b> &amp; *third*\t\nfourth");
    expect(article.markdown).toBe(`\`\`\`\n${article.text}\n\`\`\``);
  });

  test("means the same text as Markdown", async () => {
    const { markdown } = await plain("1. *a* <b>\n# c\n\n> d_e_ [f](g)\nh");
    expect(markdown).toBe("1\\. \\*a\\* \\<b>\n\\# c\n\n\\> d_e\\_ \\[f\\](g)\nh");
  });

  test("is what Markdown nested beyond all reason is read as", async () => {
    for (const body of [
      "> ".repeat(60_000),
      Array.from({ length: 300 }, (_, at) => `${" ".repeat(2 * at)}- x`).join("\n"),
    ]) {
      const { text, markdown } = await articleOf(`${body} words`, { kind: "markdown" });
      expect(text).toContain(body.trim().slice(0, 50));
      expect(markdown).toContain("words");
    }
  });

  test("may begin with a heading, which is its title", async () => {
    for (const heading of ["# The mill #", "The mill\n========"]) {
      expect(await plain(`${heading}\n\n  Turns.`)).toMatchObject({ title: "The mill", text: "  Turns." });
    }
    expect((await plain("# C #sharp\n\ntext")).title).toBe("C #sharp");
  });

  test("holds no article when there is nothing but a heading", async () => {
    for (const kind of ["plain", "markdown"] as const) {
      expect((await extract("# Only a title", { kind })).article).toBeNull();
    }
  });

  test("has no links, as nothing in it is one", async () => {
    expect((await extract("https://a.test [b](/b)", { kind: "plain" })).links).toEqual([]);
  });

  test("with a first line of a megabyte is read in linear time", async () => {
    for (const kind of ["plain", "markdown"] as const) {
      const article = await articleOf(`# a${" ".repeat(500_000)}b ${"#".repeat(200_000)} c\n\ntext`, {
        kind,
        renderings: [],
      });
      expect(article.text).toBe("text");
    }
  });
});
