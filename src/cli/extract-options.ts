import type { NetworkOptions } from "../app.ts";
import type { ExtractionOptions } from "../extraction/index.ts";
import { Failure } from "../failure.ts";
import { didYouMean } from "../nearest.ts";
import { DEFAULT_EXTRACTION } from "../settings/index.ts";
import { type PageUrl, parsePageUrl, splitCredentials, withoutCredentials } from "../urls/index.ts";
import type { Typed } from "./arguments.ts";
import { COMMANDS, OUTPUT_FORMATS, type OutputFormat } from "./flags.ts";
import { isStdin } from "./input.ts";
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

const MAX_WORDS = 1_000_000_000;

/**
 * Gives the typed words their meaning.
 * @throws Failure `invalid_usage` or `invalid_url` for values and combinations that mean nothing
 */
export function readExtractCommand(typed: Typed): ExtractCommand {
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
    extraction: {
      minWordCount: optionValue.integer(typed, "min-words", 0, MAX_WORDS) ?? DEFAULT_EXTRACTION.minWordCount,
      includeImages: !typed.has("no-images"),
      includeCode: !typed.has("no-code"),
      select: optionValue.text(typed, "select"),
      exclude: optionValue.texts(typed, "exclude"),
      renderings: format === "json" ? ["content", "markdown"] : format === "markdown" ? ["markdown"] : [],
    },
    network: readNetwork(typed),
  };
}

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

/**
 * The URL that a person typed, its credentials apart.
 * @throws Failure `invalid_url` that guesses what was meant
 */
export function requireUrl(written: string): { readonly url: string; readonly authorization: string | null } {
  const split = splitCredentials(written);
  if (split) return split;
  throw new Failure("invalid_url", `${showUrl(written)} is not an http or https URL${guess(written)}`);
}

const showUrl = (written: string): string => JSON.stringify(withoutCredentials(written));

function guess(written: string): string {
  if (/^[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?#]|$)/.test(written) && !/\.(?:html?|md|txt|xml)$/i.test(written)) {
    return `; did you mean https://${written} ?`;
  }
  if (/^(?:file:|\.{0,2}\/)|\.(?:x?html?|md|txt)$/i.test(written)) return "; --file reads a local file";
  return didYouMean(written, [...COMMANDS.map(({ name }) => name), "--help"]);
}

function readNetwork(typed: Typed): NetworkOptions {
  const timeoutSeconds = optionValue.decimal(typed, "timeout", 0.001, 3600);
  const retries = optionValue.integer(typed, "retries", 0, 20);
  return {
    userAgent: optionValue.headerText(typed, "user-agent"),
    hasRandomUserAgent: typed.has("random-user-agent"),
    headers: typed.many("header").map(readHeader),
    proxy: optionValue.text(typed, "proxy"),
    proxyBypass: optionValue.texts(typed, "proxy-bypass"),
    requestTimeoutMs: timeoutSeconds === null ? null : Math.round(timeoutSeconds * 1000),
    tries: retries === null ? null : retries + 1,
    maxBytes: optionValue.bytes(typed, "max-bytes"),
    preference: typed.has("no-browser") ? "http_only" : typed.has("prefer-http") ? "http" : null,
  };
}

function readHeader(written: string): readonly [name: string, value: string] {
  const colon = written.indexOf(":");
  // The value may be a secret, so only the form is named; what may stand in it, the fetcher knows.
  if (colon < 1) throw new Failure("invalid_usage", '--header must have the form "Name: value"');
  return [written.slice(0, colon), written.slice(colon + 1).trim()];
}
