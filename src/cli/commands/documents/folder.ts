import { join } from "node:path";
import { Failure } from "../../../base/failure.ts";
import { quoteForShell } from "../../../base/text.ts";
import {
  type BuildCounts,
  buildIndex,
  type DocumentExtractor,
  facetsOf,
  headingPath,
  indexFileOf,
  LEFT_OUT_REASONS,
  type LeftOut,
  LOOSE_NOTE,
  leftOutText,
  type MatchCounts,
  ownerOfIndex,
  readDocumentFolder,
  refuseForeignFile,
  type SearchHit,
  SearchIndex,
  slugStyleOfFolder,
  type UnreadDocument,
} from "../../../search/index.ts";
import { DEFAULT_SEARCH, INDEX_BUILD } from "../../../settings/index.ts";
import { folderOwner, requireFolderIndex } from "../../../tenants/index.ts";

import type { CommandParts } from "../../program.ts";
import type { Shell } from "../../shell.ts";
import { countedDocuments, type Paint, printable, wrap } from "../../terminal/notices.ts";
import type { FolderIndex, FolderSearch } from "./options.ts";

/** A person does not wait longer for a command. */
export const TIME_LIMIT_MS = 30_000;

/**
 * Runs `search --dir`; returns the exit code, 0 with and without hits.
 * @throws Failure `index_missing` that says how to build one, `index_outdated`, `index_corrupt`, `timeout`
 */
export async function runSearch(command: FolderSearch, { io, paint }: Shell): Promise<number> {
  requireFolderIndex(ownerOfIndex(command.indexFile), command);
  // On a terminal the words are coloured that HTML would mark.
  const style = io.stdout.isTerminal && !command.isJson ? "html" : "plain";
  using index = openIndex(command, style);
  const started = performance.now();
  const options = {
    size: command.size,
    offset: command.offset,
    filter: command.filter,
    wordMatch: command.isWordMatch,
    explain: command.isExplained,
    deadline: started + TIME_LIMIT_MS,
  };
  const hits = index.search(command.query, options);
  const counts = command.isCounted
    ? index.count(command.query, { ...options, isLoose: hits[0]?.isLoose })
    : null;
  if (hits[0]?.isLoose) io.stderr.write(`${LOOSE_NOTE}\n`);
  if (command.isJson) {
    const queryTimeMs = Math.round((performance.now() - started) * 1000) / 1000;
    const stats = { total_docs: index.pageCount, query_time_ms: queryTimeMs };
    const results = hits.map((hit) => hitToJson(hit, command.isExplained));
    const answer = { query: command.query, results, ...(counts && countsToJson(counts)), stats };
    await io.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
    return 0;
  }
  const width = Math.min(MAX_WIDTH, io.stdout.columns);
  const shown = hits.map((hit, place) =>
    formatHit(hit, command.offset + place + 1, { width, paint: paint(), isMarked: style === "html" }),
  );
  if (shown.length === 0) io.stderr.write(nothingFound(command, index.pageCount));
  else await io.stdout.write(shown.join("\n"));
  if (counts) await io.stdout.write(formatCounts(counts));
  return 0;
}

/** Returns the message for a search without hits. */
export const nothingFound = ({ offset }: { readonly offset: number }, documents: number): string =>
  offset > 0
    ? `there are no hits after the first ${offset}\n`
    : `nothing found in ${countedDocuments(documents)}\n`;

/** Counts as JSON. */
export const countsToJson = ({ total, isExact, values }: MatchCounts) => ({
  total,
  is_total_exact: isExact,
  facets: facetsOf(values),
});

/** Counts for people: all, then a line for each name. */
export function formatCounts({ total, isExact, values }: MatchCounts): string {
  const lines = Object.entries(facetsOf(values)).flatMap(([name, counts]) => {
    // An object's whole numbers come before its other names, whatever their counts.
    const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
    const shown = sorted.map(([value, count]) => `${printable(value)} ${count}`);
    return shown.length === 0 ? [] : [`  ${name}: ${shown.join(", ")}`];
  });
  return `\n${isExact ? "" : "at most "}${total} found\n${lines.map((line) => `${line}\n`).join("")}`;
}

