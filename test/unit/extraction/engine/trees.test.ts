import { describe, expect, test } from "bun:test";
import { BLOCK_TREES, CONFIDENCE_TREES } from "../../../../src/extraction/classification/block-trees.ts";
import { decodeTrees, predict } from "../../../../src/extraction/classification/trees.ts";
import sample from "./trained-sample.json";

describe("the trees", () => {
  test.each([
    ["of the blocks", BLOCK_TREES, sample.BLOCK_TREES],
    ["of the confidence", CONFIDENCE_TREES, sample.CONFIDENCE_TREES],
  ])("%s predict what the training's own library predicts", (_, base64, { rows, predictions }) => {
    const got = predict(decodeTrees(base64), Float32Array.from(rows.flat()));
    expect(got).toHaveLength(predictions.length);
    for (let row = 0; row < got.length; row++) expect(got[row]).toBeCloseTo(predictions[row] ?? -1, 5);
  });

  test("of another format are refused", () => {
    const bytes = Uint8Array.from(atob(BLOCK_TREES), (character) => character.charCodeAt(0));
    bytes[0] = 99;
    expect(() => decodeTrees(btoa(String.fromCharCode(...bytes.subarray(0, 64))))).toThrow("format 99");
  });
});
