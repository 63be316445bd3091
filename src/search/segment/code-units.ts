import type { ByteWriter } from "./bytes.ts";

/**
 * Writes a string as bytes that sort in the order of its UTF-16 code units, as JavaScript's strings do: each
 * code unit is encoded alone like in UTF-8 (CESU-8). Lone surrogates are kept.
 */
export function encodeCodeUnits(text: string, target: Uint8Array, start: number): number {
  let end = start;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) target[end++] = unit;
    else if (unit < 0x800) {
      target[end++] = 0xc0 | (unit >> 6);
      target[end++] = 0x80 | (unit & 63);
    } else {
      target[end++] = 0xe0 | (unit >> 12);
      target[end++] = 0x80 | ((unit >> 6) & 63);
      target[end++] = 0x80 | (unit & 63);
    }
  }
  return end;
}

/**
 * Appends the string's bytes.
 * @returns how many they are
 */
export function writeCodeUnits(text: string, writer: ByteWriter): number {
  const start = writer.length;
  writer.reserve(text.length * 3); // the most that the code units can take
  writer.length = encodeCodeUnits(text, writer.bytes, start);
  return writer.length - start;
}

/** The number of bytes of the string in this encoding. */
export function encodedLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) length += unit < 0x800 ? 1 : 2;
  }
  return length;
}

/** The string's bytes in an array of their own. */
export function codeUnitBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(encodedLength(text));
  encodeCodeUnits(text, bytes, 0);
  return bytes;
}

const ascii = new TextDecoder("latin1");

export function decodeCodeUnits(bytes: Uint8Array, start: number, end: number): string {
  let asciiEnd = start;
  while (asciiEnd < end && bytes[asciiEnd]! < 0x80) asciiEnd++;
  if (asciiEnd === end) return ascii.decode(bytes.subarray(start, end));
  let text = "";
  for (let at = start; at < end; ) {
    const first = bytes[at++]!;
    if (first < 0x80) text += String.fromCharCode(first);
    else if (first < 0xe0) text += String.fromCharCode(((first & 31) << 6) | (bytes[at++]! & 63));
    else {
      const middle = bytes[at++]! & 63;
      text += String.fromCharCode(((first & 15) << 12) | (middle << 6) | (bytes[at++]! & 63));
    }
  }
  return text;
}
