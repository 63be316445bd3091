import { Failure } from "../../../base/failure.ts";
import {
  type BuildCounts,
  buildIndex,
  indexFileOf,
  readDocumentFolder,
  refuseForeignFile,
  SearchIndex,
  type UnreadDocument,
} from "../../../search/index.ts";
import { DEFAULT_SEARCH, INDEX_BUILD } from "../../../settings/index.ts";
import type { Io } from "../../io.ts";
import type { CommandParts } from "../../program.ts";
import type { Paint } from "../../terminal/paint.ts";
import { formatHit, hitToJson } from "./hit-lines.ts";
import type { FolderIndex, FolderSearch } from "./options.ts";

/** A person waits no longer for a command. */
export const TIME_LIMIT_MS = 30_000;

/**
 * Runs `search --dir`; returns the exit code, 0 with and without hits.
 * @throws Failure `index_missing` that says how to build one, `index_outdated`, `index_corrupt`, `timeout`
 */
export async function runSearch(
  command: FolderSearch,
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
    const results = hits.map((hit) => hitToJson(hit, command.isExplained));
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

/** Wider lines are hard to read. */
export const MAX_WIDTH = 100;

function openIndex({ indexFile, folder }: FolderSearch, style: "plain" | "html"): SearchIndex {
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

/**
 * Runs `index --dir`; returns the exit code: 1 when files had to be left out, though the others are indexed.
 * @throws Failure of the build; `invalid_usage` for a file that is no index; `unreadable_input` for a folder without documents
 */
export async function runIndex(command: FolderIndex, { typed, io, notices }: CommandParts): Promise<number> {
  // In its own place a damaged index is replaced; a file that was named may be anything.
  if (command.indexFile !== indexFileOf(command.folder)) await refuseForeignFile(command.indexFile);
  // A build that begins anew reads all files again.
  const leftOut = new Set<string>();
  const onSkipped = (what: string, reason: string): void => {
    if (!leftOut.has(what)) notices.warn(`${what} is left out: ${reason}`);
    leftOut.add(what);
  };
  const documents = (): AsyncIterable<UnreadDocument> =>
    requireSome(readDocumentFolder(command.folder, { onSkipped }), command.folder);
  const showProgress = io.stderr.isTerminal && !typed.has("quiet");
  const counts = await buildIndex(documents, {
    path: command.indexFile,
    profile: command.profile,
    workerUrl: io.indexWorkerUrl,
    signal: io.signal,
    ...INDEX_BUILD,
    onNotice: ({ url, reason, isLeftOut }) => {
      if (isLeftOut) onSkipped(url, reason);
      else notices.warn(`${url}: ${reason}`);
    },
    ...(showProgress && { onProgress: ({ documents: count }) => io.stderr.write(progressLine(count)) }),
  });
  if (showProgress) io.stderr.write(CLEAR_LINE);
  await io.stdout.write(`${describe(counts)} in ${command.indexFile}\n`);
  return leftOut.size === 0 ? 0 : 1;
}

// An empty folder is most often a wrong one, and the index that it had is worth more than an empty one.
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
    throw new Failure("unreadable_input", `${folder} holds no Markdown files (.md, .markdown, .mdx)`);
}

const CLEAR_LINE = "\r\u001b[K";
const progressLine = (count: number): string => `${CLEAR_LINE}indexing: ${count} documents`;

function describe({ documents, unchanged }: BuildCounts): string {
  const noun = documents === 1 ? "document" : "documents";
  return `indexed ${documents} ${noun}${unchanged > 0 ? `, ${unchanged} of them unchanged,` : ""}`;
}
