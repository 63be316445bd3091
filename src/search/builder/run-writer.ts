import { ByteWriter } from "../segment/bytes.ts";
import { type RunPlace, type RunTerm, writeRunTerm } from "./run-format.ts";
import type { RunSignatures } from "./run-signatures.ts";
import { TemporaryFile } from "./temporary-file.ts";

/** Writes one run to a file of its own. */
export class RunWriter implements AsyncDisposable {
  readonly #file: TemporaryFile;
  readonly #head = new ByteWriter();
  #place: RunPlace | null = null;

  private constructor(file: TemporaryFile) {
    this.#file = file;
  }

  static async create(path: string): Promise<RunWriter> {
    return new RunWriter(await TemporaryFile.create(path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]();
  }

  /** Where the run is, once it is finished. */
  get place(): RunPlace {
    if (this.#place === null) throw new Error("the run is not finished");
    return this.#place;
  }

  /**
   * @param term after the terms before it in code unit order
   * @returns null when nothing is to be waited for
   */
  term(term: Omit<RunTerm, "postingBytes">, postings: ByteWriter): Promise<void> | null {
    this.#head.clear();
    writeRunTerm(term, postings.length, this.#head);
    const writing = this.#file.writeFrom(this.#head);
    return writing === null ? this.#file.writeFrom(postings) : this.#writeAfter(writing, postings);
  }

  async #writeAfter(writing: Promise<void>, postings: ByteWriter): Promise<void> {
    await writing;
    await this.#file.writeFrom(postings);
  }

  async finish(signatures: RunSignatures): Promise<void> {
    const headStart = this.#file.length;
    this.#head.clear();
    this.#head.varint(signatures.size);
    for (const [key, count] of signatures.entries()) {
      this.#head.varint(key);
      this.#head.varint(count);
    }
    await this.#file.write(this.#head.written());
    await this.#file.close();
    this.#place = { path: this.#file.path, headStart, end: this.#file.length };
  }
}
