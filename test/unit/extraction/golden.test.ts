import { describe, expect, test } from "bun:test";
import { readGolden, renderPage } from "../../support/golden.ts";
import { holdsFormulas, RENDERERS, shapeOfHtml, shapeOfMarkdown } from "../../support/round-trip.ts";

const files = await readGolden();

test("the golden corpus holds at least 150 pages, each with a name of its own", () => {
  const names = files.flatMap(({ topic, cases }) => cases.map(({ name }) => `${topic}: ${name}`));
  expect(names.length).toBeGreaterThanOrEqual(150);
  expect(new Set(names).size).toBe(names.length);
});

for (const { topic, cases } of files) {
  describe(topic, () => {
    for (const { name, input, expected } of cases) {
      test(name, async () => {
        expect(await renderPage(input)).toEqual(expected);
      });

      test(`${name}, and its HTML is read as it was written`, async () => {
        expect(await renderPage(expected.html)).toEqual(expected);
      });

      // Markdown has no spans, so there a table differs from the HTML on purpose.
      if (/(?:col|row)span=/.test(expected.html)) continue;
      for (const [renderer, render] of Object.entries(RENDERERS)) {
        test(`${name}, and ${renderer} shows its Markdown as that`, () => {
          expect(shapeOfMarkdown(expected.markdown, render, holdsFormulas(expected.html))).toEqual(
            shapeOfHtml(expected.html),
          );
        });
      }
    }
  });
}

describe("leaving out", () => {
  const without = (html: string): string =>
    html
      .replace(/<img [^>]*>/g, "")
      .replace(/<a [^>]*><\/a>|<p><\/p>/g, "")
      .replace(/\s+/g, "");

  test("images changes nothing else on any page", async () => {
    for (const { input, expected } of files.flatMap(({ cases }) => cases)) {
      const bare = await renderPage(input, { includeImages: false });
      expect(bare.text).toBe(expected.text);
      expect(bare.html.replace(/\s+/g, "")).toBe(
        without(without(expected.html)).replace(/<figure><\/figure>/g, ""),
      );
      if (!expected.html.includes("<img")) expect(bare).toEqual(expected);
    }
  });

  test("code changes nothing else on any page", async () => {
    for (const { input, expected } of files.flatMap(({ cases }) => cases)) {
      const bare = await renderPage(input, { includeCode: false });
      const isBlock = /<pre(?: data-label="[^"]*")?><code(?! class="language-math)[^>]*>.*?<\/code><\/pre>/gs;
      const rest = expected.html.replace(isBlock, "").replace(/<blockquote><\/blockquote>/g, "");
      expect(bare.html.replaceAll("<p>", "").replaceAll("</p>", "")).toBe(
        rest.replaceAll("<p>", "").replaceAll("</p>", ""),
      );
      if (rest === expected.html) expect(bare).toEqual(expected);
    }
  });
});
