import type { Analyser } from "../analysis/analyser.ts";
import { NumberList, withRoom } from "../number-list.ts";
import { ByteReader, ByteWriter, decodeCodeUnits, encodedLength, writeCodeUnits } from "../segment/bytes.ts";
import { mapFile } from "../segment/file.ts";
import { NO_SIGNATURE, signatureKey } from "../segment/postings.ts";
import type { TemporaryFile } from "./temporary-file.ts";

/**
 * A run: the postings of some documents, sorted by term, in memory or in a temporary file.
 *
 *     run     = terms, head
 *     head    = count of signatures, then the key and the count of postings of each, from number 1 on
 *     term    = length, term, count of forms, (length, form, count of positions) of each,
 *               count of postings, length of the postings, postings
 *     posting = document, length of the rest, number of its signature (0: frequencies and count of positions
 *               follow), positions
 *
 * Documents are numbered in the order in which they came; texts are bytes in code unit order.
 */
type RunTerm = {
  readonly term: string;
  readonly forms: readonly string[];
  /** The number of positions of each form. */
  readonly formCounts: readonly number[];
  readonly postingCount: number;
};

/** The signatures of a run: their keys by number, from 1, and how many postings have each. */
type RunHead = { readonly keys: readonly number[]; readonly keyCounts: readonly number[] };

/** Walks the terms of a run in code unit order. It starts before the first term. */
export interface RunSource {
  readonly head: RunHead;
  /** The current term; null at the end. */
  readonly current: RunTerm | null;
  /** A reader at the postings of the current term, which are in the order of the index. */
  readonly reader: ByteReader;
  next(): void;
}

/** The temporary file of a run, and the position of its head. */
export type RunPlace = { readonly path: string; readonly headStart: number };

function writeText(text: string, writer: ByteWriter): void {
  writer.varint(encodedLength(text));
  writeCodeUnits(text, writer);
}

function readText(reader: ByteReader): string {
  const length = reader.varint();
  const start = reader.offset;
  reader.offset += length;
  return decodeCodeUnits(reader.bytes, start, start + length);
}

function writeRunTerm(term: RunTerm, postingBytes: number, writer: ByteWriter): void {
  writeText(term.term, writer);
  writer.varint(term.forms.length);
  term.forms.forEach((form, index) => {
    writeText(form, writer);
    writer.varint(term.formCounts[index]!);
  });
  writer.varint(term.postingCount);
  writer.varint(postingBytes);
}

function readRunTerm(reader: ByteReader): RunTerm & { readonly postingBytes: number } {
  const term = readText(reader);
  const formCount = reader.varint();
  const forms: string[] = [];
  const formCounts: number[] = [];
  for (let index = 0; index < formCount; index++) {
    forms.push(readText(reader));
    formCounts.push(reader.varint());
  }
  return { term, forms, formCounts, postingCount: reader.varint(), postingBytes: reader.varint() };
}

/** Writes one run to a file of its own, which it closes. */
export class RunWriter {
  readonly #file: TemporaryFile;
  readonly #head = new ByteWriter();

