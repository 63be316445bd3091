import { existsSync, statSync } from "node:fs";
import { extname, resolve } from "node:path";
import { type ArticleSession, DEFAULT_NETWORK, type NetworkOptions } from "../../../app/index.ts";
import {
  ARTICLE_FIELDS,
  type ArticleField,
  DEFAULT_FIELDS,
  DEFAULT_WORD,
  fieldsNamed,
  renderingsFor,
} from "../../../articles/index.ts";
import { Failure } from "../../../base/failure.ts";
import { didYouMean } from "../../../base/nearest.ts";
import { type ExtractionOptions, STORED_RENDERINGS, withStored } from "../../../extraction/index.ts";
import { CHUNKS, defaultsOf, EXTRACTION, NETWORK, QUESTION } from "../../../options/index.ts";
import type { Question } from "../../../question.ts";
import { DEFAULT_EXTRACTION, type Settings } from "../../../settings/index.ts";
import {
  meantUrl,
  notPageUrl,
  type PageUrl,
  parsePageUrl,
  splitCredentials,
  withoutCredentials,
} from "../../../urls/index.ts";
import type { Typed } from "../../arguments.ts";
import { COMMAND_NAMES } from "../../commands.ts";
import { isStdin } from "../../input.ts";
import { wrongUsage } from "../../io.ts";
import { optionValue, readOptions } from "../../option-values.ts";
import {
  FORM_BY_ENDING,
  FORM_BY_WORD,
  FORM_NAMES,
  OUTPUT_FORMS,
  type OutputFormName,
} from "../../output-forms.ts";
import { directoryOf, hasRawBytes } from "../../words.ts";
import { type ListPlace, readPlace } from "./list-place.ts";

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
export type ExtractCommand = Readonly<ReturnType<typeof readExtractCommand>>;

/**
 * Interprets the words of an extraction command.
 * @param hasPerson whether somebody is there to press Enter
 * @throws Failure `invalid_usage` or `invalid_url` for values and combinations that mean nothing
 */
export function readExtractCommand(typed: Typed, hasPerson: () => boolean) {
  const place = readPlace(typed);
  const tables = optionValue.choice(typed, "tables", TABLE_FORMS);
  const ending = endingOf(place);
  const format = readFormat(typed, tables === null ? ending : `.${tables}`);
  const savesPictures = readPictures(typed, place);
  requireFormat(typed, format, { tables, directory: place.directory });
  const fields = format === "csv" && !typed.has("fields") ? CSV_COLUMNS : readFields(typed);
  const input = readInput(typed, place);
  if (place.resumeFile !== null && !fields.includes("url") && hasUrls(input))
    throw wrongUsage("--resume tells pages by their url, which --fields leaves out");
  const question: Question = readOptions(typed, QUESTION, defaultsOf(QUESTION));
  const wanted = renderingsOf({ format, fields, tables, ...place });
  const renderings = question.query === null ? wanted : withStored(wanted);
  return {
    input,
    format,
    /** Those of the JSON. */
    fields,
    /** Whether JSON is written on one line. */
    isCompact: typed.has("compact") || ending === ".jsonl",
    ...place,
    /** The form in which the article's tables are written, and nothing else of it; null writes the article. */
    tables,
    /** Whether the pictures of articles are saved beside the Markdown. */
    savesPictures,
    hasFrontmatter: typed.has("frontmatter"),
    question,
    chunks: readOptions(typed, CHUNKS, defaultsOf(CHUNKS)),
    extraction: readExtraction(typed, renderings, DEFAULT_EXTRACTION),
    network: readNetwork(typed, hasPerson),
  };
}

function readPictures(typed: Typed, { outputFile, directory }: ListPlace): boolean {
  if (!typed.has("save-images")) return false;
  const place = directory ?? outputFile;
  if (place === null)
    throw wrongUsage(
      "--save-images puts images/ beside the Markdown: add -o FILE.md or --output-dir DIR for that",
    );
  if (hasRawBytes(directory ?? directoryOf(place)))
    throw wrongUsage("--save-images goes with a directory whose name is UTF-8");
  return true;
}

