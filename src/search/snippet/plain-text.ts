import { scanBlocks } from "../document/blocks.ts";
import { readInline } from "../document/inline.ts";

// A snippet's text is looked for in so much of a section; more of one section is rarely read either.
const MAX_CHARACTERS = 50_000;

const LINE_MARK = /^(?:[ \t]|>|[-*+] |\d{1,9}[.)] |\|)+/;
const RULE = /^[\s|:+=*_-]+$/;

/**
 * The words of a stretch of Markdown as one line of text: no markers, targets of links, tags or headings, so
 * that nothing of them can be cut in half.
 */
export function plainText(markdown: string, start: number, end: number): string {
  const source = markdown.slice(start, Math.min(end, start + MAX_CHARACTERS));
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
  text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();

function inlineText(source: string, start: number, end: number): string {
  let plain = "";
  const line = source.slice(start, end);
  readInline(line, 0, line.length, (text, from, to, isCode) => {
    const part = text.slice(from, to);
    plain += isCode ? part : part.replace(/!?\[|\*{1,3}|~~|\]|(?<!\w)__?(?=\w)|(?<=\w)__?(?!\w)/g, "");
  });
  return decodeEntities(plain);
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
