import { Failure } from "../failure.ts";
import { type SearchHit, SearchIndex } from "../search/index.ts";
import { DEFAULT_SEARCH } from "../settings/index.ts";
import type { Io } from "./io.ts";
import type { SearchCommand } from "./search-options.ts";
import { type Paint, wrap } from "./terminal.ts";

/** A person waits no longer for a command. */
const TIME_LIMIT_MS = 30_000;

/**
 * Runs `search`; returns the exit code, 0 with and without hits.
 * @throws Failure `index_missing` that says how to build one, `index_outdated`, `index_corrupt`, `timeout`
 */
export async function runSearch(
  command: SearchCommand,
  { io, paint }: { readonly io: Io; readonly paint: Paint },
): Promise<number> {
  // On a terminal the words are painted where HTML marks them.
  const style = io.stdout.isTerminal && !command.isJson ? "html" : "plain";
  using index = openIndex(command, style);
  const started = performance.now();
  const hits = index.search(command.query, {
    size: command.size,
    wordMatch: command.isWordMatch,
    explain: command.isExplained,
    deadline: started + TIME_LIMIT_MS,
  });
  if (command.isJson) {
    const queryTimeMs = Math.round((performance.now() - started) * 1000) / 1000;
    const stats = { total_docs: index.pageCount, query_time_ms: queryTimeMs };
    const results = hits.map((hit) => toJson(hit, command.isExplained));
    await io.stdout.write(`${JSON.stringify({ query: command.query, results, stats }, null, 2)}\n`);
    return 0;
  }
  const width = Math.min(MAX_WIDTH, io.stdout.columns);
  const shown = hits.map((hit, place) =>
    formatHit(hit, place + 1, { width, paint, isMarked: style === "html" }),
  );
  if (shown.length === 0) io.stderr.write(`nothing found in ${index.pageCount} documents\n`);
  else await io.stdout.write(shown.join("\n"));
  return 0;
}

const MAX_WIDTH = 100;

function openIndex({ indexFile, folder }: SearchCommand, style: "plain" | "html"): SearchIndex {
  try {
    return SearchIndex.open(indexFile, { ...DEFAULT_SEARCH, snippet: { ...DEFAULT_SEARCH.snippet, style } });
  } catch (cause) {
    if (!(cause instanceof Failure) || !cause.code.startsWith("index_")) throw cause;
    throw new Failure(
      cause.code,
      `${cause.message}; this does it: article-extractor index --dir ${quote(folder)}`,
      {
        cause,
      },
    );
  }
}

// What a shell would take apart is quoted, so that the command can be copied.
const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function toJson(hit: SearchHit, isExplained: boolean): Record<string, unknown> {
  const { url, title, score, snippet, anchor, headings, explanation } = hit;
  return { url, title, score, snippet, anchor, headings, ...(isExplained && { explanation }) };
}

type HitFormat = { readonly width: number; readonly paint: Paint; readonly isMarked: boolean };

function formatHit(hit: SearchHit, rank: number, { width, paint, isMarked }: HitFormat): string {
  const address = hit.anchor === null ? hit.url : `${hit.url}#${hit.anchor}`;
  const lines = [`${rank}. ${paint.bold(printable(hit.title) || address)}`, `   ${address}`];
  // The title is often the first heading too.
  const headings = hit.headings.filter((heading) => heading !== hit.title);
  if (headings.length > 0) lines.push(`   ${printable(headings.join(" › "))}`);
  const indent = "   ";
  if (hit.snippet !== "") {
    const seen = (word: string): number => (isMarked ? decode(withoutMarks(word)).length : word.length);
    for (const line of wrap(printable(hit.snippet), width - indent.length, seen)) {
      lines.push(indent + (isMarked ? paintMarks(line, paint) : line));
    }
  }
  if (hit.explanation !== null) lines.push(...explain(hit).map((line) => indent + line));
  return `${lines.join("\n")}\n`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

// As `SnippetStyle` "html" writes them.
const decode = (html: string): string =>
  html.replace(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => ENTITIES[name] ?? entity);
const withoutMarks = (html: string): string => html.replace(/<\/?mark>/g, "");
const paintMarks = (html: string, paint: Paint): string =>
  decode(html.replace(/<mark>([^<]*)<\/mark>/g, (_, word: string) => paint.yellow(word)));

const round = (score: number): string => score.toFixed(3);

/** The score as a sum: a line for each term with its fields, and one for each further part. */
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
