/**
 * Gradient-boosted trees as the training writes them. Trees that score every block of a page are sorted for it. Trees
 * that score a few rows are walked unsorted, because in a program that extracts a single page, sorting them took
 * longer than the rest of the classification.
 */
export type Trees = {
  /** The number of features of a row, which must match. */
  readonly width: number;
  readonly stored: StoredTrees;
  /** Null for trees that score few rows. */
  readonly sorted: SortedTrees | null;
};

/**
 * Trees sorted for quick scoring (Lucchese et al. 2015, "QuickScorer"): the tests of all trees by feature and
 * ascending threshold. A test that a row fails (its feature is greater) rules out the leaves of its left branch; in
 * each tree the first remaining leaf counts. Walking down each tree takes two thirds longer, mostly for branches that
 * a processor cannot predict.
 *
 * When most rows are greater than the thresholds, the branches swap sides and the tests run from the greatest
 * threshold down, so that few of them fail: 334 of 1 500 for each block instead of 721.
 */
type SortedTrees = {
  /** The tests of features that all rows share. */
  readonly shared: Tests;
  readonly rising: Tests;
  /** The tests of mostly greater features, by descending threshold; greater values pass. */
  readonly falling: Tests;
  /** The values of the leaves, `MAX_LEAVES` for each tree, from left to right. */
  readonly leafValues: Float64Array;
};

type Tests = {
  /** The features that are tested, and the offset of the first test of each; one more entry ends the last. */
  readonly columns: Int32Array;
  readonly firstTest: Int32Array;
  /** For each test its threshold, its tree, and the leaves that remain when a row fails it. */
  readonly thresholds: Float64Array;
  readonly testTrees: Int32Array;
  readonly masks: Int32Array;
};

/** What is known about features beforehand; it changes the cost, never the result. */
export type FeatureHints = {
  /** The features that are the same in all rows of a page. */
  readonly shared: ReadonlySet<number>;
  /** The features that are mostly greater than their thresholds. */
  readonly great: ReadonlySet<number>;
};

/** Each leaf is a bit of an integer. */
const MAX_LEAVES = 32;

/** A child below zero is the leaf `-child - 1`, any other is a node. */
type StoredTrees = {
  readonly width: number;
  readonly roots: Int16Array;
  readonly feature: Uint8Array;
  readonly threshold: Float32Array;
  readonly left: Int16Array;
  readonly right: Int16Array;
  readonly value: Float32Array;
};

/** Each feature number is a byte. */
const FEATURES = 256;

const FORMAT = 1;
const HEADER_INTS = 5;

/**
 * Reads trees from the base64 text that the training writes: int32 format, width, trees, nodes, leaves;
 * int16 roots, left, right; float32 thresholds, values; uint8 features. Little-endian, each column padded
 * to four bytes.
 * @param hints of trees that score many rows
 * @throws Error for another format, and for trees of over 32 leaves to be sorted: the file and the code do not belong
 * together
 */
export function decodeTrees(base64: string, hints?: FeatureHints): Trees {
  const stored = readStored(base64);
  return { width: stored.width, stored, sorted: hints === undefined ? null : sortTests(stored, hints) };
}

/**
 * Reads trees that were trained on rows of this width, see `decodeTrees`.
 * @throws Error for trees of another width
 */
export function loadTrees(base64: string, width: number, hints?: FeatureHints): Trees {
  const trees = decodeTrees(base64, hints);
  if (trees.width !== width)
    throw new Error(`trees of ${trees.width} features, not ${width}: train them anew`);
  return trees;
}

