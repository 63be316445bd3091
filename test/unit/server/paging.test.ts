import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { Paragraphs, pageOfText } from "../../../src/server/api/mcp/parts.ts";

/** Reads a text page by page. */
function pagesOf(text: string, maxChars: number): { readonly contents: string[]; readonly gaps: string[] } {
  const contents: string[] = [];
  const gaps: string[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { content, nextOffset }: ReturnType<typeof pageOfText> = pageOfText(text, { offset, maxChars });
    contents.push(content);
    if (nextOffset !== null) {
      expect(nextOffset).toBeGreaterThan(offset);
      gaps.push(text.slice(offset + content.length, nextOffset));
    }
    offset = nextOffset;
  }
  return { contents, gaps };
}

describe("a text in pages", () => {
  test.each([
    ["nothing", "", 0, 5, "", null],
    ["less than a page", "one", 0, 5, "one", null],
    ["exactly a page", "one\n\ntwo", 0, 8, "one\n\ntwo", null],
    ["a paragraph that ends with the page", "one\n\ntwo", 0, 3, "one", 5],
    ["a paragraph before its blank line", "one\n\ntwo", 0, 4, "one", 5],
    ["several paragraphs", "one\n\ntwo\n\nthree", 0, 11, "one\n\ntwo", 10],
    ["the rest", "one\n\ntwo\n\nthree", 10, 11, "three", null],
    ["a long paragraph, at a line", "one two\nthree\n\nfour", 0, 9, "one two", 8],
    ["a long line, at a blank", "one two three", 0, 9, "one two", 8],
    ["a long word", "abcdefgh", 2, 3, "cde", 5],
    ["the end", "one", 3, 5, "", null],
    ["past the end", "one", 99, 5, "", null],
    ["a character of two units", "\u{1f980}\u{1f980}", 0, 1, "\u{1f980}", 2],
    ["the middle of such a character", "\u{1f980}x", 1, 5, "x", null],
    ["an indented block behind the cut", "one\n\n    code\n\nend", 0, 6, "one", 5],
    ["a code block with an empty line", "one\n\n```\na\n\nb\n```\n\ntwo", 0, 15, "one", 5],
    ["a code block in a list", "one\n\n- ```\n  a\n\n  b\n  ```\n\ntwo", 0, 17, "one", 5],
    ["code of a list behind its text", "one\n\n1. Run:\n   ```\n   a\n   ```\n\ntwo", 0, 20, "one", 5],
    ["code that touches its text", "Run:\n```\na\n\nb\n```\n\ntwo", 0, 14, "Run:", 5],
    ["a fence in a longer fence", "one\n\n````\n```\na\n\n````\n\ntwo", 0, 17, "one", 5],
    ["a code block longer than the page", "```\na\n\nb\n```\n\ntwo", 0, 8, "```\na\n\nb", 9],
    ["the rest of such a block", "```\na\n\nb\n```\n\ntwo\n\nthree", 7, 13, "b\n```\n\ntwo", 19],
  ] as const)("gives %s", (_, text, offset, maxChars, content, nextOffset) => {
    expect(pageOfText(text, { offset, maxChars })).toEqual({ content, nextOffset });
  });

  const BLOCK = fc.oneof(
    fc.stringMatching(/^[a-z \u{1f980}]{1,40}$/u),
    fc.stringMatching(/^[a-z]{1,9}(?:\n[a-z]{1,9}){1,4}$/),
    fc.stringMatching(/^```\n(?:[a-z]{0,6}\n){1,4}```$/),
    fc.stringMatching(/^- [a-z]{1,9}(?:\n {2}[a-z]{1,9}){0,3}$/),
  );
  const TEXT = fc.array(BLOCK, { maxLength: 12 }).map((blocks) => blocks.join("\n\n"));

  test("loses only white space between pages, and no page is too long", () => {
    fc.assert(
      fc.property(TEXT, fc.integer({ min: 1, max: 120 }), (text, maxChars) => {
        const { contents, gaps } = pagesOf(text, maxChars);
        expect(
          contents
            .map((content, at) => content + (gaps[at] ?? ""))
            .join("")
            .trimEnd(),
        ).toBe(text.trimEnd());
        for (const gap of gaps) expect(gap).toMatch(/^(?: |[\t ]*\n|)+$/);
        for (const content of contents) {
          expect(content.length).toBeLessThanOrEqual(Math.max(maxChars, 2));
          expect(content.isWellFormed()).toBeTrue();
        }
      }),
    );
  });

  test("ends pages at paragraphs, unless one paragraph is longer than a page", () => {
    fc.assert(
      fc.property(TEXT, fc.integer({ min: 45, max: 200 }), (text, maxChars) => {
        for (const gap of pagesOf(text, maxChars).gaps) expect(gap).toContain("\n\n");
      }),
    );
  });
});

describe("paragraphs", () => {
  const partsOf = (text: string): string[] =>
    Array.from(new Paragraphs(text), ({ start, end }) => text.slice(start, end));

  test.each([
    ["one\n\n\n two\nthree\n", ["one", "two\nthree\n"]],
    ["one\n\nRun:\n```\na\n\nb\n```\nso\n\ntwo", ["one", "Run:\n```\na\n\nb\n```\nso", "two"]],
    ["- ```\n  a\n\n  b\n  ```\n\ntwo", ["- ```\n  a\n\n  b\n  ```", "two"]],
    ["````\n```\n\n````\n\ntwo", ["````\n```\n\n````", "two"]],
  ])("of %j hold code whole", (text, parts) => {
    expect(partsOf(text)).toEqual(parts);
    const paragraphs = new Paragraphs(text);
    for (const { start, end } of paragraphs)
      for (let at = start + 1; at < end - 1; at++) {
        expect(paragraphs.startAt(at)).toBeLessThanOrEqual(start);
        expect(paragraphs.endAt(at)).toBe(end);
      }
  });

  test("of long code are read in parts", () => {
    expect(partsOf(`\`\`\`\n${"line\n\n".repeat(3000)}\`\`\``).length).toBeGreaterThan(1000);
  });
});
