import type { Analyser } from "./analysis/analyser.ts";
import { attributesOf, attributeTable } from "./attributes.ts";
import { DocumentAnalyser } from "./document/analyse.ts";
import { withSlugs } from "./document/sections.ts";
import {
  type AttributeTable,
  type DocumentLayout,
  FIELDS,
  type IndexReader,
  NO_DOCUMENT,
  type Postings,
  type SourceDocument,
  type StoredDocument,
  type TermEntry,
  type TermWalk,
} from "./types.ts";

type Posting = {
  readonly document: number;
  readonly frequencies: Uint32Array;
  readonly positions: number[];
  readonly forms: number[];
};

type TermPostings = { readonly forms: Map<string, number>; readonly list: Posting[] };

/**
 * Builds an index of a few documents as plain objects. They are numbered as they come, so whoever wants ties in the order
 * of URLs adds them in it.
 */
export class MemoryIndexBuilder {
  readonly #analyser: Analyser;
  readonly #documents: DocumentAnalyser;
  readonly #terms = new Map<string, TermPostings>();
  readonly #sources: SourceDocument[] = [];
  readonly #lengths: Uint32Array[] = [];
  readonly #layouts: DocumentLayout[] = [];
  readonly #stored: StoredDocument[] = [];
  readonly #totals = new Float64Array(FIELDS.length);

  constructor(analyser: Analyser) {
    this.#analyser = analyser;
    this.#documents = new DocumentAnalyser(analyser);
  }

  add(source: SourceDocument): void {
    const number = this.#sources.push(source) - 1;
    const analysed = this.#documents.analyse(source);
    this.#lengths.push(analysed.fieldLengths.slice());
    this.#layouts.push(analysed.layout);
    analysed.fieldLengths.forEach((length, field) => {
      this.#totals[field]! += length;
    });
    for (let i = 0; i < analysed.tokenCount; i++) {
      const word = analysed.words[i]!;
      const postings = postingsOf(this.#terms, this.#analyser.term(word));
      const posting = postingOf(postings.list, number);
      posting.frequencies[analysed.fields[i]!]!++;
      const form = formOf(postings.forms, this.#analyser.form(word));
      const last = posting.positions.length - 1;
      const isTwice = posting.positions[last] === analysed.positions[i] && posting.forms[last] === form;
      if (isTwice) continue;
      posting.positions.push(analysed.positions[i]!);
      posting.forms.push(form);
    }
    const { url, title, markdown, anchors } = analysed;
    this.#stored.push({ url, title, markdown, anchors, sections: withSlugs(analysed.sections, "github") });
  }

  finish(): IndexReader {
    return new MemoryIndex(this.#analyser.fingerprint, this.#terms, {
      sources: this.#sources,
      lengths: this.#lengths,
      layouts: this.#layouts,
      stored: this.#stored,
      totals: this.#totals,
    });
  }
}

function postingsOf(terms: Map<string, TermPostings>, term: string): TermPostings {
  const known = terms.get(term);
  if (known) return known;
  const made = { forms: new Map<string, number>(), list: [] };
  terms.set(term, made);
  return made;
}

function postingOf(list: Posting[], document: number): Posting {
  const last = list[list.length - 1];
  if (last?.document === document) return last;
  const made = { document, frequencies: new Uint32Array(FIELDS.length), positions: [], forms: [] };
  list.push(made);
  return made;
}

function formOf(forms: Map<string, number>, form: string): number {
  const known = forms.get(form);
  if (known !== undefined) return known;
  forms.set(form, forms.size);
  return forms.size - 1;
}

type Columns = {
  readonly sources: readonly SourceDocument[];
  readonly lengths: readonly Uint32Array[];
  readonly layouts: readonly DocumentLayout[];
  readonly stored: readonly StoredDocument[];
  readonly totals: Float64Array;
};

class MemoryIndex implements IndexReader {
  readonly documentCount: number;
  readonly fieldTotals: Float64Array;
  readonly #entries = new Map<string, TermEntry>();
  readonly #lists: Posting[][] = [];
  readonly #sorted: TermEntry[] = [];
  /** Only searches with filters read them. */
  #attributes: AttributeTable | null = null;

