import { FIELDS } from "../types.ts";

/** A column of numbers in the smallest width that holds them all. */
export type LengthColumn = Uint8Array | Uint16Array | Uint32Array;

const WIDTHS = [1, 2, 4] as const;

/**
 * Writes exact field lengths, one column per field: eight bytes with the width of each column, then the
 * columns, each starting at a multiple of 4.
 */
export function encodeLengths(columns: readonly Uint32Array[]): Uint8Array {
  const widths = columns.map(widthOf);
  const size = columns.reduce((total, column, field) => total + aligned(column.length * widths[field]!), 0);
  const bytes = new Uint8Array(8 + size);
  bytes.set(widths);
  let offset = 8;
  columns.forEach((column, field) => {
    const width = widths[field]!;
    viewOf(bytes, { offset, count: column.length, width }).set(column);
    offset += aligned(column.length * width);
  });
  return bytes;
}

/**
 * Opens the columns in place.
 * @param bytes the result of `encodeLengths`, at a multiple of 4
 */
export function openLengths(bytes: Uint8Array<ArrayBuffer>, documentCount: number): readonly LengthColumn[] {
  let offset = 8;
  return FIELDS.map((_, field) => {
    const width = bytes[field]!;
    const column = viewOf(bytes, { offset, count: documentCount, width });
    offset += aligned(documentCount * width);
    return column;
  });
}

/** The sum of each column, by field. */
export const totalsOf = (columns: readonly ArrayLike<number>[]): Float64Array =>
  Float64Array.from(columns, (column) => {
    let total = 0;
    for (let document = 0; document < column.length; document++) total += column[document]!;
    return total;
  });

const aligned = (length: number): number => Math.ceil(length / 4) * 4;

function widthOf(column: Uint32Array): number {
  let all = 0;
  for (let document = 0; document < column.length; document++) all |= column[document]!;
  return WIDTHS.find((width) => width === 4 || all >>> (width * 8) === 0) ?? 4;
}

type Place = { readonly offset: number; readonly count: number; readonly width: number };

function viewOf(bytes: Uint8Array<ArrayBuffer>, { offset, count, width }: Place): LengthColumn {
  const start = bytes.byteOffset + offset;
  if (width === 1) return new Uint8Array(bytes.buffer, start, count);
  if (width === 2) return new Uint16Array(bytes.buffer, start, count);
  return new Uint32Array(bytes.buffer, start, count);
}
