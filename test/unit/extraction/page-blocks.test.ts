import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseHTML } from "linkedom";
import { BLOCK_REASONS } from "../../../src/extraction/index.ts";
import type { Favor } from "../../../src/extraction/types.ts";
import { articleOf, type PageCase, PROSE } from "../../support/extraction.ts";

const blocksOf = async (html: string, page: PageCase = {}) =>
  (await articleOf(html, { renderings: ["blocks"], ...page })).blocks;

const MENU = `<nav class="menu"><ul>${["Home", "News", "Sport", "Contact us"].map((name) => `<li><a href="/${name}">${name}</a></li>`).join("")}</ul></nav>`;
const FOOTER = `<footer id="foot"><p><a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></p></footer>`;

/** A page of a site: a menu, an article of so much prose with `inner` in it, and a footer. */
const sitePage = (inner = ""): string =>
  `<!doctype html><html lang="en"><head><title>The mill</title></head><body>${MENU}<main><article class="post"><h1>The mill</h1><p>${PROSE}</p><p>It has stood here since the flood. ${PROSE}</p>${inner}<p>The wheel is made of oak. ${PROSE}</p></article></main>${FOOTER}</body></html>`;

describe("the blocks of a page", () => {
  test("say of each run of text whether it is kept, where it stands and why", async () => {
    const blocks = (await blocksOf(sitePage())) ?? [];
    const seen = blocks.map(({ text, landmark, isKept, reason }) => [
      text.slice(0, 12),
      landmark,
      isKept,
      reason,
    ]);
    expect(seen).toEqual([
      ["Home", "nav", false, "unlikely"],
      ["News", "nav", false, "unlikely"],
      ["Sport", "nav", false, "unlikely"],
      ["Contact us", "nav", false, "unlikely"],
      ["The mill", "article", true, "title"],
      ["The mill at ", "article", true, "likely"],
      ["It has stood", "article", true, "likely"],
      ["The wheel is", "article", true, "likely"],
      ["Imprint Priv", "footer", false, "unlikely"],
    ]);
    expect(
      blocks.every(({ probability }) => probability !== null && probability >= 0 && probability <= 1),
    ).toBe(true);
    expect(blocks.map(({ tag }) => tag)).toEqual(["li", "li", "li", "li", "h1", "p", "p", "p", "p"]);
  });

  test("name the step that decided last, if one did", async () => {
    const stepOf = (blocks: Awaited<ReturnType<typeof blocksOf>>, start: string) =>
      blocks?.find(({ text }) => text.startsWith(start))?.step;
    const copy = `<div class="card"><p>The miller of the year comes from a small village by the sea.</p></div>`;
    const blocks = await blocksOf(sitePage(copy.repeat(3)));
    expect([stepOf(blocks, "Home"), stepOf(blocks, "The mill"), stepOf(blocks, "It has")]).toEqual([
      null,
      "title",
      "likely",
    ]);
    expect(blocks?.filter(({ reason }) => reason === "repeated").map(({ step }) => step)).toContain(
      "repeats",
    );
  });

  test("have selectors that match their elements, whatever the page names them", async () => {
    const names = ["plain", "a b", "1st", 'q"uote', "md:flex", "ünï", "x".repeat(500), "--dash"];
    const page = sitePage(
      names
        .map((name) => `<p class="${name.replace('"', "&quot;")}">On ${name.length}. ${PROSE}</p>`)
        .join(""),
    );
    const { document } = parseHTML(page);
    for (const { selector, text } of (await blocksOf(page)) ?? []) {
      const matched = [...document.querySelectorAll(selector)].map(
        (one) => one.textContent?.replace(/\s+/g, " ").trim() ?? "",
      );
      expect(matched.some((one) => one.startsWith(text.slice(0, 20).trim()))).toBe(true);
    }
  });

  test("change nothing else, and are null unless they are asked for", async () => {
    const { blocks, ...asked } = await articleOf(sitePage(), { renderings: ["markdown", "blocks"] });
    const { blocks: none, ...plain } = await articleOf(sitePage(), { renderings: ["markdown"] });
    expect(asked).toEqual(plain);
    expect([blocks === null, none]).toEqual([false, null]);
  });

  test("are null where nothing is chosen", async () => {
    expect(await blocksOf(sitePage(), { select: "main" })).toBeNull();
    expect(await blocksOf(sitePage(), { engine: "readability" })).toBeNull();
    expect(await blocksOf("# The mill\n\nIt turns.", { kind: "markdown" })).toBeNull();
    expect(await blocksOf("The mill turns.", { kind: "plain" })).toBeNull();
  });

  test("are all kept of a page that has nothing around its content, and of one word", async () => {
    expect(await blocksOf("<p>word</p>")).toMatchObject([
      { text: "word", isKept: true, reason: "whole", probability: null },
    ]);
    expect((await blocksOf(`<h2>On mills</h2><p>${PROSE}</p>`))?.every(({ isKept }) => isKept)).toBe(true);
  });

  test("name what an option, a consent dialog and a copy leave out", async () => {
    const code = sitePage("<pre><code>const mill = wheel(7);\nturn(mill);</code></pre>");
    const outOf = async (page: string, options: PageCase = {}) =>
      (await blocksOf(page, options))?.filter(({ isKept }) => !isKept).map(({ reason }) => reason);
    expect(await outOf(code, { includeCode: false })).toContain("option");
    expect(await outOf(code)).not.toContain("option");
    const dialog = `<div class="cookie-consent"><p>We store and access information on a device, such as cookies, for advertising.</p></div>`;
    expect(await outOf(sitePage().replace("<main>", `${dialog}<main>`))).toContain("consent");
    const copy = `<div class="card"><p>The miller of the year comes from a small village by the sea.</p></div>`;
    expect(await outOf(sitePage(copy.repeat(3)))).toContain("repeated");
  });

  test("give only the beginning of a long text, and the first ten thousand of more", async () => {
    const page = sitePage(`<ul>${"<li>word</li>".repeat(12_000)}</ul>`);
    const { blocks, warnings } = await articleOf(page, { renderings: ["blocks"] });
    expect(blocks).toHaveLength(10_000);
    expect(warnings).toContain("blocks: the first 10000 of 12009 are listed");
    const [longest = 0] = (blocks ?? []).map(({ text }) => text.length).sort((a, b) => b - a);
    expect(longest).toBe(300);
  });
});

