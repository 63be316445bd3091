import { describe, expect, test } from "bun:test";
import { inlineText, readInline, readMarkdown } from "../../../src/markdown/index.ts";

const inline = (text: string) => readInline(text, { references: new Map([["ref", "https://ref.example/"]]) });
const blocks = (text: string) => readMarkdown(text).blocks;
const link = (address: string, text: string) => ({
  kind: "link",
  address,
  children: [{ kind: "text", text }],
});
const span = (tag: string, ...children: unknown[]) => ({ kind: "span", tag, children });
const text = (value: string) => ({ kind: "text", text: value });

describe("phrases", () => {
  test.each<[string, unknown[]]>([
    [
      "*a* **b** ~~c~~",
      [span("em", text("a")), text(" "), span("strong", text("b")), text(" "), span("del", text("c"))],
    ],
    ["***both***", [span("em", span("strong", text("both")))]],
    ["snake_case_name 2 * 3 * 4", [text("snake_case_name 2 * 3 * 4")]],
    ["**open", [text("**open")]],
    ["[l](https://x.example/a_(b) 'title')", [link("https://x.example/a_(b)", "l")]],
    [
      "[ref] [named][ref] [none]",
      [
        link("https://ref.example/", "ref"),
        text(" "),
        link("https://ref.example/", "named"),
        text(" [none]"),
      ],
    ],
    ["![alt](p.png)", [{ kind: "image", address: "p.png", text: "alt" }]],
    [
      "see https://x.example/a. Or <https://y.example>",
      [
        text("see "),
        link("https://x.example/a", "https://x.example/a"),
        text(". Or "),
        link("https://y.example", "https://y.example"),
      ],
    ],
    ["`a *b* ``c`` `", [{ kind: "code", text: "a *b* ``c`` " }]],
    ["costs $5 and $6", [text("costs $5 and $6")]],
    ["$a_1$", [{ kind: "math", tex: "a_1" }]],
    ["a\\*b &amp; &#65; &bogus;", [text("a*b & A &bogus;")]],
    [
      "one  \ntwo<br>three",
      [text("one  "), { kind: "break" }, text("two"), { kind: "break" }, text("three")],
    ],
    ["<kbd>K</kbd><sub>2</sub>", [span("kbd", text("K")), span("sub", text("2"))]],
    ["a[^1]", [text("a"), { kind: "footnote", label: "1" }]],
    ["cp <source> <T> <target path>", [text("cp <source> <T> <target path>")]],
    ["<Badge/>a <Tabs>b</Tabs> <my-tag is='c'>", [text("a b ")]],
  ])("of %p are read", (markdown, expected) => {
    expect(inline(markdown)).toEqual(expected as never);
  });

  test.each([
    "<script>alert(1)</script>",
    "<iframe src=x></iframe>",
    "<!-- <img src=x> -->",
    "<style>*{}</style>",
    "<svg onload=alert(1)>",
  ])("give nothing for %p", (markdown) => {
    expect(
      inlineText(inline(`a${markdown}b`))
        .replace("alert(1)", "")
        .replace("*{}", ""),
    ).toBe("ab");
    for (const node of inline(markdown)) expect(node.kind).toBe("text");
  });
});

