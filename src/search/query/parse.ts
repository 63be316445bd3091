import { Tokenizer } from "../analysis/tokenizer.ts";

/** A query as typed: its words in order, and which of them were in double quotes. */
export type ParsedQuery = {
  readonly text: string;
  /** The written runs, at most 64. */
  readonly words: readonly string[];
  /** Quoted ranges of `words` (end exclusive), of one or more words. */
  readonly phrases: readonly { readonly start: number; readonly end: number }[];
};

/** Further words are ignored: a longer query says nothing more, and its cost stays limited. */
export const MAX_QUERY_WORDS = 64;

// Of a pasted page only the beginning is read.
const MAX_QUERY_LENGTH = 4096;

const QUOTES = /["\u201c\u201d\u201e\u00ab\u00bb]/;

/** Parses any text as a query; a text without words finds nothing, and an unpaired quote is ignored. */
export function parseQuery(text: string): ParsedQuery {
  const parts = text.slice(0, MAX_QUERY_LENGTH).split(QUOTES);
  const tokenizer = new Tokenizer();
  const words: string[] = [];
  const phrases: { start: number; end: number }[] = [];
  parts.forEach((part, index) => {
    const start = words.length;
    tokenizer.reset(part, 0, part.length);
    while (words.length < MAX_QUERY_WORDS && tokenizer.next()) {
      words.push(part.slice(tokenizer.start, tokenizer.end));
    }
    const isQuoted = index % 2 === 1 && index < parts.length - 1;
    if (isQuoted && words.length > start) phrases.push({ start, end: words.length });
  });
  return { text, words, phrases };
}
