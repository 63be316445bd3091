import { describe, expect, test } from "bun:test";
import { Analyser } from "../../../src/search/analysis/analyser.ts";
import { stemEnglish } from "../../../src/search/analysis/stemmer.ts";
import { DocumentAnalyser } from "../../../src/search/document/analyse.ts";
import { scanLines } from "../../../src/search/document/lines.ts";
import { FIELDS, type FieldName } from "../../../src/search/types.ts";
import { docsUrl } from "../../../src/urls/index.ts";

function analyse(markdown: string, title = "") {
  const analyser = new Analyser("default");
  const document = new DocumentAnalyser(analyser).analyse({ url: docsUrl("site", "a"), title, markdown });
  const fields: { [name in FieldName]?: string[] } = {};
  for (let i = 0; i < document.tokenCount; i++) {
    const name = FIELDS[document.fields[i]!]!;
    fields[name] ??= [];
    fields[name].push(analyser.form(document.words[i]!));
  }
  return { document, fields };
}

// The expected stems come from the reference implementation, Snowball 3.1.
test.each(
  `consigned consign, consistency consist, knightly knight, generally general, generic generic, dying die,
  news news, skies sky, added add, erring err, internal internal, international internat, organization organiz,
  university universiti, paste paste, proceeded proceed, exceedingly exceed, evening evening, menus menus,
  gnu gnu, cpus cpus, ties tie, cries cri, gas gas, gaps gap, kiwis kiwi, hopping hop, hoping hope,
  luxuriating luxuri, sized size, ophthalmologist ophthalmolog, apologist apolog, relational relat,
  conditional condit, valency valenc, digitizer digit, hopefulness hope, rate rate, cease ceas, controlling control,
  rolling roll, yes yes, youth youth, sayings say, boy's boy, able abl`
    .split(",")
    .map((pair) => pair.trim().split(" ") as [string, string]),
)("the stem of %s is %s", (word, stem) => {
  expect(stemEnglish(word)).toBe(stem);
});

describe("a document's words", () => {
  test("are counted in the fields in which they appear", () => {
    const { fields } = analyse(
      "# Alpha\n\nBeta and `gamma`.\n\nDelta\n-----\n\n### Epsilon ###\n\n```js\nzeta\n```\n\n    eta\n",
      "Theta",
    );
    expect(fields.title).toEqual(["theta"]);
    expect(fields.headings_h1).toEqual(["alpha"]);
    expect(fields.headings_h2).toEqual(["delta"]);
    expect(fields.headings).toContain("epsilon");
    expect(fields.body).toEqual(["beta", "and"]);
    expect(fields.code).toEqual(["gamma", "zeta", "eta"]);
  });

  test.each([
    ["autovacuum_naptime (integer)\n    Says how long to sleep.", ["autovacuum_naptime"]],
    ["The first line of a paragraph is prose.", []],
    ["-x, --exclude\n    Leaves out.\n-v, --verbose\n    Says more.", ["-x", "--exclude", "-v", "--verbose"]],
    ["| corr ( Y, X ) | correlation |", ["corr"]],
    ["- `os.path.join` joins paths, and more of it is said here.", ["os.path.join"]],
    ["wrapped prose which goes on for quite some time and has no name in it, and then\nsome more.", []],
  ])("are counted as headings too where a line defines them: %p", (markdown, defined) => {
    const { fields } = analyse(markdown);
    const wholes = (fields.headings ?? []).filter((form) => defined.includes(form));
    expect([...new Set(wholes)].sort()).toEqual([...defined].sort());
    if (defined.length === 0) expect(fields.headings ?? []).toEqual([]);
  });
});

test("sections have their ranges, levels and anchors", () => {
  const markdown =
    "Before.\n\n# Set up\n\nText.\n\n## `join(a, b)`\n\n```\n# no heading\n```\n\n# Set up\n\nEnd.";
  const { document } = analyse(markdown);
  expect(document.sections.map(({ level, heading, anchor }) => [level, heading, anchor])).toEqual([
    [0, "", ""],
    [1, "Set up", "set-up"],
    [2, "join(a, b)", "joina-b"],
    [1, "Set up", "set-up-1"],
  ]);
  expect([...document.layout.sectionParents]).toEqual([0, 0, 1, 0]);
  expect(document.sections.map(({ start, end }) => markdown.slice(start, end)).join("")).toBe(markdown);
});

test("a heading of two lines is one line, and a preformatted text has no headings", () => {
  const markdown =
    "Two\nlines\n---\n\n<pre>\n## In pre\n\n# Nor this\n</pre>\n\n## After\n\n<pre>x</pre>\n\n## Last";
  const { document } = analyse(markdown);
  expect(document.sections.slice(1).map(({ heading }) => heading)).toEqual(["Two lines", "After", "Last"]);
});

test("long sections have several passages, and none crosses a heading", () => {
  const prose = "Water runs over the stones below the old wheel. ".repeat(60);
  const { document } = analyse(`# One\n\n${prose}\n\n# Two\n\n${prose}\n\n${"Short line.\n\n".repeat(200)}`);
  const { passageStarts, sectionStarts, contentStart, end } = document.layout;
  expect(passageStarts.length).toBeGreaterThan(6);
  expect([...passageStarts]).toEqual([...passageStarts].sort((a, b) => a - b));
  expect(passageStarts[0]).toBe(contentStart);
  expect(passageStarts[passageStarts.length - 1]).toBeLessThan(end);
  expect(passageStarts).toContain(sectionStarts[2]!);
});

test("setext underlines, fences and nested lists are distinguished from text", () => {
  const seen: string[] = [];
  const markdown = "Title\n=====\n- a\n    - b\n\n~~~\n# x\n~~~\n\ntext\n***\n";
  scanLines(markdown, (kind, start, end, level) => {
    seen.push(`${kind}${level || ""} ${markdown.slice(start, end)}`);
  });
  expect(seen).toEqual(["heading1 Title", "text - a", "text - b", "code # x", "text text"]);
});

test("hostile Markdown is read in linear time", () => {
  const spaced = ["# ", "```\n", "- ", "    x\n", "<a ", "a\n=\n", "`"];
  for (const shape of [...spaced, ..."# ]( <!-- &a \\ | a. _ 水".split(" ")]) {
    const markdown = shape.repeat(Math.ceil(200_000 / shape.length));
    expect(analyse(markdown).document.markdown).toBe(markdown);
  }
});
