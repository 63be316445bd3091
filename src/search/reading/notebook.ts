import { Failure } from "../../base/failure.ts";
import { isRecord, parseJson } from "../../base/json.ts";
import { MarkdownWriter } from "./markdown-writer.ts";

/** An object of the notebook. */
type Json = Readonly<Record<string, unknown>>;

/** The most characters of one output that are kept. */
const MAX_OUTPUT = 20_000;

/**
 * Converts a Jupyter notebook (nbformat 3 and 4) to Markdown: its text, its code, and outputs that are text.
 * @throws Failure `unreadable_input` for a text that is no notebook
 */
export function notebookToMarkdown(text: string): string {
  const notebook = parseJson(text);
  const cells = isRecord(notebook) ? cellsOf(notebook) : null;
  if (!isRecord(notebook) || cells === null)
    throw new Failure("unreadable_input", "it is not a notebook: its JSON is broken or has no cells");
  const writer = new MarkdownWriter();
  const language = languageOf(notebook);
  for (const cell of cells) if (isRecord(cell)) writeCell(cell, language, writer);
  return writer.toString();
}

function cellsOf({ cells, worksheets }: Json): readonly unknown[] | null {
  if (Array.isArray(cells)) return cells;
  if (!Array.isArray(worksheets)) return null;
  return worksheets.flatMap((sheet) => (isRecord(sheet) && Array.isArray(sheet.cells) ? sheet.cells : []));
}

function languageOf({ metadata }: Json): string {
  const named = (key: string, name: string): unknown => {
    const value = isRecord(metadata) ? metadata[key] : null;
    return isRecord(value) ? value[name] : null;
  };
  const found = named("language_info", "name") ?? named("kernelspec", "language");
  return typeof found === "string" ? found.toLowerCase() : "python";
}

function writeCell(cell: Json, language: string, writer: MarkdownWriter): void {
  const source = joinedText(cell.source ?? cell.input);
  switch (cell.cell_type) {
    case "code":
      writer.code(source, magicLanguage(source) ?? language);
      for (const output of Array.isArray(cell.outputs) ? cell.outputs : [])
        if (isRecord(output)) writeOutput(output, writer);
      break;
    case "heading":
      writer.heading(Number(cell.level) || 1, source);
      break;
    case "raw":
      writer.code(source);
      break;
    default:
      writer.markdown(withoutData(source));
  }
}

/** `%%bash` in the first line makes the cell a script of that language. */
const magicLanguage = (source: string): string | null =>
  /^%%(bash|sh|html|javascript|js|latex|perl|ruby|sql|svg|markdown)\b/.exec(source)?.[1] ?? null;

/** Texts are strings, or lists of lines that end with their line breaks. */
const joinedText = (value: unknown): string =>
  typeof value === "string"
    ? value
    : Array.isArray(value)
      ? value.filter((line) => typeof line === "string").join("")
      : "";

function writeOutput(output: Json, writer: MarkdownWriter): void {
  // The old format has the data beside the type.
  const data = isRecord(output.data) ? output.data : output;
  const isPicture = Object.keys(data).some((type) => /^(?:image\/|png$|jpeg$|svg$)/.test(type));
  const markdown = joinedText(data["text/markdown"]);
  if (output.output_type === "error" || output.output_type === "pyerr")
    writeText(
      `${joinedText(output.ename)}: ${joinedText(output.evalue)}\n${joinedText(joined(output.traceback))}`,
      writer,
    );
  else if (markdown !== "") writer.markdown(cut(withoutData(markdown)));
  // Beside a picture stands `<Figure size 640x480 with 1 Axes>`.
  else if (!isPicture) writeText(joinedText(output.text) || joinedText(data["text/plain"]), writer);
}

const joined = (lines: unknown): unknown => (Array.isArray(lines) ? lines.join("\n") : lines);

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are coloured with them.
const COLOUR = /\u001b\[[\d;]*[A-Za-z]/g;

const writeText = (text: string, writer: MarkdownWriter): void =>
  writer.code(cut(text.slice(0, 4 * MAX_OUTPUT).replace(COLOUR, ""), text.length), "text");

/** @param length that of the whole text */
const cut = (text: string, length = text.length): string =>
  text.length <= MAX_OUTPUT
    ? text
    : `${text.slice(0, MAX_OUTPUT).toWellFormed()}\n… (the output has ${length} characters, and is cut here)`;

/** Pictures in the text itself are megabytes that nobody reads; their descriptions stay. */
const withoutData = (markdown: string): string =>
  markdown
    .replace(/!\[([^\][\n]{0,500})\]\(<?(?:data|attachment):[\w+/=%.;,:-]*>?(?:[ \t][^)\n]{0,300})?\)/g, "$1")
    .replace(/data:[\w/+.-]{1,100};base64,[\w+/=%-]*/g, "");
