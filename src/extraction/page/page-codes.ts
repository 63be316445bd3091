/** Larger pages get an array of their own, which goes when they are read. */
const MAX_KEPT_UNITS = 1 << 20;
const BYTES_PER_UNIT = 2;

let kept: Uint16Array | null = null;

/**
 * The UTF-16 units of a page: reading them from an array costs a third of asking a string for each. The
 * array is used again for the next page and may be longer than this one.
 */
export function codesOf(html: string): Uint16Array {
  const codes = html.length > MAX_KEPT_UNITS ? new Uint16Array(html.length) : keptCodes(html.length);
  // UTF-16 little-endian is what every machine that runs this has in memory.
  Buffer.from(codes.buffer).write(html, 0, html.length * BYTES_PER_UNIT, "utf16le");
  return codes;
}

function keptCodes(length: number): Uint16Array {
  if (kept === null || kept.length < length) {
    let size = 1 << 16;
    while (size < length) size *= 2;
    kept = new Uint16Array(size);
  }
  return kept;
}
