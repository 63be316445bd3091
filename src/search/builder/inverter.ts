import { ByteWriter } from "../segment/bytes.ts";
import { encodePositions } from "../segment/positions-codec.ts";
import { NO_SIGNATURE } from "../segment/signatures.ts";
import { type AnalysedDocument, FIELDS, type Vocabulary } from "../types.ts";
import { NumberList } from "./numbers.ts";
import type { RunTerm } from "./run-format.ts";
import { RunSignatures } from "./run-signatures.ts";
import type { RunWriter } from "./run-writer.ts";

const FIELD_COUNT = FIELDS.length;
const MAX_FORM = 0xffff;
const NONE = 0xffff_ffff;

/**
 * Turns documents with words into words with documents, in memory. Postings are written one after another
 * into one array of bytes, in the form that runs have; sorting by term happens when the run is written.
 */
export class Inverter {
  readonly #vocabulary: Vocabulary;
  // By word of the vocabulary.
  readonly #termOfWord = new NumberList();
  readonly #formOfWord = new NumberList();
  readonly #uses = new NumberList();
  readonly #nextWordOfTerm = new NumberList();
  // By term.
  readonly #termNumbers = new Map<string, number>();
  readonly #terms: string[] = [];
  readonly #firstWord = new NumberList();
  readonly #lastWord = new NumberList();
  readonly #formCount = new NumberList();
  readonly #slotOfTerm = new NumberList();
  readonly #documentOfSlot = new NumberList();
  // By term of the current document.
  readonly #slotTerms = new NumberList();
  #firstToken = new Uint32Array(1024);
  #lastToken = new Uint32Array(1024);
  #nextToken = new Uint32Array(1024);
  // By posting.
  readonly #postingTerms = new NumberList(64 * 1024);
  readonly #postingStarts = new NumberList(64 * 1024);
  readonly #postings = new ByteWriter(1024 * 1024);
  // By document of this run.
  readonly #documents = new NumberList();
  readonly #documentStarts = new NumberList();
  readonly #signatures = new RunSignatures();
  readonly #frequencies = new Uint32Array(FIELD_COUNT);
  readonly #places = { positions: new Uint32Array(1024), forms: new Uint32Array(1024) };

  /** @param vocabulary of the analyser whose documents are added; emptied with each run */
  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** Memory that grows with the documents, without the vocabulary. */
  get byteLength(): number {
    return this.#postings.length + this.#postingTerms.length * 8;
  }

  get isEmpty(): boolean {
    return this.#documents.length === 0;
  }

  /** @param number of the document, in the order in which they came */
  add(document: AnalysedDocument, number: number): void {
    this.#learnWords();
    this.#documents.push(number);
    this.#documentStarts.push(this.#postingTerms.length);
    this.#groupTokens(document);
    for (let slot = 0; slot < this.#slotTerms.length; slot++) {
      this.#writePosting(document, number, slot);
    }
  }

  /**
   * Writes all postings as a run and forgets them, with the vocabulary.
   * @param order places in the run's documents, in the order of their addresses
   */
  async flush(order: (documents: Uint32Array) => Uint32Array, writer: RunWriter): Promise<void> {
    const byTerm = this.#sortPostings(order(this.#documents.used()));
    for (const { number, start, end } of byTerm.terms) {
      const bytes = this.#gather(byTerm.postings, start, end);
      const writing = writer.term(this.#describeTerm(number, end - start), bytes);
      if (writing !== null) await writing;
    }
    await writer.finish(this.#signatures);
    this.#forget();
  }

  #learnWords(): void {
    const vocabulary = this.#vocabulary;
    for (let word = this.#termOfWord.length; word < vocabulary.size; word++) {
      const text = vocabulary.term(word);
      let term = this.#termNumbers.get(text);
      if (term === undefined) {
        term = this.#terms.push(text) - 1;
        this.#termNumbers.set(text, term);
        this.#firstWord.push(word);
        this.#lastWord.push(word);
        this.#formCount.push(0);
        this.#slotOfTerm.push(0);
        this.#documentOfSlot.push(0);
      } else {
        this.#nextWordOfTerm.values[this.#lastWord.values[term]!] = word;
        this.#lastWord.values[term] = word;
      }
      this.#termOfWord.push(term);
      this.#formOfWord.push(Math.min(MAX_FORM, this.#formCount.values[term]!++));
      this.#uses.push(0);
      this.#nextWordOfTerm.push(NONE);
    }
  }

  /** Chains the tokens of each term of a document. */
  #groupTokens({ tokenCount, words }: AnalysedDocument): void {
    if (this.#nextToken.length < tokenCount) {
      this.#nextToken = new Uint32Array(tokenCount * 2);
      this.#firstToken = new Uint32Array(tokenCount * 2);
      this.#lastToken = new Uint32Array(tokenCount * 2);
    }
    const stamp = this.#documents.length;
    const termOfWord = this.#termOfWord.values;
    const slots = this.#slotOfTerm.values;
    const stamps = this.#documentOfSlot.values;
    this.#slotTerms.clear();
    for (let token = 0; token < tokenCount; token++) {
      const term = termOfWord[words[token]!]!;
      this.#nextToken[token] = NONE;
      if (stamps[term] === stamp) {
        const slot = slots[term]!;
        this.#nextToken[this.#lastToken[slot]!] = token;
        this.#lastToken[slot] = token;
        continue;
      }
      const slot = this.#slotTerms.length;
      stamps[term] = stamp;
      slots[term] = slot;
      this.#slotTerms.push(term);
      this.#firstToken[slot] = token;
      this.#lastToken[slot] = token;
    }
  }

