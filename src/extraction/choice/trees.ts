/**
 * Gradient-boosted trees as flat columns. A child of zero or more is a node, one below zero is leaf
 * `-child - 1`; a row goes left when its feature is at most the threshold.
 */
export type Trees = {
  /** Features of a row; the trees fit no other number. */
  readonly width: number;
  readonly roots: Int16Array;
  readonly feature: Uint8Array;
  readonly threshold: Float32Array;
  readonly left: Int16Array;
  readonly right: Int16Array;
  readonly value: Float32Array;
};

const FORMAT = 1;
const HEADER_INTS = 5;

/**
 * Reads trees from the base64 text that the training writes: int32 format, width, trees, nodes, leaves;
 * int16 roots, left, right; float32 thresholds, values; uint8 features. Little-endian, each column padded
 * to four bytes.
 * @throws Error for another format: the file and the code do not belong together
 */
export function decodeTrees(base64: string): Trees {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const [format, width = 0, treeCount = 0, nodeCount = 0, leafCount = 0] = Array.from(
    { length: HEADER_INTS },
    (_, index) => view.getInt32(index * 4, true),
  );
  if (format !== FORMAT) throw new Error(`the trees are of format ${format}, not ${FORMAT}`);
  let at = HEADER_INTS * 4;
  const take = (count: number, size: number): number => {
    const start = at;
    at += Math.ceil((count * size) / 4) * 4;
    return start;
  };
  const integers = (count: number): Int16Array => {
    const start = take(count, 2);
    return Int16Array.from({ length: count }, (_, index) => view.getInt16(start + index * 2, true));
  };
  const floats = (count: number): Float32Array => {
    const start = take(count, 4);
    return Float32Array.from({ length: count }, (_, index) => view.getFloat32(start + index * 4, true));
  };
  return {
    width,
    roots: integers(treeCount),
    left: integers(nodeCount),
    right: integers(nodeCount),
    threshold: floats(nodeCount),
    value: floats(leafCount),
    feature: bytes.slice(at, at + nodeCount),
  };
}

/** The probability that the trees give each row of `rows`. */
export function predict(trees: Trees, rows: Float32Array): Float32Array {
  const { width, roots, feature, threshold, left, right, value } = trees;
  const count = rows.length / width;
  const p = new Float32Array(count);
  const treeCount = roots.length;
  for (let row = 0; row < count; row++) {
    const base = row * width;
    let sum = 0;
    for (let tree = 0; tree < treeCount; tree++) {
      let node = roots[tree]!;
      while (node >= 0) node = rows[base + feature[node]!]! <= threshold[node]! ? left[node]! : right[node]!;
      sum += value[-node - 1]!;
    }
    p[row] = 1 / (1 + Math.exp(-sum));
  }
  return p;
}
