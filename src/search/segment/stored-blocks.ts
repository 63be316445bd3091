import { ByteReader, ByteWriter } from "./bytes.ts";
import type { SegmentFile } from "./file-reader.ts";
import { corrupt } from "./layout.ts";
import { BlockCache } from "./score-tables.ts";

/**
 * The amount of text that is compressed together. Documentation in 700-byte sections shrinks to 50 % with 1
 * KiB, 41 % with 4 KiB, 35 % with 16 KiB and 33 % with 32 KiB; reading a block takes 18, 25, 94 and 126 µs,
 * and a page of hits reads ten.
 */
const BLOCK_BYTES = 4 * 1024;
const COMPRESSION_LEVEL = 3;

/** Packs documents into compressed blocks. */
export class StoredBlockWriter {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  readonly #raw = new ByteWriter(BLOCK_BYTES * 2);
  readonly #blocks: number[] = [];
  #firstDocument = 0;
  #documentCount = 0;
  #offset = 0;

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** @param record the next document's record */
  async add(record: Uint8Array): Promise<void> {
    this.#raw.varint(record.length);
    this.#raw.raw(record);
    this.#documentCount++;
    if (this.#raw.length >= BLOCK_BYTES) await this.#endBlock();
  }

  /**
   * Writes the rest.
   * @returns the index: start and first document of each block, as 64-bit floats
   */
  async finish(): Promise<Uint8Array> {
    if (this.#raw.length > 0) await this.#endBlock();
    this.#blocks.push(this.#offset, this.#documentCount);
    return new Uint8Array(Float64Array.from(this.#blocks).buffer);
  }

  async #endBlock(): Promise<void> {
    const compressed = Bun.zstdCompressSync(this.#raw.written(), { level: COMPRESSION_LEVEL });
    this.#blocks.push(this.#offset, this.#firstDocument);
    await this.#write(compressed);
    this.#offset += compressed.length;
    this.#firstDocument = this.#documentCount;
    this.#raw.clear();
  }
}

// Hits of one query are often in neighbouring blocks; more than a page of hits needs is not kept.
const CACHED_BLOCKS = 16;
const CACHEABLE_BYTES = 128 * 1024;

/** Finds documents in compressed blocks. */
export class StoredBlockReader {
  readonly #file: SegmentFile;
  readonly #start: number;
  readonly #cache = new BlockCache<Uint8Array>(CACHED_BLOCKS);
  #index: Float64Array | null = null;

  constructor(file: SegmentFile) {
    this.#file = file;
    this.#start = file.section("stored").start;
  }

  /** The document's record. */
  find(document: number): Uint8Array {
    const index = this.#openIndex();
    let low = 0;
    let high = index.length / 2 - 1;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (index[middle * 2 + 1]! <= document) low = middle;
      else high = middle;
    }
    const reader = new ByteReader(this.#block(low, index));
    for (let current = index[low * 2 + 1]!; current < document; current++) {
      const length = reader.varint();
      reader.offset += length;
    }
    return reader.raw(reader.varint());
  }

  #openIndex(): Float64Array {
    if (this.#index === null) {
      const bytes = this.#file.whole("storedOffsets");
      this.#index = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
    }
    return this.#index;
  }

  #block(block: number, index: Float64Array): Uint8Array {
    const cached = this.#cache.get(block);
    if (cached) return cached;
    const start = this.#start + index[block * 2]!;
    const end = this.#start + index[block * 2 + 2]!;
    this.#file.verify(start, end);
    const bytes = decompress(this.#file, start, end);
    if (bytes.length <= CACHEABLE_BYTES) this.#cache.set(block, bytes, 1);
    return bytes;
  }
}

function decompress(file: SegmentFile, start: number, end: number): Uint8Array {
  try {
    return Bun.zstdDecompressSync(file.bytes.subarray(start, end));
  } catch {
    throw corrupt(file.path, `stored text at ${start}`);
  }
}
