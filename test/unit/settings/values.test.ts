import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  boolean,
  byteCount,
  choice,
  decimal,
  describeMismatch,
  headerText,
  integer,
  text,
  type ValueParser,
} from "../../../src/settings/values.ts";

const PARSERS = {
  text,
  headerText,
  boolean,
  byteCount,
  "integer(1, 65535)": integer(1, 65535),
  "decimal(0, 3600)": decimal(0, 3600),
  "choice(json, text)": choice(["json", "text"]),
} as const satisfies Record<string, ValueParser<unknown>>;

const READ: readonly (readonly [parser: keyof typeof PARSERS, written: string, value: unknown])[] = [
  ["text", " a b ", "a b"],
  ["headerText", " Reader/1.0 (é) ", "Reader/1.0 (é)"],
  ["boolean", "1", true],
  ["boolean", " Yes ", true],
  ["boolean", "ON", true],
  ["boolean", "false", false],
  ["boolean", "0", false],
  ["byteCount", "1", 1],
  ["byteCount", "500k", 500 * 1024],
  ["byteCount", "20M", 20 * 1024 ** 2],
  ["byteCount", "1.5 m".replace(" ", ""), 1.5 * 1024 ** 2],
  ["byteCount", "2MiB", 2 * 1024 ** 2],
  ["byteCount", "4G", 4 * 1024 ** 3],
  ["byteCount", "12b", 12],
  ["integer(1, 65535)", "1", 1],
  ["integer(1, 65535)", " +65535 ", 65535],
  ["integer(1, 65535)", "007", 7],
  ["decimal(0, 3600)", "0", 0],
  ["decimal(0, 3600)", ".5", 0.5],
  ["decimal(0, 3600)", "3600.0", 3600],
  ["choice(json, text)", " JSON ", "json"],
];

const REFUSED: readonly (readonly [parser: keyof typeof PARSERS, written: readonly string[]])[] = [
  ["text", ["", "   "]],
  ["headerText", ["", "a\nb", "a\rb", "a\u0000b", "☃", "x".repeat(1025)]],
  ["boolean", ["", "2", "ja", "truee"]],
  ["byteCount", ["", "0", "-1", "5Q", "1kk", "5G", "k", "1e3", "Infinity"]],
  ["integer(1, 65535)", ["", "0", "65536", "1.0", "1e3", "0x10", "ten", "1 2", "٣", "9".repeat(400)]],
  ["decimal(0, 3600)", ["", "-0.1", "3600.1", "1e3", ".", "NaN", "Infinity", "1,5"]],
  ["choice(json, text)", ["", "jso", "json text", "__proto__"]],
];

describe("values", () => {
  for (const [parser, written, value] of READ) {
    test(`${parser} reads ${JSON.stringify(written)} as ${JSON.stringify(value)}`, () => {
      expect<unknown>(PARSERS[parser](written)).toEqual({ value });
    });
  }

  for (const [parser, texts] of REFUSED) {
    test(`${parser} refuses ${texts.length} other texts and says what it expects`, () => {
      for (const written of texts) {
        const parsed: object = PARSERS[parser](written);
        expect([written.slice(0, 20), parsed]).toEqual([
          written.slice(0, 20),
          { expected: expect.any(String) },
        ]);
      }
    });
  }

  test("whole numbers survive being written and read", () => {
    const anyInteger = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    fc.assert(fc.property(fc.maxSafeInteger(), (value) => expect(anyInteger(`${value}`)).toEqual({ value })));
  });

  test("no text makes a parser throw", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (written) => {
        for (const parser of Object.values(PARSERS)) parser(written);
      }),
    );
  });
});

test("describeMismatch repeats a short beginning of the text, or nothing when there is none", () => {
  expect(describeMismatch("be a number", "x")).toBe('must be a number, not "x"');
  expect(describeMismatch("be a number", "x".repeat(500)).length).toBeLessThan(150);
  expect(describeMismatch("not be empty", " ")).toBe("must not be empty");
});
