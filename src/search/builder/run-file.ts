import { ByteReader, ByteWriter } from "../segment/bytes.ts";
import { mapFile } from "../segment/file-reader.ts";
import type { MemoryRun } from "./memory-run.ts";
import {
  type RunHead,
  type RunPlace,
  type RunSource,
  type RunTerm,
  readRunTerm,
  writeRunTerm,
} from "./run-format.ts";
import { TemporaryFile } from "./temporary-file.ts";

/** Writes one run to a file of its own. */
export class RunWriter implements AsyncDisposable {
  readonly #file: TemporaryFile;
  readonly #head = new ByteWriter();

  private constructor(file: TemporaryFile) {
    this.#file = file;
  }

  static async create(path: string): Promise<RunWriter> {
    return new RunWriter(await TemporaryFile.create(path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]();
  }

  /** @param term a term that follows the previous one in code unit order */
  async term(term: RunTerm, postings: Uint8Array): Promise<void> {
    this.#head.clear();
    writeRunTerm(term, postings.length, this.#head);
    await this.#file.write(this.#head.written());
    await this.#file.write(postings);
  }

  /** Writes the terms of a run in memory, and its head. */
  async run(run: MemoryRun): Promise<RunPlace> {
    for (run.next(); run.current !== null; run.next()) await this.term(run.current, run.postings);
    return await this.finish(run);
  }

  async finish({ keys, keyCounts }: RunHead): Promise<RunPlace> {
    const headStart = this.#file.length;
    this.#head.clear();
    this.#head.varint(keys.length - 1);
    for (let number = 1; number < keys.length; number++) {
      this.#head.varint(keys[number]!);
      this.#head.varint(keyCounts[number]!);
    }
    await this.#file.write(this.#head.written());
    await this.#file.close();
    return { path: this.#file.path, headStart };
  }
}

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
    this.current = null;
    if (this.#nextTerm >= this.#headStart) return;
    this.reader.offset = this.#nextTerm;
    const term = readRunTerm(this.reader);
    this.current = term;
    this.#nextTerm = this.reader.offset + term.postingBytes;
  }
}