function readStored(base64: string): StoredTrees {
  // The bytes are copied to the start of a new buffer, so that columns of two and four bytes are aligned.
  const { buffer } = new Uint8Array(Buffer.from(base64, "base64"));
  const [format, width = 0, treeCount = 0, nodeCount = 0, leafCount = 0] = new Int32Array(
    buffer,
    0,
    HEADER_INTS,
  );
  if (format !== FORMAT) throw new Error(`the trees are of format ${format}, not ${FORMAT}`);
  let at = HEADER_INTS * 4;
  const take = (count: number, size: number): number => {
    const start = at;
    at += Math.ceil((count * size) / 4) * 4;
    return start;
  };
  const integers = (count: number): Int16Array => new Int16Array(buffer, take(count, 2), count);
  const floats = (count: number): Float32Array => new Float32Array(buffer, take(count, 4), count);
  return {
    width,
    roots: integers(treeCount),
    left: integers(nodeCount),
    right: integers(nodeCount),
    threshold: floats(nodeCount),
    value: floats(leafCount),
    feature: new Uint8Array(buffer, at, nodeCount),
  };
}

// Every process that extracts a page reads the trees, and many extract only one page. So there are no objects and no
// callbacks for each node here, and sorting is left to the runtime's typed arrays.
function sortTests(stored: StoredTrees, { shared, great }: FeatureHints): SortedTrees {
  const isFalling = new Uint8Array(FEATURES);
  for (const feature of great) if (!shared.has(feature)) isFalling[feature] = 1;
  const tests = testsOf(stored, isFalling);
  const { feature, threshold } = stored;
  const sorted = sortedNodes(feature, threshold);
  const inOrder = { shared: [] as number[], rising: [] as number[], falling: [] as number[] };
  for (let from = 0, end = 0; from < sorted.length; from = end) {
    const column = feature[sorted[from]!]!;
    for (end = from + 1; end < sorted.length && feature[sorted[end]!] === column; end++);
    if (isFalling[column] === 1) for (let at = end - 1; at >= from; at--) inOrder.falling.push(sorted[at]!);
    else {
      const nodes = shared.has(column) ? inOrder.shared : inOrder.rising;
      for (let at = from; at < end; at++) nodes.push(sorted[at]!);
    }
  }
  const columns = (nodes: readonly number[]): Tests => columnsOf(nodes, stored, tests);
  return {
    shared: columns(inOrder.shared),
    rising: columns(inOrder.rising),
    falling: columns(inOrder.falling),
    leafValues: tests.leafValues,
  };
}

/** Makes the test of each node of the trees. */
function testsOf(stored: StoredTrees, isFalling: Uint8Array) {
  const { roots, feature, left, right, value } = stored;
  const trees = new Int32Array(feature.length);
  const masks = new Int32Array(feature.length);
  const leafValues = new Float64Array(roots.length * MAX_LEAVES);
  let tree = 0;
  let leaves = 0;
  /** Visits a subtree from its near side to the far one; returns one bit for each of its leaves. */
  const visit = (node: number): number => {
    if (node < 0) {
      if (leaves === MAX_LEAVES) throw new Error(`a tree has over ${MAX_LEAVES} leaves: train it smaller`);
      leafValues[tree * MAX_LEAVES + leaves] = value[-node - 1]!;
      return 1 << leaves++;
    }
    const isTurned = isFalling[feature[node]!] === 1;
    const first = visit(isTurned ? right[node]! : left[node]!);
    trees[node] = tree;
    masks[node] = ~first;
    return first | visit(isTurned ? left[node]! : right[node]!);
  };
  for (; tree < roots.length; tree++) {
    leaves = 0;
    visit(roots[tree]!);
  }
  return { trees, masks, leafValues };
}

/** A node's number fits below the 32 bits of its threshold in the 53 bits of a double. */
const NODE_LIMIT = 2 ** 21;