/** The forms of --tables. */
export const TABLE_FORMS = ["csv", "json"] as const;

/** The columns of CSV where --fields names none: the others are long, or lists. */
const CSV_COLUMNS: readonly ArticleField[] = [
  ...(["url", "final_url", "http_status", "title", "byline"] as const),
  ...(["published_date", "language", "word_count"] as const),
];

/** The ending that names the form of what is written there. */
const endingOf = ({ outputFile, resumeFile, directory }: ListPlace): string => {
  if (directory !== null) return ".md";
  return resumeFile === null ? extname(outputFile ?? "").toLowerCase() : ".jsonl";
};

function readFormat(typed: Typed, ending: string): OutputFormName {
  const written = typed.one("output") ?? "";
  // Other programs name the file with `--output`.
  if (Object.hasOwn(FORM_BY_ENDING, extname(written).toLowerCase()))
    throw wrongUsage(
      `--output takes a form, such as markdown, not the file ${showUrl(written)}; did you mean -o?`,
    );
  const word = optionValue.choice(typed, "output", Object.keys(FORM_BY_WORD));
  if (typed.has("chunks")) {
    if ((word ?? "json") !== "json") throw wrongUsage(`--chunks and --output ${word} exclude each other`);
    return "chunks";
  }
  const format = FORM_BY_WORD[word ?? ""] ?? FORM_BY_ENDING[ending];
  // A name without an ending is left to the default.
  if (format !== undefined || ending.length <= 1) return format ?? FORM_NAMES[0]!;
  const endings = Object.keys(FORM_BY_ENDING).join(", ");
  throw wrongUsage(
    `--output-file: ${showUrl(ending)} is not a known ending (${endings}); --output FORMAT says what to write`,
  );
}

const has = (names: readonly string[], name: string): boolean => names.includes(name);

function requireFormat(
  typed: Typed,
  format: OutputFormName,
  { tables, directory }: Pick<ListPlace, "directory"> & { readonly tables: string | null },
): void {
  for (const name of FORM_NAMES.flatMap((one) => OUTPUT_FORMS[one].options))
    if (typed.has(name) && !has(OUTPUT_FORMS[format].options, name))
      throw wrongUsage(
        `--${name} goes with --output ${FORM_NAMES.find((one) => has(OUTPUT_FORMS[one].options, name))}`,
      );
  const other = ["output", "chunks", "fields", "frontmatter", "query", "resume", "output-dir"].find(
    typed.has,
  );
  if (tables !== null && other !== undefined) throw wrongUsage(`--tables and --${other} exclude each other`);
  if (directory !== null && typed.has("query"))
    throw wrongUsage("a folder gets whole pages; --query goes with -o FILE");
  if (typed.has("max-tokens") && !typed.has("query")) throw wrongUsage("--max-tokens goes with --query");
  if (directory !== null && format !== "markdown")
    throw wrongUsage(
      `a folder gets Markdown files; ${tables === null ? `--output ${format}` : "--tables"} goes with -o FILE`,
    );
}

function renderingsOf({
  format,
  fields,
  tables,
  directory,
}: Pick<ListPlace, "directory"> & {
  readonly format: OutputFormName;
  readonly fields: readonly ArticleField[];
  readonly tables: string | null;
}): ExtractionOptions["renderings"] {
  if (directory !== null) return STORED_RENDERINGS;
  if (tables !== null) return ["markdown"];
  const { content } = OUTPUT_FORMS[format];
  if (content === "stored") return STORED_RENDERINGS;
  return content === "fields" ? renderingsFor(fields) : content === "text" ? [] : [content];
}

/** Tells whether output lines begin with the page's URL; lines of local pages begin with their file. */
const hasUrls = (input: ExtractInput): boolean =>
  input.kind !== "list" || input.sources.some(({ kind }) => kind === "url" || kind === "list-file");