describe("blocks", () => {
  test("of every kind are read", () => {
    const markdown =
      "# One #\n\nTwo\n===\n\ntext\nmore\n\n- a\n  - b\n- [x] c\n\n3. d\n\n   e\n\n> q\nlazy\n\n> [!WARNING]\n> w\n\n| a | b |\n|:-:|---|\n| 1 \\| 2 | 3 |\n\n```js\nlet a;\n```\n\n    indented\n\n$$\nx\n$$\n\n---\n\n<details open>\n<summary>S</summary>\n\nin\n\n</details>\n";
    expect(blocks(markdown)).toMatchObject([
      { kind: "heading", level: 1, text: "One" },
      { kind: "heading", level: 1, text: "Two" },
      { kind: "paragraph", text: "text\nmore" },
      {
        kind: "list",
        isOrdered: false,
        items: [
          { isDone: null, blocks: [{ text: "a" }, { kind: "list" }] },
          { isDone: true, blocks: [{ text: "c" }] },
        ],
      },
      { kind: "list", isOrdered: true, start: 3, items: [{ blocks: [{ text: "d" }, { text: "e" }] }] },
      { kind: "quote", blocks: [{ text: "q\nlazy" }] },
      { kind: "note", label: "WARNING", blocks: [{ text: "w" }] },
      { kind: "table", alignments: ["center", "left"], header: ["a", "b"], rows: [["1 | 2", "3"]] },
      { kind: "code", language: "js", text: "let a;" },
      { kind: "code", language: "", text: "indented" },
      { kind: "math", tex: "x" },
      { kind: "rule" },
      { kind: "details", summary: "S", isOpen: true, blocks: [{ text: "in" }] },
    ] as never);
  });

  test("keep footnotes and the addresses of references apart", () => {
    const {
      blocks: shown,
      footnotes,
      references,
    } = readMarkdown("a[^n]\n\n[^n]: note\n    more\n\n[r]: https://x.example/\n");
    expect(shown).toEqual([{ kind: "paragraph", text: "a[^n]" }]);
    expect(footnotes.get("n")).toEqual([{ kind: "paragraph", text: "note\nmore" }]);
    expect(references.get("r")).toBe("https://x.example/");
  });

  test.each<[string, unknown[]]>([
    ["", []],
    ["\n \n\t\n", []],
    ["Usage:\n-\n    One sign is the name of an option.", [{ kind: "paragraph" }]],
    ["<script>\n\nruns a script\n", [{ text: "<script>" }, { text: "runs a script" }]],
    ["<script>\nx\n</script>\ny", [{ kind: "paragraph", text: "y" }]],
    ["<!-- a\n\nb --> c", [{ kind: "paragraph", text: "c" }]],
    ["<!-- a", [{ kind: "paragraph", text: "<!-- a" }]],
    ["> ```\n> x\n\ny", [{ kind: "quote", blocks: [{ kind: "code", text: "x" }] }, { text: "y" }]],
    [
      "- ```\n  x\n\n  y\n  ```\n- z",
      [{ items: [{ blocks: [{ text: "x\n\ny" }] }, { blocks: [{ text: "z" }] }] }],
    ],
    ["- a\n+ b", [{ kind: "list" }, { kind: "list" }]],
    ["a\n- b", [{ kind: "paragraph" }, { kind: "list" }]],
    ["a\n2. b", [{ kind: "paragraph", text: "a\n2. b" }]],
    ["    a\n\n\n    b\n\nc", [{ kind: "code", text: "a\n\n\nb" }, { kind: "paragraph" }]],
    ["a\nb\n---", [{ kind: "heading", level: 2, text: "a b" }]],
    ["> | a |\n> |---|\n> | b |", [{ blocks: [{ kind: "table", rows: [["b"]] }] }]],
    [
      "a | b\n--|--\nc\n",
      [
        { kind: "table", rows: [] },
        { kind: "paragraph", text: "c" },
      ],
    ],
    ["<details><summary>S</summary>\nin\n</details>after", [{ kind: "details" }, { text: "after" }]],
    ["$$\nnever closed", [{ kind: "paragraph", text: "$$\nnever closed" }]],
    [
      "# a\r\n\r\nb\r\n",
      [
        { kind: "heading", text: "a" },
        { kind: "paragraph", text: "b" },
      ],
    ],
  ])("of %p are told apart", (markdown, expected) => {
    expect(blocks(markdown)).toMatchObject(expected as never);
    expect(blocks(markdown)).toHaveLength(expected.length);
  });

  test.each<[string, string]>([
    ["brackets", "[".repeat(200_000)],
    ["half links", "[a](".repeat(50_000)],
    ["emphasis", "*a ".repeat(70_000)],
    ["quotes", ">".repeat(200_000)],
    ["nested lists", Array.from({ length: 600 }, (_, depth) => `${"  ".repeat(depth)}- a`).join("\n")],
    ["runs of backticks", Array.from({ length: 600 }, (_, length) => "`".repeat(length)).join(" ")],
    ["angles", "<".repeat(200_000)],
    ["dollars", "$$\n".repeat(70_000)],
    ["open details", "<details>\n".repeat(20_000)],
    ["open comments", "<!--".repeat(50_000)],
  ])(
    "of hostile text take no longer than their length asks for: %s",
    (_, markdown) => {
      const document = readMarkdown(markdown);
      for (const block of document.blocks) if (block.kind === "paragraph") readInline(block.text, document);
      // The test's own time limit is the assertion: what is quadratic takes minutes.
      expect(document.blocks.length + document.footnotes.size).toBeGreaterThanOrEqual(0);
    },
    5000,
  );
});
