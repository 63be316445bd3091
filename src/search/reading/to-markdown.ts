// Any of these, if as long as the line above, underlines a heading (docutils, "Sections").
const ADORNMENT = /^([=\-`:'"~^_*+#<>])\1*\s*$/;

/**
 * Converts the headings and code of reStructuredText to Markdown; the rest is readable as it is. The level of
 * an adornment is the order of its first use.
 */
export function rstToMarkdown(lines: readonly string[]): string {
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
    } else if (line.trimEnd().endsWith("::") && below.trim() === "" && isIndented(lines[index + 2] ?? "")) {
      if (line.trim() !== "::") out.push(line.trimEnd().slice(0, -1));
      index = copyLiteral(lines, index + 1, { out, language: "" });
    } else out.push(line.replace(/``([^`]+)``/g, "`$1`"));
  }
  return out.join("\n");
}

const isIndented = (line: string): boolean => line.trim() !== "" && /^\s/.test(line);

function levelOf(levels: string[], adornment: string): number {
  if (!levels.includes(adornment)) levels.push(adornment);
  return Math.min(6, levels.indexOf(adornment) + 1);
}

type Literal = { readonly out: string[]; readonly language: string };

/**
 * Copies the following indented block as code.
 * @returns the index of its last line
 */
function copyLiteral(lines: readonly string[], from: number, { out, language }: Literal): number {
  let end = from;
  while (end < lines.length && /^(?:$|\s)/.test(lines[end] ?? "")) end++;
  let first = from;
  // The directive's options (`:linenos:`) do not belong to the code.
  while (first < end && (isBlank(lines[first]) || (first < from + 4 && isOption(lines[first])))) first++;
  let last = end;
  while (last > first && isBlank(lines[last - 1])) last--;
  if (first === last) return from - 1;
  let indent = Number.POSITIVE_INFINITY;
  for (let at = first; at < last; at++)
    if (!isBlank(lines[at])) indent = Math.min(indent, (lines[at] ?? "").search(/\S/));
  out.push("", `\`\`\`${language}`);
  for (let at = first; at < last; at++) out.push((lines[at] ?? "").slice(indent));
  out.push("```", "");
  return end - 1;
}

const isBlank = (line = ""): boolean => line.trim() === "";
const isOption = (line = ""): boolean => /^\s+:[\w-]+:/.test(line);

/** Converts the headings and code of AsciiDoc to Markdown. */
export function asciidocToMarkdown(lines: readonly string[]): string {
  let language = "";
  let isCode = false;
  const out: string[] = [];
  for (const line of lines) {
    const source = languageOf(line);
    if (/^(?:-{4,}|\.{4,})\s*$/.test(line)) {
      out.push(isCode ? "```" : `\`\`\`${language}`);
      isCode = !isCode;
      language = "";
    } else if (isCode) out.push(line);
    else if (source !== null) language = source;
    else out.push(line.replace(/^(={1,6}) +(?=\S)/, (_, level: string) => `${"#".repeat(level.length)} `));
  }
  return out.join("\n");
}

/** The language that an attribute line names (`[source,ruby]`); null for any other line. */
const languageOf = (line: string): string | null =>
  line.startsWith("[source,") && line.trimEnd().endsWith("]")
    ? (/^\[source,\s*([\w+#-]{1,40})/.exec(line)?.[1] ?? null)
    : null;
