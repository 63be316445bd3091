/** Receives ranges of plain text in `text`, which is not always the Markdown itself. */
export type TextSink = (text: string, start: number, end: number, isCode: boolean) => void;

const BACKSLASH = 0x5c;
const BACKTICK = 0x60;
const CLOSING_BRACKET = 0x5d;
const OPENING_PARENTHESIS = 0x28;
const CLOSING_PARENTHESIS = 0x29;
const LESS = 0x3c;
const AMPERSAND = 0x26;

const TAG =
  /<\/?(?:a|abbr|b|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|figure|figcaption|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|q|s|samp|section|small|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul|var)(?=[\s/>])[^<>]{0,1000}>/iy;
const ENTITY = /&(?:[a-z]{2,10}|#\d{1,7}|#x[0-9a-f]{1,6});/iy;
const ESCAPE = /\\([!-/:-@[-`{-~])/g;

/**
 * Reads the words of a line of Markdown. Targets of links and images, HTML tags, comments and entities are
 * dropped, escapes are undone, and code spans are told apart. It is good enough for an index, and linear.
 */
export function readInline(markdown: string, start: number, end: number, sink: TextSink): void {
  if (!hasBackslash(markdown, start, end)) {
    readPlain(markdown, start, end, sink);
    return;
  }
  const text = markdown.slice(start, end).replace(ESCAPE, "$1");
  readPlain(text, 0, text.length, sink);
}

// `indexOf` would search the rest of the document for every line.
function hasBackslash(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (text.charCodeAt(i) === BACKSLASH) return true;
  return false;
}

function readPlain(text: string, start: number, end: number, sink: TextSink): void {
  let from = start;
  let isCode = false;
  for (let at = start; at < end; ) {
    const unit = text.charCodeAt(at);
    let next = 0;
    if (unit === BACKTICK) next = at + 1;
    else if (unit === CLOSING_BRACKET) next = targetEnd(text, at + 1, end);
    else if (unit === LESS && !isCode) next = markEnd(text, at, end, TAG) || commentEnd(text, at, end);
    else if (unit === AMPERSAND && !isCode) next = markEnd(text, at, end, ENTITY);
    if (next === 0) {
      at++;
      continue;
    }
    if (at > from) sink(text, from, at, isCode);
    if (unit === BACKTICK) isCode = !isCode;
    from = next;
    at = next;
  }
  if (end > from) sink(text, from, end, isCode);
}

/** The end of the target of a link whose text ended before `at`; 0 when there is none. */
function targetEnd(text: string, at: number, end: number): number {
  if (text.charCodeAt(at) !== OPENING_PARENTHESIS) return 0;
  let depth = 0;
  for (let i = at; i < end; i++) {
    const unit = text.charCodeAt(i);
    // When another link begins, this one has no end; stopping here keeps the search linear.
    if (unit === CLOSING_BRACKET) return 0;
    if (unit === OPENING_PARENTHESIS) depth++;
    else if (unit === CLOSING_PARENTHESIS && --depth === 0) return i + 1;
  }
  return 0;
}

function markEnd(text: string, at: number, end: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  return pattern.test(text) && pattern.lastIndex <= end ? pattern.lastIndex : 0;
}

function commentEnd(text: string, at: number, end: number): number {
  if (!text.startsWith("<!--", at)) return 0;
  const close = text.slice(at, end).indexOf("-->");
  // An unclosed comment hides the rest of its line, so that nothing is searched twice.
  return close < 0 ? end : at + close + 3;
}