/** Wider lines are hard to read. */
export const MAX_WIDTH = 100;

function openIndex({ indexFile, folder }: FolderSearch, style: "plain" | "html"): SearchIndex {
  try {
    return SearchIndex.open(indexFile, { ...DEFAULT_SEARCH, snippet: { ...DEFAULT_SEARCH.snippet, style } });
  } catch (cause) {
    if (!(cause instanceof Failure) || !cause.code.startsWith("index_")) throw cause;
    const how = `article-extractor index --dir ${quoteForShell(folder)}`;
    throw new Failure(cause.code, `${cause.message}; to build it: ${how}`, { cause });
  }
}

/**
 * Runs `index --dir`; returns the exit code: 1 when files had to be left out, though the others are indexed.
 * @throws Failure of the build; `invalid_usage` for a file that is no index; `unreadable_input` for a folder without documents
 */
export async function runIndex(command: FolderIndex, parts: CommandParts): Promise<number> {
  const { typed, io, notices } = parts;
  // A damaged index in its own place is replaced; a file that was named may be anything.
  if (command.indexFile !== indexFileOf(command.folder)) await refuseForeignFile(command.indexFile);
  requireFolderIndex(ownerOfIndex(command.indexFile), command);
  // A build that starts anew reads all files again.
  const leftOut = new Map<string, LeftOut>();
  const onLeftOut = (file: LeftOut): void => {
    const path = join(command.folder, file.path);
    const isTrouble = LEFT_OUT_REASONS[file.reason].isTrouble && !leftOut.has(path);
    if (isTrouble) notices.warn(`${path} is left out: ${leftOutText(file)}`);
    leftOut.set(path, file);
  };
  await using opened = new AsyncDisposableStack();
  const extractHtml = htmlReaderOf(parts, opened);
  const documents = (): AsyncIterable<UnreadDocument> =>
    requireSome(readDocumentFolder(command.folder, { extractHtml, onLeftOut }), command.folder);
  const showProgress = io.stderr.isTerminal && !typed.has("quiet");
  const counts = await buildIndex(documents, {
    path: command.indexFile,
    slugStyle: await slugStyleOfFolder(command.folder),
    profile: command.profile,
    owner: folderOwner(command.folder, command.indexFile),
    workerUrl: io.indexWorkerUrl,
    signal: io.signal,
    ...INDEX_BUILD,
    onNotice: ({ path, reason, detail }) => {
      if (reason === null) notices.warn(`${path}: ${detail}`);
      else onLeftOut({ path, reason, detail });
    },
    ...(showProgress && {
      onProgress: ({ documents: count }) => io.stderr.write(`${CLEAR_LINE}indexing: ${count} documents`),
    }),
  });
  if (showProgress) io.stderr.write(CLEAR_LINE);
  await io.stdout.write(`${describe(counts)} in ${command.indexFile}\n`);
  // Troubles were warnings while the index was built.
  const quiet = [...leftOut].filter(([, { reason }]) => !LEFT_OUT_REASONS[reason].isTrouble);
  const isVerbose = typed.has("verbose");
  const counted = reasonsWithCounts(quiet.map(([, { reason }]) => reason));
  if (counted !== "") notices.tell(`left out: ${counted}${isVerbose ? "" : " (--verbose lists them)"}`);
  if (isVerbose) for (const [path, file] of quiet) notices.tell(`  left out: ${path}: ${leftOutText(file)}`);
  return quiet.length < leftOut.size ? 1 : 0;
}

/** Lists reasons with the number of their files; empty without any. */
const reasonsWithCounts = (reasons: readonly LeftOut["reason"][]): string =>
  [...Map.groupBy(reasons, (reason) => reason)]
    .map(([reason, { length }]) => `${length} ${reason.replaceAll("_", " ")}`)
    .join(", ");

