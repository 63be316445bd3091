import { extname } from "node:path";
import type { NetworkOptions } from "../../../app/index.ts";
import { type ArticleField, renderingsFor } from "../../../articles/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { ExtractionOptions } from "../../../extraction/index.ts";
import { DEFAULT_EXTRACTION } from "../../../settings/index.ts";
import { type PageUrl, parsePageUrl } from "../../../urls/index.ts";
import { optionValue, type Typed } from "../../arguments.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "../../flags/pages.ts";
import { isStdin } from "../../input.ts";
import { readExtraction, readFields, readNetwork, requireUrl, showUrl } from "./page-options.ts";

/** One page to extract. */
export type PageInput =
  | { readonly kind: "url"; readonly url: string; readonly authorization: string | null }
  | { readonly kind: "file"; readonly path: string; readonly url: PageUrl | null }
  | { readonly kind: "stdin"; readonly url: PageUrl | null };

/** The source of the pages of an extraction. */
export type ExtractInput =
  | PageInput
  /** Several pages, or one whose line is appended to a file; a list file contains one URL a line. */
  | {
      readonly kind: "list";
      readonly sources: readonly (PageInput | { readonly kind: "list-file"; readonly path: string })[];
    };

/** The meaning of an extraction command. */
export type ExtractCommand = {
  readonly input: ExtractInput;
  readonly format: OutputFormat;
  /** The fields of the JSON. */
  readonly fields: readonly ArticleField[];
  /** Whether JSON is written on one line. */
  readonly isCompact: boolean;
  /** Null writes to stdout. */
  readonly outputFile: string | null;
  /** The file of JSON lines that is continued. */
  readonly resumeFile: string | null;
  readonly hasFrontmatter: boolean;
  readonly extraction: ExtractionOptions;
  readonly network: NetworkOptions;
};

/**
 * Interprets the words of an extraction command.
 * @param hasPerson whether somebody is there to press Enter
 * @throws Failure `invalid_usage` or `invalid_url` for values and combinations that mean nothing
 */
export function readExtractCommand(typed: Typed, hasPerson: () => boolean): ExtractCommand {
  const outputFile = optionValue.path(typed, "output-file");
  const resumeFile = optionValue.path(typed, "resume");
  if (resumeFile === "-")
    throw new Failure("invalid_usage", "--resume needs a file that can be read again, not standard output");
  if (outputFile !== null && resumeFile !== null)
    throw new Failure("invalid_usage", "--output-file and --resume exclude each other");
  const ending = extname(outputFile ?? resumeFile ?? "").toLowerCase();
  const format = readFormat(typed, resumeFile === null ? ending : ".jsonl");
  requireFormat(typed, format);
  const fields = readFields(typed);
  const input = readInput(typed);
  if (resumeFile !== null && !fields.includes("url") && hasUrls(input))
    throw new Failure("invalid_usage", "--resume tells pages by their url, which --fields leaves out");
  return {
    input,
    format,
    fields,
    isCompact: typed.has("compact") || ending === ".jsonl",
    outputFile: outputFile === "-" ? null : outputFile,
    resumeFile,
    hasFrontmatter: typed.has("frontmatter"),
    extraction: readExtraction(typed, renderingsOf(format, fields), DEFAULT_EXTRACTION),
    network: readNetwork(typed, hasPerson),
  };
}

const FORMAT_BY_ENDING: Readonly<Record<string, OutputFormat>> = {
  ".md": "markdown",
  ".markdown": "markdown",
  ".txt": "text",
  ".text": "text",
  ".json": "json",
  ".jsonl": "json",
  ".html": "html",
  ".htm": "html",
};

function readFormat(typed: Typed, ending: string): OutputFormat {
  const words = Object.keys(OUTPUT_FORMATS) as (keyof typeof OUTPUT_FORMATS)[];
  requireNoFile(typed);
  const word = optionValue.choice(typed, "output", words);
  return word === null ? (FORMAT_BY_ENDING[ending] ?? "json") : OUTPUT_FORMATS[word];
}

/** Other programs name the file with `--output`; this refuses a file name there. */
function requireNoFile(typed: Typed): void {
  const written = typed.one("output") ?? "";
  if (Object.hasOwn(FORMAT_BY_ENDING, extname(written).toLowerCase()))
    throw new Failure(
      "invalid_usage",
      `--output takes a form, such as markdown, not the file ${showUrl(written)}; did you mean -o?`,
    );
}

/** The options that apply to one form only. */
const FORM_OF_OPTION: Readonly<Record<string, OutputFormat>> = {
  frontmatter: "markdown",
  fields: "json",
  compact: "json",
  resume: "json",
};

function requireFormat(typed: Typed, format: OutputFormat): void {
  for (const [name, form] of Object.entries(FORM_OF_OPTION))
    if (typed.has(name) && form !== format)
      throw new Failure("invalid_usage", `--${name} goes with --output ${form}`);
}

function renderingsOf(
  format: OutputFormat,
  fields: readonly ArticleField[],
): ExtractionOptions["renderings"] {
  if (format === "json") return renderingsFor(fields);
  return format === "markdown" ? ["markdown"] : format === "html" ? ["content"] : [];
}

/** Whether lines of the input's pages are told by their url; those of local pages begin with their file. */
const hasUrls = (input: ExtractInput): boolean =>
  input.kind !== "list" || input.sources.some(({ kind }) => kind === "url" || kind === "list-file");

function readInput(typed: Typed): ExtractInput {
  const url = readBaseUrl(typed);
  const local = (path: string): PageInput =>
    isStdin(path) ? { kind: "stdin", url } : { kind: "file", path, url };
  const pages = [
    ...typed.positionals.map((written) =>
      written === "-" ? local(written) : ({ kind: "url", ...requireUrl(written) } as const),
    ),
    ...optionValue.paths(typed, "file").map(local),
  ];
  const lists = optionValue.paths(typed, "input-file");
  const isNothing = pages.length + lists.length === 0;
  const [page = local("-"), ...more] = pages;
  const isOne = more.length + lists.length === 0;
  if (url !== null && !(isOne && page.kind !== "url"))
    throw new Failure(
      "invalid_usage",
      "--url gives one --file or standard input an address; it goes with nothing else",
    );
  if (pages.filter(({ kind }) => kind === "stdin").length + lists.filter(isStdin).length > 1)
    throw new Failure("invalid_usage", "standard input can be read once only");
  if (isOne && !typed.has("resume")) return page;
  const sources = isNothing ? [page] : pages;
  return {
    kind: "list",
    sources: [...sources, ...lists.map((path) => ({ kind: "list-file", path }) as const)],
  };
}

function readBaseUrl(typed: Typed): PageUrl | null {
  const written = typed.one("url");
  if (written === null) return null;
  const url = parsePageUrl(written);
  if (!url) throw new Failure("invalid_usage", `--url must be an http or https URL, not ${showUrl(written)}`);
  return url;
}
