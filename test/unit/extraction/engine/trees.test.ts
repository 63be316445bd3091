import { describe, expect, test } from "bun:test";
import { BLOCK_TREES, CONFIDENCE_TREES } from "../../../../src/extraction/classification/block-trees.ts";
import { decodeTrees, predict } from "../../../../src/extraction/classification/trees.ts";
import sample from "./trained-sample.json";

const NOTHING_KNOWN = { shared: new Set<number>(), great: new Set<number>() };

describe("the trees", () => {
  test.each([
    ["of the blocks", BLOCK_TREES, sample.BLOCK_TREES],
    ["of the confidence", CONFIDENCE_TREES, sample.CONFIDENCE_TREES],
  ])(
    "%s predict what the training's own library predicts, walked and sorted",
    (_, base64, { rows, predictions }) => {
      for (const trees of [decodeTrees(base64), decodeTrees(base64, NOTHING_KNOWN)]) {
        const got = predict(trees, Float32Array.from(rows.flat()));
        expect(got).toHaveLength(predictions.length);
        for (let row = 0; row < got.length; row++) expect(got[row]).toBeCloseTo(predictions[row] ?? -1, 5);
      }
    },
  );

  test("predict the same, bit for bit, sorted as walked, whatever is known of their features", () => {
    const rows = Float32Array.from(sample.BLOCK_TREES.rows.flat());
    expect(predict(decodeTrees(BLOCK_TREES, NOTHING_KNOWN), rows)).toEqual(
      predict(decodeTrees(BLOCK_TREES), rows),
    );
    const width = decodeTrees(BLOCK_TREES).width;
    const odd = Array.from({ length: width }, (_, column) => column).filter((column) => column % 2 === 1);
    const great = { shared: new Set<number>(), great: new Set(odd) };
    expect(predict(decodeTrees(BLOCK_TREES, great), rows)).toEqual(predict(decodeTrees(BLOCK_TREES), rows));
    const row = rows.subarray(0, width);
    const shared = { shared: new Set(odd), great: new Set(odd.slice(9)) };
    expect(predict(decodeTrees(BLOCK_TREES, shared), row)).toEqual(predict(decodeTrees(BLOCK_TREES), row));
  });

  test("of another format are refused", () => {
    const bytes = Uint8Array.from(atob(BLOCK_TREES), (character) => character.charCodeAt(0));
    bytes[0] = 99;
    expect(() => decodeTrees(btoa(String.fromCharCode(...bytes.subarray(0, 64))))).toThrow("format 99");
  });
});
