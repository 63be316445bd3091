import { endOfCodeSpan, endOfLine, fenceAt } from "./code-spans.ts";
import { readStartTag } from "./start-tag.ts";

/**
 * Removes comments and hidden HTML elements from Markdown; fenced code and code spans are kept. An element
 * that is never closed hides what follows, as in a browser, up to the next fenced code. Every character is
 * read a limited number of times, whatever the text.
 */
export function withoutHiddenMarkup(markdown: string): string {
  if (!markdown.includes("<")) return markdown;
  const kept: string[] = [];
  let proseStart = 0;
  for (let at = 0; at < markdown.length; ) {
    const fence = fenceAt(markdown, at);
    if (fence === null) {
      at = endOfLine(markdown, at);
      continue;
    }
    kept.push(cutHidden(markdown.slice(proseStart, at)));
    const end = fence.endOfBlock;
    kept.push(markdown.slice(at, end));
    proseStart = end;
    at = end;
  }
  kept.push(cutHidden(markdown.slice(proseStart)));
  return kept.join("");
}

const BACKTICK = 0x60;
const LESS = 0x3c;

function cutHidden(text: string): string {
  if (!text.includes("<")) return text;
  const kept: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    if (unit === BACKTICK) {
      at = endOfCodeSpan(text, at);
      continue;
    }
    const end = unit === LESS ? endOfHidden(text, at) : at;
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
 */
function endOfHidden(text: string, at: number): number {
  if (text.startsWith("<!--", at)) {
    const end = text.indexOf("-->", at + 4);
    return end < 0 ? text.length : end + 3;
  }
  const tag = readStartTag(text, at);
  if (tag === null || !(tag.isHidden || SHOWN_NEVER.has(tag.name))) return at;
  return VOID.has(tag.name) ? tag.end : endOfElement(text, tag.end, tag.name);
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

/**
 * The position after the `>` of a tag whose name has just ended; -1 when a `<` or the end of the text comes
 * first.
 */
function endOfTag(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === ">") return at + 1;
    if (text[at] === "<") return -1;
  }
  return -1;
}
