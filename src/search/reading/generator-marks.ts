import { FenceReader } from "../../markdown/index.ts";

/** Lines that open a block, with its title in a group; the second kind indents what it holds. */
const CONTAINER =
  /^[ \t]*:{3,}[ \t]*(?:[\w-]+|\{[^{}]{1,200}\})?[ \t]*(?:\[(.{0,300})\]|([^[{].{0,300})?)[ \t]*(?:\{[^{}]{0,300}\})?$/;
const INDENTING =
  /^[ \t]*(?:(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?:[ \t]+[\w-]+){0,9}(?:[ \t]+"(.{0,300})")?|===[+!]?[ \t]+"(.{1,300})")[ \t]*$/;
/** Lines that stand for a table of contents or for a file. */
const PLACEHOLDER = /^[ \t]*(?:\[\[_?toc_?\]\]|<<<[ \t]+@?[\w./-]+(?:[#{].{0,300})?)[ \t]*$/i;
/** Code, which stays, or a call of a template. */
const CALL = /(?<!`)(`{1,9})(?!`).{0,500}?(?<!`)\1(?!`)|\{\{([<%]).{0,200}?[>%]\}\}|\{%-?[ \t].{0,200}?%\}/g;

const TITLE =
  /^\{[{%][<%]?-?\s*(?:[\w-]+\s[^<>]*?\b(?:title|header|heading|label|summary|caption)=("[^"]{1,300}"|'[^']{1,300}')|(?:tab|tab-?item|details|expand|accordion|panel|notice|callout|admonition|hint|step)\s(?:name=|[\w-]+\s)?("[^"]{1,300}"|'[^']{1,300}'))/i;

const INDENT = 4;

/**
 * Removes the marks of documentation generators from Markdown: lines around notes and tabs, calls of templates,
 * placeholders. Their content and their titles stay; code is unchanged.
 */
export function withoutGeneratorMarks(markdown: string): string {
  if (!/:::|!!!|\?\?\?|===|\{[{%]|\[\[|<<</.test(markdown)) return markdown;
  const reader = new MarkReader();
  return markdown
    .split("\n")
    .flatMap((line) => reader.read(line))
    .join("\n");
}

class MarkReader {
  /** The columns of the open blocks that indent what they hold. */
  readonly #open: number[] = [];
  readonly #fences = new FenceReader();

  /** The lines that a line leaves. */
  read(line: string): readonly string[] {
    const indent = line.search(/\S/);
    if (indent >= 0) this.#leave(indent);
    const shown = indent < 0 ? line : line.slice(Math.min(indent, this.#open.length * INDENT));
    return this.#fences.isCode(shown) ? [shown] : this.#withoutMarks(shown, indent);
  }

  /** Ends the blocks that a line is not indented enough for, and code in them. */
  #leave(indent: number): void {
    for (let top = this.#open.at(-1); top !== undefined && indent < top + INDENT; top = this.#open.at(-1)) {
      this.#open.pop();
      this.#fences.close();
    }
  }

  #withoutMarks(line: string, indent: number): readonly string[] {
    const text = line.trimEnd();
    const indenting = INDENTING.exec(text);
    if (indenting) this.#open.push(indent);
    const opened = indenting ?? CONTAINER.exec(text);
    if (opened) return [opened[1] ?? opened[2] ?? "", ""];
    if (/^ {4}|^\t/.test(line)) return [line];
    if (PLACEHOLDER.test(text)) return [];
    return [line.replace(CALL, (call, code) => (code ? call : titleIn(call, call === text.trim())))];
  }
}

/** Returns the visible part of a call: its title, which calls for tabs and notes may give without a name. */
function titleIn(call: string, isLine: boolean): string {
  const [, named, bare] = TITLE.exec(call) ?? [];
  const title = (named ?? bare ?? "").slice(1, -1);
  return title === "" || isLine ? title : `${title} `;
}
