import type { Analyser } from "../analysis/analyser.ts";
import { Tokenizer } from "../analysis/tokenizer.ts";
import type { QueryTerm } from "../query/compile.ts";

/** A range of a text in UTF-16 code units, end exclusive. */
export type Fragment = { readonly start: number; readonly end: number };

export type FragmentLimits = {
  /** The most characters of a fragment without long parameters. */
  readonly characters: number;
  /** The most fragments. */
  readonly count: number;
  /** How many characters are shown before the first and after the last match of a fragment. */
  readonly context: number;
};

/**
 * Chooses the ranges that show most of what was asked for, in the order of the text and never touching: the
 * first has the highest weight of different terms, each further one that of the terms which are still
 * missing. They end at spaces, so that no word is cut unless it alone is over the limit. The parameters of a function
 * whose name matches are shown to their end; a fragment that is longer for them takes the place of further ones.
 */
export function chooseFragments(text: string, found: readonly Match[], limits: FragmentLimits): Fragment[] {
  if (found.length === 0) return text === "" ? [] : [cutAt(text, 0, text.length, limits.characters)];
  // Of equal places a definition, or else a call, tells the most.
  const matches = found.map((match) =>
    parametersAfter(text, match.end) < 0 ? match : { ...match, weight: match.weight * DEFINING },
  );
  const chosen: Fragment[] = [];
  const shown = new Set<number>();
  let left = limits.count;
  while (left > 0) {
    const window = bestWindow(matches, chosen, shown, limits.characters);
    if (!window) break;
    const fragment = fragmentAround(text, window, chosen, {
      ...limits,
      count: left,
      parametersEnd: lastParametersEnd(text, window, matches),
    });
    chosen.push(fragment);
    left -= Math.max(1, Math.ceil((fragment.end - fragment.start) / limits.characters));
    for (const match of matches) if (isInside(match, window)) shown.add(match.term);
  }
  return chosen.sort((a, b) => a.start - b.start);
}

const DEFINING = 1.001;

/** The most characters that may stand between a match and the bracket, such as the rest of a name or its generics. */
const MAX_NAME_REST = 60;
/** Longer lists of parameters are cut. */
const MAX_PARAMETERS = 600;

/** Where the bracket of the parameters opens that follow a name directly; -1 where none do. */
function parametersAfter(text: string, end: number): number {
  NAME_REST.lastIndex = end;
  const rest = NAME_REST.exec(text)?.[0] ?? "";
  return rest.length <= MAX_NAME_REST && text[end + rest.length] === "(" ? end + rest.length : -1;
}

const NAME_REST = /[\w.:$#<>]{0,61}/y;

/** The end of the window's last parameters of a function that it names, and of what that returns; 0 without any. */
function lastParametersEnd(text: string, window: Fragment, matches: readonly Match[]): number {
  let last = 0;
  for (const match of matches) {
    if (!isInside(match, window)) continue;
    const open = parametersAfter(text, match.end);
    if (open >= 0) last = Math.max(last, parametersEnd(text, open));
  }
  return last;
}

function parametersEnd(text: string, open: number): number {
  const limit = Math.min(text.length, open + MAX_PARAMETERS);
  let depth = 0;
  for (let at = open; at < limit; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")" && --depth === 0) {
      RETURNS.lastIndex = at + 1;
      return RETURNS.test(text) ? RETURNS.lastIndex : at + 1;
    }
  }
  return limit;
}