  #writePosting(document: AnalysedDocument, number: number, slot: number): void {
    const term = this.#slotTerms.values[slot]!;
    const positionCount = this.#readChain(document, this.#firstToken[slot]!);
    const signature = this.#signatures.note(this.#frequencies, positionCount);
    this.#postingTerms.push(term);
    this.#postingStarts.push(this.#postings.length);
    const out = this.#postings;
    out.varint(number);
    out.varint(signature);
    if (signature === NO_SIGNATURE) {
      for (let field = 0; field < FIELD_COUNT; field++) out.varint(this.#frequencies[field]!);
      out.varint(positionCount);
    }
    // Whether a later document of the run brings a second form is not known yet: all have the bit.
    const start = out.beginPrefixed();
    encodePositions(this.#places, { count: positionCount, hasForms: true }, out);
    out.endPrefixed(start);
  }

  /** Frequencies and places of a chain of tokens. @returns the number of places */
  #readChain({ words, fields, positions }: AnalysedDocument, first: number): number {
    const frequencies = this.#frequencies;
    // A loop is faster than `fill` for so few.
    for (let field = 0; field < FIELD_COUNT; field++) frequencies[field] = 0;
    const places = this.#places;
    const formOfWord = this.#formOfWord.values;
    const uses = this.#uses.values;
    let count = 0;
    for (let token = first; token !== NONE; token = this.#nextToken[token]!) {
      const word = words[token]!;
      frequencies[fields[token]!]!++;
      if (count === places.positions.length) this.#growPlaces();
      const form = formOfWord[word]!;
      if (this.#hasPlace(count, positions[token]!, form)) continue;
      places.positions[count] = positions[token]!;
      places.forms[count] = form;
      uses[word]!++;
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

  #growPlaces(): void {
    for (const name of ["positions", "forms"] as const) {
      const grown = new Uint32Array(this.#places[name].length * 2);
      grown.set(this.#places[name]);
      this.#places[name] = grown;
    }
  }

  /** Postings in the order of terms and, within a term, of documents. */
  #sortPostings(documentOrder: Uint32Array): SortedPostings {
    // The built-in order of strings is that of their code units, and far faster than a function that compares.
    const order = this.#terms.toSorted().map((term) => this.#termNumbers.get(term)!);
    const counts = new Uint32Array(this.#terms.length);
    const postingTerms = this.#postingTerms.used();
    for (const term of postingTerms) counts[term]!++;
    const terms: SortedPostings["terms"] = [];
    const next = new Uint32Array(this.#terms.length);
    let start = 0;
    for (const number of order) {
      if (counts[number] === 0) continue;
      terms.push({ number, start, end: start + counts[number]! });
      next[number] = start;
      start += counts[number]!;
    }
    const postings = new Uint32Array(postingTerms.length);
    for (const place of documentOrder) {
      const end =
        place + 1 < this.#documentStarts.length
          ? this.#documentStarts.values[place + 1]!
          : postingTerms.length;
      for (let posting = this.#documentStarts.values[place]!; posting < end; posting++) {
        postings[next[postingTerms[posting]!]!++] = posting;
      }
    }
    return { terms, postings };
  }

  readonly #gathered = new ByteWriter(64 * 1024);

  /** The bytes of the postings from one index to another, valid until the next call. */
  #gather(postings: Uint32Array, from: number, to: number): ByteWriter {
    const { bytes } = this.#postings;
    const { values: starts, length: count } = this.#postingStarts;
    const out = this.#gathered;
    out.clear();
    for (let index = from; index < to; index++) {
      const posting = postings[index]!;
      const start = starts[posting]!;
      const end = posting + 1 < count ? starts[posting + 1]! : this.#postings.length;
      out.reserve(end - start);
      // A posting is a dozen bytes: a loop is faster than a view and `set`.
      const target = out.bytes;
      let length = out.length;
      for (let at = start; at < end; at++) target[length++] = bytes[at]!;
      out.length = length;
    }
    return out;
  }

  #describeTerm(number: number, postingCount: number): Omit<RunTerm, "postingBytes"> {
    const forms: string[] = [];
    const formCounts: number[] = [];
    for (
      let word = this.#firstWord.values[number]!;
      word !== NONE;
      word = this.#nextWordOfTerm.values[word]!
    ) {
      if (forms.length > MAX_FORM) break;
      forms.push(this.#vocabulary.form(word));
      formCounts.push(this.#uses.values[word]!);
    }
    return { term: this.#terms[number]!, forms, formCounts, postingCount };
  }

  #forget(): void {
    this.#vocabulary.clear();
    this.#termNumbers.clear();
    this.#terms.length = 0;
    this.#postings.clear();
    this.#signatures.clear();
    for (const list of [
      this.#termOfWord,
      this.#formOfWord,
      this.#uses,
      this.#nextWordOfTerm,
      this.#firstWord,
      this.#lastWord,
      this.#formCount,
      this.#slotOfTerm,
      this.#documentOfSlot,
      this.#postingTerms,
      this.#postingStarts,
      this.#documents,
      this.#documentStarts,
    ]) {
      list.clear();
    }
  }
}

type SortedPostings = {
  /** In code unit order, with their range in `postings`. */
  readonly terms: { readonly number: number; readonly start: number; readonly end: number }[];
  readonly postings: Uint32Array;
};
