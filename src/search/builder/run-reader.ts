import { ByteReader } from "../segment/bytes.ts";
import { mapFile } from "../segment/map-file.ts";
import { readSignatureKey } from "../segment/signatures.ts";
import { FIELDS } from "../types.ts";
import { type RunPlace, type RunTerm, readRunTerm } from "./run-format.ts";

/** Walks the terms of a run; begins before the first. */
export class RunReader {
  /** The current term; null at the end. */
  current: RunTerm | null = null;
  /** Stands at the postings of the current term. */
  readonly reader: ByteReader;
  /** By number of the run, from 1. */
  readonly keys: readonly number[];
  readonly keyCounts: readonly number[];
  readonly #headStart: number;
  #nextTerm = 0;

  constructor(place: RunPlace) {
    this.#headStart = place.headStart;
    // Mapped, so that a long run costs the system's cache and not the program's memory.
    const bytes = mapFile(place.path);
    const head = new ByteReader(bytes, place.headStart);
    const count = head.varint();
    const keys = [0];
    const keyCounts = [0];
    for (let number = 1; number <= count; number++) {
      keys.push(head.varint());
      keyCounts.push(head.varint());
    }
    this.keys = keys;
    this.keyCounts = keyCounts;
    this.reader = new ByteReader(bytes);
  }

  next(): void {
    if (this.#nextTerm >= this.#headStart) {
      this.current = null;
      return;
    }
    this.reader.offset = this.#nextTerm;
    this.current = readRunTerm(this.reader);
    this.#nextTerm = this.reader.offset + this.current.postingBytes;
  }

  /** By number of the signature: its frequencies by field number, and its positions. */
  expandKeys(): { readonly frequencies: readonly Uint32Array[]; readonly positionCounts: Uint32Array } {
    const frequencies = this.keys.map(() => new Uint32Array(FIELDS.length));
    const positionCounts = Uint32Array.from(this.keys, (key, number) =>
      readSignatureKey(key, frequencies[number]!),
    );
    return { frequencies, positionCounts };
  }
}
