const FENCE = /^[ \t]*(`{3,}(?!.*`)|~{3,})(.*)$/;
/** Lines that open a block, with its title in a group; the second kind indents what it holds. */
const CONTAINER =
  /^[ \t]*:{3,}[ \t]*(?:[\w-]+|\{[^{}]{1,200}\})?[ \t]*(?:\[(.{0,300})\]|([^[{].{0,300})?)[ \t]*(?:\{[^{}]{0,300}\})?$/;
const INDENTING =
  /^[ \t]*(?:(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?:[ \t]+[\w-]+){0,9}(?:[ \t]+"(.{0,300})")?|===[+!]?[ \t]+"(.{1,300})")[ \t]*$/;
/** Lines that stand for a table of contents or for a file. */
const PLACEHOLDER = /^[ \t]*(?:\[\[_?toc_?\]\]|<<<[ \t]+@?[\w./-]+(?:[#{].{0,300})?)[ \t]*$/i;
/** Code, which stays, or a call of a template. */
const CALL = /(`+)(?!`).{0,2000}?(?<!`)\1(?!`)|\{\{([<%]).{0,500}?[>%]\}\}|\{%-?[ \t].{0,500}?%\}/g;

const INDENT = 4;

/**
 * Removes the marks of documentation generators from Markdown: lines around notes and tabs, calls of templates,
 * placeholders. What they hold stays, with their titles; code is kept.
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
  #fence = "";

  /** The lines that a line leaves. */
  read(line: string): readonly string[] {
    const indent = line.search(/\S/);
    if (indent >= 0) this.#leave(indent);
    const shown = indent < 0 ? line : line.slice(Math.min(indent, this.#open.length * INDENT));
    return this.#isCode(shown) ? [shown] : this.#withoutMarks(shown, indent);
  }

  /** Ends the blocks that a line is not indented enough for, and code in them. */
  #leave(indent: number): void {
    for (let top = this.#open.at(-1); top !== undefined && indent < top + INDENT; top = this.#open.at(-1)) {
      this.#open.pop();
      this.#fence = "";
    }
  }

  #isCode(line: string): boolean {
    const [, marks = "", info = ""] = FENCE.exec(line) ?? [];
    const wasOpen = this.#fence !== "";
    if (!wasOpen) this.#fence = marks;
    else if (marks.startsWith(this.#fence) && info.trim() === "") this.#fence = "";
    return wasOpen || marks !== "";
  }

  #withoutMarks(line: string, indent: number): readonly string[] {
    const text = line.trimEnd();
    const indenting = INDENTING.exec(text);
    if (indenting) this.#open.push(indent);
    const opened = indenting ?? CONTAINER.exec(text);
    if (opened) return [opened[1] ?? opened[2] ?? "", ""];
    if (/^ {4}|^\t/.test(line)) return [line];
    if (PLACEHOLDER.test(text)) return [];
    return [line.replace(CALL, (call, code) => (code ? call : ""))];
  }
}
