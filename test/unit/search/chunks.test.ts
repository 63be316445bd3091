import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { tokensOf } from "../../../src/search/choose-parts.ts";
import { chunksOf, type TextChunk } from "../../../src/search/chunks.ts";

const chunk = (markdown: string, maxTokens = 50, overlap = 0): TextChunk[] =>
  chunksOf({ markdown, anchors: null, language: "en" }, { maxTokens, overlap });
const texts = (markdown: string, maxTokens?: number, overlap?: number): string[] =>
  chunk(markdown, maxTokens, overlap).map(({ markdown: text }) => text);

const SENTENCE = "The keeper opens the lower gate by hand. ";

describe("a text", () => {
  test("is one chunk where it fits, and each section is one of its own", () => {
    const markdown = "First.\n\nSecond.\n\n# Gates\n\nA gate.\n\n## Locks\n\nA lock.\n\n# Weirs\n\nA weir.";
    expect(chunk(markdown).map(({ headings, markdown: text }) => [headings.join(" > "), text])).toEqual([
      ["", "First.\n\nSecond."],
      ["Gates", "A gate."],
      ["Gates > Locks", "A lock."],
      ["Weirs", "A weir."],
    ]);
  });

  test("without words has no chunk", () => {
    for (const markdown of ["", "\n\n", "# Only a heading", "---"]) expect(chunk(markdown)).toEqual([]);
  });

  test("keeps its blocks whole where these fit", () => {
    const list = "- a spade\n- a rake";
    const code = "```js\nlet a = 1;\n\nlet b = 2;\n```";
    expect(texts(`${SENTENCE.repeat(4).trim()}\n\n${list}\n\n${code}`)).toEqual([
      SENTENCE.repeat(4).trim(),
      `${list}\n\n${code}`,
    ]);
  });
});

describe("a block that is too long", () => {
  test("of prose is cut between sentences", () => {
    const parts = texts(SENTENCE.repeat(9));
    expect(parts.length).toBe(3);
    for (const part of parts) expect(part).toMatch(/^The keeper .*hand\.$/);
  });

  test("of code has a fence around each part", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `  call(${index});`);
    const parts = texts(["```js", ...lines, "```"].join("\n"));
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(part).toMatch(/^```js\n(?: {2}call\(\d+\);\n)+```$/);
    expect(parts.flatMap((part) => part.match(/ {2}call.*/g) ?? [])).toEqual(lines);
  });

  test("of a table has its head above each part", () => {
    const rows = Array.from({ length: 20 }, (_, index) => `| ${index} | two |`);
    const parts = texts(["| a | b |", "|---|---|", ...rows].join("\n"));
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(part).toStartWith("| a | b |\n|---|---|\n| ");
    expect(parts.flatMap((part) => part.split("\n").slice(2))).toEqual(rows);
  });

  test("of a list is cut between items", () => {
    const items = Array.from({ length: 20 }, (_, index) => `- item ${index}\n  - below ${index}`);
    const parts = texts(items.join("\n"));
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(part).toMatch(/^- item/);
    expect(parts.join("\n")).toBe(items.join("\n"));
  });

  test("of one word is cut within it, and not within a character", () => {
    const parts = texts("𝄞".repeat(400));
    expect(parts.join("")).toBe("𝄞".repeat(400));
  });
});

test("an overlap repeats whole sentences of the chunk before, and of no other section", () => {
  const sentences = Array.from({ length: 12 }, (_, index) => `Sentence number ${index} says little.`);
  const chunks = chunk(`${sentences.join(" ")}\n\n# Next\n\nAnother section.`, 50, 12);
  expect(chunks.length).toBeGreaterThan(3);
  const inFirst = chunks
    .slice(0, -1)
    .map(({ markdown }) => markdown.match(/Sentence number \d+ says little\./g) ?? []);
  for (const [index, own] of inFirst.entries())
    if (index > 0) expect(own[0] === inFirst[index - 1]?.at(-1)).toBe(true);
  expect(chunks.at(-1)?.markdown).toBe("Another section.");
});

test("no chunk is too long, and together they have every word once, in order", () => {
  const word = fc.stringMatching(/^[a-zé漢]{1,12}$/);
  const words = fc.array(word, { minLength: 1, maxLength: 80 }).map((some) => some.join(" "));
  const block = fc.oneof(
    words,
    words.map((text) => `# ${text.slice(0, 30).trim() || "x"}`),
    fc
      .array(words, { minLength: 1, maxLength: 6 })
      .map((items) => items.map((item) => `- ${item}`).join("\n")),
    fc.array(words, { minLength: 1, maxLength: 9 }).map((lines) => `\`\`\`\n${lines.join("\n")}\n\`\`\``),
  );
  fc.assert(
    fc.property(fc.array(block, { maxLength: 9 }), fc.integer({ min: 50, max: 300 }), (blocks, maxTokens) => {
      const chunks = chunk(blocks.join("\n\n"), maxTokens);
      for (const { markdown, tokens } of chunks) {
        expect(tokens).toBe(tokensOf(markdown));
        expect(tokens).toBeLessThanOrEqual(maxTokens);
      }
      const bare = (text: string): string => text.replace(/[`\s-]/g, "");
      const content = blocks.filter((text) => !text.startsWith("#")).join("");
      expect(bare(chunks.map(({ markdown }) => markdown).join(""))).toBe(bare(content));
    }),
    { numRuns: 300 },
  );
});
