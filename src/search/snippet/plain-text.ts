import { type Block, inlineText, readInline, readMarkdown } from "../../markdown/index.ts";

const SPACE = 0x20;
const TILDE = 0x7e;

/**
 * Turns a range of Markdown into one line of plain text as a page shows it, without headings: the same reader makes both, so
 * that no mark, link target or tag is left or cut in half.
 */
export function plainText(source: string): string {
  const document = readMarkdown(source);
  const parts: string[] = [];
  const addText = (text: string): void => {
    parts.push(inlineText(readInline(text, document)));
  };
  const add = (block: Block): void => {
    switch (block.kind) {
      case "paragraph":
        addText(block.text);
        break;
      case "code":
        parts.push(block.text);
        break;
      case "math":
        parts.push(block.tex);
        break;
      case "table":
        for (const row of [block.header, ...block.rows]) addText(row.join(" | "));
        break;
      case "list":
        for (const item of block.items) item.blocks.forEach(add);
        break;
      case "details":
        addText(block.summary);
        block.blocks.forEach(add);
        break;
      case "quote":
      case "note":
        block.blocks.forEach(add);
    }
  };
  document.blocks.forEach(add);
  for (const blocks of document.footnotes.values()) blocks.forEach(add);
  return printable(parts.join(" "));
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