function readInput(typed: Typed, { directory, retriesFailed }: ListPlace): ExtractInput {
  if (retriesFailed) return { kind: "list", sources: [] };
  const url = readBaseUrl(typed);
  const local = (path: string): PageInput =>
    isStdin(path) ? { kind: "stdin", url } : { kind: "file", path, url };
  const pages = [
    ...typed.positionals.map((written) =>
      written === "-"
        ? local(written)
        : ({ kind: "url", ...requireUrl(written, FOR_FILES, NO_COMMAND) } as const),
    ),
    ...optionValue.paths(typed, "file").map(local),
  ];
  const lists = optionValue.paths(typed, "input-file");
  const isNothing = pages.length + lists.length === 0;
  const [page = local("-"), ...more] = pages;
  const isOne = more.length + lists.length === 0;
  if (url !== null && !(isOne && page.kind !== "url"))
    throw wrongUsage("--url gives one --file or standard input an address; it goes with nothing else");
  if (pages.filter(({ kind }) => kind === "stdin").length + lists.filter(isStdin).length > 1)
    throw wrongUsage("standard input can be read only once");
  if (directory !== null && pages.some((other) => other.kind !== "url"))
    throw wrongUsage(
      "a folder takes pages of URLs, whose names its files have; a local page goes to -o FILE",
    );
  if (isOne && !typed.has("resume") && directory === null) return page;
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
  if (!url) throw wrongUsage(`--url must be an http or https URL, not ${showUrl(written)}`);
  return url;
}

/** Reads what is extracted. @throws Failure `invalid_usage` */
export function readExtraction(
  typed: Typed,
  renderings: ExtractionOptions["renderings"],
  otherwise: typeof DEFAULT_EXTRACTION,
): ExtractionOptions {
  return { ...readOptions(typed, EXTRACTION, otherwise), renderings };
}

/** Reads the fields of the JSON, in their order. @throws Failure `invalid_usage` that names the nearest field */
export function readFields(typed: Typed): readonly ArticleField[] {
  if (!typed.has("fields")) return DEFAULT_FIELDS;
  const written = typed.many("fields").flatMap((names) => names.split(","));
  const names = new Set(written.map((name) => name.trim()).filter((name) => name !== ""));
  if (names.size === 0) throw wrongUsage("--fields needs names: --fields title,markdown");
  return fieldsNamed([...names].map(requireField));
}

const FIELD_NAMES = [...ARTICLE_FIELDS, DEFAULT_WORD] as const;

function requireField(name: string): (typeof FIELD_NAMES)[number] {
  const field = FIELD_NAMES.find((known) => known === name);
  if (field !== undefined) return field;
  const guess = didYouMean(name, FIELD_NAMES) || `; there are ${FIELD_NAMES.join(", ")}`;
  throw wrongUsage(`--fields: unknown field ${JSON.stringify(name.slice(0, 100))}${guess}`);
}

/**
 * Parses a typed URL, with its credentials separate.
 * @param forFiles how the command is given a file, which is often meant
 * @throws Failure `invalid_url` that guesses what was meant
 */
export function requireUrl(
  written: string,
  forFiles = FOR_FILES,
  forWords = "",
): { readonly url: string; readonly authorization: string | null } {
  const split = splitCredentials(written);
  if (split) return split;
  throw new Failure(
    "invalid_url",
    `${notPageUrl(written)}${guess(written, forFiles) || (/^[\w-]+$/.test(written) ? forWords : "")}`,
  );
}

const FOR_FILES = "--file reads a local file";
const NO_COMMAND = ", and no command; article-extractor --help lists the commands";

/** Formats a typed URL for a message. */
export const showUrl = (written: string): string => JSON.stringify(withoutCredentials(written));

/** Returns "; did you mean https://… ?" for an address without its scheme, or an empty text. */
export function guessUrl(written: string): string {
  const meant = meantUrl(written.trim());
  return meant === null ? "" : `; did you mean ${withoutCredentials(meant)} ?`;
}

function guess(written: string, forFiles: string): string {
  if (existsSync(written) && statSync(written).isFile()) return `; ${forFiles}`;
  const meant = guessUrl(written);
  if (meant !== "") return meant;
  if (/^(?:file:|\.{0,2}\/)|\.(?:x?html?|md|txt)$/i.test(written)) return `; ${forFiles}`;
  return didYouMean(written, [...COMMAND_NAMES, "--help"]);
}

