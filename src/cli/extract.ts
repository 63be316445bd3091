import type { App, ArticleSession } from "../app.ts";
import type { FetchedArticle } from "../articles/index.ts";
import { Failure, type FailureRecord } from "../failure.ts";
import { withoutCredentials } from "../urls/index.ts";
import type { ExtractCommand, ExtractInput } from "./extract-options.ts";
import { readDocument, readStdin, readText } from "./input.ts";
import type { Io } from "./io.ts";
import type { Notices } from "./notices.ts";
import { formatArticle, openSink } from "./output.ts";
import { requireUrl } from "./page-options.ts";
import { requireSelectors } from "./selectors.ts";

export type ExtractParts = {
  readonly app: App;
  readonly io: Io;
  readonly notices: Notices;
  readonly now: () => Date;
};

/** Runs `extract`; returns the exit code. Throws the `Failure` of a single page. */
export async function runExtract(command: ExtractCommand, parts: ExtractParts): Promise<number> {
  await using session = parts.app.openSession(command.network);
  await using sink = await openSink(command.outputFile, parts.io);
  const { input } = command;
  if (input.kind === "url" || input.kind === "list")
    await requireSelectors(command.extraction, { session, signal: parts.io.signal });
  if (input.kind === "list") {
    const lines = await readList(input.path, parts.io);
    const failed = await extractList({ lines, command, session, parts, write: sink.write });
    await sink.finish();
    return failed === 0 ? 0 : 1;
  }
  const fetched = await extractOne(input, command, { session, io: parts.io });
  warnOfResult(fetched, command, parts.notices);
  await sink.write(formatArticle(fetched, command, parts.now()));
  await sink.finish();
  return 0;
}

type SingleInput = Exclude<ExtractInput, { kind: "list" }>;

async function extractOne(
  input: SingleInput,
  { extraction }: ExtractCommand,
  { session, io }: { readonly session: ArticleSession; readonly io: Io },
): Promise<FetchedArticle> {
  if (input.kind === "url") {
    return session.fromUrl({ ...input, options: extraction, signal: io.signal });
  }
  const limits = { url: input.url, maxBytes: session.maxBytes, signal: io.signal };
  const document =
    input.kind === "file" ? await readDocument(input.path, limits) : await readStdin(io, limits);
  return session.fromDocument(document, extraction, io.signal);
}

// JSON carries its warnings; with the other formats the person sees them here.
function warnOfResult({ warnings }: FetchedArticle, { format }: ExtractCommand, notices: Notices): void {
  if (format !== "json") for (const warning of warnings) notices.warn(warning);
}

const MAX_LIST_BYTES = 64 * 1024 * 1024;

type ListLine = { readonly written: string /** `urls.txt:7`, for messages. */; readonly place: string };

async function readList(path: string, io: Io): Promise<ListLine[]> {
  const lines = (await readText(path, io, MAX_LIST_BYTES))
    .split(/\r?\n/)
    .map((line, index) => ({ written: line.trim(), place: `${path}:${index + 1}` }))
    .filter(({ written }) => written !== "" && !written.startsWith("#"));
  if (lines.length === 0) throw new Failure("unreadable_input", `${path} lists no URLs`);
  return lines;
}

/** Pages of a list under way at once; a crawl, not this, is the tool for one host's whole site. */
const LIST_CONCURRENCY = 4;

type ListWork = {
  readonly lines: readonly ListLine[];
  readonly command: ExtractCommand;
  readonly session: ArticleSession;
  readonly parts: ExtractParts;
  readonly write: (text: string) => Promise<void>;
};

/** Extracts every URL and writes the outcomes in the list's order; returns how many failed. */
async function extractList({ lines, command, session, parts, write }: ListWork): Promise<number> {
  const underWay: Promise<ListOutcome>[] = [];
  let next = 0;
  let failed = 0;
  for (let index = 0; index < lines.length; index++) {
    while (next < lines.length && next < index + LIST_CONCURRENCY) {
      const outcome = extractListed(lines[next] as ListLine, command, { session, io: parts.io });
      // What ends the list ends those behind it, too, and is reported once.
      outcome.catch(() => {});
      underWay[next++] = outcome;
    }
    const outcome = await (underWay[index] as Promise<ListOutcome>); // started above
    delete underWay[index]; // what is written need not be kept
    if ("failure" in outcome) failed++;
    await write(formatListed(outcome, command, { index, parts }));
  }
  return failed;
}

type ListOutcome =
  | { readonly fetched: FetchedArticle }
  | { readonly url: string; readonly place: string; readonly failure: FailureRecord };

async function extractListed(
  { written, place }: ListLine,
  command: ExtractCommand,
  context: { readonly session: ArticleSession; readonly io: Io },
): Promise<ListOutcome> {
  let url = withoutCredentials(written);
  try {
    const target = requireUrl(written);
    url = target.url;
    return { fetched: await extractOne({ kind: "url", ...target }, command, context) };
  } catch (error) {
    if (!(error instanceof Failure) || context.io.signal.aborted) throw error;
    return { url, place, failure: error.toRecord() };
  }
}

// Most messages name the URL themselves.
const describeFailure = ({
  url,
  failure,
}: {
  readonly url: string;
  readonly failure: FailureRecord;
}): string =>
  failure.code === "invalid_url" || failure.message.includes(url)
    ? failure.message
    : `${url}: ${failure.message}`;

type ListPlace = { readonly index: number; readonly parts: ExtractParts };

function formatListed(outcome: ListOutcome, command: ExtractCommand, { index, parts }: ListPlace): string {
  if ("failure" in outcome) {
    parts.notices.error(`${outcome.place}: ${describeFailure(outcome)}`);
    if (command.format !== "json") return "";
    return `${JSON.stringify({ url: outcome.url, success: false, error: outcome.failure })}\n`;
  }
  const { fetched } = outcome;
  warnOfResult(fetched, command, parts.notices);
  const formatted = formatArticle(fetched, command, parts.now());
  if (command.format === "json") return `${JSON.stringify(JSON.parse(formatted))}\n`;
  // Front matter sets documents apart by itself; without it a rule does.
  return index > 0 && !command.hasFrontmatter ? `\n---\n\n${formatted}` : formatted;
}
