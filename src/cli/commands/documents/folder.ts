import { Failure } from "../../../base/failure.ts";
import { SearchIndex } from "../../../search/index.ts";
import { DEFAULT_SEARCH } from "../../../settings/index.ts";
import type { Io } from "../../io.ts";
import type { Paint } from "../../terminal/paint.ts";
import { formatHit, hitToJson } from "./hit-lines.ts";
import type { FolderSearch } from "./options.ts";

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
