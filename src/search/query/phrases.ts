import { checkDeadline, checkDeadlineAt } from "../deadline.ts";
import { FieldScorer } from "../ranking/formula.ts";
import {
  type CandidateOptions,
  FIELDS,
  type FieldNumber,
  type IndexReader,
  NO_DOCUMENT,
  type Postings,
  type ScoredDocument,
  type TermEntry,
  type WeightedTerm,
} from "../types.ts";

/** A term of a quoted phrase, at its offset in the phrase. */
export type PhraseTerm = { readonly entry: TermEntry; readonly form: number; readonly offset: number };

/** The ways in which a phrase may appear in a text; empty when one of its words is not in the index. */
export type Phrase = readonly (readonly PhraseTerm[])[];

/**
 * The documents that contain all phrases, each word in its form and place, in ascending order.
 * @param phrases at least one
 * @throws Failure `timeout` when the deadline passes
 */
export function documentsWithPhrases(
  reader: IndexReader,
  phrases: readonly Phrase[],
  deadline: number,
): readonly number[] {
  const found = phrases.map((variants) => {
    const documents = variants.flatMap((terms) => documentsWithTerms(reader, terms, deadline));
    return new Set(documents);
  });
  const [first = new Set<number>(), ...others] = found;
  const common = [...first].filter((document) => others.every((documents) => documents.has(document)));
  return common.sort((a, b) => a - b);
}

function documentsWithTerms(reader: IndexReader, terms: readonly PhraseTerm[], deadline: number): number[] {
  const postings = terms.map(({ entry }) => reader.postings(entry));
  const found: number[] = [];
  for (let document = nextCommon(postings, 0); document !== NO_DOCUMENT; ) {
    checkDeadline(deadline);
    if (hasPhrase(terms, postings, deadline)) found.push(document);
    document = nextCommon(postings, document + 1);
  }
  return found;
}

/** The first document at or after `target` that is in all postings. */
function nextCommon(postings: readonly Postings[], target: number): number {
  let candidate = target;
  for (let agreeing = 0; agreeing < postings.length; ) {
    for (const one of postings) {
      if (one.document < candidate) one.advance(candidate);
      if (one.document === NO_DOCUMENT) return NO_DOCUMENT;
      if (one.document === candidate) agreeing++;
      else {
        candidate = one.document;
        agreeing = 0;
        break;
      }
    }
  }
  return candidate;
}

/** Whether the words of a phrase stand together somewhere in the document at which all postings are. */
function hasPhrase(phrase: readonly PhraseTerm[], postings: readonly Postings[], deadline: number): boolean {
  // These are the possible starts of the phrase, ascending; each further word removes some of them in place.
  let starts: Uint32Array | null = null;
  let startCount = 0;
  for (let i = 0; i < phrase.length; i++) {
    const { form, offset } = phrase[i]!;
    const { positions, forms, count } = readPositions(postings[i]!, deadline);
    const before: Uint32Array | null = starts;
    const next: Uint32Array = starts ?? new Uint32Array(count);
    let kept = 0;
    for (let p = 0, at = 0; p < count; p++) {
      checkDeadlineAt(p, deadline);
      const start = positions[p]! - offset;
      if (forms[p] !== form || start < 0) continue;
      if (before !== null) {
        while (at < startCount && before[at]! < start) at++;
        if (at === startCount) break;
        if (before[at] !== start) continue;
      }
      next[kept++] = start;
    }
    if (kept === 0) return false;
    starts = next;
    startCount = kept;
  }
  return true;
}

// The count is read before the arrays, because reading may replace them by longer ones.
function readPositions(postings: Postings, deadline: number) {
  const count = postings.readPositions(deadline);
  return { count, positions: postings.positions, forms: postings.forms };
}

/** Scores documents that are already chosen, as the first phase does, and returns the best `limit`. */
export function scoreDocuments(
  reader: IndexReader,
  terms: readonly WeightedTerm[],
  documents: readonly number[],
  options: CandidateOptions,
): readonly ScoredDocument[] {
  const scorer = new FieldScorer(options.corpus ?? reader, options.ranking);
  const { factors } = options;
  const scores = new Float64Array(documents.length);
  for (const { entry, weight } of terms) {
    const postings = reader.postings(entry);
    documents.forEach((document, index) => {
      checkDeadlineAt(index, options.deadline);
      if (postings.document < document) postings.advance(document);
      if (postings.document !== document) return;
      for (let number = 0; number < FIELDS.length; number++) {
        const field = number as FieldNumber; // below the number of fields
        const frequency = postings.frequencies[field]!;
        scores[index]! += weight * scorer.part(field, frequency, reader.fieldLength(document, field));
      }
    });
  }
  return documents
    .map((document, index) => ({ document, score: scores[index]! * (factors?.[document] ?? 1) }))
    .sort((a, b) => b.score - a.score || a.document - b.document)
    .slice(0, options.limit);
}
