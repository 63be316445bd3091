import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Page, pageText } from "../../../src/pages/index.ts";
import { formatPage, parsePage } from "../../../src/pages/page.ts";
import { type PageUrl, parsePageUrl } from "../../../src/urls/index.ts";

const address = parsePageUrl("https://h.test/a") as PageUrl; // a literal that is a URL
const page = (fields: Partial<Page> = {}): Page => ({
  url: address,
  title: "A page",
  extractedAt: "2026-11-05T09:30:00.000Z",
  wordCount: 3,
  markdown: "Some body text.",
  ...fields,
});
const reread = (fields: Partial<Page>): Page | null => parsePage(formatPage(page(fields)));
const headingOf = (title: string): string | undefined => formatPage(page({ title })).split("\n")[7];

describe("formatPage", () => {
  test("keeps the language and the date of a page that has them", () => {
    for (const known of [
      {},
      { language: "ja" },
      { date: "2024-02-29" },
      { language: "pt-BR", date: "2024-02-29T10:00:00Z" },
    ])
      expect(reread(known)).toEqual(page(known));
    expect(reread({ language: `${"x".repeat(99)}` })?.language).toHaveLength(64);
  });

  test("writes front matter, the title as heading, and the body", () => {
    expect(formatPage(page())).toBe(
      [
        "---",
        'url: "https://h.test/a"',
        'title: "A page"',
        "extracted_at: 2026-11-05T09:30:00.000Z",
        "word_count: 3",
        "---",
        "",
        "# A page",
        "",
        "Some body text.",
        "",
      ].join("\n"),
    );
  });

  test("puts front matter before the text that pageText gives", () => {
    expect(pageText(page()).text).toBe("# A page\n\nSome body text.\n");
    fc.assert(
      fc.property(fc.string(), fc.string(), (title, markdown) => {
        const { text } = pageText({ title, markdown });
        expect(formatPage(page({ title, markdown }))).toEndWith(text === "" ? "---\n" : `---\n\n${text}`);
      }),
    );
  });

  test("writes no heading for a page without a title", () => {
    expect(formatPage(page({ title: " \n" }))).toEndWith("---\n\nSome body text.\n");
  });

  test("ends after the heading when there is no body", () => {
    expect(formatPage(page({ markdown: "" }))).toEndWith("---\n\n# A page\n");
  });

  test.each([
    ["# A page\n\nBody."],
    ["\n\n## A page ##\n\nBody."],
    ["A page\n======\n\nBody."],
    ["# A page\r\n\r\nBody."],
    ["# **A** `page`\n\nBody."],
    ["# [A page](https://h.test/a)\n\nBody."],
    ["# A page\n\n# A page\n\nBody."],
  ])("does not repeat the title for the body %j", (markdown) => {
    expect(formatPage(page({ markdown }))).toEndWith("---\n\n# A page\n\nBody.\n");
  });

  test.each([
    ["# Another page\n\nBody."],
    ["# A page of more\n\nBody."],
    ["#A page\n\nBody."],
    ["    # A page\n\nBody."],
    ["Body.\n\n# A page"],
    ["A page\n\nBody."],
  ])("keeps the body %j as it is", (markdown) => {
    expect(formatPage(page({ markdown }))).toEndWith(`---\n\n# A page\n\n${markdown}\n`);
  });

  test.each([
    ["C# in a nutshell", "# C# in a nutshell"],
    ["snake_case and 2 * 3", "# snake_case and 2 * 3"],
    ["Q&A: <5 minutes", "# Q&A: <5 minutes"],
    ["*args", "# \\*args"],
    ["_private_", "# \\_private\\_"],
    ["The `code` word", "# The \\`code\\` word"],
    ["<Suspense>", "# \\<Suspense>"],
    ["&lt; &amp; &#39;", "# \\&lt; \\&amp; \\&#39;"],
    ["[a](b)", "# [a]\\(b)"],
    ["ends in #", "# ends in \\#"],
    ["---", "# ---"],
    ["a\\*b", "# a\\\\\\*b"],
  ])("writes the title %j as the heading %j", (title, heading) => {
    expect(headingOf(title)).toBe(heading);
  });

  test("makes one well-formed line of a title", () => {
    expect(reread({ title: "  a\r\nb\t\u2028c\u0000\ud800 " })?.title).toBe("a b c\ufffd");
  });

  test("cuts a title of megabytes at 2000 characters, not within one", () => {
    expect(reread({ title: "x".repeat(3_000_000) })?.title).toBe("x".repeat(2000));
    expect(reread({ title: `x${"🙂".repeat(2000)}` })?.title).toBe(`x${"🙂".repeat(999)}`);
  });

  test.each([
    [{ extractedAt: "yesterday" }, "extractedAt is not a UTC timestamp"],
    [{ extractedAt: "2026-11-05T09:30:00+01:00" }, "extractedAt is not a UTC timestamp"],
    [{ extractedAt: "2026-13-05T09:30:00Z" }, "extractedAt is not a UTC timestamp"],
    [{ extractedAt: "2026-11-05T09:30:00Z\nurl: x" }, "extractedAt is not a UTC timestamp"],
    [{ wordCount: 1.5 }, "wordCount is not a count"],
    [{ wordCount: -1 }, "wordCount is not a count"],
    [{ wordCount: Number.NaN }, "wordCount is not a count"],
  ])("refuses %j, which could not be read back", (fields, message) => {
    expect(() => formatPage(page(fields))).toThrow(message);
  });

  test("handles a hostile title and heading at once", () => {
    for (const part of ["[", "](", "[](", "#", " #", "\\", "*", "_ ", "&", "<a"]) {
      const text = part.repeat(100_000);
      expect(reread({ title: text, markdown: `# ${text}\n\nBody.` })).not.toBeNull();
      expect(reread({ title: text, markdown: `# ${text.slice(0, 15_000)}\n\nBody.` })).not.toBeNull();
    }
  }, 5000);
});

