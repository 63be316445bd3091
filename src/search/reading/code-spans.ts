const NEWLINE = 0x0a;
const SPACE = 0x20;
const BACKTICK = 0x60;
const TILDE = 0x7e;

/** The position after the line break of the line that contains `at`, or the end of the text. */
export function endOfLine(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  return newline < 0 ? text.length : newline + 1;
}

/**
 * The end of the fenced code that begins with the line at `at`, including its last line; null when none
 * begins there.
 */
export function fenceAt(text: string, at: number): { readonly endOfBlock: number } | null {
  const opening = markAt(text, at);
  if (opening === null) return null;
  // Another backtick in the line makes it inline code.
  if (opening.unit === BACKTICK && text.slice(opening.end, endOfLine(text, opening.end)).includes("`"))
    return null;
  for (let line = endOfLine(text, opening.end); line < text.length; line = endOfLine(text, line)) {
    const mark = markAt(text, line);
    const closes = mark !== null && mark.unit === opening.unit && mark.length >= opening.length;
    if (!closes) continue;
    const end = endOfLine(text, mark.end);
    if (text.slice(mark.end, end).trim() === "") return { endOfBlock: end };
  }
  return { endOfBlock: text.length };
}

/** The three or more backticks or tildes at the start of a line, after at most three spaces. */
function markAt(text: string, line: number) {
  let start = line;
  while (start < line + 3 && text.charCodeAt(start) === SPACE) start++;
  const unit = text.charCodeAt(start);
  if (unit !== BACKTICK && unit !== TILDE) return null;
  const end = runEnd(text, start, unit);
  return end - start < 3 ? null : { unit, length: end - start, end };
}

function runEnd(text: string, start: number, unit: number, limit = text.length): number {
  let end = start;
  while (end < limit && text.charCodeAt(end) === unit) end++;
  return end;
}

const MAX_CODE_SPAN = 2000;

/**
 * The end of the code span that begins at a backtick, or the position after the backticks when there is no
 * code span.
 */
export function endOfCodeSpan(text: string, at: number): number {
  const after = runEnd(text, at, BACKTICK);
  const limit = Math.min(text.length, after + MAX_CODE_SPAN);
  for (let place = after; place < limit; place++) {
    const unit = text.charCodeAt(place);
    if (unit === NEWLINE && text.charCodeAt(place + 1) === NEWLINE) return after;
    if (unit !== BACKTICK) continue;
    // The limit matters: without it a run of megabytes would be read again for every opening before it.
    const end = runEnd(text, place, BACKTICK, limit);
    if (end - place === after - at && text.charCodeAt(end) !== BACKTICK) return end;
    place = end - 1;
  }
  return after;
}
