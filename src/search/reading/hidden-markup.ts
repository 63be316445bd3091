import { codeBlocksOf, endOfCodeSpan } from "../../markdown/index.ts";

const SPACE = 0x20;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const HYPHEN = 0x2d;
const SLASH = 0x2f;
const LESS = 0x3c;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const BACKTICK = 0x60;

/**
 * Removes comments and hidden HTML elements from Markdown; code is kept. An element that is never closed hides what
 * follows, as in a browser, up to the next code block; `<script>` and its like are then placeholders. Every character is
 * read a limited number of times, whatever the text.
 */
export function withoutHiddenMarkup(markdown: string): string {
  if (!markdown.includes("<")) return markdown;
  const kept: string[] = [];
  let proseStart = 0;
  for (const { start, end } of codeBlocksOf(markdown)) {
    kept.push(cutHidden(markdown.slice(proseStart, start)), markdown.slice(Math.max(start, proseStart), end));
    proseStart = end;
  }
  kept.push(cutHidden(markdown.slice(proseStart)));
  return kept.join("");
}

function cutHidden(text: string): string {
  if (!text.includes("<")) return text;
  const kept: string[] = [];
  // Looked for once for each of the few names, because a text may have very many start tags without an end.
  const lastEnds = new Map<string, number>();
  const lastEnd = (name: string): number => {
    const known = lastEnds.get(name) ?? text.toLowerCase().lastIndexOf(`</${name}`);
    lastEnds.set(name, known);
    return known;
  };
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    if (unit === BACKTICK) {
      at = endOfCodeSpan(text, at);
      continue;
    }
    const end = unit === LESS ? endOfHidden(text, at, lastEnd) : at;
    if (end === at) {
      at++;
      continue;
    }
    if (at > from) kept.push(text.slice(from, at));
    from = end;
    at = end;
  }
  if (from === 0) return text;
  kept.push(text.slice(from));
  return kept.join("");
}

/**
 * The end of the comment or hidden element that begins at a `<`; the position of the `<` when there is none.
 * @param lastEnd where the last end tag of a name stands; -1 for none
 */
function endOfHidden(text: string, at: number, lastEnd: (name: string) => number): number {
  if (text.startsWith("<!--", at)) {
    const end = text.indexOf("-->", at + 4);
    return end < 0 ? text.length : end + 3;
  }
  const tag = readStartTag(text, at);
  if (tag === null || !(tag.isHidden || SHOWN_NEVER.has(tag.name))) return at;
  if (VOID.has(tag.name)) return tag.end;
  return tag.isHidden || lastEnd(tag.name) > at ? endOfElement(text, tag.end, tag.name) : at;
}

const SHOWN_NEVER: ReadonlySet<string> = new Set(["script", "style", "template"]);
const VOID: ReadonlySet<string> = new Set(["img", "br", "hr", "input", "link", "meta"]);

/** No element has a longer name, and comparing it at each tag would take quadratic time. */
const MAX_NAME = 64;

/** The end of an element whose start tag has just ended; elements of the same name inside it are counted. */
function endOfElement(text: string, from: number, name: string): number {
  if (name.length > MAX_NAME) return text.length;
  let depth = 1;
  for (let at = text.indexOf("<", from); at >= 0; at = text.indexOf("<", at + 1)) {
    const isEnd = text[at + 1] === "/";
    const start = at + (isEnd ? 2 : 1);
    const end = start + name.length;
    if (text.slice(start, end).toLowerCase() !== name || /[\w-]/.test(text.charAt(end))) continue;
    const close = endOfTag(text, end);
    if (close < 0) continue;
    depth += isEnd ? -1 : 1;
    if (depth === 0) return close;
  }
  return text.length;
}

/** The position behind a tag whose name has just ended; -1 when a `<` or the end of the text comes first. */
function endOfTag(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === ">") return at + 1;
    if (text[at] === "<") return -1;
  }
  return -1;
}

type StartTag = {
  /** The element's name in lower case. */
  readonly name: string;
  /** The position after its `>`. */
  readonly end: number;
  /** Whether an attribute or its own style hides the element. */
  readonly isHidden: boolean;
};

const isLetter = (unit: number): boolean => (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a;
const isNameUnit = (unit: number): boolean =>
  isLetter(unit) || (unit >= 0x30 && unit <= 0x39) || unit === HYPHEN;
const isSpace = (unit: number): boolean => unit === SPACE || (unit >= 0x09 && unit <= 0x0d);

/**
 * Reads the start tag that begins at a `<`; null when there is none. The search ends at the next `<`, so that
 * a text is read once, however many of its tags are never closed.
 */
function readStartTag(text: string, at: number): StartTag | null {
  if (!isLetter(text.charCodeAt(at + 1))) return null;
  let place = at + 2;
  while (isNameUnit(text.charCodeAt(place))) place++;
  const nameEnd = place;
  let isHidden = false;
  for (;;) {
    while (isSpace(text.charCodeAt(place)) || text.charCodeAt(place) === SLASH) place++;
    const unit = text.charCodeAt(place);
    if (unit === GREATER)
      return { name: text.slice(at + 1, nameEnd).toLowerCase(), end: place + 1, isHidden };
    if (Number.isNaN(unit) || unit === LESS) return null;
    const attribute = readAttribute(text, place);
    if (attribute === null) return null;
    if (attribute.nameEnd - place <= LONGEST_NAME)
      isHidden ||= hides(text.slice(place, attribute.nameEnd).toLowerCase(), text, attribute);
    place = attribute.end;
  }
}

type Attribute = {
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly end: number;
};

function readAttribute(text: string, start: number): Attribute | null {
  let place = start + 1; // a name may begin with `=`
  while (!endsName(text.charCodeAt(place))) place++;
  const nameEnd = place;
  while (isSpace(text.charCodeAt(place))) place++;
  if (text.charCodeAt(place) !== EQUALS) return { nameEnd, valueStart: place, valueEnd: place, end: place };
  place++;
  while (isSpace(text.charCodeAt(place))) place++;
  const quote = text.charCodeAt(place);
  const isQuoted = quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE;
  const valueStart = isQuoted ? place + 1 : place;
  place = valueStart;
  for (;;) {
    const unit = text.charCodeAt(place);
    if (isQuoted && unit === quote) return { nameEnd, valueStart, valueEnd: place, end: place + 1 };
    if (!isQuoted && (isSpace(unit) || unit === GREATER))
      return { nameEnd, valueStart, valueEnd: place, end: place };
    if (Number.isNaN(unit) || unit === LESS) return null;
    place++;
  }
}

const endsName = (unit: number): boolean =>
  Number.isNaN(unit) ||
  isSpace(unit) ||
  unit === SLASH ||
  unit === LESS ||
  unit === GREATER ||
  unit === EQUALS;

/** The length of `aria-hidden`, the longest name of an attribute that hides. */
const LONGEST_NAME = 11;

function hides(name: string, text: string, { valueStart, valueEnd }: Attribute): boolean {
  if (name === "hidden" || name === "popover") return true;
  if (name === "aria-hidden") return /^\s*true/i.test(text.slice(valueStart, valueEnd));
  return name === "style" && HIDING.test(text.slice(valueStart, valueEnd).replace(/\s+/g, "").toLowerCase());
}

const HIDING =
  /display:none|visibility:(?:hidden|collapse)|font-size:(?:0(?![.\d])|1px)|opacity:\.?0(?![.\d])|content-visibility:hidden|(?:^|;)color:transparent|clip-path:inset\((?:50|100)%|scale\(0[,)]|(?:left|text-indent):-\d{4}/;
