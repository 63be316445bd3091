import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { renderPage } from "../../support/golden.ts";
import { holdsFormulas, RENDERERS, shapeOfHtml, shapeOfMarkdown } from "../../support/round-trip.ts";

const PIECES = [
  ..."[]]([:!^x",
  "(b)",
  "[x]",
  " word ",
  "<em>[</em>",
  "<strong>a]</strong>",
  "<em>[a](b</em>",
  "<code>]</code>",
  '<a href="/u">link</a>',
  '<a href="/u">l[i]n</a>',
  "\\",
  "<br>",
  "<ruby>漢]<rt>k</rt></ruby>",
];

describe("brackets in text", () => {
  test("are shown as they are, whatever stands around them", async () => {
    const phrases = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(phrases, async (pieces) => {
        const { markdown, html } = await renderPage(`<p>w ${pieces.join("")} w</p>`);
        for (const render of Object.values(RENDERERS)) {
          // Backslashes before brackets may make a formula of what is between.
          expect(shapeOfMarkdown(markdown, render, holdsFormulas(html))).toEqual(shapeOfHtml(html));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("are escaped in pairs", async () => {
    const plain = fc.array(fc.constantFrom(..."[]]([:x", "(b)", "<em>[</em>", "<em>x]</em>"), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(plain, async (pieces) => {
        const { markdown } = await renderPage(`<p>w ${pieces.join("")} w</p>`);
        expect(markdown.split("\\[").length).toBe(markdown.split("\\]").length);
      }),
      { numRuns: 300 },
    );
  });

  test("are left alone where they mean nothing", async () => {
    const { markdown } = await renderPage("<p>det[<em>random</em>](…) and B](y), a[0], [b] c</p>");
    expect(markdown).toBe("det\\[*random*\\](…) and B](y), a[0], [b] c");
  });
});
