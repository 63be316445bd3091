export const isBlank = (line: string): boolean => line.trim() === "";

/** Counts the spaces before the text. */
export function indentOf(line: string): number {
  let at = 0;
  while (line[at] === " ") at++;
  return at;
}

export const isAll = (text: string, character: string): boolean => {
  for (const one of text) if (one !== character) return false;
  return text !== "";
};

export function isRule(line: string): boolean {
  if (indentOf(line) > 3 || line.length > 1000) return false;
  const signs = line.replaceAll(/[ \t]/g, "");
  return signs.length >= 3 && "-_*".includes(signs[0]!) && isAll(signs, signs[0]!);
}

export type Marker = {
  /** The sign `-`, `*`, `+`, `.` or `)`; a different sign begins a new list. */
  readonly sign: string;
  readonly number: number | null;
  /** The number of columns before the item's text. */
  readonly width: number;
};

export function markerOf(line: string): Marker | null {
  const found = /^( {0,3})(?:([-*+])|(\d{1,9})([.)]))( *)/.exec(line);
  if (!found) return null;
  const [whole, , bullet, digits, delimiter, spaces = ""] = found;
  const isEmpty = whole.length === line.length;
  if (spaces === "" && !isEmpty) return null;
  // Five or more spaces belong to code inside the item.
  const width = isEmpty || spaces.length > 4 ? whole.length - spaces.length + 1 : whole.length;
  return { sign: bullet ?? delimiter ?? "", number: digits === undefined ? null : Number(digits), width };
}

/** @param isInText a paragraph is only broken by an item with text, and by a number only when it is 1 */
export function startsListItem(line: string, isInText: boolean): boolean {
  const marker = markerOf(line);
  if (!marker) return false;
  return !isInText || (line.length > marker.width && (marker.number === null || marker.number === 1));
}

/** Tells whether the line ends a paragraph without a blank line between them. */
export const startsBlock = (line: string): boolean =>
  /^ {0,3}(?:#{1,6}(?:[ \t]|$)|>|```|~~~|<details|<!--|\$\$ *$)/i.test(line) ||
  isRule(line) ||
  startsListItem(line, true);
