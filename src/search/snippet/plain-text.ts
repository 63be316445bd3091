import { scanBlocks } from "../document/blocks.ts";
import { readInline } from "../document/inline.ts";

const LINE_MARK = /^(?:[ \t]|>|[-*+] |\d{1,9}[.)] |\|)+/;
const MARKS = /!?\[|\*{1,3}|~~|\]|(?<!\w)__?(?=\w)|(?<=\w)__?(?!\w)/g;
/** Has 1 for every character that begins one of `MARKS`; a `!` counts only before a bracket. */
const IS_IN_MARK = Uint8Array.from({ length: 128 }, (_, unit) =>
  "[]*~_".includes(String.fromCharCode(unit)) ? 1 : 0,
);
const SPACE = 0x20;
const TILDE = 0x7e;
const RULE = /^[\s|:+=*_-]+$/;

/**
 * Turns a range of Markdown into one line of plain text without markers, link targets, tags and headings, so
 * that no such part can be cut in half.
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

/** Makes text one line without control characters and lone surrogates. */
export const printable = (text: string): string =>
  isOneLine(text)
    ? text.trim()
    : text
        .toWellFormed()
        .replace(/[\p{Cc}\s]+/gu, " ")
        .trim();

/** Whether a text is printable ASCII with single spaces only, like most texts. */
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