/** Sorts the nodes by feature and ascending threshold. */
function sortedNodes(feature: Uint8Array, threshold: Float32Array): Int32Array {
  const count = feature.length;
  if (count >= NODE_LIMIT) throw new Error(`trees of over ${NODE_LIMIT} nodes: train them smaller`);
  const end = new Int32Array(FEATURES + 1);
  for (let node = 0; node < count; node++) end[feature[node]! + 1]!++;
  for (let column = 1; column <= FEATURES; column++) end[column]! += end[column - 1]!;
  const next = end.slice();
  const keys = new Float64Array(count);
  const bits = new Int32Array(threshold.buffer, threshold.byteOffset, count);
  for (let node = 0; node < count; node++) {
    // The bits of floats are ordered like the floats, except for the sign.
    const own = bits[node]!;
    const order = (own < 0 ? ~own : own | 0x80000000) >>> 0;
    keys[next[feature[node]!]!++] = order * NODE_LIMIT + node;
  }
  for (let column = 0; column < FEATURES; column++)
    if (end[column + 1]! - end[column]! > 1) keys.subarray(end[column], end[column + 1]).sort();
  const nodes = new Int32Array(count);
  for (let at = 0; at < count; at++) nodes[at] = keys[at]! % NODE_LIMIT;
  return nodes;
}

function columnsOf(
  nodes: readonly number[],
  { feature, threshold }: StoredTrees,
  tests: ReturnType<typeof testsOf>,
): Tests {
  const columns: number[] = [];
  const firstTest: number[] = [];
  let column = -1;
  const thresholds = new Float64Array(nodes.length);
  const testTrees = new Int32Array(nodes.length);
  const masks = new Int32Array(nodes.length);
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[index]!;
    if (feature[node] !== column) {
      column = feature[node]!;
      columns.push(column);
      firstTest.push(index);
    }
    thresholds[index] = threshold[node]!;
    testTrees[index] = tests.trees[node]!;
    masks[index] = tests.masks[node]!;
  }
  firstTest.push(nodes.length);
  return {
    columns: Int32Array.from(columns),
    firstTest: Int32Array.from(firstTest),
    thresholds,
    testTrees,
    masks,
  };
}

/** Predicts a probability for each row of `rows`. */
export function predict({ width, stored, sorted }: Trees, rows: Float32Array): Float32Array {
  const p = new Float32Array(rows.length / width);
  if (sorted !== null) scoreQuickly(sorted, stored, rows, p);
  else for (let row = 0; row < p.length; row++) p[row] = probabilityOf(walk(stored, rows, row * width));
  return p;
}

const probabilityOf = (score: number): number => 1 / (1 + Math.exp(-score));

/** Sums up the leaves that the row at `base` reaches. */
function walk(stored: StoredTrees, rows: Float32Array, base: number): number {
  const { roots, feature, threshold, left, right, value } = stored;
  let sum = 0;
  for (let tree = 0; tree < roots.length; tree++) {
    let node = roots[tree]!;
    while (node >= 0) node = rows[base + feature[node]!]! <= threshold[node]! ? left[node]! : right[node]!;
    sum += value[-node - 1]!;
  }
  return sum;
}

function scoreQuickly(
  trees: SortedTrees,
  { width, roots: { length: treeCount } }: StoredTrees,
  rows: Float32Array,
  p: Float32Array,
): void {
  const { leafValues } = trees;
  // Each bit is a leaf that a row may still reach in its tree.
  const openToAll = new Int32Array(treeCount).fill(-1);
  if (p.length > 0) closeRising(trees.shared, rows, 0, openToAll);
  const open = new Int32Array(treeCount);
  for (let row = 0; row < p.length; row++) {
    open.set(openToAll);
    closeRising(trees.rising, rows, row * width, open);
    closeFalling(trees.falling, rows, row * width, open);
    let sum = 0;
    for (let tree = 0; tree < treeCount; tree++) {
      const bits = open[tree]!;
      sum += leafValues[tree * MAX_LEAVES + 31 - Math.clz32(bits & -bits)]!;
    }
    p[row] = probabilityOf(sum);
  }
}

/** Rules out the leaves that the row at `base` cannot reach. */
function closeRising(tests: Tests, rows: Float32Array, base: number, open: Int32Array): void {
  const { columns, firstTest, thresholds, testTrees, masks } = tests;
  for (let index = 0; index < columns.length; index++) {
    const value = rows[base + columns[index]!]!;
    const end = firstTest[index + 1]!;
    for (let test = firstTest[index]!; test < end && !(value <= thresholds[test]!); test++)
      open[testTrees[test]!]! &= masks[test]!;
  }
}

