import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatFrontMatter, parseFrontMatter } from "../../../src/pages/index.ts";

const fieldsOf = (yaml: string): Readonly<Record<string, unknown>> | undefined =>
  parseFrontMatter(`---\n${yaml}\n---\nbody`)?.fields;

describe("formatFrontMatter", () => {
  test("quotes strings and writes other scalars plain", () => {
    expect(
      formatFrontMatter({
        title: 'He said: "no"',
        count: 3,
        draft: false,
        byline: null,
        at: { timestamp: "2026-11-05T09:30:00Z" },
      }),
    ).toBe(
      '---\ntitle: "He said: \\"no\\""\ncount: 3\ndraft: false\nbyline: null\nat: 2026-11-05T09:30:00Z\n---\n',
    );
  });

  test("writes only characters that YAML calls printable, and no line break within a string", () => {
    const text = formatFrontMatter({ title: "\u0000\n\r\u0085\u2028\u2029\u007f\u009f\ufeff\uffff🙂" });
    expect(text.split("\n").length).toBe(4);
    expect(text).toMatch(/^[\n\x20-\x7e🙂]*$/u);
  });

  test("is read back unchanged, whatever the string", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (title) => {
        const block = formatFrontMatter({ title });
        expect(parseFrontMatter(`${block}rest`)).toEqual({ fields: { title }, body: "rest" });
      }),
      { numRuns: 1000 },
    );
  });

  test("is read the same by another YAML parser", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (title) => {
        const yaml = formatFrontMatter({ title }).slice(4, -4);
        expect(Bun.YAML.parse(yaml)).toEqual({ title });
      }),
    );
  });
});

describe("parseFrontMatter", () => {
  test("splits the block from the body", () => {
    expect(parseFrontMatter("---\ntitle: A\ntags:\n  - x\n---\n\nBody\n---\n")).toEqual({
      fields: { title: "A", tags: ["x"] },
      body: "\nBody\n---\n",
    });
  });

  test.each([
    ["a byte order mark", "\ufeff---\na: 1\n---\nbody"],
    ["Windows line ends", "---\r\na: 1\r\n---\r\nbody"],
    ["blanks after the marks", "--- \na: 1\n---\t\nbody"],
    ["a line that only begins like the mark", "---\na: 1\n---x: 2\n---\nbody"],
    ["a block of YAML that dots end", "---\na: 1\n...\nbody"],
    ["line ends of old Macs", "---\ra: 1\rb: 2\r---\rbody"],
    ["TOML", "+++\na = 1\n[b]\nc = 2\n+++\nbody"],
    ["TOML with a byte order mark and Windows line ends", "\ufeff+++\r\na = 1\r\nb = 2\r\n+++\r\nbody"],
    ["TOML with line ends of old Macs", "+++\ra = 1\rb = 2\r+++\rbody"],
    ["JSON", '{\n  "a": 1,\n  "b": { "c": "}" }\n}\nbody'],
    ["JSON with a byte order mark and Windows line ends", '\ufeff{\r\n  "a": 1\r\n}\r\nbody'],
    ["JSON on one line", '{"a": 1} \nbody'],
  ])("takes %s", (_, text) => {
    expect(parseFrontMatter(text)).toMatchObject({ fields: { a: 1 }, body: "body" });
  });

  test("takes a block that ends with the document", () => {
    expect(parseFrontMatter("---\na: 1\n---")).toEqual({ fields: { a: 1 }, body: "" });
  });

  test.each([
    ["there is none", "a: 1\n---\nbody"],
    ["it is not closed", "---\na: 1\nbody"],
    ["it is not at the start", "\n---\na: 1\n---\nbody"],
    ["the opening line has more on it", "--- a: 1\n---\nbody"],
    ["it is prose between two thematic breaks", "---\nJust words.\n\n---\nbody"],
    ["it is a list", "---\n- a\n---\nbody"],
    ["it is empty", "---\n---\nbody"],
    ["it is broken", "---\na: [1\n---\nbody"],
    ["it holds an alias", "---\na: &x [1]\nb: *x\n---\nbody"],
    ["TOML is not closed", "+++\na = 1\nbody"],
    ["TOML is broken", "+++\nJust words.\n+++\nbody"],
    ["JSON has no text below it", '{"a": 1}\n\n'],
    ["JSON has text beside it", '{"a": 1} body\nmore'],
    ["JSON is broken", '{"a": 1,}\nbody'],
    ["braces hold something else", "{#id}\nbody"],
    ["it is over 32 768 characters", `---\na: "${"x".repeat(32_768)}"\n---\nbody`],
  ])("is null when %s", (_, text) => {
    expect(parseFrontMatter(text)).toBeNull();
  });

  test("keeps dates as the strings that were written", () => {
    expect(fieldsOf("date: 2026-11-05")).toEqual({ date: "2026-11-05" });
    expect(parseFrontMatter("+++\ndate = 2026-11-05\n+++\n")?.fields).toEqual({ date: "2026-11-05" });
  });

  test("takes the last of two equal keys", () => {
    expect(fieldsOf("a: 1\na: 2")).toEqual({ a: 2 });
  });

  test("gives a key called __proto__ no power", () => {
    const fields = fieldsOf("__proto__:\n  url: evil\ntitle: A");
    expect(fields?.url).toBeUndefined();
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).url).toBeUndefined();
  });

  test("constructs nothing for tags of other languages", () => {
    expect(fieldsOf("a: !!js/function 'function () {}'")?.a).toBe("function () {}");
  });

  test("survives every hostile block of its size", () => {
    const parts = [
      "[",
      "{",
      "- ",
      "? ",
      "&a ",
      "!!x ",
      ": ",
      "*a ",
      "a: 1\n",
      "|\n",
      '"',
      "\\",
      "#",
      "\t",
      " ",
    ];
    for (const part of parts) {
      const text = `---\na: ${part.repeat(32_000 / part.length)}\n---\nbody`;
      expect(parseFrontMatter(text)?.body ?? "body").toBe("body");
      const toml = `+++\na = ${part.repeat(32_000 / part.length)}\n+++\nbody`;
      expect(parseFrontMatter(toml)?.body ?? "body").toBe("body");
      expect(parseFrontMatter(`{"a": ${part.repeat(32_000 / part.length)}}\nbody`)?.body ?? "body").toBe(
        "body",
      );
    }
  });

  test("does not search a body of megabytes for the end", () => {
    expect(parseFrontMatter(`---\n${"x\n".repeat(5_000_000)}---\n`)).toBeNull();
  });
});
