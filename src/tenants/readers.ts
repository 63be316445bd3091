import type { DocumentReader } from "../search/index.ts";

/** Extracts a page that stands in a file: its title and Markdown, null when it holds no words. */
export type ExtractHtmlFile = (
  html: string,
) => Promise<{ readonly title: string; readonly markdown: string } | null>;

/** Readers of what documentation folders hold besides Markdown: `.txt`, `.rst`, `.adoc` and `.html`. */
export function documentReaders(extractHtml: ExtractHtmlFile): Readonly<Record<string, DocumentReader>> {
  const asPlainText: DocumentReader = async (text) => ({ title: "", markdown: text });
  const asRst: DocumentReader = async (text) => withTitle(rstToMarkdown(text));
  const asAsciidoc: DocumentReader = async (text) => withTitle(asciidocToMarkdown(text));
  const asHtml: DocumentReader = (text) => extractHtml(text);
  return { txt: asPlainText, rst: asRst, adoc: asAsciidoc, html: asHtml, htm: asHtml };
}

const withTitle = (markdown: string): { title: string; markdown: string } => ({
  title: /^# +(.+)$/m.exec(markdown)?.[1]?.trim() ?? "",
  markdown,
});

// Any of these, as long as the line above, underlines a heading (docutils, "Sections").
const ADORNMENT = /^([=\-`:'"~^_*+#<>])\1*\s*$/;

/**
 * The headings and code of reStructuredText as Markdown; the rest reads well as it is. The level of an
 * adornment is the order in which it first comes.
 */
function rstToMarkdown(text: string): string {
  const lines = text.split(/\r?\n/);
  const levels: string[] = [];
  const out: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const below = lines[index + 1] ?? "";
    const above = out.at(-1) ?? "";
    const isHeading =
      line.trim() !== "" && ADORNMENT.test(below) && below.trimEnd().length >= line.trim().length;
    if (isHeading && !ADORNMENT.test(line)) {
      const isOverlined = ADORNMENT.test(above) && above.trim() === below.trim();
      if (isOverlined) out.pop();
      out.push(`${"#".repeat(levelOf(levels, `${isOverlined}${below[0]}`))} ${line.trim()}`);
      index++;
    } else if (/^\s*\.\. (?:code-block|code|sourcecode|literalinclude)::/.test(line)) {
      index = copyLiteral(lines, index + 1, { out, language: line.split("::")[1]?.trim() ?? "" });
    } else if (/::\s*$/.test(line) && /^(?:\s*$)/.test(below) && /^\s+\S/.test(lines[index + 2] ?? "")) {
      if (line.trim() !== "::") out.push(line.replace(/::\s*$/, ":"));
      index = copyLiteral(lines, index + 1, { out, language: "" });
    } else out.push(line.replace(/``([^`]+)``/g, "`$1`"));
  }
  return out.join("\n");
}

function levelOf(levels: string[], adornment: string): number {
  if (!levels.includes(adornment)) levels.push(adornment);
  return Math.min(6, levels.indexOf(adornment) + 1);
}

type Literal = { readonly out: string[]; readonly language: string };

/** Copies the indented block that follows as code; returns the index of its last line. */
function copyLiteral(lines: readonly string[], from: number, { out, language }: Literal): number {
  let end = from;
  while (end < lines.length && /^(?:\s*$|\s)/.test(lines[end] ?? "")) end++;
  // The directive's options (`:linenos:`) are no code.
  const block = lines.slice(from, end).filter((line, index) => index > 3 || !/^\s+:[\w-]+:/.test(line));
  while (block[0]?.trim() === "") block.shift();
  while (block.at(-1)?.trim() === "") block.pop();
  if (block.length === 0) return from - 1;
  const indents = block.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const indent = indents.reduce((least, next) => Math.min(least, next), Number.POSITIVE_INFINITY);
  out.push("", `\`\`\`${language}`, ...block.map((line) => line.slice(indent)), "```", "");
  return end - 1;
}

/** The headings and code of AsciiDoc as Markdown. */
function asciidocToMarkdown(text: string): string {
  let language = "";
  let isCode = false;
  const out: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const source = /^\[source,\s*([\w+#-]+).*\]\s*$/.exec(line);
    if (/^(?:-{4,}|\.{4,})\s*$/.test(line)) {
      out.push(isCode ? "```" : `\`\`\`${language}`);
      isCode = !isCode;
      language = "";
    } else if (isCode) out.push(line);
    else if (source) language = source[1] ?? "";
    else out.push(line.replace(/^(={1,6}) +(?=\S)/, (_, level: string) => `${"#".repeat(level.length)} `));
  }
  return out.join("\n");
}