describe("parsePage", () => {
  test("is the inverse of formatPage", () => {
    fc.assert(
      fc.property(anyPage, (original) => {
        expect(parsePage(formatPage(original))).toEqual(original);
      }),
      { numRuns: 2000 },
    );
  });

  test("reads back any title and body as formatPage normalises them", () => {
    fc.assert(
      fc.property(anyText, anyText, (title, markdown) => {
        const once = reread({ title, markdown });
        expect(once).not.toBeNull();
        expect(once && reread(once)).toEqual(once);
      }),
      { numRuns: 2000 },
    );
  });

  test("never throws, whatever the text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        parsePage(text);
        parsePage(`---\n${text}\n---\n`);
      }),
      { numRuns: 2000 },
    );
  });

  test("tolerates Windows line ends, further fields and a missing heading", () => {
    expect(parsePage(formatPage(page()).replaceAll("\n", "\r\n"))).toEqual(page());
    const edited = formatPage(page())
      .replace("---\n\n# A page\n", "tags: [a, b]\n---\n")
      .replace('"A page"', "A page");
    expect(parsePage(edited)).toEqual(page());
  });

  test.each([
    ["no front matter", "# A page\n\nBody."],
    ["no url", formatPage(page()).replace(/url: .*\n/, "")],
    ["a url that is none", formatPage(page()).replace("https:", "javascript:")],
    ["no title", formatPage(page()).replace(/title: .*\n/, "")],
    ["a title that is a number", formatPage(page()).replace('"A page"', "12")],
    ["a local time", formatPage(page()).replace("Z\n", "\n")],
    ["a word count in words", formatPage(page()).replace("word_count: 3", "word_count: three")],
    ["an empty text", ""],
  ])("is null for a text with %s", (_, text) => {
    expect(parsePage(text)).toBeNull();
  });
});

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        "---",
        "\n",
        "\r\n",
        "# ",
        "a",
        " ",
        ":",
        '"',
        "'",
        "\\",
        "\ud800",
        "\u0085",
        "*",
        "=",
        "🙂",
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join("")),
);

