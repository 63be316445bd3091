import { Failure } from "../../../base/failure.ts";
import {
  type BuildCounts,
  buildIndex,
  indexFileOf,
  readDocumentFolder,
  refuseForeignFile,
  type UnreadDocument,
} from "../../../search/index.ts";
import { INDEX_BUILD } from "../../../settings/index.ts";
import type { Io } from "../../io.ts";
import type { Notices } from "../../terminal/notices.ts";
import type { IndexCommand as AnyIndexCommand } from "./options.ts";

type IndexCommand = Extract<AnyIndexCommand, { kind: "folder" }>;

type IndexParts = { readonly io: Io; readonly notices: Notices; readonly isQuiet: boolean };

/**
 * Runs `index --dir`; returns the exit code: 1 when files had to be left out, though the others are indexed.
 * @throws Failure of the build; `invalid_usage` for a file that is no index; `unreadable_input` for a folder without documents
 */
export async function runIndex(command: IndexCommand, { io, notices, isQuiet }: IndexParts): Promise<number> {
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
  const showProgress = io.stderr.isTerminal && !isQuiet;
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