  constructor(file: TemporaryFile) {
    this.#file = file;
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
    return await this.finish(run.head);
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
  readonly head: RunHead;
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
    this.head = { keys, keyCounts };
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

/** Size of the parts in which postings are sorted, in bytes; each part takes a walk over all postings. */
const PART_BYTES = 24 * 1024 * 1024;

/** Walks the postings of an inverter as a run. */
export class MemoryRun implements RunSource {
  current: RunTerm | null = null;
  readonly reader = new ByteReader(new Uint8Array(0));
  readonly head: RunHead;
  readonly #words: WordTable;
  readonly #buffer: PostingBuffer;
  readonly #order: Uint32Array;
  readonly #terms: Uint32Array;
  /** How many postings each term has, and how many bytes they take. */
  readonly #counts: Uint32Array;
  readonly #sizes: Uint32Array;
  #rank = 0;
  #end = 0;
  #sortedRanks = 0;

  /** @param order indexes into the run's documents, in the order of their addresses */
  constructor(words: WordTable, postings: PostingBuffer, signatures: RunSignatures, order: Uint32Array) {
    this.#words = words;
    this.#buffer = postings;
    this.#order = order;
    const { counts, sizes } = postings.measure(words.termCount);
    this.#counts = counts;
    this.#sizes = sizes;
    // Words from before this run have no postings.
    this.#terms = words.sortedTerms().filter((term) => counts[term]! > 0);
    this.head = signatures.head();
  }

  /** The bytes of the current term's postings. */
  get postings(): Uint8Array {
    return this.reader.bytes.subarray(this.reader.offset, this.#end);
  }

  next(): void {
    this.current = null;
    if (this.#rank === this.#terms.length) return;
    if (this.#rank === this.#sortedRanks) this.#sortPart();
    const term = this.#terms[this.#rank++]!;
    this.reader.offset = this.#end;
    this.#end += this.#sizes[term]!;
    this.current = { ...this.#words.formsOf(term), postingCount: this.#counts[term]! };
  }

  #sortPart(): void {
    // Otherwise the garbage of analysis and merging grows to the size of their live data.
    if (this.#buffer.byteLength > PART_BYTES) Bun.gc(true);
    const ends = new Uint32Array(this.#sizes.length).fill(NONE);
    let byteCount = 0;
    do {
      const term = this.#terms[this.#sortedRanks++]!;
      ends[term] = byteCount;
      byteCount += this.#sizes[term]!;
    } while (this.#sortedRanks < this.#terms.length && byteCount < PART_BYTES);
    if (this.reader.bytes.length < byteCount) this.reader.bytes = new Uint8Array(byteCount);
    this.#buffer.sort(ends, this.#order, this.reader.bytes);
    this.#end = 0;
  }
}

const RECENT = 1024;

/** The signatures of a run's postings, numbered from 1 in the order of their first use, each with its count. */
export class RunSignatures {
  readonly #numbers = new Map<number, number>();
  readonly #counts = new NumberList();
  // This small cache answers before the map for nearly all postings: each hash has one key and its number.
  readonly #recentKeys = new Float64Array(RECENT).fill(-1);
  readonly #recentNumbers = new Uint32Array(RECENT);

  /** @returns the number to write, `NO_SIGNATURE` for frequencies that have no key */
  note(frequencies: Uint32Array, positionCount: number): number {
    const key = signatureKey(frequencies, positionCount);
    return key < 0 ? NO_SIGNATURE : this.noteKey(key);
  }

  /** Does the same for a key that `signatureKey` returned. */
  noteKey(key: number): number {
    const place = Math.imul(key | 0, 0x9e37_79b1) >>> 22;
    const number = this.#recentKeys[place] === key ? this.#recentNumbers[place]! : this.#find(key, place);
    this.#counts.values[number - 1]!++;
    return number;
  }

  /** The keys by number, and how many postings have each. */
  head(): RunHead {
    return { keys: [0, ...this.#numbers.keys()], keyCounts: [0, ...this.#counts.used()] };
  }

  clear(): void {
    this.#numbers.clear();
    this.#counts.clear();
    this.#recentKeys.fill(-1);
  }

  #find(key: number, place: number): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      this.#counts.push(0);
      number = this.#counts.length;
      this.#numbers.set(key, number);
    }
    this.#recentKeys[place] = key;
    this.#recentNumbers[place] = number;
    return number;
  }
}

const MAX_FORM = 0xffff;
const NONE = 0xffff_ffff;

// The numbers of a word or a term lie side by side, so that a token touches one cache line for each.

/** Numbers for a word: its term, its form's number within the term, its positions, the term's next word. */
export const WORD = 4;
export const FORM = 1;
export const USES = 2;
const NEXT = 3;

/** Numbers for a term: two for the code that groups tokens, then its first and its last word. */
export const TERM = 4;
const FIRST = 2;
const LAST = 3;

/** A run's data about the words of a vocabulary. A term has the number of its string. */
export class WordTable {
  readonly #vocabulary: Analyser;
  #wordCount = 0;
  #termCount = 0;
  /** `WORD` numbers for each word. */
  words = new Uint32Array(1024 * WORD);
  /** `TERM` numbers for each term; the first two start at 0. */
  terms = new Uint32Array(1024 * TERM);

  constructor(vocabulary: Analyser) {
    this.#vocabulary = vocabulary;
  }

  /** All term numbers are below this; not every number belongs to a term. */
  get termCount(): number {
    return this.#termCount;
  }

  /** Adds the words that are new in the vocabulary. */
  learn(): void {
    const vocabulary = this.#vocabulary;
    if (this.#wordCount === vocabulary.size) return;
    this.terms = withRoom(this.terms, vocabulary.stringCount * TERM);
    for (let at = this.#termCount * TERM; at < vocabulary.stringCount * TERM; at += TERM) {
      this.terms[at] = 0;
      this.terms[at + FIRST] = NONE;
    }
    this.#termCount = vocabulary.stringCount;
    this.words = withRoom(this.words, vocabulary.size * WORD);
    for (let word = this.#wordCount; word < vocabulary.size; word++) {
      this.#learnWord(word, vocabulary.termNumber(word));
    }
    this.#wordCount = vocabulary.size;
  }

  /** All terms in code unit order. */
  sortedTerms(): Uint32Array {
    const found = new Uint32Array(this.#termCount);
    let count = 0;
    for (let term = 0; term < this.#termCount; term++)
      if (this.terms[term * TERM + FIRST] !== NONE) found[count++] = term;
    const texts = Array.from({ length: this.#termCount }, (_, term) => this.#vocabulary.string(term));
    return found.subarray(0, count).sort((a, b) => (texts[a]! < texts[b]! ? -1 : 1));
  }

  /** The text of a term, its forms, and how often each was used. */
  formsOf(term: number) {
    const forms: string[] = [];
    const formCounts: number[] = [];
    for (let word = this.terms[term * TERM + FIRST]!; word !== NONE; word = this.words[word * WORD + NEXT]!) {
      if (forms.length > MAX_FORM) break;
      forms.push(this.#vocabulary.form(word));
      formCounts.push(this.words[word * WORD + USES]!);
    }
    return { term: this.#vocabulary.string(term), forms, formCounts };
  }

  /** Forgets all words, in the vocabulary too. */
  clear(): void {
    this.#vocabulary.clear();
    this.#wordCount = 0;
    this.#termCount = 0;
  }

  #learnWord(word: number, term: number): void {
    const { words, terms } = this;
    let form = 0;
    if (terms[term * TERM + FIRST] === NONE) terms[term * TERM + FIRST] = word;
    else {
      const last = terms[term * TERM + LAST]! * WORD;
      words[last + NEXT] = word;
      form = Math.min(MAX_FORM, words[last + FORM]! + 1);
    }
    terms[term * TERM + LAST] = word;
    words[word * WORD] = term;
    words[word * WORD + FORM] = form;
    words[word * WORD + USES] = 0;
    words[word * WORD + NEXT] = NONE;
  }
}

const CHUNK_BYTES = 4 * 1024 * 1024;

/** Postings of some documents, one document after another. Each document lies completely in one chunk. */
type Chunk = { readonly bytes: Uint8Array; length: number };

/**
 * Postings in memory in the order in which they came. Each holds the number of its term, the length of the
 * rest, and the rest in the form of a run. A posting takes about nine bytes, so most builds spill nothing.
 */
export class PostingBuffer {
  /** Document numbers in the order in which they came. */
  readonly documents = new NumberList();
  /** Receives the postings of the current document. */
  readonly current = new ByteWriter(64 * 1024);
  // These hold the chunk of each document, and its range in the chunk.
  readonly #chunkOf = new NumberList();
  readonly #starts = new NumberList();
  readonly #ends = new NumberList();
  #chunks: Chunk[] = [];
  #byteLength = 0;

  get byteLength(): number {
    return this.#byteLength;
  }

  /** Stores the contents of `current` as the postings of a document. */
  endDocument(document: number): void {
    const { length } = this.current;
    const chunk = this.#roomFor(length);
    chunk.bytes.set(this.current.written(), chunk.length);
    this.documents.push(document);
    this.#chunkOf.push(this.#chunks.length - 1);
    this.#starts.push(chunk.length);
    chunk.length += length;
    this.#ends.push(chunk.length);
    this.#byteLength += length;
    this.current.clear();
  }

  clear(): void {
    for (const list of [this.documents, this.#chunkOf, this.#starts, this.#ends]) list.clear();
    this.#chunks = [];
    this.#byteLength = 0;
  }

  /**
   * Copies the postings of some terms, sorted by term and, within a term, by document.
   * @param ends where those of a term begin, and afterwards where they end; `NONE` for a term that is left out
   * @param order indexes into `documents` in the wanted order
   */
  sort(ends: Uint32Array, order: Uint32Array, bytes: Uint8Array): void {
    // It reads in order and writes to scattered places; the other way round, the processor would wait often.
    for (let index = 0; index < order.length; index++) {
      const document = this.documents.values[order[index]!]!;
      const end = this.#read(order[index]!);
      const reader = this.#reader;
      const from = reader.bytes;
      while (reader.offset < end) {
        const term = reader.varint();
        let at = reader.offset;
        const count = reader.varint();
        const stop = reader.offset + count;
        reader.offset = stop;
        if (ends[term] === NONE) continue;
        let to = putVarint(bytes, ends[term]!, document);
        while (at < stop) bytes[to++] = from[at++]!;
        ends[term] = to;
      }
    }
  }

  readonly #reader = new ByteReader(new Uint8Array(0));

  /** Counts the postings of each term, and the bytes that they will take. */
  measure(termCount: number): { readonly counts: Uint32Array; readonly sizes: Uint32Array } {
    const counts = new Uint32Array(termCount);
    const sizes = new Uint32Array(termCount);
    const reader = this.#reader;
    for (let place = 0; place < this.documents.length; place++) {
      const documentBytes = varintLength(this.documents.values[place]!);
      const end = this.#read(place);
      while (reader.offset < end) {
        const term = reader.varint();
        const start = reader.offset;
        const count = reader.varint();
        reader.offset += count;
        counts[term]!++;
        sizes[term]! += documentBytes + reader.offset - start;
      }
    }
    return { counts, sizes };
  }

  /** Sets the reader to a document's postings; returns where they end. */
  #read(place: number): number {
    this.#reader.bytes = this.#chunks[this.#chunkOf.values[place]!]!.bytes;
    this.#reader.offset = this.#starts.values[place]!;
    return this.#ends.values[place]!;
  }

  #roomFor(count: number): Chunk {
    const last = this.#chunks[this.#chunks.length - 1];
    if (last !== undefined && last.length + count <= last.bytes.length) return last;
    const chunk = { bytes: new Uint8Array(Math.max(CHUNK_BYTES, count)), length: 0 };
    this.#chunks.push(chunk);
    return chunk;
  }
}

const varintLength = (value: number): number => (value < 128 ? 1 : Math.ceil((32 - Math.clz32(value)) / 7));

/** Writes a number below 2^32 as `ByteWriter` does; returns the offset after it. */
function putVarint(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest >= 128) {
    bytes[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  return at;
}