function closeFalling(tests: Tests, rows: Float32Array, base: number, open: Int32Array): void {
  const { columns, firstTest, thresholds, testTrees, masks } = tests;
  for (let index = 0; index < columns.length; index++) {
    const value = rows[base + columns[index]!]!;
    const end = firstTest[index + 1]!;
    for (let test = firstTest[index]!; test < end && value <= thresholds[test]!; test++)
      open[testTrees[test]!]! &= masks[test]!;
  }
}

/** Computes the word-weighted mean probability of the blocks that are more likely content than not. */
export function plateauOf(
  p: Float32Array,
  weight: Float32Array,
): { readonly plateau: number; readonly shareAboveHalf: number } {
  let mass = 0;
  let above = 0;
  let total = 0;
  for (let index = 0; index < p.length; index++) {
    total += weight[index]!;
    if (p[index]! <= 0.5) continue;
    above += weight[index]!;
    mass += weight[index]! * p[index]!;
  }
  return { plateau: above === 0 ? 0 : mass / above, shareAboveHalf: total === 0 ? 0 : above / total };
}

/**
 * Features of a kind of thing: the numbers that trees judge it by. Each is declared once, with its name and the
 * function that computes it. Their order is that of the columns that the trees were trained on, so a change of it
 * needs new trees.
 */
export type Features<Subject> = {
  readonly names: readonly string[];
  /** Writes one number for each name, starting at this column. */
  readonly write: (rows: Float32Array, at: number, subject: Subject) => void;
};

/** Declares features by their names. */
export function features<Subject>(
  readers: Readonly<Record<string, (subject: Subject) => number>>,
): Features<Subject> {
  const columns = Object.values(readers);
  return {
    names: Object.keys(readers),
    write: (rows, at, subject) => {
      for (let column = 0; column < columns.length; column++) rows[at + column] = columns[column]!(subject);
    },
  };
}

/** Declares the same feature for each of several things: `is.article`, `is.forum`. */
export const each = <Key extends string | number, Subject>(
  keys: readonly Key[],
  name: string,
  read: (subject: Subject, key: Key) => number,
): Features<Subject> =>
  features(
    Object.fromEntries(
      keys.map((key) => [`${name}${key}`, (subject: Subject) => read(subject, key)] as const),
    ),
  );

export function joined<Subject>(...parts: readonly Features<Subject>[]): Features<Subject> {
  const names = parts.flatMap((part) => part.names);
  return {
    names,
    write: (rows, start, subject) => {
      let at = start;
      for (const part of parts) {
        part.write(rows, at, subject);
        at += part.names.length;
      }
    },
  };
}

/**
 * Declares the features of a part that a thing may have.
 * @param missing the number that stands in each column of a thing without the part
 */
export const ofPart = <Subject, Part>(
  find: (subject: Subject) => Part | null,
  missing: number,
  part: Features<Part>,
): Features<Subject> => ({
  names: part.names,
  write: (rows, at, subject) => {
    const found = find(subject);
    if (found === null) rows.fill(missing, at, at + part.names.length);
    else part.write(rows, at, found);
  },
});

/** Declares features that were computed earlier, all at once. */
export const given = <Subject>(
  names: readonly string[],
  find: (subject: Subject) => ArrayLike<number>,
): Features<Subject> => ({ names, write: (rows, at, subject) => rows.set(find(subject), at) });

/** Computes a row of numbers for each thing. */
export function rowsOf<Subject>(
  { names, write }: Features<Subject>,
  subjects: readonly Subject[],
): Float32Array {
  const rows = new Float32Array(subjects.length * names.length);
  subjects.forEach((subject, index) => {
    write(rows, index * names.length, subject);
  });
  return rows;
}

/** Numbers names: `group0`, `group1`, … */
export const numbered = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}${index}`);

export const flag = (value: boolean): number => (value ? 1 : 0);
