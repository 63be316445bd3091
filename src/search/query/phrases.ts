import { checkDeadline } from "../deadline.ts";
import { FieldScorer } from "../field-score.ts";
import {
  FIELDS,
  type FieldNumber,
  type IndexReader,
  NO_DOCUMENT,
  type Postings,
  type RankingSettings,
  type ScoredDocument,
  type WeightedTerm,
} from "../types.ts";
import type { Phrase, PhraseTerm } from "./compile.ts";

/**
 * The documents that hold all phrases, each word in its form and place, in ascending order.
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
    if (hasPhrase(terms, postings)) found.push(document);
    document = nextCommon(postings, document + 1);
  }
  return found;
}

/** The first document at or after `target` that all postings hold. */
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

function hasPhrase(phrase: readonly PhraseTerm[], postings: readonly Postings[]): boolean {
  let starts: Set<number> | null = null;
  for (let i = 0; i < phrase.length; i++) {
    const { form, offset } = phrase[i]!;
    const one = postings[i]!;
    const count = one.readPositions();
    const next = new Set<number>();
    for (let p = 0; p < count; p++) {
      const start = one.positions[p]! - offset;
      if (one.forms[p] === form && (starts === null || starts.has(start))) next.add(start);
    }
    if (next.size === 0) return false;
    starts = next;
  }
  return true;
}

/** The first phase for documents that are already chosen: the same score, the `limit` highest. */
export function scoreDocuments(
  reader: IndexReader,
  terms: readonly WeightedTerm[],
  documents: readonly number[],
  options: { readonly limit: number; readonly ranking: RankingSettings },
): readonly ScoredDocument[] {
  const scorer = new FieldScorer(reader, options.ranking);
  const scores = new Float64Array(documents.length);
  for (const { entry, weight } of terms) {
    const postings = reader.postings(entry);
    documents.forEach((document, index) => {
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
    .map((document, index) => ({ document, score: scores[index]! }))
    .sort((a, b) => b.score - a.score || a.document - b.document)
    .slice(0, options.limit);
}
