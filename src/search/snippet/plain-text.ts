import { scanBlocks } from "../document/blocks.ts";
import { readInline } from "../document/inline.ts";

const LINE_MARK = /^(?:[ \t]|>|[-*+] |\d{1,9}[.)] |\|)+/;
const MARKS = /!?\[|\*{1,3}|~~|\]|(?<!\w)__?(?=\w)|(?<=\w)__?(?!\w)/g;
/** 1 for what one of `MARKS` has; a `!` is in one only before a bracket. */
const IS_IN_MARK = Uint8Array.from({ length: 128 }, (_, unit) =>
  "[]*~_".includes(String.fromCharCode(unit)) ? 1 : 0,
);
const SPACE = 0x20;
const TILDE = 0x7e;
const RULE = /^[\s|:+=*_-]+$/;

/**
 * The words of a stretch of Markdown as one line of text: no markers, targets of links, tags or headings, so
 * that nothing of them can be cut in half.
 */
export function plainText(source: string): string {
  const lines: string[] = [];
  scanBlocks(source, (kind, from, to) => {
    if (kind === "heading") return;
    const line = kind === "code" ? source.slice(from, to) : inlineText(source, from, to);
    const text = line.replace(LINE_MARK, "").trim();
    if (text !== "" && !RULE.test(text)) lines.push(text);
  });
  return printable(lines.join(" "));
}

/** One line without control characters and lone surrogates. */
export const printable = (text: string): string =>
  isOneLine(text)
    ? text.trim()
    : text
        .toWellFormed()
        .replace(/[\p{Cc}\s]+/gu, " ")
        .trim();

/** Whether all of a text is printable ASCII, with one space at a time: most of any text is. */
function isOneLine(text: string): boolean {
  let before = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < SPACE || unit > TILDE || (unit === SPACE && before === SPACE)) return false;
    before = unit;
  }
  return true;
}

function inlineText(source: string, start: number, end: number): string {
  let plain = "";
  const line = source.slice(start, end);
  readInline(line, 0, line.length, (text, from, to, isCode) => {
    const part = text.slice(from, to);
    plain += isCode || !hasMarks(part) ? part : part.replace(MARKS, "");
  });
  return plain.includes("&") ? decodeEntities(plain) : plain;
}

function hasMarks(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (IS_IN_MARK[text.charCodeAt(at)] === 1) return true;
  return false;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

const decodeEntities = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (entity, name: string) => ENTITIES[name] ?? entity);