/** Parts of a page of which some are content and some are not, and some are hard to tell. */
const PART = fc.constantFrom(
  `<p>${PROSE}</p>`,
  "<p>A short line.</p>",
  "<h2>On wheels</h2>",
  "<ul><li>Oak</li><li>Elm, which is softer</li></ul>",
  "<table><tr><td>Oak</td><td>700 kg</td></tr></table>",
  "<pre>turn(wheel)</pre>",
  `<aside class="related"><h3>Read more</h3><ul><li><a href="/a">The flood of the century</a></li><li><a href="/b">A new wheel</a></li></ul></aside>`,
  `<div class="share"><a href="/s">Share</a> <a href="/t">Send by mail</a></div>`,
  `<div class="comment"><p>I have been there last year, it was closed.</p></div>`,
  "<p>–</p>",
);

describe("the blocks of any page", () => {
  const PAGE = fc.array(PART, { maxLength: 12 }).map((parts) => sitePage(parts.join("")));

  test("that are kept are in the text, in its order, and have a reason", async () => {
    await fc.assert(
      fc.asyncProperty(PAGE, async (page) => {
        const { blocks, text } = await articleOf(page, { renderings: ["blocks"] });
        const flat = (written: string): string => written.replace(/\s+/g, "");
        let rest = flat(text);
        for (const block of blocks ?? []) {
          expect(BLOCK_REASONS).toContain(block.reason);
          if (!block.isKept || block.reason === "title") continue;
          const at = rest.indexOf(flat(block.text));
          expect(at).toBeGreaterThanOrEqual(0);
          rest = rest.slice(at + flat(block.text).length);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("are unsure where another favour decides otherwise", async () => {
    await fc.assert(
      fc.asyncProperty(PAGE, async (page) => {
        const favors: readonly Favor[] = ["precision", "balanced", "recall"];
        const all = await Promise.all(favors.map((favor) => blocksOf(page, { favor })));
        for (const [index, block] of (all[1] ?? []).entries()) {
          const same = all.map((blocks) => blocks?.[index]);
          expect(new Set(same.map((one) => one?.isUnsure)).size).toBe(1);
          const outcomes = new Set(same.map((one) => one?.isKept));
          // What belongs to kept blocks comes after the choice.
          if (outcomes.size > 1)
            expect(block.isUnsure || same.some((one) => one?.reason === "context")).toBe(true);
        }
      }),
      { numRuns: 30 },
    );
  });
});
