import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  computeWordSums,
  decodeWordWeights,
  headingLevel,
  WORD_SUM_COUNT,
  weightOf,
  wordsOfBlock,
} from "../../../../src/extraction/classification/block-features.ts";
import { buildPageTree } from "../../../../src/extraction/classification/page-tree.ts";
import { WORD_WEIGHTS } from "../../../../src/extraction/classification/word-weights.ts";
import { scanPage } from "../../../../src/extraction/page/scan.ts";

const weights = decodeWordWeights(WORD_WEIGHTS);
const sumsOf = (html: string): Float32Array[] => {
  const tree = buildPageTree(scanPage(html).model);
  const rows = computeWordSums(tree, weights);
  return Array.from(tree.candidates, (_, index) =>
    rows.subarray(index * WORD_SUM_COUNT, (index + 1) * WORD_SUM_COUNT),
  );
};

describe("the sums of words", () => {
  const name = fc.constantFrom("", "post-body", "navBar", "HTMLBody main", "x1 sidebar", "a", "Größe-menü");
  const part = fc.tuple(
    fc.constantFrom("p", "div", "h2", "section"),
    name,
    name,
    fc.string({ maxLength: 30 }),
  );
  const html = fc.array(part, { maxLength: 12 }).map((parts) => {
    const inner = parts.map(
      ([tag, kind, id, text]) =>
        `<${tag} class="${kind}" id="${id}"><b class="${id}">${text.replace(/[<&]/g, " ")} end</b></${tag}>`,
    );
    return `<body class="page"><div id="wrap"><main class="content">${inner.join("")}</main></div></body>`;
  });

  test("are made of the words that the training learns from", () => {
    fc.assert(
      fc.property(html, (page) => {
        const tree = buildPageTree(scanPage(page).model);
        let heading = -1;
        for (const [index, sums] of sumsOf(page).entries()) {
          const block = tree.candidates[index]!;
          const parts = wordsOfBlock(tree, block, heading).map((words, table) => {
            const sum = words.reduce((total, word) => total + weightOf(weights[table]!, word), 0);
            return sum / Math.sqrt(Math.max(words.length, 1));
          });
          const all = parts.reduce((total, sum) => total + sum, 0);
          for (const [column, sum] of [...parts, all].entries()) expect(sums[column]).toBeCloseTo(sum, 3);
          if (headingLevel(tree, block) > 0) heading = block;
        }
      }),
    );
  });

  test("speak for words of content and against those of a frame", () => {
    const page = `<body><ul class="nav menu"><li class="menu-item"><a href="/c">Privacy policy</a></li></ul>
      <div class="article-body post-content"><p>The water was high, and they had opened the gate.</p></div></body>`;
    const [menu, text] = sumsOf(page);
    expect(text!.at(-1)!).toBeGreaterThan(menu!.at(-1)!);
  });
});
