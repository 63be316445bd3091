import { checkDeadlineAt } from "../deadline.ts";
import type { ByteReader, ByteWriter } from "./bytes.ts";

/**
 * Writes the positions of a posting as differences. When the term has several forms, a bit tells that the
 * form differs from that of the previous position, and the form follows.
 * @param places positions, never descending, and the form of each
 */
export function encodePositions(
  places: { readonly positions: Uint32Array; readonly forms: ArrayLike<number> },
  { count, hasForms }: { readonly count: number; readonly hasForms: boolean },
  writer: ByteWriter,
): void {
  const { positions, forms } = places;
  let before = 0;
  let formBefore = 0;
  for (let index = 0; index < count; index++) {
    const position = positions[index]!;
    const gap = position - before;
    before = position;
    if (!hasForms) {
      writer.varint(gap);
      continue;
    }
    const form = forms[index]!;
    if (form === formBefore) {
      writer.varint(gap * 2);
      continue;
    }
    writer.varint(gap * 2 + 1);
    writer.varint(form);
    formBefore = form;
  }
}

/**
 * The inverse of `encodePositions`; the arrays must have `count` places.
 * @throws Failure `timeout`
 */
export function decodePositions(
  reader: ByteReader,
  {
    count,
    hasForms,
    deadline,
  }: { readonly count: number; readonly hasForms: boolean; readonly deadline: number },
  places: { readonly positions: Uint32Array; readonly forms: Uint16Array },
): void {
  const { positions, forms } = places;
  let position = 0;
  let form = 0;
  for (let index = 0; index < count; index++) {
    checkDeadlineAt(index, deadline);
    const gap = reader.varint();
    if (hasForms) {
      position += gap >>> 1;
      if ((gap & 1) === 1) form = reader.varint();
    } else position += gap;
    positions[index] = position;
    forms[index] = form;
  }
}
