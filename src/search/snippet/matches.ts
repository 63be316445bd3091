import type { Analyser } from "../analysis/analyser.ts";
import { Tokenizer } from "../analysis/tokenizer.ts";
import type { QueryTerm } from "../query/compile.ts";
import { TermPrefixes } from "./term-prefixes.ts";

/** A word of a text that the query asks for, as a range of UTF-16 code units, end exclusive. */
export type Match = {
  readonly start: number;
  readonly end: number;
  /** The number of the query's term. */
  readonly term: number;
  readonly weight: number;
};

const MAX_MATCHES = 400;

/** Finds the words of a text that a query's terms match, in order. */
export function findMatches(text: string, analyser: Analyser, terms: readonly QueryTerm[]): Match[] {
  const numbers = new Map(terms.map(({ entry }, number) => [entry.term, number]));
  const openings = new TermPrefixes(numbers.keys());
  const tokenizer = new Tokenizer();
  const runs = analyser.prose;
  tokenizer.reset(text, 0, text.length);
  const matches: Match[] = [];
  while (matches.length < MAX_MATCHES && tokenizer.next()) {
    const { start, end } = tokenizer;
    // Most words of a text have nothing to do with the query, and analysing them is the main cost of a
    // snippet.
    if (!openings.mayBeIn(text, start, end)) continue;
    const code = runs.codeAt(text, start, end);
    for (const word of code >= 0 ? [code] : runs.shape(code).words) {
      const term = numbers.get(analyser.term(word));
      if (term === undefined) continue;
      const { entry, forms, weight } = terms[term]!;
      if (forms && !forms.has(entry.forms.indexOf(analyser.form(word)))) continue;
      matches.push({ start, end, term, weight });
      break;
    }
  }
  return matches;
}
