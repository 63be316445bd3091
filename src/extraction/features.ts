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

type Readers<Subject> = Readonly<Record<string, (subject: Subject) => number>>;

/** Declares features by their names. */
export function features<Subject>(readers: Readers<Subject>): Features<Subject> {
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

/** Concatenates features. */
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
