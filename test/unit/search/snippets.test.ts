import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { headingPath } from "../../../src/search/index.ts";
import { chooseFragments, plainText } from "../../../src/search/snippet.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { cpuMs } from "../../support/cpu.ts";
import { searchIn } from "../../support/search/searching.ts";
import { openFixture } from "../../support/search/segment-fixture.ts";

type Snippets = typeof DEFAULT_SEARCH.snippet;

async function snippetOf(markdown: string, query: string, change: Partial<Snippets> = {}): Promise<string> {
  await using index = await openFixture([{ url: docsUrl("site", "a"), title: "A page", markdown }]);
  const settings = { snippet: { ...DEFAULT_SEARCH.snippet, ...change } };
  return searchIn(index.segment, query, { settings })[0]?.snippet ?? "none";
}

const FILLER = "Water runs over the stones below the old wheel and on to the sea. ".repeat(8);

const ENTITY: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'" };

describe("a snippet", () => {
  test("shows the sentence with the words, with marks where text is left out", async () => {
    const snippet = await snippetOf(`${FILLER}The hinges of the gate rust. ${FILLER}`, "gate hinges");
    expect(snippet).toContain("The hinges of the gate rust.");
    expect(snippet).toStartWith("… ");
    expect(snippet).toEndWith(" …");
  });

  test("escapes and marks only in the style html", async () => {
    const markdown = 'The gate <x> & "hinges" of `a < b`.';
    expect(await snippetOf(markdown, "gate", { style: "plain" })).toBe('The gate <x> & "hinges" of a < b.');
    expect(await snippetOf(markdown, "gate", { style: "html" })).toBe(
      "The <mark>gate</mark> &lt;x&gt; &amp; &quot;hinges&quot; of a &lt; b.",
    );
  });

  test("has its code as code in the style rich, with marks inside and across it", async () => {
    const markdown =
      "Call `open <gate>` or re`gate` at the gate.\n\n```sh\ngate  --now\n```\n\nAnd `then`\n`go`.";
    expect(await snippetOf(markdown, "gate", { style: "rich" })).toBe(
      "Call <code>open &lt;<mark>gate</mark>&gt;</code> or re<code>gate</code> at the <mark>gate</mark>. " +
        "<code><mark>gate</mark> --now</code> And <code>then</code> <code>go</code>.",
    );
    expect(await snippetOf("`gate`", "gate", { style: "rich" })).toBe("<code><mark>gate</mark></code>");
    expect(await snippetOf("A gate.", "gate", { style: "rich" })).toBe("A <mark>gate</mark>.");
  });

  test("reads the rows of a table as clauses, without its lines", async () => {
    const table =
      "| Option | Meaning | Default |\n|---|---|---|\n| `--gate N` | which one: | 1 |\n| | both. | |\n";
    const shown = "Option: Meaning, Default; --gate N: which one:, 1; both.";
    expect(await snippetOf(table, "gate", { style: "plain" })).toBe(shown);
    expect(await snippetOf("| gate |\n|---|\n| |\n| a \\| b: |\n", "gate", { style: "plain" })).toBe(
      "gate; a | b:",
    );
  });

  test("is one text in every style, whatever is code in it", async () => {
    const piece = fc.constantFrom(
      "gate ",
      "`a b`",
      "``  c``",
      "\n\n",
      "    code\n",
      "```\nx\ny\n```\n",
      "*of* ",
      "\u0007 ",
      "<b>",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 12 }), async (pieces) => {
        const markdown = `gate ${pieces.join("")}`;
        const bare = (text: string) =>
          text
            .replace(/<\/?(?:mark|code)>/g, "")
            .replace(/&(lt|gt|amp|quot|#39);/g, (_, name) => ENTITY[name] ?? "");
        const [plain, html, rich] = await Promise.all(
          (["plain", "html", "rich"] as const).map((style) => snippetOf(markdown, "gate of", { style })),
        );
        expect([bare(html ?? ""), bare(rich ?? "")]).toEqual([plain ?? "", plain ?? ""]);
        // Tags are never crossed, and no code is left open.
        expect(rich?.replace(/<mark>[^<]*<\/mark>/g, "").replace(/<code>[^<]*<\/code>/g, "")).not.toMatch(
          /[<>]/,
        );
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ["the gate", "At the <mark>gate</mark> of the weir."],
    ["gate of the weir", "At the <mark>gate</mark> of the <mark>weir</mark>."],
    ["the", "At <mark>the</mark> gate of <mark>the</mark> weir."],
    ["of the", "At <mark>the</mark> gate <mark>of</mark> <mark>the</mark> weir."],
    ['gate "of the"', "At <mark>the</mark> <mark>gate</mark> <mark>of</mark> <mark>the</mark> weir."],
  ])("marks words that say nothing only where nothing else was asked for: %p", async (query, marked) => {
    expect(await snippetOf("At the gate of the weir.", query, { style: "html" })).toBe(marked);
  });

  test("contains no headings, link targets or tags", async () => {
    const markdown = "# Gate heading\n\nA [gate](https://x.example/hidden) <b>opens</b> ![a picture](p.png).";
    expect(await snippetOf(markdown, "gate")).toBe("A gate opens a picture.");
  });

  test("comes from the section that fits best", async () => {
    const markdown = `# One\n\nA gate.\n\n# Two\n\nA gate with hinges.\n\n${FILLER}`;
    expect(await snippetOf(markdown, "gate hinges")).toStartWith("A gate with hinges.");
  });

  const PARAMETERS = Array.from({ length: 16 }, (_, at) => `parameter_${at}=None`).join(", ");
  test.each([
    [
      "a code block",
      `\`\`\`python\ndef open_gate(${PARAMETERS}) -> bool:\n    pass\n\`\`\``,
      `def open_gate(${PARAMETERS}) -> bool`,
    ],
    ["a paragraph", `**open_gate**(${PARAMETERS})\n\nOpens it.`, `open_gate(${PARAMETERS})`],
    ["a definition list", `weir.open_gate(${PARAMETERS})\n: Opens it.`, `weir.open_gate(${PARAMETERS})`],
    [
      "an item of a list",
      `- \`open_gate(${PARAMETERS}): Promise<Gate>\``,
      `open_gate(${PARAMETERS}): Promise<Gate>`,
    ],
    [
      "nested brackets",
      "open_gate(a: (b: string) => void, c = (1, 2)) -> x",
      "open_gate(a: (b: string) => void, c = (1, 2)) -> x",
    ],
    ["generics", "open_gate<T>(value: T, next: () => T): T", "open_gate<T>(value: T, next: () => T): T"],
  ])("shows a definition whole, in %s", async (_, definition, shown) => {
    const markdown = `${FILLER}\n\nHere open_gate is mentioned.\n\n${FILLER}\n\n${definition}\n\n${FILLER}`;
    expect(await snippetOf(markdown, "open_gate")).toContain(shown);
    expect(await snippetOf(`${definition}\n\n${FILLER}`, "open_gate")).toContain(shown);
    expect(await snippetOf(`${FILLER}\n\n${definition}`, "open_gate")).toContain(shown);
  });

  test("cuts a definition without end, within the length of all fragments", async () => {
    for (const endless of [`open_gate(${"a, ".repeat(2000)})`, `open_gate(${"(".repeat(2000)}`]) {
      const snippet = await snippetOf(`${FILLER}\n\n${endless}`, "open_gate");
      expect(snippet).toContain("open_gate(");
      expect(snippet.length).toBeLessThanOrEqual(2 * 240 + 10);
    }
  });

  test("shows the start of the section whose heading alone matches, not another section", async () => {
    const markdown = `# Page\n\nThe hinges are old.\n\n## Gate hinges\n\nThey are greased each year. ${FILLER}\n\n## Other\n\nA gate.`;
    expect(await snippetOf(markdown, '"gate hinges"')).toStartWith("They are greased each year.");
  });

  test("shows the start when only the title matches", async () => {
    expect(await snippetOf(FILLER, "page")).toStartWith("Water runs over the stones");
  });

  test.each([
    ["fragmentChars", { fragmentChars: 80 }],
    ["maxFragments", { maxFragments: 1 }],
    ["contextChars", { contextChars: 40 }],
    ["style", { style: "html" }],
  ] as const)("changes with %s", async (_name, change) => {
    const markdown = `${FILLER}The gate rusts. ${FILLER}The hinges creak. ${FILLER}`;
    expect(await snippetOf(markdown, "gate hinges", change)).not.toBe(
      await snippetOf(markdown, "gate hinges"),
    );
  });
});

describe("the path of headings", () => {
  const MARKDOWN = `zzstart\n\n# A page\n\nzzlevel0\n\n## One\n\nzzlevel1\n\n### Two <b>&amp;</b> \`x\`\n\nzzlevel2\n\n# ${"long ".repeat(100)}\n\n## ${"own ".repeat(300)}\n\nzzlong\n`;

  test.each([
    ["zzstart", ""],
    ["zzlevel0", ""],
    ["zzlevel1", "One"],
    ["zzlevel2", "One › Two & x"],
    ["zzlong", `${"own ".repeat(100)}…`],
  ])("of the section with %p is %p", async (query, path) => {
    await using index = await openFixture([
      { url: docsUrl("site", "a"), title: "A page", markdown: MARKDOWN },
    ]);
    const [hit] = searchIn(index.segment, query);
    expect(hit && headingPath(hit)).toBe(path);
  });
});

describe("fragments", () => {
  const character = fc.constantFrom("a", "b", " ", " ", "🙂", "水", "é", "(", ")");
  const text = fc.array(character, { maxLength: 400 }).map((all) => all.join("").replace(/ +/g, " ").trim());

  test("keep their limits, do not touch each other, and cut no surrogate pair and no word", () => {
    fc.assert(
      fc.property(
        text,
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 })), { maxLength: 12 }),
        fc.record({
          fragmentChars: fc.integer({ min: 20, max: 120 }),
          maxFragments: fc.integer({ min: 1, max: 5 }),
          contextChars: fc.integer({ min: 0, max: 60 }),
        }),
        (line, chances, limits) => {
          const words = [...line.matchAll(/[a-zé]+/g)];
          const chosen = [
            ...new Set(chances.map(([place]) => (words.length > 0 ? place % words.length : -1))),
          ];
          const matches = chosen
            .filter((place) => place >= 0)
            .sort((a, b) => a - b)
            .map((place) => {
              const { index, 0: word } = words[place]!;
              return { start: index, end: index + word.length, term: place % 3, weight: 1 + (place % 2) };
            });
          const fragments = chooseFragments(line, matches, limits);
          // Long parameters take the places of several fragments.
          const places = fragments.map(({ start, end }) => Math.ceil((end - start) / limits.fragmentChars));
          expect(places.reduce((sum, count) => sum + Math.max(1, count), 0)).toBeLessThanOrEqual(
            limits.maxFragments,
          );
          fragments.forEach(({ start, end }, i) => {
            const shown = line.slice(start, end);
            expect(shown.isWellFormed()).toBe(true);
            if (!/[a-zé]\(/.test(shown)) expect(end - start).toBeLessThanOrEqual(limits.fragmentChars);
            if (i > 0) expect(start).toBeGreaterThan(fragments[i - 1]!.end);
          });
          if (matches.length > 0 && !/[^ ]{20}/.test(line)) {
            for (const { start, end } of fragments) {
              expect(start === 0 || line[start - 1] === " ").toBe(true);
              expect(end === line.length || line[end] === " ").toBe(true);
            }
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([1, 2, 3, 5])("are up to %i where the words stand apart", (count) => {
    const gap = "filler words go on here ".repeat(40);
    const words = ["alpha", "beta", "gamma", "delta", "omega"];
    const text = words.map((word) => `${gap}${word} `).join("") + gap;
    const matches = words.map((word, term) => {
      const start = text.indexOf(word);
      return { start, end: start + word.length, term, weight: 1 };
    });
    expect(
      chooseFragments(text, matches, { fragmentChars: 240, maxFragments: count, contextChars: 120 }),
    ).toHaveLength(count);
  });

  test("take time in proportion to hostile text", () => {
    for (const hostile of [
      "](".repeat(50_000),
      "<!--".repeat(50_000),
      "`".repeat(100_000),
      "&".repeat(100_000),
    ]) {
      expect(cpuMs(() => plainText(hostile))).toBeLessThan(2000);
    }
  });
});