/** Reads how pages are fetched, perhaps with a person to press Enter. @throws Failure `invalid_usage` */
export function readNetwork(typed: Typed, hasPerson: () => boolean): NetworkOptions {
  const network = readOptions(typed, NETWORK, DEFAULT_NETWORK);
  // Firecrawl's option is a number of milliseconds, and no selector begins with a digit.
  if (/^\d/.test(network.waitFor ?? ""))
    throw wrongUsage(`--wait-for takes a CSS selector, not the time ${network.waitFor}`);
  return {
    ...network,
    storageState: network.storageState && resolve(network.storageState),
    cookiesFile: network.cookiesFile && resolve(network.cookiesFile),
    preference: readPreference(typed),
    userInteractionTimeoutMs: interactionTimeout(typed, network, hasPerson),
  };
}

const PREFERENCES = {
  "prefer-browser": "browser",
  "prefer-http": "http",
  "no-browser": "http_only",
} as const;
const NEED_BROWSER = ["headed", "wait-for", "scroll", "load-media"] as const;

function readPreference(typed: Typed): NetworkOptions["preference"] {
  const names = ["prefer-browser", "prefer-http", "no-browser"] as const;
  const [chosen, ...others] = names.filter(typed.has);
  if (chosen === undefined) return null;
  const contrary = others[0] ?? (chosen === "prefer-browser" ? undefined : NEED_BROWSER.find(typed.has));
  if (contrary !== undefined) throw wrongUsage(`--${contrary} and --${chosen} exclude each other`);
  return PREFERENCES[chosen];
}

const DEFAULT_INTERACTION_MS = 300_000;

function interactionTimeout(
  typed: Typed,
  { isHeaded, userInteractionTimeoutMs }: NetworkOptions,
  hasPerson: () => boolean,
): number {
  const isGiven = typed.has("user-interaction-timeout");
  if (!isHeaded && isGiven) throw wrongUsage("--user-interaction-timeout goes with --headed");
  return isHeaded && !isGiven && hasPerson() ? DEFAULT_INTERACTION_MS : userInteractionTimeoutMs;
}

/**
 * Checks the selectors. A selector is parsed with its page; a wrong one should be reported before a page is read,
 * and once for many pages, so it is tried on a page of one word first.
 * @throws Failure `invalid_usage`
 */
export async function requireSelectors(
  extraction: ExtractionOptions,
  { session, signal }: { readonly session: ArticleSession; readonly signal: AbortSignal },
): Promise<void> {
  if (extraction.select === null && extraction.exclude.length === 0) return;
  const page = { name: "selectors", kind: "html", body: "<p>word</p>", url: null, warnings: [] } as const;
  try {
    await session.fromDocument(page, extraction, signal);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The extractor calls the options by their names in a program.
    const hint = error.message.startsWith('exclude "/') ? "; crawl --deny-prefix leaves out addresses" : "";
    if (error.code === "invalid_usage") throw wrongUsage(`--${error.message}${hint}`, { cause: error });
    if (error.code !== "no_content") throw error; // nothing matches, of course
  }
}

/** The processes that crawl together, with the name of their run; null for a crawl's first. */
export type Join = { readonly run: string | null };

const MAX_RUN_CHARACTERS = 200;

/** Reads with whom a crawl is shared, null for nobody. @throws Failure `invalid_usage` without a place to share */
export function readJoin(typed: Typed, settings: Settings): Join | null {
  const run = optionValue.text(typed, "run");
  if (!typed.has("join")) {
    if (run !== null) throw wrongUsage("--run goes with --join");
    return null;
  }
  if (run !== null && (run.length > MAX_RUN_CHARACTERS || /\p{Cc}/u.test(run)))
    throw wrongUsage(
      `--run: a name has at most ${MAX_RUN_CHARACTERS} characters, none of them a control character`,
    );
  if (!typed.has("output-dir"))
    throw wrongUsage("--join needs --output-dir: the place that the processes share");
  if (settings.databaseUrl === null)
    throw wrongUsage("--join needs ARTICLE_EXTRACTOR_DATABASE_URL: the PostgreSQL that the processes share");
  return { run };
}
