import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chooseParts, tokensOf } from "../../../src/search/choose-parts.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";

const WORDS = "mill wheel river stone ledger harbour sluice barge market weir".split(" ");

const words = (least: number, most: number) =>
  fc.array(fc.constantFrom(...WORDS), { minLength: least, maxLength: most }).map((some) => some.join(" "));

const BLOCK = fc.oneof(
  words(1, 40),
  fc
    .array(words(1, 8), { minLength: 1, maxLength: 5 })
    .map((items) => items.map((item) => `- ${item}`).join("\n")),
  words(1, 20).map((code) => `\`\`\`\n${code}\n\n${code}\n\`\`\``),
  words(1, 6).map((cell) => `| a | b |\n| --- | --- |\n| ${cell} | ${cell} |`),
);

/** Blocks of which no two are alike, so that each has one place. A list after a list would go on with it. */
const DOCUMENT = fc
  .array(fc.record({ block: BLOCK, heading: fc.option(words(1, 3)) }), { minLength: 1, maxLength: 15 })
  .map((parts) =>
    parts.flatMap(({ block, heading }, number) => [
      `${"#".repeat(2 + (number % 3))} ${heading ?? "part"} ${number}`,
      block.replace(/\w+/, `n${number}`),
    ]),
  );

const choose = (markdown: string, query: string, maxTokens = 60) =>
  chooseParts(
    { markdown, anchors: null, language: "en" },
    { query, maxTokens, offset: null },
    DEFAULT_SEARCH,
  );

const MARK = /^\[… \d+ tokens left out …\]$/;

/** What stands between headings and marks; code holds empty lines itself. */
const blocksIn = (markdown: string): string[] =>
  markdown
    .split(/\n\n(?=#|\[…)|(?<=…\]|\n\n#[^\n]*|^#[^\n]*)\n\n/)
    .filter((part) => part !== "" && !part.startsWith("#") && !MARK.test(part));

describe("the parts of a text that answer a query", () => {
  test("are whole blocks of it in its order, within the budget unless a single one is longer", async () => {
    await fc.assert(
      fc.asyncProperty(
        DOCUMENT,
        words(1, 3),
        fc.integer({ min: 50, max: 300 }),
        async (parts, query, most) => {
          const blocks = parts.filter((part) => !part.startsWith("#"));
          const { markdown } = await choose(parts.join("\n\n"), query, most);
          const chosen = blocksIn(markdown);
          // Of a list or table that is too long, whole items or rows are there.
          const isOf = (part: string, block: string): boolean =>
            part === block ||
            (tokensOf(block) > most &&
              /^[-|]/.test(block) &&
              part.split("\n").every((line) => block.split("\n").includes(line)));
          const places = chosen.map((part) => blocks.findIndex((block) => isOf(part, block)));
          expect(places).not.toContain(-1);
          expect(places).toEqual(places.toSorted((a, b) => a - b));
          expect(chosen.length).toBeGreaterThan(0);
          if (chosen.length > 1) expect(tokensOf(markdown)).toBeLessThanOrEqual(most);
        },
      ),
      { numRuns: 200 },
    );
  });

  const ROWS = Array.from({ length: 60 }, (_, index) => `| key${index} | what number ${index} means |`);

  test("are the rows of a long table that answer, under its head", async () => {
    const table = ["| name | meaning |", "|---|---|", ...ROWS].join("\n");
    const { markdown } = await choose(`# Keys\n\n${table}`, "key42 key43", 90);
    expect(markdown).toContain(`\n\n| name | meaning |\n|---|---|\n`);
    expect(markdown).toContain(`${ROWS[42]}\n${ROWS[43]}`);
    expect(tokensOf(markdown)).toBeLessThanOrEqual(90);
    expect(markdown.match(/tokens left out/g)).toHaveLength(2);
  });

  test("are the items of a long list that answer, with all of their lines", async () => {
    const items = Array.from({ length: 40 }, (_, index) => `- step ${index}\n  - lift gate${index}`);
    const { markdown } = await choose(`# Steps\n\n${items.join("\n")}`, "gate17", 60);
    expect(markdown).toContain(items[17]!);
    expect(tokensOf(markdown)).toBeLessThanOrEqual(60);
  });

  const GUIDE = [
    "The guide of the mill.",
    "## Setup",
    "Run the installer as root.",
    "### Limits of time",
    "A request ends after thirty seconds.",
    "```\ntimeout = 30\n\nretries = 3\n```",
    "## Logs",
    "Lines are JSON.",
  ].join("\n\n");

  test("stand under the path of their headings, with marks for the others", async () => {
    const { markdown, isMatched } = await choose(GUIDE, "when does a request end", 50);
    expect(isMatched).toBe(true);
    expect(markdown).toMatch(/^\[… \d+ tokens left out …\]\n\n### Setup › Limits of time\n\nA request ends/);
    expect(markdown).toContain("```\ntimeout = 30\n\nretries = 3\n```");
    expect(markdown).toMatch(/\n\n\[… \d+ tokens left out …\]$/);
  });

  test("have the anchor that the page gives their heading, and places by offset", async () => {
    const anchors = [{ id: "time limits", start: GUIDE.indexOf("### Limits") }];
    const { markdown } = await chooseParts(
      { markdown: GUIDE, anchors, language: null },
      { query: "request", maxTokens: 50, offset: 9 },
      DEFAULT_SEARCH,
    );
    expect(markdown).toContain("### Setup › Limits of time (#time%20limits)");
    expect(markdown).toContain(`left out from offset ${9 + GUIDE.indexOf("```")} …]`);
  });

  test("are found by other forms of a word, as in every search", async () => {
    expect((await choose(GUIDE, "installing", 50)).markdown).toContain("Run the installer as root.");
  });

  test("are the beginning where no block has a word of the query", async () => {
    const { markdown, isMatched } = await choose(GUIDE, "zebra", 50);
    expect(isMatched).toBe(false);
    expect(markdown).toStartWith("The guide of the mill.");
    expect(tokensOf(markdown)).toBeLessThanOrEqual(50);
  });

  test("are one block alone where the best is longer than the budget", async () => {
    const long = "The sluice opens at dawn. ".repeat(40).trim();
    const { markdown } = await choose(`${GUIDE}\n\n${long}`, "sluice dawn", 50);
    expect(blocksIn(markdown)).toEqual([long]);
  });
});

test("tokens are counted by the letters of a text", () => {
  expect(tokensOf("")).toBe(0);
  expect(tokensOf("a".repeat(100))).toBe(30);
  expect(tokensOf("ж".repeat(100))).toBe(50);
  expect(tokensOf("水".repeat(100))).toBe(110);
});
