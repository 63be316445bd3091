import { expect, test } from "bun:test";
import { documentsOfText, markdownOf } from "../../../support/search/read-text.ts";

const notebook = (cells: readonly unknown[], metadata: object = {}): string =>
  JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 });
const text = (source: string | readonly string[]) => ({ cell_type: "markdown", source });
const code = (source: string | readonly string[], ...outputs: object[]) => ({
  cell_type: "code",
  source,
  outputs,
});

test("a notebook is its text and its code in the order of its cells", () => {
  const [document] = documentsOfText(
    notebook(
      [text(["# Tides\n", "\n", "They turn."]), code(["a = 1\n", "b = 2"]), text("Ebb."), code("c = 3")],
      { language_info: { name: "R" } },
    ),
    "notebook",
  );
  expect(document?.title).toBe("Tides");
  expect(document?.markdown).toBe(
    "# Tides\n\nThey turn.\n\n```r\na = 1\nb = 2\n```\n\nEbb.\n\n```r\nc = 3\n```",
  );
});

test.each([
  ["no cell", [], ""],
  ["an empty cell", [text(""), code(""), code([])], ""],
  ["a cell of another type", [{ cell_type: "odd", source: "Words." }], "Words."],
  ["a cell without a source", [{ cell_type: "markdown" }, 7, null, text("Words.")], "Words."],
  ["a raw cell", [{ cell_type: "raw", source: "..\n raw" }], "```\n..\n raw\n```"],
  ["a script", [code("%%bash\nls")], "```bash\n%%bash\nls\n```"],
  ["code with a fence", [code("'''\n```\n'''")], "````python\n'''\n```\n'''\n````"],
  ["hidden markup", [text("Seen.<!-- not --> <b hidden>not</b>")], "Seen."],
  ["markup in code", [code("x = '<!-- seen -->'")], "```python\nx = '<!-- seen -->'\n```"],
  ["markup that one cell opens", [text("<div hidden>no"), text("Seen.")], "Seen."],
  ["a picture in the text", [text("A ![chart](data:image/png;base64,AAAA) here.")], "A chart here."],
  ["an attachment", [text("![chart](attachment:c.png 'T')")], "chart"],
] as const)("a notebook with %s", (_, cells, markdown) => {
  expect(markdownOf(notebook(cells), "notebook")).toBe(markdown);
});

test.each([
  ["a stream", { output_type: "stream", name: "stdout", text: ["one\n", "two\n"] }, "```text\none\ntwo\n```"],
  [
    "a result",
    { output_type: "execute_result", data: { "text/plain": "42", "text/html": "<b>42</b>" } },
    "```text\n42\n```",
  ],
  [
    "Markdown",
    { output_type: "display_data", data: { "text/markdown": ["**42**"], "text/plain": "x" } },
    "**42**",
  ],
  ["colours", { output_type: "stream", text: "\u001b[31mred\u001b[0m" }, "```text\nred\n```"],
  [
    "an error",
    {
      output_type: "error",
      ename: "KeyError",
      evalue: "'k'",
      traceback: ["\u001b[0;31mat\u001b[0m", "line 2"],
    },
    "```text\nKeyError: 'k'\nat\nline 2\n```",
  ],
  ["a picture", { output_type: "display_data", data: { "image/png": "AAAA", "text/plain": "<Figure>" } }, ""],
  ["nothing", { output_type: "stream" }, ""],
] as const)("an output that is %s", (_, output, markdown) => {
  const whole = markdownOf(notebook([code("x", output)]), "notebook");
  expect(whole).toBe(`\`\`\`python\nx\n\`\`\`${markdown === "" ? "" : `\n\n${markdown}`}`);
});

test("a long output is cut, and says so", () => {
  const long = { output_type: "stream", text: "word ".repeat(2_000_000) };
  const markdown = markdownOf(notebook([code("x", long), text("After.")]), "notebook");
  expect(markdown.length).toBeLessThan(21_000);
  expect(markdown).toContain("… (the output has 10000000 characters, and is cut here)");
  expect(markdown.endsWith("After.")).toBe(true);
});

test("a notebook of the third format is read", () => {
  const cells = [
    { cell_type: "heading", level: 2, source: "Tides" },
    {
      cell_type: "code",
      input: "x",
      outputs: [
        { output_type: "pyout", text: ["1"] },
        { output_type: "display_data", png: "AAAA", text: "<Figure>" },
      ],
    },
  ];
  const old = JSON.stringify({ worksheets: [{ cells }], metadata: {}, nbformat: 3 });
  expect(markdownOf(old, "notebook")).toBe("## Tides\n\n```python\nx\n```\n\n```text\n1\n```");
});

test.each(["", "{", "[]", '{"cells": 1}', "<<<<<<< HEAD\n{}"])("%j is no notebook", (broken) => {
  expect(() => documentsOfText(broken, "notebook")).toThrow("it is not a notebook");
});
