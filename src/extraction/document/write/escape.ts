/** Where a piece of text stands in Markdown, which decides what would be markup there. */
export type TextPlace = {
  readonly isInLink: boolean;
  readonly isInCell: boolean;
  /** Whether what follows the text is a link, which `!` in front would make an image. */
  readonly isBeforeLink: boolean;
  /** Whether the phrase holds tildes enough to strike something out. */
  readonly hasTildes: boolean;
  /** Whether dollars in the phrase could be read as a formula. */
  readonly hasDollars: boolean;
  /** Places of the brackets in the text that would be markup; null where every bracket counts as such. */
  readonly brackets: ReadonlySet<number> | null;
};

// What may be markup anywhere in a line.
const SUSPECT = /[\\`*_[\]<&~$|!^]/;
const WORD = /[\p{L}\p{N}\p{M}]/u;

/**
 * Text as Markdown that shows exactly it, whatever stands beside it (CommonMark 0.31, GFM 0.29).
 * @param offset where the text begins in the one that `place.brackets` counts in
 */
export function escapeText(text: string, place: TextPlace, offset = 0): string {
  if (!SUSPECT.test(text)) return text;
  let out = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const isBracket = text[at] === "[" || text[at] === "]";
    const isEscaped = isBracket ? isMarkupBracket(at + offset, place) : isMarkup(text, at, place);
    if (!isEscaped) continue;
    out += `${text.slice(from, at)}\\`;
    from = at;
  }
  return out + text.slice(from);
}

// GitHub makes links of bare addresses, with all that follows them up to a space.
const ADDRESS = /https?:\/\/[^\s<>[\]"`\\|*]+/g;
const ADDRESS_END = /(?<![?!.,:;'_~)])[?!.,:;'_~)]+$/;

/**
 * Text that may hold addresses: those that something else follows at once, or in which something would have
 * to be escaped, stand between `<` and `>`.
 * @param after the character that follows the text; empty for none
 */
export function escapeProse(text: string, place: TextPlace, after: string): string {
  if (place.isInLink || !text.includes("://")) return escapeText(text, place);
  let out = "";
  let from = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = found.includes("(") ? found : found.replace(ADDRESS_END, "");
    const end = index + address.length;
    const rest = text.slice(end, end + MAX_ADDRESS_TAIL);
    const next = /^[?!.,:;'_~)]*(.?)/su.exec(rest)?.[1] || after;
    const isOpen = next !== "" && !/\s/.test(next);
    const isSafe = !isOpen && escapeText(address, place, index) === address;
    if (isSafe || /&#?\w{1,40};/.test(address)) continue;
    out += `${escapeText(text.slice(from, index), place, from)}<${address}>`;
    from = end;
  }
  return out + escapeText(text.slice(from), place, from);
}

const MAX_ADDRESS_TAIL = 20;

const isMarkupBracket = (at: number, { isInLink, brackets }: TextPlace): boolean =>
  isInLink || brackets === null || brackets.has(at);

function isMarkup(text: string, at: number, place: TextPlace): boolean {
  const next = text[at + 1];
  switch (text[at]) {
    case "\\":
      return next === undefined || /[!-/:-@[-`{-~\n]/.test(next);
    case "`":
      return true;
    case "*":
      return !(text[at - 1] === " " && next === " ");
    case "_":
      return !(isWordAt(text, at - 1) && isWordAt(text, at + 1)) && !(text[at - 1] === " " && next === " ");
    case "<":
      return next === undefined || /[a-z/!?]/i.test(next);
    case "&":
      return /^&#?\w{1,40};/.test(text.slice(at, at + 44));
    case "~":
      return place.hasTildes;
    case "$":
      return place.hasDollars;
    case "|":
      return place.isInCell;
    // `![a](b)` is an image, and `^[a]` a note to Pandoc and others.
    case "!":
    case "^":
      return next === undefined && place.isBeforeLink;
    default:
      return false;
  }
}

// Both halves of a surrogate pair count as a letter: most are.
const isWordAt = (text: string, at: number): boolean => {
  const character = text[at];
  return character !== undefined && (WORD.test(character) || /[\ud800-\udfff]/.test(character));
};

/** A line as Markdown that starts no block: the line is inside a paragraph. */
export function escapeLineStart(line: string): string {
  const match = LINE_START.exec(line);
  if (!match) return line;
  const [found, digits] = match;
  if (digits !== undefined) return `${digits}\\${line.slice(digits.length)}`;
  return found.startsWith("\\") ? line : `\\${line}`;
}

const LINE_START =
  /^(?:#{1,6}(?=[ \t]|$)|>|[-+*](?=[ \t]|$)|(\d{1,9})(?=[.)](?:[ \t]|$))|=+[ \t]*$|-[-\t ]*$|_[_\t ]*$|~~~|\||:?-+:?[ \t]*(?:\||$)|:(?=[ \t-]))/;

/** Text with more than one of these may hold a pair that strikes out. */
export const hasPairOfTildes = (text: string): boolean => text.indexOf("~") !== text.lastIndexOf("~");

/** Whether two dollars stand as around a formula (Pandoc's rule): no space inside, no digit after. */
export function couldBeFormula(text: string): boolean {
  const opening = /\$(?=\S)/.exec(text);
  if (!opening) return false;
  const closing = /(?<=\S)\$(?!\d)/g;
  closing.lastIndex = opening.index + 2;
  return closing.test(text);
}

/** The destination of a link or image. */
export function escapeDestination(url: string): string {
  const safe = url.replace(/[\s<>`|\\]/g, (character) => encodeURIComponent(character));
  const escaped = hasBalancedParentheses(safe) ? safe : safe.replaceAll("(", "%28").replaceAll(")", "%29");
  // Entities are read in destinations, too.
  return escaped.replace(/&(?=#?\w{1,40};)/g, "&amp;");
}

function hasBalancedParentheses(url: string): boolean {
  let depth = 0;
  for (const character of url) {
    if (character === "(" && ++depth > 8) return false;
    if (character === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

export const escapeTitle = (title: string): string => {
  const text = title.replace(/[\\"]|&(?=#?\w{1,40};)|`|</g, "\\$&").replaceAll("|", "&#124;");
  return `"${text}"`;
};