const RETURNS = /(?: ?->|:) ?[^\s({]{1,60}/y;

const isInside = (match: Match, { start, end }: Fragment): boolean =>
  match.start >= start && match.end <= end;

/** The range of matches with the highest weight of terms that have not been shown; null when there is none. */
function bestWindow(
  matches: readonly Match[],
  taken: readonly Fragment[],
  shown: ReadonlySet<number>,
  limit: number,
): Fragment | null {
  let best: Fragment | null = null;
  let bestValue = 0;
  matches.forEach((first, index) => {
    const seen = new Set<number>();
    let value = 0;
    for (let i = index; i < matches.length; i++) {
      const match = matches[i]!;
      if (i > index && match.end - first.start > limit) break;
      if (taken.some((fragment) => match.start < fragment.end && match.end > fragment.start)) break;
      if (!seen.has(match.term) && !shown.has(match.term)) value += match.weight;
      seen.add(match.term);
      if (value > bestValue * (1 + 1e-9)) {
        bestValue = value;
        best = { start: first.start, end: match.end };
      }
    }
  });
  return best;
}

function fragmentAround(
  text: string,
  { start: first, end: last }: Fragment,
  taken: readonly Fragment[],
  { characters: usual, count, context, parametersEnd }: FragmentLimits & { readonly parametersEnd: number },
): Fragment {
  const floor = Math.max(0, ...taken.filter(({ end }) => end <= first).map(({ end }) => end + 1));
  const ceiling = Math.min(
    text.length,
    ...taken.filter(({ start }) => start >= last).map(({ start }) => start - 1),
  );
  const earliest = Math.max(last, Math.min(parametersEnd, ceiling));
  // For long parameters the fragment may be as long as all that are left.
  const characters = Math.max(usual, Math.min(usual * count, earliest - first + KEYWORDS));
  const spare = Math.max(0, characters - (earliest - first));
  const before = Math.min(context, first - floor, Math.floor(spare / 2));
  const after = Math.min(context, Math.max(0, ceiling - earliest), spare - before);
  const start = wordStart(text, first - before, first);
  const end = wordEnd(text, earliest + after, earliest);
  return end - start <= characters ? { start, end } : cutAt(text, start, end, characters);
}

/** Room for `async def` and the like on either side. */
const KEYWORDS = 40;

const isSpace = (text: string, index: number): boolean => text[index] === " ";

/**
 * The first start of a word at or after `at`, up to `latest`; `latest` itself when one word fills the whole
 * range.
 */
function wordStart(text: string, at: number, latest: number): number {
  if (at <= 0 || isSpace(text, at - 1)) return Math.max(0, at);
  const space = text.indexOf(" ", at);
  if (space >= 0 && space < latest) return space + 1;
  // A match may begin inside something longer, like `(value`.
  const before = text.lastIndexOf(" ", latest - 1) + 1;
  return latest - before <= MAX_STICKING ? before : wholeCharacter(text, latest);
}

function wordEnd(text: string, at: number, earliest: number): number {
  if (at >= text.length || isSpace(text, at)) return Math.min(at, text.length);
  const space = text.lastIndexOf(" ", at);
  if (space >= earliest) return space;
  const after = text.indexOf(" ", earliest);
  const end = after < 0 ? text.length : after;
  return end - earliest <= MAX_STICKING ? end : wholeCharacter(text, earliest);
}

// Brackets and the like around a match are kept; scripts without spaces are cut between characters.
const MAX_STICKING = 20;

/** A range of at most `limit` characters from `start` on, ended at a space if possible. */
function cutAt(text: string, start: number, end: number, limit: number): Fragment {
  if (end - start <= limit) return { start, end };
  const space = text.lastIndexOf(" ", start + limit);
  return { start, end: space > start ? space : wholeCharacter(text, start + limit) };
}

/** The same index, or one less when it would split a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}

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

const ASCII = 0x80;
const LETTERS = 26;
const LETTER_A = 0x61;
const LETTER_I = 0x69;
const LETTER_Y = 0x79;
const OTHER_BIT = 1 << LETTERS;
const ALL_BITS = 2 * OTHER_BIT - 1;

/** Shorter stems say too little about the words that they come from. */
const MIN_TERM_LENGTH = 3;

/**
 * The first two letters of some terms, which show without analysis that a written run has none of them.
 * Neither folding nor stemming changes these letters of an ASCII word, except that a second `y` may become
 * `i` (`dying`, `die`); a run outside ASCII may always contain a term.
 */
export class TermPrefixes {
  /** Each first letter has a bit for each possible second one. */
  readonly #seconds = new Int32Array(ASCII);

  constructor(terms: Iterable<string>) {
    for (const term of terms) {
      const first = term.charCodeAt(0);
      // A term outside ASCII is only in runs outside ASCII, or in runs that fold to it; those always pass.
      if (first < ASCII) this.#seconds[first]! |= term.length < MIN_TERM_LENGTH ? ALL_BITS : bitOf(term, 1);
    }
  }

  /** Whether a part of the run from `start` to `end` (exclusive) may be one of the terms. */
  mayBeIn(text: string, start: number, end: number): boolean {
    let isInWord = false;
    let mayBe = false;
    for (let at = start; at < end; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= ASCII) return true;
      const isUpper = unit >= 0x41 && unit <= 0x5a;
      // A part begins with a capital, or after a character that is no letter or digit.
      if (!isInWord || isUpper) {
        const seconds = this.#seconds[isUpper ? unit | 0x20 : unit]!;
        if (seconds !== 0 && (seconds & bitOf(text, at + 1)) !== 0) mayBe = true;
      }
      isInWord = isUpper || (unit >= LETTER_A && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
    }
    return mayBe;
  }
}

function bitOf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const lower = unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit;
  if (lower >= LETTER_A && lower <= 0x7a) return 1 << ((lower === LETTER_Y ? LETTER_I : lower) - LETTER_A);
  return OTHER_BIT;
}
