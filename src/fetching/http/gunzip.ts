import zlib from "node:zlib";

/** Lengths of a member's fixed header and of its trailer, in bytes (RFC 1952, 2.3). */
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;

/** Whether bytes begin as gzip does; of a single byte as far as it tells. */
export const isGzip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x1f && (bytes.length < 2 || bytes[1] === 0x8b);

/**
 * Decompresses gzip piece by piece, also when its last trailer is missing or other bytes follow it, as browsers do. Each
 * member must be complete, so half a page never passes for a whole one.
 * @throws Error with zlib's code: `Z_BUF_ERROR` for what is cut off, `Z_DATA_ERROR` for what is damaged
 */
export async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const input = inputOf(source);
  try {
    do {
      await skipHeader(input);
      let sum = 0;
      for await (const piece of inflateMember(input)) {
        sum = zlib.crc32(piece, sum);
        yield piece;
      }
      const trailer = await input.take(TRAILER_BYTES);
      const isWhole = trailer.length === TRAILER_BYTES;
      if (isWhole && trailer.readUInt32LE() !== sum) throw zlibError("Z_DATA_ERROR");
    } while (await beginsMember(input));
  } finally {
    input.close();
  }
}

async function beginsMember(input: Input): Promise<boolean> {
  const head = await input.peek(2);
  return head.length > 1 && isGzip(head);
}

const zlibError = (code: "Z_BUF_ERROR" | "Z_DATA_ERROR"): Error =>
  Object.assign(new Error("the gzip data is not whole"), { code });

async function skipHeader(input: Input): Promise<void> {
  for (let wanted = HEADER_BYTES; ; ) {
    const head = await input.peek(wanted);
    if (head.length < wanted) throw zlibError("Z_BUF_ERROR");
    wanted = headerLength(head);
    if (wanted > head.length) continue;
    await input.take(wanted);
    return;
  }
}

/** Returns the length of a member's header, or a length at which more can be said of it. */
function headerLength(bytes: Uint8Array): number {
  const flags = bytes[3] ?? 0;
  let length = HEADER_BYTES;
  if (flags & 4) length += 2 + (bytes[length] ?? 0) + 256 * (bytes[length + 1] ?? 0);
  for (const hasText of [flags & 8, flags & 16]) {
    if (!hasText) continue;
    const end = bytes.indexOf(0, length);
    if (end < 0) return Math.max(length, bytes.length) + 1;
    length = end + 1;
  }
  return flags & 2 ? length + 2 : length;
}

/** Decompresses up to the end of a member's data; what follows stays in the input. */
async function* inflateMember(input: Input): AsyncGenerator<Buffer> {
  const inflater = zlib.createInflateRaw();
  const over = new Promise<void>((resolve) => {
    for (const event of ["end", "error", "close"]) inflater.once(event, () => resolve());
  });
  const feeding = feed(inflater, input, over);
  feeding.catch((error: Error) => inflater.destroy(error));
  try {
    yield* inflater as AsyncIterable<Buffer>; // zlib's streams give Buffers
    const { given, piece } = await feeding;
    input.putBack(piece.subarray(piece.length - (given - inflater.bytesWritten)));
  } finally {
    inflater.destroy();
  }
}

/** Gives one piece after the other, so that only the last can hold more than the data. */
async function feed(
  inflater: zlib.InflateRaw,
  input: Input,
  over: Promise<void>,
): Promise<{ readonly given: number; readonly piece: Uint8Array }> {
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  let given = 0;
  for (;;) {
    const piece = await input.next();
    if (piece === null) {
      inflater.end();
      return { given, piece: new Uint8Array() };
    }
    given += piece.length;
    // If the data ends within the piece, Bun calls back but Node never does.
    await Promise.race([new Promise((resolve) => inflater.write(piece, resolve)), over]);
    if (isOver || inflater.bytesWritten < given) return { given, piece };
  }
}

/** The compressed bytes that were not used yet. */
type Input = {
  /** Returns the next bytes without taking them, at least `bytes` of them unless the data ends before. */
  peek(bytes: number): Promise<Buffer>;
  /** Takes the next `bytes` bytes, or all that are left. */
  take(bytes: number): Promise<Buffer>;
  /** Takes what comes next, of any length; null at the end. */
  next(): Promise<Uint8Array | null>;
  putBack(bytes: Uint8Array): void;
  close(): void;
};

function inputOf(source: AsyncIterable<Uint8Array>): Input {
  const pieces = source[Symbol.asyncIterator]();
  let kept: Buffer = Buffer.alloc(0);
  const peek = async (bytes: number): Promise<Buffer> => {
    while (kept.length < bytes) {
      const { done, value } = await pieces.next();
      if (done) break;
      kept = Buffer.concat([kept, value]);
    }
    return kept;
  };
  const take = async (bytes: number): Promise<Buffer> => {
    const taken = (await peek(bytes)).subarray(0, bytes);
    kept = kept.subarray(taken.length);
    return taken;
  };
  return {
    peek,
    take,
    async next() {
      const piece = await take(Math.max(1, kept.length));
      return piece.length === 0 ? null : piece;
    },
    putBack(bytes) {
      kept = Buffer.concat([bytes, kept]);
    },
    // A source that waits for its next piece ends when that has come.
    close: () => void pieces.return?.().catch(() => {}),
  };
}
