import type { NetworkOptions } from "../app.ts";
import type { ExtractionOptions } from "../extraction/index.ts";
import { Failure } from "../failure.ts";
import { type PageUrl, parsePageUrl } from "../urls/index.ts";
import type { Typed } from "./arguments.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "./flags.ts";
import { isStdin } from "./input.ts";
import { readExtraction, readNetwork, requireUrl, showUrl } from "./page-options.ts";
import { optionValue } from "./values.ts";

/** Where the pages of an extraction come from. */
export type ExtractInput =
  | { readonly kind: "url"; readonly url: string; readonly authorization: string | null }
  | { readonly kind: "file"; readonly path: string; readonly url: PageUrl | null }
  | { readonly kind: "stdin"; readonly url: PageUrl | null }
  | { readonly kind: "list"; readonly path: string };

/** What an extraction command means. */
export type ExtractCommand = {
  readonly input: ExtractInput;
  readonly format: OutputFormat;
  /** Null writes to stdout. */
  readonly outputFile: string | null;
  readonly hasFrontmatter: boolean;
  readonly extraction: ExtractionOptions;
  readonly network: NetworkOptions;
};

/**
 * Gives the typed words their meaning.
 * @param hasPerson whether somebody is there to press Enter
 * @throws Failure `invalid_usage` or `invalid_url` for values and combinations that mean nothing
 */
export function readExtractCommand(typed: Typed, hasPerson: () => boolean): ExtractCommand {
  const format = optionValue.choice(typed, "output", OUTPUT_FORMATS) ?? "json";
  const hasFrontmatter = typed.has("frontmatter");
  if (hasFrontmatter && format !== "markdown") {
    throw new Failure("invalid_usage", "--frontmatter goes with --output markdown");
  }
  const outputFile = optionValue.text(typed, "output-file");
  return {
    input: readInput(typed),
    format,
    outputFile: outputFile === "-" ? null : outputFile,
    hasFrontmatter,
    extraction: readExtraction(typed, renderingsOf(format)),
    network: readNetwork(typed, hasPerson),
  };
}

const renderingsOf = (format: OutputFormat): ExtractionOptions["renderings"] =>
  format === "json" ? ["content", "markdown"] : format === "markdown" ? ["markdown"] : [];

function readInput(typed: Typed): ExtractInput {
  const file = optionValue.text(typed, "file");
  const list = optionValue.text(typed, "input-file");
  const [positional, ...more] = typed.positionals;
  if (more.length > 0) {
    throw new Failure(
      "invalid_usage",
      `one URL at a time, not ${typed.positionals.length}; --input-file takes a list of them`,
    );
  }
  const given = [file && "--file", list && "--input-file", positional !== undefined && "a URL"].filter(
    Boolean,
  );
  if (given.length > 1) throw new Failure("invalid_usage", `${given.join(" and ")} exclude each other`);
  const isLocal = list === null && (positional === undefined || positional === "-");
  if (typed.has("url") && !isLocal) {
    throw new Failure(
      "invalid_usage",
      "--url gives --file or standard input an address; it goes with nothing else",
    );
  }
  if (list !== null) return { kind: "list", path: list };
  const url = readBaseUrl(typed);
  if (file !== null) return isStdin(file) ? { kind: "stdin", url } : { kind: "file", path: file, url };
  if (positional === undefined || positional === "-") return { kind: "stdin", url };
  return { kind: "url", ...requireUrl(positional) };
}

function readBaseUrl(typed: Typed): PageUrl | null {
  const written = typed.one("url");
  if (written === null) return null;
  const url = parsePageUrl(written);
  if (!url) throw new Failure("invalid_usage", `--url must be an http or https URL, not ${showUrl(written)}`);
  return url;
}
