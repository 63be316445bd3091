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