/** Reads HTML files, PDFs and their like as a tenant's files are read. The code for it is loaded with the first file. */
function htmlReaderOf(parts: CommandParts, opened: AsyncDisposableStack): DocumentExtractor {
  const open = async (): Promise<DocumentExtractor> => {
    const { openCommandApp, htmlReader } = await import("./html-files.ts");
    const { app, program } = await openCommandApp(parts);
    opened.use(app);
    return htmlReader(app.extractor, program.settings);
  };
  let reader: Promise<DocumentExtractor> | null = null;
  return async (html) => {
    reader ??= open();
    return await (await reader)(html);
  };
}

// An empty folder is usually a mistake, and its existing index is worth more than an empty one.
async function* requireSome(
  documents: AsyncIterable<UnreadDocument>,
  folder: string,
): AsyncGenerator<UnreadDocument> {
  let isEmpty = true;
  for await (const document of documents) {
    isEmpty = false;
    yield document;
  }
  if (isEmpty)
    throw new Failure(
      "unreadable_input",
      `${folder} holds no documents (Markdown, HTML, text and other kinds)`,
    );
}

const CLEAR_LINE = "\r\u001b[K";

const describe = ({ documents, unchanged }: BuildCounts): string =>
  `indexed ${countedDocuments(documents)}${unchanged > 0 ? `, ${unchanged} of them unchanged,` : ""}`;

/** Converts a hit to JSON. */
export function hitToJson(hit: SearchHit, isExplained: boolean): Record<string, unknown> {
  const { url, title, score, snippet, anchor, headings, explanation } = hit;
  return { url, title, score, snippet, anchor, headings, ...(isExplained && { explanation }) };
}

type HitFormat = {
  /** The number of columns. */
  readonly width: number;
  readonly paint: Paint;
  /** Whether snippets are HTML with marks, which are coloured. */
  readonly isMarked: boolean;
  /** The place of the hit, shown after the title. */
  readonly place?: string;
};

/** Formats a hit for people: a few lines that end in a line break. */
export function formatHit(
  hit: SearchHit,
  rank: number,
  { width, paint, isMarked, place }: HitFormat,
): string {
  const address = hit.anchor === null ? hit.url : `${hit.url}#${hit.anchor}`;
  const where = place === undefined ? "" : `  (${place})`;
  const lines = [`${rank}. ${paint.bold(printable(hit.title) || address)}${where}`, `   ${address}`];
  const headings = headingPath(hit);
  if (headings !== "") lines.push(`   ${printable(headings)}`);
  const indent = "   ";
  if (hit.snippet !== "") {
    const seen = (word: string): number =>
      isMarked ? decode(word.replace(/<\/?mark>/g, "")).length : word.length;
    for (const line of wrap(printable(hit.snippet), width - indent.length, seen)) {
      lines.push(indent + (isMarked ? paintMarks(line, paint) : line));
    }
  }
  if (hit.explanation !== null) lines.push(...explain(hit).map((line) => indent + line));
  return `${lines.join("\n")}\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

// Decodes the entities that `SnippetStyle` "html" writes.
const decode = (html: string): string =>
  html.replace(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => ENTITIES[name] ?? entity);
const paintMarks = (html: string, paint: Paint): string =>
  decode(html.replace(/<mark>([^<]*)<\/mark>/g, (_, word: string) => paint.yellow(word)));

const round = (score: number): string => score.toFixed(3);

/** Formats the score as a sum: a line for each term with its fields, and one for each further part. */
function explain({ score, explanation }: SearchHit): string[] {
  if (explanation === null) return [];
  const { terms, ...parts } = explanation;
  const termLines = terms.map(({ term, fields }) => {
    const values = Object.entries(fields);
    const total = values.reduce((sum, [, value]) => sum + value, 0);
    return `${round(total)}  ${printable(term)}: ${values.map(([field, value]) => `${field} ${round(value)}`).join(", ")}`;
  });
  const partLines = Object.entries(parts)
    .filter(([, value]) => value !== 0)
    .map(
      ([part, value]) => `${round(value)}  ${part.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`,
    );
  return [`score ${round(score)} =`, ...[...termLines, ...partLines].map((line) => `  ${line}`)];
}
