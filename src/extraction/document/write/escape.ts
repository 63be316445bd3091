/** The place of a text in Markdown, which decides which characters would be markup there. */
export type TextPlace = {
  readonly isInLink: boolean;
  readonly isInCell: boolean;
  /** Whether a link follows the text, which `!` in front would turn into an image. */
  readonly isBeforeLink: boolean;
  /** Whether the phrase contains enough tildes to strike something out. */
  readonly hasTildes: boolean;
  /** Whether dollars in the phrase could be read as a formula. */
  readonly hasDollars: boolean;
  /** The places of the brackets in the text that would be markup; null when every bracket counts as such. */
  readonly brackets: ReadonlySet<number> | null;
};

// Matches characters that may be markup anywhere in a line.
const SUSPECT = /[\\`*_[\]<&~$|!^]/;
const WORD = /[\p{L}\p{N}\p{M}]/u;

/**
 * Escapes text so that Markdown shows exactly it, whatever stands beside it (CommonMark 0.31, GFM 0.29).
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

// GitHub turns bare addresses into links, with everything that follows up to a space.
const ADDRESS = /https?:\/\/[^\s<>[\]"`\\|*]+/g;
const ADDRESS_END = /(?<![?!.,:;'_~)])[?!.,:;'_~)]+$/;

/**
 * Escapes text that may contain addresses. An address is put between `<` and `>` when something follows it directly,
 * or when part of it would have to be escaped.
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

// Both halves of a surrogate pair count as letters, because most are.
const isWordAt = (text: string, at: number): boolean => {
  const character = text[at];
  return character !== undefined && (WORD.test(character) || /[\ud800-\udfff]/.test(character));
};

/** Escapes a line inside a paragraph so that it does not start a block. */
export function escapeLineStart(line: string): string {
  const match = LINE_START.exec(line);
  if (!match) return line;
  const [found, digits] = match;
  if (digits !== undefined) return `${digits}\\${line.slice(digits.length)}`;
  return found.startsWith("\\") ? line : `\\${line}`;
}

const LINE_START =
  /^(?:#{1,6}(?=[ \t]|$)|>|[-+*](?=[ \t]|$)|(\d{1,9})(?=[.)](?:[ \t]|$))|=+[ \t]*$|-[-\t ]*$|_[_\t ]*$|~~~|\||:?-+:?[ \t]*(?:\||$)|:(?=[ \t-]))/;

/** A text with more than one of these may contain a pair that strikes out. */
export const hasPairOfTildes = (text: string): boolean => text.indexOf("~") !== text.lastIndexOf("~");

/**
 * Tells whether two dollars look like those around a formula (Pandoc's rule): no space inside, no digit after.
 */
export function couldBeFormula(text: string): boolean {
  const opening = /\$(?=\S)/.exec(text);
  if (!opening) return false;
  const closing = /(?<=\S)\$(?!\d)/g;
  closing.lastIndex = opening.index + 2;
  return closing.test(text);
}

/** Escapes the destination of a link or image. */
export function escapeDestination(url: string): string {
  const safe = url.replace(/[\s<>`|\\]/g, (character) => encodeURIComponent(character));
  const escaped = hasBalancedParentheses(safe) ? safe : safe.replaceAll("(", "%28").replaceAll(")", "%29");
  // Entities are decoded in destinations too.
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
