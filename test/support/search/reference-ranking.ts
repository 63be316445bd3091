import { Analyser } from "../../../src/search/analysis/analyser.ts";
import { DocumentAnalyser } from "../../../src/search/document/analyse.ts";
import type { SearchSettings, SourceDocument } from "../../../src/search/index.ts";
import {
  CLOSE_TOKENS,
  OPENINGS,
  RANKING,
  SHORT_PAGE,
  weightsFor,
} from "../../../src/search/ranking/formula.ts";
import { FIELDS } from "../../../src/search/types.ts";

/** A document as the list of its tokens, by position. */
type Token = {
  readonly term: string;
  readonly form: string;
  readonly field: number;
  readonly position: number;
};
type Scanned = {
  readonly url: string;
  readonly tokens: readonly Token[];
  readonly lengths: readonly number[];
  readonly layout: ReturnType<DocumentAnalyser["analyse"]>["layout"];
};

/** A plain word of a query: the reference knows neither identifiers nor phrases nor corrections. */
export type ReferenceWord = { readonly term: string; readonly form: string };

/**
 * The ranking formula as docs/search.md states it, over the tokens of every document and with nothing clever:
 * no postings, no candidates, no reuse. Queries are words without parts, each known to some document.
 * @returns URLs with scores, best first
 */
export function referenceRanking(
  sources: readonly SourceDocument[],
  words: readonly ReferenceWord[],
  settings: SearchSettings,
): { url: string; score: number }[] {
  const documents = scan(sources);
  const unique = words.filter(({ term }, index) => words.findIndex((one) => one.term === term) === index);
  const weights = unique.map(({ term }) => {
    const frequency = documents.filter(({ tokens }) => tokens.some((token) => token.term === term)).length;
    const idf = Math.log(1 + (documents.length - frequency + 0.5) / (frequency + 0.5));
    return idf ** RANKING.idfExponent;
  });
  return documents
    .filter(({ tokens }) => tokens.some(({ term }) => unique.some((word) => word.term === term)))
    .map((document) => ({
      url: document.url,
      score:
        fieldPart(document, documents, unique, weights, settings) +
        contextPart(document, words.length, unique, weights),
    }))
    .sort((a, b) => b.score - a.score || (a.url < b.url ? -1 : 1));
}

function scan(sources: readonly SourceDocument[]): Scanned[] {
  return sources.map((source) => {
    const analyser = new Analyser("default");
    const document = new DocumentAnalyser(analyser).analyse(source);
    const tokens = Array.from({ length: document.tokenCount }, (_, i) => ({
      term: analyser.term(document.words[i]!),
      form: analyser.form(document.words[i]!),
      field: document.fields[i]!,
      position: document.positions[i]!,
    }));
    return { url: source.url, tokens, lengths: [...document.fieldLengths], layout: document.layout };
  });
}

const count = (tokens: readonly Token[], term: string): number =>
  tokens.filter((token) => token.term === term).length;

const saturated = (frequency: number, k1: number, lengthPart: number): number =>
  frequency === 0 ? 0 : (frequency * (k1 + 1)) / (frequency + k1 * lengthPart);

function fieldPart(
  document: Scanned,
  all: readonly Scanned[],
  words: readonly ReferenceWord[],
  weights: readonly number[],
  { ranking: { k1, b, boosts } }: SearchSettings,
): number {
  let score = 0;
  words.forEach(({ term }, index) => {
    FIELDS.forEach((name, field) => {
      const mean = all.reduce((sum, { lengths }) => sum + lengths[field]!, 0) / all.length;
      const tokens = document.tokens.filter((token) => token.field === field);
      const relative = mean > 0 ? document.lengths[field]! / mean : 0;
      score += weights[index]! * boosts[name] * saturated(count(tokens, term), k1, 1 - b + b * relative);
    });
  });
  return score;
}

