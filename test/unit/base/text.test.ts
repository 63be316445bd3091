import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { defined, isRecord, parseJson } from "../../../src/base/json.ts";
import { escapeAttribute, escapeHtml, wordsOf } from "../../../src/base/text.ts";

describe("words", () => {
  test("are runs of letters and digits in lower case", () => {
    expect(wordsOf("Don't GET /v2/état_x—日本 ")).toEqual(["don", "t", "get", "v2", "état", "x", "日本"]);
    expect(wordsOf(" _-!")).toEqual([]);
    expect(wordsOf("")).toEqual([]);
  });
});

describe("escaping for HTML", () => {
  const ENTITIES = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };
  const unescaped = (html: string): string =>
    html.replace(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity as keyof typeof ENTITIES]);

  test("leaves no sign of markup, and the text can be had back", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("<", ">", "&", '"', "'", "amp;", "a", "é") }), (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>]/);
        expect(escapeAttribute(text)).not.toMatch(/[<>"]/);
        expect(unescaped(escapeHtml(text))).toBe(text);
        expect(unescaped(escapeAttribute(text))).toBe(text);
      }),
    );
  });
});

describe("JSON", () => {
  test("is null where it is broken", () => {
    expect(parseJson('{"a":[1]}')).toEqual({ a: [1] });
    for (const text of ["", "{", "undefined", "{'a':1}"]) expect(parseJson(text)).toBeNull();
  });

  test("has records, which are neither null nor arrays", () => {
    expect(["{}", '{"a":1}', "[]", "null", "1", '"a"'].map((text) => isRecord(parseJson(text)))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  test("has objects without what is undefined, in their order", () => {
    const members = defined({ b: undefined, c: null, a: 0, d: "" });
    expect(members).not.toHaveProperty("b");
    expect(Object.entries(members)).toEqual([
      ["c", null],
      ["a", 0],
      ["d", ""],
    ]);
  });
});
