import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  BLOCK_FEATURES,
  computeBlockFeatures,
} from "../../../../src/extraction/classification/block-features.ts";
import { CHOICE_FEATURES } from "../../../../src/extraction/classification/choose.ts";
import {
  CONTEXT_FEATURES,
  PAGE_FEATURES,
} from "../../../../src/extraction/classification/context-features.ts";
import { buildPageTree } from "../../../../src/extraction/classification/page-tree.ts";
import {
  each,
  type Features,
  features,
  given,
  joined,
  ofPart,
  rowsOf,
} from "../../../../src/extraction/classification/trees.ts";
import { BYLINE_FEATURES } from "../../../../src/extraction/metadata/byline.ts";
import { DATE_FEATURES } from "../../../../src/extraction/metadata/date.ts";
import { TITLE_FEATURES } from "../../../../src/extraction/metadata/title.ts";
import { scanPage } from "../../../../src/extraction/page/scan.ts";
import trained from "./trained-features.json";

describe("the features", () => {
  test("are those that the trees were trained with, in their order", () => {
    const computed = {
      BLOCK_FEATURES,
      CONTEXT_FEATURES,
      PAGE_FEATURES,
      CHOICE_FEATURES,
      TITLE_FEATURES,
      DATE_FEATURES,
      BYLINE_FEATURES,
    };
    expect(Object.fromEntries(Object.entries(computed).map(([name, list]) => [name, [...list]]))).toEqual(
      trained,
    );
  });

  test("are each there once", () => {
    for (const names of Object.values(trained)) expect(new Set(names).size).toBe(names.length);
  });

  test("of a block stand in the columns of their names", () => {
    const words = "One two three four five six seven";
    const { model, facts } = scanPage(
      `<main class="post"><h1>Gates</h1><p>${words}.</p><p><a href="/x">${words}</a></p></main>`,
    );
    const tree = buildPageTree(model);
    const rows = computeBlockFeatures(tree, facts);
    const at = (block: number, name: string): number | undefined =>
      rows[block * BLOCK_FEATURES.length + BLOCK_FEATURES.indexOf(name)];
    expect([0, 1, 2].map((block) => at(block, "words"))).toEqual([1, 7, 7]);
    expect([0, 1, 2].map((block) => at(block, "headingLevel"))).toEqual([1, 0, 0]);
    expect([0, 1, 2].map((block) => at(block, "linkDensity"))).toEqual([0, 0, 1]);
    expect([0, 1, 2].map((block) => at(block, "endsSentence"))).toEqual([0, 1, 0]);
    expect([0, 1, 2].map((block) => at(block, "neighbour-1.words"))).toEqual([-1, 1, 7]);
    expect([0, 1, 2].map((block) => at(block, "neighbour2.linkDensity"))).toEqual([1, -1, -1]);
    expect([0, 1, 2].map((block) => at(block, "above1.words"))).toEqual([15, 15, 15]);
    expect([0, 1, 2].map((block) => at(block, "above4.words"))).toEqual([-1, -1, -1]);
    expect([0, 1, 2].map((block) => at(block, "sinceHeadingBlocks"))).toEqual([-1, 1, 2]);
  });
});

describe("a list of features", () => {
  type Subject = { readonly x: number; readonly part: { readonly y: number } | null };
  const list: Features<Subject> = joined(
    features({ x: ({ x }) => x, square: ({ x }) => x * x }),
    each([2, 3], "times", ({ x }, factor) => x * factor),
    ofPart(({ part }) => part, -1, features<{ readonly y: number }>({ y: ({ y }) => y })),
    given(["a", "b"], ({ x }) => [x + 1, x + 2]),
  );

  test("names its columns and fills them, one row a subject", () => {
    expect(list.names).toEqual(["x", "square", "times2", "times3", "y", "a", "b"]);
    const subject = fc.record({
      x: fc.integer({ min: -99, max: 99 }),
      y: fc.option(fc.integer({ min: 0, max: 9 })),
    });
    fc.assert(
      fc.property(fc.array(subject, { maxLength: 5 }), (all) => {
        const rows = rowsOf(
          list,
          all.map(({ x, y }) => ({ x, part: y === null ? null : { y } })),
        );
        expect([...rows]).toEqual(all.flatMap(({ x, y }) => [x, x * x, 2 * x, 3 * x, y ?? -1, x + 1, x + 2]));
      }),
    );
  });
});
