import { withRoom } from "../number-list.ts";
import { bitWidth } from "./bit-packing.ts";

/** Below this many bytes, copying one by one is cheaper than making a view of an array. */
export const FEW_BYTES = 64;

/**
 * A growing array of bytes. Integers are written as little-endian base-128 varints unless a method says
 * otherwise.
 */
export class ByteWriter {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = 1024) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `count` more bytes, so that a hot loop may write to `bytes` itself. */
  reserve(count: number): void {
    if (this.length + count > this.bytes.length) this.bytes = withRoom(this.bytes, this.length + count);
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** @param value an integer from 0 to 2^53 − 1 */
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

  /** Appends the contents of another writer from `start` on. */
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

  /**
   * Begins a stretch that is preceded by its length.
   * @returns the argument for `endPrefixed`
   */
  beginPrefixed(): number {
    this.byte(0); // most stretches are short and need one byte
    return this.length;
  }

  /** Writes the length of everything since `beginPrefixed` in front of it. */
  endPrefixed(start: number): void {
    const count = this.length - start;
    if (count < 128) {
      this.bytes[start - 1] = count;
      return;
    }
    const prefixBytes = Math.ceil(bitWidth(count) / 7);
    this.reserve(prefixBytes + 8); // `varint` must find its room here: growing would lose the bytes
    this.bytes.copyWithin(start - 1 + prefixBytes, start, this.length);
    this.length = start - 1;
    this.varint(count);
    this.length += count;
  }

  /** The bytes written so far; further writing may detach this view. */
  written(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

/** Reads what `ByteWriter` wrote, starting at an offset. Past the end it reads zeros. */
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
    // Eight bytes hold 2^53 − 1; this limit ends the loop on corrupt bytes.
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
