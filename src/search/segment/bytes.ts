import { bitWidth } from "./bit-packing.ts";

/** Making a view of an array costs as much as copying so many bytes one by one. */
export const FEW_BYTES = 64;

/** Copies the first `count` bytes to a place in another array, one by one: for few. */
export function copyBytes(from: Uint8Array, count: number, to: Uint8Array, start: number): void {
  for (let at = 0; at < count; at++) to[start + at] = from[at]!;
}

/** Bytes that grow as they are written; integers are little-endian base-128 varints unless said otherwise. */
export class ByteWriter {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = 1024) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `count` more bytes, so that a hot loop may write to `bytes` itself. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.length + count, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** @param value an integer of 0 to 2^53 − 1 */
  varint(value: number): void {
    if (value < 128 && this.length < this.bytes.length) {
      this.bytes[this.length++] = value;
      return;
    }
    this.reserve(8);
    let rest = value;
    while (rest >= 0x8000_0000) {
      this.bytes[this.length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.bytes[this.length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Appends what another one holds from a place on. */
  append(other: ByteWriter, start = 0): void {
    const count = other.length - start;
    this.reserve(count);
    if (count > FEW_BYTES) {
      this.bytes.set(other.bytes.subarray(start, other.length), this.length);
      this.length += count;
      return;
    }
    const { bytes: from } = other;
    for (let at = start; at < other.length; at++) this.bytes[this.length++] = from[at]!;
  }

  /** Begins a stretch that tells its length before it. @returns what `endPrefixed` wants */
  beginPrefixed(): number {
    this.byte(0); // most stretches are short: one byte will do
    return this.length;
  }

  /** Says before what was written since `beginPrefixed` how many bytes that is. */
  endPrefixed(start: number): void {
    const count = this.length - start;
    if (count < 128) {
      this.bytes[start - 1] = count;
      return;
    }
    const prefixBytes = Math.ceil(bitWidth(count) / 7);
    this.reserve(prefixBytes + 8); // what `varint` asks for must be there already: growing would lose the bytes
    this.bytes.copyWithin(start - 1 + prefixBytes, start, this.length);
    this.length = start - 1;
    this.varint(count);
    this.length += count;
  }

  /** What was written; a view that further writing may leave behind. */
  written(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

/** Reads what `ByteWriter` wrote, from an offset on. Past the end it reads zeros. */
export class ByteReader {
  bytes: Uint8Array;
  offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.bytes = bytes;
    this.offset = offset;
  }

  byte(): number {
    return this.bytes[this.offset++] ?? 0;
  }

  varint(): number {
    const first = this.byte();
    if (first < 128) return first;
    let value = first & 127;
    for (let shift = 7; shift < 28; shift += 7) {
      const byte = this.byte();
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    // Eight bytes hold 2^53 − 1; the bound ends the loop on bytes that nobody wrote.
    for (let factor = 2 ** 28, count = 4; count < 8; factor *= 128, count++) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) break;
    }
    return value;
  }

  raw(length: number): Uint8Array {
    const bytes = this.bytes.subarray(this.offset, this.offset + length);
    this.offset += length;
    return bytes;
  }
}
