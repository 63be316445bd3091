/** Gradient-boosted trees as the training writes them. A child below zero is the leaf `-child - 1`, any other is a node. */
export type Trees = {
  /** The number of features of a row, which must match. */
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

/**
 * Reads trees that were trained on rows of this width, see `decodeTrees`.
 * @throws Error for trees of another width
 */
export function loadTrees(base64: string, width: number): Trees {
  const trees = decodeTrees(base64);
  if (trees.width !== width)
    throw new Error(`trees of ${trees.width} features, not ${width}: train them anew`);
  return trees;
}

/** Predicts a probability for each row of `rows`. */
export function predict(trees: Trees, rows: Float32Array): Float32Array {
  const p = new Float32Array(rows.length / trees.width);
  for (let row = 0; row < p.length; row++)
    p[row] = 1 / (1 + Math.exp(-scoreOf(trees, rows, row * trees.width)));
  return p;
}

/** Sums up the leaves that the row at `base` reaches. */
function scoreOf({ roots, feature, threshold, left, right, value }: Trees, rows: Float32Array, base: number) {
  let sum = 0;
  for (let tree = 0; tree < roots.length; tree++) {
    let node = roots[tree]!;
    while (node >= 0) node = rows[base + feature[node]!]! <= threshold[node]! ? left[node]! : right[node]!;
    sum += value[-node - 1]!;
  }
  return sum;
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
