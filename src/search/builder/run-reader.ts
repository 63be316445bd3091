import { ByteReader } from "../segment/bytes.ts";
import { mapFile } from "../segment/map-file.ts";
import { type RunPlace, type RunSource, type RunTerm, readRunTerm } from "./run-format.ts";

/** Walks a run in a temporary file. */
export class RunReader implements RunSource {
  current: RunTerm | null = null;
  readonly reader: ByteReader;
  readonly keys: readonly number[];
  readonly keyCounts: readonly number[];
  readonly #headStart: number;
  #nextTerm = 0;

  constructor(place: RunPlace) {
    this.#headStart = place.headStart;
    // The file is mapped, so that a long run uses the system's cache instead of the program's memory.
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
    const term = readRunTerm(this.reader);
    this.current = term;
    this.#nextTerm = this.reader.offset + term.postingBytes;
  }
}
