import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const SENTENCES = [
  "The ferry at the lower ford carried its last cart on Sunday, after a hundred and twelve years of service.",
  "Its keeper, who took over the rope from her father, says that the new bridge left her nothing to do but watch.",
  "The council has promised to keep the landing as it is, with the bell that travellers rang from the far bank.",
  "Whether the boat itself will stay is another question, since nobody knows who would pay for its timber.",
  "For now it lies on trestles behind the mill, covered with a sail that a miller lent for the winter.",
];
const STORIES = ["Market moves to the quay", "A mild winter for the vines", "Mill wheel turns again"];
const RESULTS = `<table><tr><td>Year</td><td>Carts</td></tr><tr><td>1998</td><td>6112</td></tr><tr><td>2008</td><td>41</td></tr></table>`;

const textIn = (tag: string): string => SENTENCES.map((sentence) => `<${tag}>${sentence}</${tag}>`).join("");
const stories = STORIES.map((story) => `<tr><td><a href="/${story.length}">${story}</a></td></tr>`).join("");

/** Pages whose tables are their layout: the article in one cell, and frames in cells beside, above and below it. */
const LAYOUTS: Readonly<Record<string, (article: string) => string>> = {
  "cells beside each other": (article) =>
    `<table><tr><td>${article}</td><td><table><tr><td>Other news</td></tr>${stories}</table></td></tr></table>`,
  "one column": (article) =>
    `<table><tr><td>Print this page | Send to a friend</td></tr><tr><td>${article}</td></tr><tr><td>Other news</td></tr>${stories}</table>`,
  "cells within cells": (article) =>
    `<table><tr><td><table><tr><td><a href="/">Home</a></td><td><a href="/news">News</a></td></tr></table>
    <table><tr><td>Print this page</td></tr><tr><td>Other news</td></tr></table><table><tr><td><table><tr><td>${article}</td></tr><tr><td>Send to a friend</td></tr></table></td></tr>${stories}</table></td></tr></table>`,
};

describe("a table that lays out the page is neither a table of the article nor its author's text:", () => {
  for (const [layout, inLayout] of Object.entries(LAYOUTS))
    for (const [name, tag] of [
      ["paragraphs", "p"],
      ["boxes", "div"],
    ] as const)
      test(`${layout}, ${name}`, async () => {
        const body = inLayout(`<h2>The last ferry</h2>${textIn(tag)}${RESULTS}`);
        const { article } = await extract(
          `<!doctype html><html lang="en"><head><title>The last ferry</title></head><body>${body}</body></html>`,
        );
        const text = article?.text ?? "";
        expect(SENTENCES.filter((sentence) => !text.includes(sentence))).toEqual([]);
        expect(["1998", "6112", "2008"].filter((cell) => !text.includes(cell))).toEqual([]);
        const frames = ["Print this page", "Send to a friend", "Other news", ...STORIES];
        expect(frames.filter((frame) => text.includes(frame))).toEqual([]);
      });
});
