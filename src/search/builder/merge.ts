import type { ByteReader, ByteWriter } from "../segment/bytes.ts";
import {
  fieldMaskOf,
  NO_SIGNATURE,
  PostingWriter,
  readSignatureKey,
  SignatureNumbers,
} from "../segment/postings.ts";
import { byCodeUnits } from "../segment/terms.ts";
import { FIELD_COUNT } from "../types.ts";
import type { RunSource } from "./runs.ts";

const MAX_FORM = 0xffff;

/** A term with its postings from all runs. */
type MergedTerm = {
  readonly term: string;
  readonly documentFrequency: number;
  /** The forms, the most frequent first. */
  readonly forms: readonly string[];
  /** The postings, valid until the next term. */
  readonly postings: ByteWriter;
};

/** Computes the signatures of the merged index. */
export function mergeSignatures(runs: readonly RunSource[]): SignatureNumbers {
  const counts = new Map<number, number>();
  for (const { keys, keyCounts } of runs.map(({ head }) => head)) {
    for (let number = 1; number < keys.length; number++) {
      counts.set(keys[number]!, (counts.get(keys[number]!) ?? 0) + keyCounts[number]!);
    }
  }
  return new SignatureNumbers(counts);
}

export type MergeOptions = {
  readonly runs: readonly RunSource[];
  readonly signatures: SignatureNumbers;
  /** Maps the order of arrival to the document number in the index. */
  readonly finalNumbers: Uint32Array;
  /** Field lengths by field, then by document number. */
  readonly lengths: readonly Uint32Array[];
};

/** Merges runs term by term, in code unit order. */
export class RunMerger {
  readonly #sources: readonly Source[];
  readonly #finalNumbers: Uint32Array;
  readonly #writer: PostingWriter;
  readonly #frequencies: Uint32Array = new Uint32Array(FIELD_COUNT);
  readonly #input = {
    document: 0,
    number: 0,
    frequencies: this.#frequencies,
    fieldMask: 0,
    positionCount: 0,
  };
  #keys = new Float64Array(1024);
  #offsets = new Float64Array(1024);
  #sourceOf = new Uint16Array(1024);

  constructor({ runs, signatures, finalNumbers, lengths }: MergeOptions) {
    this.#finalNumbers = finalNumbers;
    this.#writer = new PostingWriter(lengths);
    this.#sources = runs.map((run) => ({
      run,
      numbers: Uint32Array.from(run.head.keys, (key, number) =>
        number === 0 ? 0 : signatures.numberOf(key),
      ),
      ...expandKeys(run.head.keys),
      formRanks: new Uint16Array(0),
    }));
  }

  *terms(): Generator<MergedTerm> {
    for (const { run } of this.#sources) run.next();
    for (let term = this.#firstTerm(); term !== null; term = this.#firstTerm()) {
      const holders = this.#holdersOf(term);
      const forms = rankForms(holders);
      const hasForms = forms.length > 1;
      const count = countOf(holders);
      this.#writer.begin(count);
      if (holders.length === 1) this.#copyRun(holders[0]!, hasForms);
      else this.#mergeRuns(holders, hasForms);
      yield { term, documentFrequency: count, forms, postings: this.#writer.finish() };
      for (const { run } of holders) run.next();
    }
  }

  #holdersOf(term: string): readonly Source[] {
    // Most builds have one run, and hundreds of thousands of terms.
    if (this.#sources.length === 1) return this.#sources;
    return this.#sources.filter(({ run }) => run.current?.term === term);
  }

  #firstTerm(): string | null {
    let first: string | null = null;
    for (const { run } of this.#sources) {
      const term = run.current?.term;
      if (term !== undefined && (first === null || term < first)) first = term;
    }
    return first;
  }

  /** Copies the postings of a single run, which are already in the order of the index. */
  #copyRun(source: Source, hasForms: boolean): void {
    const count = source.run.current?.postingCount ?? 0;
    for (let posting = 0; posting < count; posting++) {
      const document = this.#finalNumbers[source.run.reader.varint()]!;
      this.#copy(source, document, hasForms);
    }
  }

  /** Copies the postings of several runs, sorted by document. */
  #mergeRuns(holders: readonly Source[], hasForms: boolean): void {
    this.#reserve(countOf(holders));
    let count = 0;
    holders.forEach(({ run: { reader, current } }, source) => {
      for (let posting = 0; posting < (current?.postingCount ?? 0); posting++) {
        this.#keys[count] = this.#finalNumbers[reader.varint()]! * PLACES + count;
        this.#offsets[count] = reader.offset;
        this.#sourceOf[count] = source;
        count++;
        const length = reader.varint();
        reader.offset += length;
      }
    });
    this.#keys.subarray(0, count).sort();
    for (let index = 0; index < count; index++) {
      const key = this.#keys[index]!;
      const place = key % PLACES;
      const source = holders[this.#sourceOf[place]!]!;
      source.run.reader.offset = this.#offsets[place]!;
      this.#copy(source, Math.floor(key / PLACES), hasForms);
    }
  }

  /** Writes the current posting; the source's reader stands right after its document number. */
  #copy(
    { run: { reader }, numbers, frequencies, fieldMasks, positionCounts, formRanks }: Source,
    document: number,
    hasForms: boolean,
  ): void {
    reader.varint(); // length of the rest
    const local = reader.varint();
    let positionCount = positionCounts[local]!;
    this.#input.frequencies = frequencies[local]!;
    this.#input.fieldMask = fieldMasks[local]!;
    if (local === NO_SIGNATURE) {
      const ofPosting = this.#frequencies;
      for (let field = 0; field < FIELD_COUNT; field++) ofPosting[field] = reader.varint();
      positionCount = reader.varint();
      this.#input.frequencies = ofPosting;
      this.#input.fieldMask = fieldMaskOf(ofPosting);
    }
    this.#input.document = document;
    this.#input.number = numbers[local]!;
    this.#input.positionCount = positionCount;
    const out = this.#writer.add(this.#input);
    if (hasForms) copyPlaces(reader, positionCount, formRanks, out);
    // A term with one form may have had several in the older index from which it is carried over.
    else if (formRanks.length > 1) copyPositions(reader, positionCount, out);
    else for (let place = 0; place < positionCount; place++) out.varint(reader.varint() >>> 1);
  }

  #reserve(count: number): void {
    if (count <= this.#keys.length) return;
    this.#keys = new Float64Array(count * 2);
    this.#offsets = new Float64Array(count * 2);
    this.#sourceOf = new Uint16Array(count * 2);
  }
}

