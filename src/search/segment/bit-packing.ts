/** The number of bits for every value from 0 to `max`: at most 32, and 0 when all are 0. */
export const bitWidth = (max: number): number => 32 - Math.clz32(max);

/** The number of bytes for `count` values of this width. */
export const packedLength = (count: number, width: number): number => (count * width + 7) >>> 3;

/**
 * Writes values one after another in `width` bits each, the lowest bit first.
 * @param target must have `packedLength` bytes from `offset` on
 * @returns the offset after the last byte
 */
export function packBits(
  values: Uint32Array,
  { count, width }: { readonly count: number; readonly width: number },
  target: Uint8Array,
  offset: number,
): number {
  let at = offset;
  let pending = 0;
  let pendingBits = 0;
  for (let index = 0; index < count; index++) {
    const value = values[index]!;
    let bit = 0;
    while (bit < width) {
      const taken = Math.min(8 - pendingBits, width - bit);
      pending |= ((value >>> bit) & ((1 << taken) - 1)) << pendingBits;
      bit += taken;
      pendingBits += taken;
      if (pendingBits === 8) {
        target[at++] = pending;
        pending = 0;
        pendingBits = 0;
      }
    }
  }
  if (pendingBits > 0) target[at++] = pending;
  return at;
}

/** The inverse of `packBits`; `values` must have `count` places. */
export function unpackBits(
  source: Uint8Array,
  offset: number,
  { count, width }: { readonly count: number; readonly width: number },
  values: Uint32Array | Int32Array,
): void {
  if (width === 0) {
    for (let index = 0; index < count; index++) values[index] = 0;
    return;
  }
  if (width === 8) {
    for (let index = 0; index < count; index++) values[index] = source[offset + index]!;
    return;
  }
  if (width > 24) {
    unpackWide(source, offset, { count, width }, values);
    return;
  }
  const mask = (1 << width) - 1;
  let at = offset;
  let pending = 0;
  let pendingBits = 0;
  if (width < 8) {
    // One more byte is always enough for the next value, so no inner loop is needed; most blocks are like
    // this.
    for (let index = 0; index < count; index++) {
      if (pendingBits < width) {
        pending |= source[at++]! << pendingBits;
        pendingBits += 8;
      }
      values[index] = pending & mask;
      pending >>>= width;
      pendingBits -= width;
    }
    return;
  }
  for (let index = 0; index < count; index++) {
    // At most 23 bits are left over, so that another byte stays within 31.
    while (pendingBits < width) {
      pending |= source[at++]! << pendingBits;
      pendingBits += 8;
    }
    values[index] = pending & mask;
    pending >>>= width;
    pendingBits -= width;
  }
}

function unpackWide(
  source: Uint8Array,
  offset: number,
  { count, width }: { readonly count: number; readonly width: number },
  values: Uint32Array | Int32Array,
): void {
  for (let index = 0; index < count; index++) {
    let value = 0;
    for (let bit = 0; bit < width; bit++) {
      const place = index * width + bit;
      value |= ((source[offset + (place >>> 3)]! >>> (place & 7)) & 1) << bit;
    }
    values[index] = value >>> 0;
  }
}