// These pages keep the type's promises: the title is one line, and the body does not repeat it.
const anyPage: fc.Arbitrary<Page> = fc.record({
  url: fc
    .oneof(fc.webUrl({ withQueryParameters: true }), fc.constant("docs://handbook/a%20b/c.md"))
    .map((text) => parsePageUrl(text) ?? address),
  title: fc
    .oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("---", "no", "12", "- x", "a: b # c", '"', "'", "!x"),
    )
    .map((title) => title.replace(/[\s\p{Cc}]+/gu, " ").trim()),
  extractedAt: fc
    .date({ min: new Date(0), max: new Date("2999-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  wordCount: fc.nat(),
  markdown: anyText.map((text) => `Body ${text.toWellFormed()}`),
});

describe("the anchors of a page", () => {
  const markdown = "First.\n\n## One\n\nText.\n\n## Two\n";
  const anchors = [
    { id: "top", start: -1 },
    { id: "one", start: 8 },
    { id: "zwei:2", start: 24 },
  ];

  test("are kept in the front matter by their places in the text", () => {
    expect(formatPage(page({ markdown, anchors }))).toContain('anchors: "41 0:top 18:one 34:zwei:2"\n');
    expect(reread({ markdown, anchors })).toEqual(page({ markdown, anchors }));
    expect(reread({ markdown, anchors, title: "" })?.anchors?.slice(1)).toEqual(anchors.slice(1));
  });

  test("move with a heading that repeats the title", () => {
    const repeated = { markdown: `# A page\n\n${markdown}`, anchors: [{ id: "one", start: 18 }] };
    expect(reread(repeated)?.anchors).toEqual([{ id: "one", start: 8 }]);
  });

  test("are forgotten when somebody has edited the text", () => {
    const edited = formatPage(page({ markdown, anchors })).replace("First.", "The first.");
    expect(parsePage(edited)).not.toHaveProperty("anchors");
    for (const other of ["anchors: 3", "anchors: [a]", 'anchors: "41 x"', 'anchors: "41 1:"'])
      expect(parsePage(edited.replace(/anchors: .*/, other))).not.toHaveProperty("anchors");
  });

  test("are as many as the front matter has room for, those of headings first", () => {
    const many = Array.from({ length: 5000 }, (_, at) => ({ id: `id-${at}`, start: at < 4999 ? at % 2 : 8 }));
    const kept = reread({ markdown, anchors: many })?.anchors ?? [];
    expect(kept.length).toBeGreaterThan(500);
    expect(kept.at(-1)).toEqual(many.at(-1)!);
    expect(many.slice(0, kept.length - 1)).toEqual(kept.slice(0, -1));
  });

  const anyId = fc
    .oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 200 }),
      fc.constantFrom(
        "--> --- \n",
        "---",
        "a b",
        '"',
        "'",
        "%41",
        "%",
        "%E4%BD%A0",
        "\u2028",
        "a\u00a0b",
        "- x: &y *z",
        "1:2",
      ),
    )
    .map((id) => id.toWellFormed());

  test("come back whatever their ids are, and stand in one line of the front matter", () => {
    fc.assert(
      fc.property(fc.array(anyId, { minLength: 1, maxLength: 20 }), (ids) => {
        const given = ids.map((id, at) => ({ id, start: at % 30 }));
        const text = formatPage(page({ markdown, anchors: given }));
        expect(text.split("\n").filter((line) => line.startsWith("anchors: "))).toHaveLength(1);
        expect(text.slice(text.indexOf("\n---\n"))).toBe(`\n---\n\n# A page\n\n${markdown}\n`);
        expect(parsePage(text)).toEqual(page({ markdown, anchors: given }));
      }),
    );
  });
});
