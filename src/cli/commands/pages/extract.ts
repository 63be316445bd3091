import type { App, ArticleSession } from "../../../app/index.ts";
import type { FetchedArticle } from "../../../articles/index.ts";
import { readDocument, readStdin } from "../../input.ts";
import type { Io } from "../../io.ts";
import { noteMissingBrowser, openCommandApp } from "../../program.ts";
import { canRedraw, type Run } from "../../shell.ts";
import type { Notices } from "../../terminal/notices.ts";
import { openScreen, type Screen } from "../../terminal/screen.ts";
import { extractList } from "./extract-list.ts";
import { type ExtractCommand, type PageInput, readExtractCommand } from "./extract-options.ts";
import { formatArticle, openSink, warnOfResult } from "./output.ts";
import { readExtraction, requireSelectors } from "./page-options.ts";

/** Runs `extract`. */
export const extract: Run = async (shell) => {
  const { typed, io } = shell;
  const command = readExtractCommand(typed, () => io.stdin.isTerminal);
  const isList = command.input.kind === "list";
  const isToFile = command.outputFile !== null || command.resumeFile !== null;
  using screen = openScreen(io, {
    isLive: isList && canRedraw(shell) && (isToFile || !io.stdout.isTerminal),
  });
  const notices = shell.openNotices(screen.io);
  if (command.input.kind === "stdin" && io.stdin.isTerminal)
    notices.warn("reading the page from the terminal");
  const parts = { typed, io: screen.io, notices };
  const { app, program } = openCommandApp(parts, { extractsOnePage: !isList });
  await using _ = app;
  if (command.input.kind === "url" || isList) noteMissingBrowser(command.network, { app, program, notices });
  // The kind of command decides how the application opens, and only then are the settings read.
  const extraction = readExtraction(typed, command.extraction.renderings, program.settings);
  return await runExtract({ ...command, extraction }, { app, screen, notices, now: () => new Date() });
};

type ExtractParts = {
  readonly app: App;
  readonly screen: Screen;
  readonly notices: Notices;
  readonly now: () => Date;
};

/** Returns the exit code. Throws the `Failure` of a single page. */
async function runExtract(command: ExtractCommand, parts: ExtractParts): Promise<number> {
  const { io } = parts.screen;
  await using session = parts.app.openSession(command.network);
  const { input } = command;
  if (input.kind === "list") {
    const read = (page: PageInput) => extractOne(page, command, { session, io });
    return await extractList(input.sources, command, { ...parts, session, read });
  }
  await using sink = await openSink(command.outputFile, io);
  await requireSelectors(command.extraction, { session, signal: io.signal });
  const fetched = await extractOne(input, command, { session, io });
  warnOfResult(fetched, command, parts.notices);
  await sink.write(formatArticle(fetched, command, parts.now()));
  await sink.finish();
  return 0;
}

async function extractOne(
  input: PageInput,
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
