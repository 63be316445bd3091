import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createExtractor, withSmallPagesHere } from "../../../src/extraction/index.ts";
import { EXTRACTION_LIMITS } from "../../../src/settings/index.ts";
import { articleOf, extract, OPTIONS, PAGE_URL, PROSE, pageUrl } from "../../support/extraction.ts";
import { framed } from "../../support/framed.ts";
import { dangersIn } from "../../support/hostile.ts";
import { RENDERERS } from "../../support/round-trip.ts";

const CLASSIC = { engine: "readability" } as const;

describe("the engine readability", () => {
  test("says so when a page is too large for it", async () => {
    const tags = `<p>${PROSE}</p>${"<i>tide</i> ".repeat(130_000)}`;
    await expect(extract(tags, CLASSIC)).rejects.toMatchObject({
      code: "too_complex",
      message: "the page has too many elements for the engine readability, which takes 120 000",
    });
    const deep = `<p>${PROSE}</p>${"<div>".repeat(3000)}`;
    await expect(extract(deep, CLASSIC)).rejects.toMatchObject({ code: "too_large" });
  });

  test("runs where a page has a time limit, even a small page", async () => {
    const page = `${'<div class="highlight">'.repeat(1500)}<p>${PROSE.repeat(450)}</p>`;
    expect(page.length).toBeLessThan(300_000);
    await using pool = createExtractor({
      ...EXTRACTION_LIMITS,
      workers: 1,
      workerUrl: new URL("../../../bin/extraction-worker.ts", import.meta.url),
      timeLimitMs: 50,
    });
    const extractor = withSmallPagesHere(pool, 300_000);
    const task = {
      kind: "html",
      body: page,
      url: pageUrl(PAGE_URL),
      options: { ...OPTIONS, ...CLASSIC },
    } as const;
    await expect(extractor.extract(task)).rejects.toMatchObject({ code: "too_complex" });
  });

  test("writes Markdown that shows the page's text as text", async () => {
    const piece = fc.constantFrom(
      "<b>x</b>",
      "&lt;script&gt;",
      "`",
      "```",
      "[",
      "](",
      ")",
      '"',
      "&amp;lt;",
      "<br>",
      "\\",
      "!",
      "<img src=x onerror=y>",
      "&lt;img src=x onerror=y&gt;",
      "a b",
      "\n\n",
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
    const attribute = text.map((value) => value.replaceAll('"', "&quot;"));
    const inner = fc.oneof(
      text.map((html) => `<p>${html}</p>`),
      text.map((html) => `<pre><code>${html}</code></pre>`),
      text.map((html) => `<ul><li>${html}<pre>${html}</pre></li></ul>`),
      text.map((html) => `<table><tr><th>a</th><td>${html}</td><td><code>${html}</code></td></tr></table>`),
      fc
        .tuple(attribute, attribute, text)
        .map(([href, title, html]) => `<p><a href="${href}" title="${title}"><code>${html}</code></a></p>`),
      fc
        .tuple(attribute, attribute, attribute)
        .map(([src, alt, title]) => `<p>w <img src="${src}" alt="${alt}" title="${title}"></p>`),
    );
    await fc.assert(
      fc.asyncProperty(inner, fc.constantFrom(PAGE_URL, null), async (html, url) => {
        const { markdown } = await articleOf(framed(html), { ...CLASSIC, select: "article", url });
        for (const render of Object.values(RENDERERS)) expect(dangersIn(render(markdown ?? ""))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
