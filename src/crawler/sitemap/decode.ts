/** Where a declaration can stand; the standard's prescan looks as far. */
const HEAD_BYTES = 1024;

/** Decoded in pieces of at most this, so that whatever stands behind handles little at a time. */
const PIECE_BYTES = 32_768;

/**
 * Decodes a sitemap piece by piece: byte order mark, charset of the header, XML declaration, else UTF-8
 * (RFC 7303, section 3). Bytes that are no text become U+FFFD; unknown labels are passed over.
 * @param charset of the Content-Type header, null when it has none
 */
export async function* decodeStream(
  bytes: AsyncIterable<Uint8Array>,
  charset: string | null,
): AsyncGenerator<string> {
  let head: Uint8Array | null = new Uint8Array();
  let decoder: TextDecoder | null = null;
  for await (const piece of bytes) {
    if (head !== null) {
      head = Buffer.concat([head, piece]);
      if (head.length < HEAD_BYTES) continue;
    }
    decoder ??= decoderFor(findEncoding(head ?? piece, charset)) ?? new TextDecoder();
    yield* decodePieces(head ?? piece, decoder);
    head = null;
  }
  if (head !== null && head.length > 0) {
    decoder = decoderFor(findEncoding(head, charset)) ?? new TextDecoder();
    yield* decodePieces(head, decoder);
  }
  const rest = decoder?.decode() ?? "";
  if (rest !== "") yield rest;
}

function* decodePieces(bytes: Uint8Array, decoder: TextDecoder): Generator<string> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true });
}

/** Null for a label that no encoding has. */
function decoderFor(label: string | null): TextDecoder | null {
  if (label === null) return null;
  try {
    // The types of the runtime list fewer labels than it knows.
    return new TextDecoder(label as ConstructorParameters<typeof TextDecoder>[0]);
  } catch {
    return null;
  }
}

function findEncoding(head: Uint8Array, charset: string | null): string | null {
  const [a, b, c, d] = head;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  // "<?" or "<u" in two bytes a character: what is written in it cannot be read otherwise.
  if (a === 0x3c && b === 0 && c !== 0 && d === 0) return "utf-16le";
  if (a === 0 && b === 0x3c && c === 0 && d !== 0) return "utf-16be";
  if (decoderFor(charset) !== null && !isUtf16(charset)) return charset;
  const text = new TextDecoder("windows-1252").decode(head.subarray(0, HEAD_BYTES));
  const declared = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']{1,64})["']/i.exec(text)?.[1] ?? null;
  // What could be read byte by byte up to here is not in UTF-16, whatever it says.
  return isUtf16(declared) ? "utf-8" : declared;
}

const isUtf16 = (label: string | null): boolean =>
  /^utf-?16|^unicode|^ucs-2|^iso-10646-ucs-2|^csunicode/i.test(label?.trim() ?? "");
