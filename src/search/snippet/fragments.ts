import type { Match } from "./matches.ts";

/** A range of a text in UTF-16 code units, end exclusive. */
export type Fragment = { readonly start: number; readonly end: number };

export type FragmentLimits = {
  /** The most characters of a fragment. */
  readonly characters: number;
  /** The most fragments. */
  readonly count: number;
  /** How many characters are shown before the first and after the last match of a fragment. */
  readonly context: number;
};

/**
 * Chooses the ranges that show most of what was asked for, in the order of the text and never touching: the
 * first has the highest weight of different terms, each further one that of the terms which are still
 * missing. They end at spaces, so that no word is cut unless it alone is over the limit.
 */
export function chooseFragments(text: string, matches: readonly Match[], limits: FragmentLimits): Fragment[] {
  if (matches.length === 0) return text === "" ? [] : [cutAt(text, 0, text.length, limits.characters)];
  const chosen: Fragment[] = [];
  const shown = new Set<number>();
  while (chosen.length < limits.count) {
    const window = bestWindow(matches, chosen, shown, limits.characters);
    if (!window) break;
    chosen.push(fragmentAround(text, window, chosen, limits));
    for (const match of matches) if (isInside(match, window)) shown.add(match.term);
  }
  return chosen.sort((a, b) => a.start - b.start);
}

const isInside = (match: Match, { start, end }: Fragment): boolean =>
  match.start >= start && match.end <= end;

/**
 * The range of matches with the highest weight of terms that have not been shown; null when there is none.
 */
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
  window: Fragment,
  taken: readonly Fragment[],
  { characters, context }: FragmentLimits,
): Fragment {
  const floor = Math.max(0, ...taken.filter(({ end }) => end <= window.start).map(({ end }) => end + 1));
  const ceiling = Math.min(
    text.length,
    ...taken.filter(({ start }) => start >= window.end).map(({ start }) => start - 1),
  );
  const spare = Math.max(0, characters - (window.end - window.start));
  const before = Math.min(context, window.start - floor, Math.floor(spare / 2));
  const after = Math.min(context, Math.max(0, ceiling - window.end), spare - before);
  const start = wordStart(text, window.start - before, window.start);
  const end = wordEnd(text, window.end + after, window.end);
  return end - start <= characters ? { start, end } : cutAt(text, start, end, characters);
}

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