/** A key is document × this + place; it is exact below 2^53, that is for documents and places below 2^26. */
const PLACES = 2 ** 26;

type Source = {
  readonly run: RunSource;
  /** Maps a number in the run to the document number in the index. */
  readonly numbers: Uint32Array;
  /** The frequencies of each signature of the run, by field number. */
  readonly frequencies: readonly Uint32Array[];
  /** A bit for each field whose frequency is not 0. */
  readonly fieldMasks: Uint8Array;
  readonly positionCounts: Uint32Array;
  /** The rank of each form of the current term, by its number in the run. */
  formRanks: Uint16Array;
};

/** Copies positions whose forms have other numbers in the index than in the run. */
function copyPlaces(reader: ByteReader, count: number, formRanks: Uint16Array, out: ByteWriter): void {
  let rank = formRanks[0]!;
  let rankBefore = 0;
  for (let place = 0; place < count; place++) {
    const gap = reader.varint();
    if ((gap & 1) === 1) rank = formRanks[reader.varint()]!;
    if (rank === rankBefore) {
      out.varint(gap - (gap & 1));
      continue;
    }
    out.varint(gap | 1);
    out.varint(rank);
    rankBefore = rank;
  }
}

/** Copies positions and drops their forms. */
function copyPositions(reader: ByteReader, count: number, out: ByteWriter): void {
  for (let place = 0; place < count; place++) {
    const gap = reader.varint();
    if ((gap & 1) === 1) reader.varint();
    out.varint(gap >>> 1);
  }
}

const countOf = (holders: readonly Source[]): number =>
  holders.reduce((sum, { run }) => sum + (run.current?.postingCount ?? 0), 0);

/** Decodes signature keys into frequencies by field number and counts of positions. */
function expandKeys(keys: readonly number[]) {
  const frequencies = keys.map(() => new Uint32Array(FIELD_COUNT));
  const positionCounts = Uint32Array.from(keys, (key, number) => readSignatureKey(key, frequencies[number]!));
  return { frequencies, fieldMasks: Uint8Array.from(frequencies, fieldMaskOf), positionCounts };
}

/** Ranks the forms of the current term over all runs, the most frequent first, and tells each run the ranks. */
function rankForms(holders: readonly Source[]): readonly string[] {
  const [only] = holders;
  if (holders.length === 1 && only?.run.current?.forms.length === 1) {
    only.formRanks = SINGLE_FORM;
    return only.run.current.forms;
  }
  const counts = new Map<string, number>();
  for (const { run } of holders) {
    run.current?.forms.forEach((form, index) => {
      counts.set(form, (counts.get(form) ?? 0) + (run.current?.formCounts[index] ?? 0));
    });
  }
  const used = [...counts].filter(([, count]) => count > 0);
  const ranked = used.sort(([a, countA], [b, countB]) => countB - countA || byCodeUnits(a, b));
  const forms = ranked.slice(0, MAX_FORM + 1).map(([form]) => form);
  const ranks = new Map(forms.map((form, rank) => [form, rank]));
  for (const holder of holders) {
    holder.formRanks = Uint16Array.from(
      holder.run.current?.forms ?? [],
      (form) => ranks.get(form) ?? MAX_FORM,
    );
  }
  return forms;
}

const SINGLE_FORM = Uint16Array.of(0);
