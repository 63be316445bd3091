import { describe, expect, test } from "bun:test";
import { buildPageTree } from "../../../../src/extraction/classification/page-tree.ts";
import { scanPage } from "../../../../src/extraction/page/scan.ts";
import { selectJudged } from "../../../../src/extraction/selection/selection.ts";
import { PAGE_TYPES } from "../../../../src/extraction/types.ts";
import { articleOf, PROSE } from "../../../support/extraction.ts";

const PURPOSE = "Store and/or access information on a device. Vendors can use this purpose.";

function candidatesOf(html: string): string[] {
  const tree = buildPageTree(scanPage(html).model);
  return Array.from(tree.candidates, (block) => tree.model.blocks.text[block] ?? "");
}

describe("what may be content", () => {
  const purposes = [
    PURPOSE,
    "A website may store or retrieve information on your browser, mostly as cookies.",
  ];
  test.each(purposes)("is nothing that a dialog for consent says: %s", (purpose) => {
    const dialog = `<div class="consent-root"><div><h2>Your privacy</h2><p>${purpose}</p></div><p>Accept</p></div>`;
    expect(candidatesOf(`<body><main><p>${PROSE}</p></main>${dialog}</body>`)).toEqual([PROSE.trim()]);
  });

  test("is what other dialogs say", () => {
    const dialog = "<div class=modal><p>Our cookies are baked twice.</p></div>";
    expect(candidatesOf(`<body><p>Open</p>${dialog}</body>`)).toContain("Our cookies are baked twice.");
  });

  test("is an article about consent, whatever stands around it", () => {
    const article = `<article><h1>Consent</h1><p>${PURPOSE}</p></article>`;
    const html = `<body><div class="cookie-policy">${article}</div></body>`;
    expect(candidatesOf(html)).toEqual(["Consent", PURPOSE]);
  });
});

describe("a repeated text", () => {
  const line = "Returns the value that was set before, or nothing.";
  const html = `<body><div><p>${line}</p></div><div><p>${line}</p></div></body>`;
  const kept = (type: (typeof PAGE_TYPES)[number]): number => {
    const tree = buildPageTree(scanPage(html).model);
    const typeP = Float32Array.from(PAGE_TYPES, (name) => (name === type ? 1 : 0));
    return selectJudged(tree, { p: new Float32Array([0.9, 0.9]), typeP, favor: "balanced" }).judged.length;
  };

  test("is kept once", () => {
    expect(kept("product")).toBe(1);
  });

  test("is kept each time in documentation", () => {
    expect(kept("documentation")).toBe(2);
  });
});

describe("words that only a style sets apart", () => {
  test("are apart in every rendering", async () => {
    const html = `<main><h1>The mill</h1><p>${PROSE}</p><p><span>New York</span><span>London</span> <a href="/a">One Way</a><a href="/b">Two Ways</a></p></main>`;
    const { text, content, markdown } = await articleOf(html, { url: "https://example.org/" });
    expect(text).toContain("New York London One Way Two Ways");
    expect(content).toContain("York London");
    expect(markdown).toContain(
      "York London [One Way](https://example.org/a) [Two Ways](https://example.org/b)",
    );
  });
});