function contextPart(
  { tokens, lengths, layout }: Scanned,
  wordCount: number,
  words: readonly ReferenceWord[],
  weights: readonly number[],
): number {
  const added = weightsFor(wordCount);
  const between = (start: number, end: number) =>
    distinct(tokens.filter(({ position }) => position >= start && position < end));
  const passages = passageScores({ layout, between }, words, weights).sort((a, b) => b - a);
  const [first = 0, second = 0, third = 0] = passages;
  let score = added.bestPassage * first + (added.meanPassage * (first + second + third)) / 3;
  OPENINGS.forEach((length, index) => {
    const opening = between(layout.contentStart, layout.contentStart + length);
    const share = Math.min(length, layout.end - layout.contentStart) / length;
    words.forEach(({ term }, word) => {
      const part = saturated(count(opening, term), RANKING.openingK1, 0.5 + 0.5 * share);
      score += added.openings[index]! * weights[word]! * part;
    });
  });
  words.forEach(({ term, form }, word) => {
    const own = tokens.filter((token) => token.term === term);
    if (own.some((token) => token.form === form)) score += added.exactForms * weights[word]!;
    const isHeaded = own.some(({ field }) => field >= 1 && field <= 3);
    if (isHeaded) score += added.headedTerms * weights[word]!;
    const next = words[word + 1];
    if (!next) return;
    const distances = own.flatMap((left) =>
      tokens
        .filter((right) => right.term === next.term && right.position !== left.position)
        .map((right) => right.position - left.position)
        .map((step) => (step > 0 ? step : 1 - step)),
    );
    if (distances.length > 0) {
      score += (added.proximity * Math.min(weights[word]!, weights[word + 1]!)) / Math.min(...distances);
    }
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const fills = (start: number, end: number) =>
    end > start &&
    end - start <= words.length &&
    words.every(({ term }) => between(start, end).some((token) => token.term === term));
  if (fills(0, layout.titleEnd)) score += added.wholeTitle * total;
  const headings = [...layout.sectionStarts].map((start, section) => [start, layout.headingEnds[section]!]);
  if (headings.slice(1).some(([start, end]) => fills(start!, end!))) score += added.wholeHeading * total;
  const windows = tokens
    .filter(({ position }) => position >= layout.contentStart)
    .map(({ position }) => new Set(between(position, position + CLOSE_TOKENS).map(({ term }) => term)))
    .map((terms) => words.reduce((sum, { term }, word) => sum + (terms.has(term) ? weights[word]! : 0), 0));
  score += added.closeness * Math.max(0, ...windows);
  const length = lengths[FIELDS.indexOf("body")]! + lengths[FIELDS.indexOf("code")]!;
  const bounded = Math.min(Math.max(length, SHORT_PAGE.least), SHORT_PAGE.most);
  return score + added.brevity * total * Math.log(SHORT_PAGE.most / bounded);
}

/** A term stands once at a position, whatever it is counted for there. */
const distinct = (tokens: readonly Token[]): readonly Token[] =>
  tokens.filter(
    (token, index) =>
      tokens.findIndex((one) => one.position === token.position && one.term === token.term) === index,
  );

type Placed = {
  readonly layout: Scanned["layout"];
  readonly between: (start: number, end: number) => readonly Token[];
};

function passageScores(
  { layout, between }: Placed,
  words: readonly ReferenceWord[],
  weights: readonly number[],
): number[] {
  const { passageStarts, sectionStarts, headingEnds, sectionParents, titleEnd, end } = layout;
  return [...passageStarts].map((start, passage) => {
    const stop = passageStarts[passage + 1] ?? end;
    const last = sectionStarts.findLastIndex((section) => section < stop);
    const path: number[] = [];
    for (let section = Math.max(0, last); section > 0; section = sectionParents[section]!) path.push(section);
    let score = 0;
    words.forEach(({ term }, word) => {
      const inHeadings = path.some((section) =>
        between(sectionStarts[section]!, headingEnds[section]!).some((token) => token.term === term),
      );
      const inTitle = between(0, titleEnd).some((token) => token.term === term);
      const frequency = count(between(start, stop), term) + (inHeadings ? 1 : 0) + (inTitle ? 1 : 0);
      const lengthPart = 1 - RANKING.passageB + (RANKING.passageB * (stop - start)) / RANKING.passageTokens;
      score += weights[word]! * saturated(frequency, RANKING.passageK1, lengthPart);
    });
    return score;
  });
}