  readonly analyserFingerprint: string;
  readonly columns: Columns;

  constructor(fingerprint: string, terms: ReadonlyMap<string, TermPostings>, columns: Columns) {
    this.analyserFingerprint = fingerprint;
    this.columns = columns;
    this.documentCount = columns.stored.length;
    this.fieldTotals = columns.totals;
    for (const term of [...terms.keys()].sort()) {
      const { forms, list } = terms.get(term)!;
      const entry = {
        term,
        id: this.#lists.length,
        documentFrequency: list.length,
        forms: [...forms.keys()],
      };
      this.#entries.set(term, entry);
      this.#sorted.push(entry);
      this.#lists.push(list);
    }
  }

  fieldLength(document: number, field: number): number {
    return this.columns.lengths[document]![field]!;
  }

  find(term: string): TermEntry | null {
    return this.#entries.get(term) ?? null;
  }

  postings(entry: TermEntry): Postings {
    return new MemoryPostings(this.#lists[entry.id]!);
  }

  termsWithPrefix(prefix: string, limit: number): readonly TermEntry[] {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sorted[middle]!.term < prefix) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (end < this.#sorted.length && end - low < limit && this.#sorted[end]!.term.startsWith(prefix))
      end++;
    return this.#sorted.slice(low, end);
  }

  walk(prefix: string): TermWalk {
    return this.#walkOver(this.termsWithPrefix(prefix, Number.POSITIVE_INFINITY));
  }

  walkEnds(end: string): TermWalk {
    const reversed = (term: string) => term.split("").reverse().join("");
    const found = this.#sorted.filter(({ term }) => /^\p{L}{7,}$/u.test(term) && term.endsWith(end));
    const sorted = found.sort((a, b) => (reversed(a.term) < reversed(b.term) ? -1 : 1));
    return this.#walkOver(this.analyserFingerprint.includes("/en/") ? [] : sorted);
  }

  #walkOver(entries: readonly TermEntry[]): TermWalk {
    let at = -1;
    return {
      next: () => ++at < entries.length,
      get term() {
        return entries[at]!.term;
      },
      get documentFrequency() {
        return entries[at]!.documentFrequency;
      },
    };
  }

  layout(document: number): DocumentLayout {
    return this.columns.layouts[document]!;
  }

  get attributes(): AttributeTable {
    this.#attributes ??= attributeTable(this.columns.sources.map(attributesOf));
    return this.#attributes;
  }

  url(document: number) {
    return this.document(document).url;
  }

  document(document: number): StoredDocument {
    return this.columns.stored[document]!;
  }

  parts(document: number) {
    const { markdown, ...rest } = this.document(document);
    return { ...rest, markdownOf: (start: number, end: number) => markdown.slice(start, end) };
  }
}

class MemoryPostings implements Postings {
  #index = -1;
  document = -1;
  frequencies: Uint32Array = new Uint32Array(FIELDS.length);
  positions = new Uint32Array(0);
  forms = new Uint16Array(0);

  readonly list: readonly Posting[];

  constructor(list: readonly Posting[]) {
    this.list = list;
  }

  get documentFrequency(): number {
    return this.list.length;
  }

  next(): number {
    this.#index++;
    const posting = this.list[this.#index];
    this.document = posting?.document ?? NO_DOCUMENT;
    if (posting) this.frequencies = posting.frequencies;
    return this.document;
  }

  advance(target: number): number {
    let low = Math.max(0, this.#index);
    let high = this.list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.list[middle]!.document < target) low = middle + 1;
      else high = middle;
    }
    this.#index = low - 1;
    return this.next();
  }

  readPositions(): number {
    const posting = this.list[this.#index]!;
    this.positions = Uint32Array.from(posting.positions);
    this.forms = Uint16Array.from(posting.forms);
    return posting.positions.length;
  }
}
