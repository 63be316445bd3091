import type { Analyser } from "../analysis/analyser.ts";
import { withRoom } from "../number-list.ts";
import { encodePositions, NO_SIGNATURE, writeFrequencies } from "../segment/postings.ts";
import { type AnalysedDocument, FIELD_COUNT } from "../types.ts";
import { FORM, MemoryRun, PostingBuffer, RunSignatures, TERM, USES, WORD, WordTable } from "./runs.ts";

const NONE = 0xffff_ffff;

/** The size of a posting with one position: the length of the rest, signature, position and form. */
const MAX_SINGLE_BYTES = 1 + 5 + 5 + 3;

/** Memory of a form or term in the vocabulary and in the tables of its words, in bytes. */
const STRING_BYTES = 200;

// The numbers of a term in the word table: the last document that had it, and its slot in that document.
const STAMP = 0;
const SLOT = 1;

/**
 * Inverts documents in memory: from each document's words to each word's documents. Postings are written one
 * after another into one array of bytes, and sorted by term when all are there.
 */
export class Inverter {
  readonly #words: WordTable;
  readonly #postings = new PostingBuffer();
  readonly #signatures = new RunSignatures();
  // Maps a slot to a term of the current document.
  #slotTerms = new Uint32Array(1024);
  #slotCount = 0;
  #firstToken = new Uint32Array(1024);
  #lastToken = new Uint32Array(1024);
  // Links each token to the next one of the same term.
  #nextToken = new Uint32Array(1024);
  readonly #frequencies = new Uint32Array(FIELD_COUNT);
  readonly #places = { positions: new Uint32Array(1024), forms: new Uint32Array(1024) };

  /** @param vocabulary the analyser's vocabulary, which is cleared after each run */
  constructor(vocabulary: Analyser) {
    this.#words = new WordTable(vocabulary);
  }

  /** The memory that grows with the documents; that of the vocabulary is estimated. */
  get byteLength(): number {
    return this.#postings.byteLength + this.#words.termCount * STRING_BYTES;
  }

  get isEmpty(): boolean {
    return this.#postings.documents.length === 0;
  }

  /** @param number the document's number in the order in which they came */
  add(document: AnalysedDocument, number: number): void {
    this.#words.learn();
    this.#groupTokens(document);
    this.#writePostings(document);
    this.#postings.endDocument(number);
  }

  /**
   * Everything that was added, as a run that is valid until `clear`.
   * @param order returns indexes into the run's documents, in the order of their addresses
   */
  run(order: (documents: Uint32Array) => Uint32Array): MemoryRun {
    const ordered = order(this.#postings.documents.used());
    return new MemoryRun(this.#words, this.#postings, this.#signatures, ordered);
  }

  /** Forgets what was added, and the vocabulary with it. */
  clear(): void {
    this.#words.clear();
    this.#postings.clear();
    this.#signatures.clear();
  }

  /** Links the tokens of each term in a document. */
  #groupTokens({ tokenCount, words }: AnalysedDocument): void {
    if (this.#nextToken.length < tokenCount) {
      this.#nextToken = new Uint32Array(tokenCount * 2);
      this.#slotTerms = new Uint32Array(tokenCount * 2);
      this.#firstToken = new Uint32Array(tokenCount * 2);
      this.#lastToken = new Uint32Array(tokenCount * 2);
    }
    const stamp = this.#postings.documents.length + 1;
    const { words: ofWord, terms: ofTerm } = this.#words;
    const nextToken = this.#nextToken;
    const firstToken = this.#firstToken;
    const lastToken = this.#lastToken;
    const slotTerms = this.#slotTerms;
    let slotCount = 0;
    for (let token = 0; token < tokenCount; token++) {
      const term = ofWord[words[token]! * WORD]!;
      nextToken[token] = NONE;
      if (ofTerm[term * TERM + STAMP] === stamp) {
        const slot = ofTerm[term * TERM + SLOT]!;
        nextToken[lastToken[slot]!] = token;
        lastToken[slot] = token;
        continue;
      }
      const slot = slotCount++;
      ofTerm[term * TERM + STAMP] = stamp;
      ofTerm[term * TERM + SLOT] = slot;
      slotTerms[slot] = term;
      firstToken[slot] = token;
      lastToken[slot] = token;
    }
    this.#slotCount = slotCount;
  }

  #writePostings(document: AnalysedDocument): void {
    for (let slot = 0; slot < this.#slotCount; slot++) {
      this.#postings.current.varint(this.#slotTerms[slot]!);
      const first = this.#firstToken[slot]!;
      if (this.#nextToken[first] === NONE) this.#writeSingle(document, first);
      else this.#writePosting(document, first);
    }
  }

  /** Writes the posting of a term that a document has once, like more than half of all terms. */
  #writeSingle({ words, fields, positions }: AnalysedDocument, token: number): void {
    const word = words[token]! * WORD;
    const ofWord = this.#words.words;
    ofWord[word + USES]!++;
    const form = ofWord[word + FORM]!;
    // This key stands for one occurrence in one field.
    const signature = this.#signatures.noteKey(1 << (4 * fields[token]!));
    const out = this.#postings.current;
    out.reserve(MAX_SINGLE_BYTES);
    const start = out.length;
    out.length = start + 1;
    out.varint(signature);
    out.varint(positions[token]! * 2 + (form === 0 ? 0 : 1));
    if (form !== 0) out.varint(form);
    out.bytes[start] = out.length - start - 1;
  }

  #writePosting(document: AnalysedDocument, first: number): void {
    const positionCount = this.#readChain(document, first);
    const signature = this.#signatures.note(this.#frequencies, positionCount);
    const out = this.#postings.current;
    const start = out.beginPrefixed();
    out.varint(signature);
    if (signature === NO_SIGNATURE) writeFrequencies(this.#frequencies, positionCount, out);
    // A later document of the run may still bring a second form, so every posting has the bit for forms.
    encodePositions(this.#places, { count: positionCount, hasForms: true }, out);
    out.endPrefixed(start);
  }

  /** Reads the frequencies and positions of linked tokens; returns the number of positions. */
  #readChain({ words, fields, positions }: AnalysedDocument, first: number): number {
    const frequencies = this.#frequencies;
    // For so few values a loop is faster than `fill`.
    for (let field = 0; field < FIELD_COUNT; field++) frequencies[field] = 0;
    const places = this.#places;
    const ofWord = this.#words.words;
    const nextToken = this.#nextToken;
    let count = 0;
    for (let token = first; token !== NONE; token = nextToken[token]!) {
      const word = words[token]! * WORD;
      frequencies[fields[token]!]!++;
      if (count === places.positions.length) {
        places.positions = withRoom(places.positions, count + 1);
        places.forms = withRoom(places.forms, count + 1);
      }
      const form = ofWord[word + FORM]!;
      if (this.#hasPlace(count, positions[token]!, form)) continue;
      places.positions[count] = positions[token]!;
      places.forms[count] = form;
      ofWord[word + USES]!++;
      count++;
    }
    return count;
  }

  #hasPlace(count: number, position: number, form: number): boolean {
    const { positions, forms } = this.#places;
    for (let place = count - 1; place >= 0 && positions[place] === position; place--) {
      if (forms[place] === form) return true;
    }
    return false;
  }
}
