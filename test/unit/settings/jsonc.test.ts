import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseJsonc, withElement, withoutElement } from "../../../src/settings/deployment/jsonc.ts";

const parse = (text: string): unknown => parseJsonc(text, "d.json");

describe("comments and last commas", () => {
  test.each([
    ['{"a": [1, 2,], }', { a: [1, 2] }],
    ['\ufeff// first\n{"a": /* in between */ 1} // last', { a: 1 }],
    ['{"a": "// no comment, /* none */ ,]"}', { a: "// no comment, /* none */ ,]" }],
    ['{"a": [{"b": "\\",]"} , // last\n ]}', { a: [{ b: '",]' }] }],
    ['{"__proto__": {"a": 1},}', JSON.parse('{"__proto__": {"a": 1}}')],
    ["[]", []],
  ])("are read in %j", (text, value) => {
    expect(parse(text)).toEqual(value);
  });

  test.each([
    ["[,]", 1, 2],
    ["[1,,]", 1, 4],
    ['{"a":,}', 1, 6],
    ['{"a": 1} /* open', 1, 10],
    ["{,}", 1, 2],
    ['// one\n{"a": 1,, }', 2, 9],
  ])("do not make %j right", (text, line, column) => {
    expect(() => parse(text)).toThrow(`d.json: line ${line}, column ${column}: not JSON: `);
  });

  test("are read of any value as it is without them", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value, null, 1)
          .replace(/([^\s{[])\n(\s*[\]}])/g, "$1, // ,\n/* ] */$2")
          .replace(/^/, "// {\n");
        expect(parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

// JSON has no -0.
const value = fc.jsonValue({ maxDepth: 2 }).map((any): unknown => JSON.parse(JSON.stringify(any)));

/** Texts in all styles of one list, with their comments. */
const written = fc
  .record({
    list: fc.array(fc.record({ a: value }), { maxLength: 5 }),
    unit: fc.constantFrom("", "  ", "\t"),
    eol: fc.constantFrom("\n", "\r\n"),
    bom: fc.boolean(),
    hasLastComma: fc.boolean(),
    comments: fc.boolean(),
  })
  .map(({ list, unit, eol, bom, hasLastComma, comments }) => {
    const elements = list.map((element, index) => {
      const text = JSON.stringify(element, null, unit).replaceAll("\n", `\n${unit}${unit}`);
      const comma = index < list.length - 1 || hasLastComma ? "," : "";
      const [before, after] =
        comments && unit !== "" ? [`// before ${index}\n${unit}${unit}`, ` // after ${index}, ]`] : ["", ""];
      return `${unit}${unit}${before}${text}${comments ? " /* , */ " : ""}${comma}${after}`;
    });
    const gap = unit === "" ? "" : "\n";
    const body = elements.length === 0 ? "" : `${gap}${elements.join(gap)}${gap}${unit}`;
    const text = `{${gap}${unit}"before": [1],${gap}${unit}"list": [${body}],${gap}${unit}"after": {}${gap}}${gap}`;
    return { list, text: `${bom ? "\ufeff" : ""}${text.replaceAll("\n", eol)}`, eol };
  });

const commentsOf = (text: string): string[] => text.match(/\/\/ (?:before|after) \d+|\/\* , \*\//g) ?? [];

describe("an edited list", () => {
  test("has one element more, and all that it had, comments and line breaks included", () => {
    fc.assert(
      fc.property(written, fc.record({ b: value }), ({ list, text, eol }, element) => {
        const edited = withElement(text, "list", element);
        expect(parse(edited)).toEqual({ before: [1], list: [...list, element], after: {} });
        expect(commentsOf(edited)).toEqual(commentsOf(text));
        if (eol === "\r\n" && text.includes("\n")) expect(edited.replaceAll("\r\n", "")).not.toContain("\n");
        // What goes is what came.
        const back = withoutElement(edited, "list", list.length);
        expect(parse(back)).toEqual(parse(text));
      }),
    );
  });

  test("has one element less, whichever it is, and all comments beside it", () => {
    fc.assert(
      fc.property(written, fc.nat(), ({ list, text }, number) => {
        fc.pre(list.length > 0);
        const index = number % list.length;
        const edited = withoutElement(text, "list", index);
        expect(parse(edited)).toEqual({ before: [1], list: list.toSpliced(index, 1), after: {} });
        expect(commentsOf(edited)).toEqual(commentsOf(text));
      }),
    );
  });

  const ELEMENT = { codename: "new", paths: ["a"] };
  test.each([
    ["{}".replace("{}", '{"list":[]}'), '{"list":[{"codename":"new","paths":["a"]}]}'],
    ['{"list": [{"a": 1}, 2]}', '{"list": [{"a": 1}, 2, {"codename":"new","paths":["a"]}]}'],
    [
      '{\n  "list": []\n}\n',
      '{\n  "list": [\n    {\n      "codename": "new",\n      "paths": [\n        "a"\n      ]\n    }\n  ]\n}\n',
    ],
    [
      '{\n\t"list": [\n\t\t1, // one\n\t\t// the end\n\t],\n}',
      '{\n\t"list": [\n\t\t1, // one\n\t\t// the end\n\t\t{\n\t\t\t"codename": "new",\n\t\t\t"paths": [\n\t\t\t\t"a"\n\t\t\t]\n\t\t},\n\t],\n}',
    ],
    [
      '{\n  "list": [\n    1 // one\n  ]\n}',
      '{\n  "list": [\n    1, // one\n    {\n      "codename": "new",\n      "paths": [\n        "a"\n      ]\n    }\n  ]\n}',
    ],
  ])("%j becomes %j", (before, after) => {
    expect(withElement(before, "list", ELEMENT)).toBe(after);
  });

  test.each([
    ['{\n  "list": [\n    1,\n    2,\n    3\n  ]\n}', ["2,\n    3", "1,\n    3", "1,\n    2"]],
    ['{\n  "list": [\n    1, // one\n    2 // two\n  ]\n}', ["// one\n    2 // two", "1 // one\n    // two"]],
  ])("%j keeps these without one", (before, bodies) => {
    for (const [index, body] of bodies.entries())
      expect(withoutElement(before, "list", index)).toBe(`{\n  "list": [\n    ${body}\n  ]\n}`);
  });
});
