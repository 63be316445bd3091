import { open } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../base/failure.ts";
import type { DocumentUrl } from "../urls/index.ts";
import { Analyser, analyserFingerprint } from "./analysis/analyser.ts";
import { requireKnownValues } from "./attributes/filter.ts";
import type { MatchCounts } from "./counts.ts";
import {
  countIn,
  type SearcherParts,
  type SearchHit,
  type SearchOptions,
  type SearchSettings,
  searchIndex,
} from "./searcher.ts";
import { findCandidates } from "./segment/find-candidates.ts";
import { MAGIC } from "./segment/layout.ts";
import { Segment } from "./segment/segment.ts";
import { ANALYZER_PROFILES, LANGUAGES, type StoredDocument } from "./types.ts";

/** Settings that may differ each time that an index is opened; profile and language are fixed when it is built. */
export type OpenSettings = Omit<SearchSettings, keyof Analysis>;

type Analysis = Pick<SearchSettings, "profile" | "language">;

/** A document as lists show it. */
export type DocumentEntry = Pick<StoredDocument, "url" | "title">;

/** The most words that an analyser may remember before it is replaced, which limits its memory. */
const MAX_WORDS = 10_000;

/**
 * An index file that is open for searches and fetches. It is a snapshot: a newer file of the same name does
 * not disturb it. Opening takes a millisecond, and only what a search needs is read.
 */
export class SearchIndex implements Disposable {
  readonly #segment: Segment;
  readonly #settings: SearchSettings;
  /** All searches share it, because most words of a snippet have been in an earlier one. */
  readonly #analyser: Analyser;

  private constructor(segment: Segment, settings: OpenSettings) {
    this.#segment = segment;
    const analysis = analysisOf(segment);
    this.#settings = { ...settings, ...analysis };
    this.#analyser = new Analyser(analysis.profile, analysis.language);
  }

  /**
   * Opens an index file; dispose it after use.
   * @throws Failure `index_missing`, `index_outdated` (another version's format or analysis),
   * `index_corrupt`, `unreadable_input`
   */
  static open(path: string, settings: OpenSettings): SearchIndex {
    const segment = Segment.open(path);
    try {
      return new SearchIndex(segment, settings);
    } catch (error) {
      segment[Symbol.dispose]();
      throw error;
    }
  }

  /** Whose index it is, as its builder has written it; null for one that 0.1.0 built. */
  get owner(): string | null {
    return this.#segment.owner;
  }

  get pageCount(): number {
    return this.#segment.documentCount;
  }

  /**
   * Does what `searchIndex` does.
   * @throws Failure `timeout`, `index_corrupt`; `invalid_usage` for a value of a filter that no document has
   */
  search(query: string, options: SearchOptions): SearchHit[] {
    this.#requireKnownValues(options);
    return searchIndex(this.searcher(), query, options);
  }

  /**
   * Counts what a query finds.
   * @throws Failure as `search`
   */
  count(query: string, options: SearchOptions): MatchCounts {
    this.#requireKnownValues(options);
    return countIn(this.searcher(), query, options, null);
  }

  /** What filters find its documents by. */
  get known() {
    return { attributes: this.#segment.attributes, assumed: this.#settings.assumed };
  }

  #requireKnownValues({ filter }: SearchOptions): void {
    if (filter) requireKnownValues([this.known], filter);
  }

  /** What its documents and terms are read from. */
  get reader(): Segment {
    return this.#segment;
  }

  /**
   * The parts of a search that is about to begin.
   * @throws Failure `index_corrupt`
   */
  searcher(): SearcherParts<Segment> {
    this.#segment.requireWhole();
    if (this.#analyser.size > MAX_WORDS) this.#analyser.clear();
    return { reader: this.#segment, findCandidates, settings: this.#settings, analyser: this.#analyser };
  }

  /**
   * The document with this address; null when the index has none.
   * @throws Failure `index_corrupt`
   */
  fetch(url: DocumentUrl): StoredDocument | null {
    this.#segment.requireWhole();
    const document = this.#segment.findDocument(url);
    return document < 0 ? null : this.#segment.document(document);
  }

  /**
   * Lists documents in the order of their addresses.
   * @param after the address before the first of them; null begins with the first of all
   * @throws Failure `index_corrupt`
   */
  list(after: string | null, count: number): DocumentEntry[] {
    this.#segment.requireWhole();
    const first = after === null ? 0 : this.#segment.firstDocumentAfter(after);
    const length = Math.max(0, Math.min(count, this.pageCount - first));
    return Array.from({ length }, (_, index) => {
      const { url, title } = this.#segment.parts(first + index, Number.POSITIVE_INFINITY);
      return { url, title };
    });
  }

  [Symbol.dispose](): void {
    this.#segment[Symbol.dispose]();
  }
}

/**
 * The index of a folder of documents, kept in a hidden folder in it, which is left out when documents are
 * read.
 */
export const indexFileOf = (folder: string): string => join(folder, ".article-extractor", "search.index");

/**
 * Refuses to overwrite a file that is no index.
 * @throws Failure `invalid_usage` when the path is somebody else's file
 */
export async function refuseForeignFile(path: string): Promise<void> {
  const file = await open(path).catch(() => null);
  if (file === null) return;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    if (bytesRead > 0 && buffer.toString("latin1", 0, bytesRead) !== MAGIC)
      throw new Failure("invalid_usage", `${path} is there and is no search index: name another file`);
  } finally {
    await file.close();
  }
}

/** `SearchIndex.owner` of a file; null also where there is no index that can be read. */
export function ownerOfIndex(path: string): string | null {
  using segment = Segment.openIfWhole(path);
  return segment?.owner ?? null;
}

function analysisOf({ analyserFingerprint: fingerprint, path }: Segment): Analysis {
  for (const profile of ANALYZER_PROFILES) {
    const language = LANGUAGES.find((candidate) => analyserFingerprint(profile, candidate) === fingerprint);
    if (language) return { profile, language };
  }
  throw new Failure(
    "index_outdated",
    `the search index ${path} was built for the analysis ${fingerprint}, which this version does not have; build it again`,
  );
}
