export type StartTag = {
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
const isSpace = (unit: number): boolean => unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);

const HYPHEN = 0x2d;
const SLASH = 0x2f;
const LESS = 0x3c;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

/**
 * Reads the start tag that begins at a `<`; null when there is none. The search ends at the next `<`, so that
 * a text is read once, however many of its tags are never closed.
 */
export function readStartTag(text: string, at: number): StartTag | null {
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
  if (name === "hidden") return true;
  if (name === "aria-hidden") return /^\s*true/i.test(text.slice(valueStart, valueEnd));
  return name === "style" && HIDING.test(text.slice(valueStart, valueEnd).replace(/\s+/g, "").toLowerCase());
}

const HIDING = /display:none|visibility:hidden|font-size:0(?![.\d])|opacity:0(?![.\d])/;
