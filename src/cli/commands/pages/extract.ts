import type { App, ArticleSession } from "../../../app/index.ts";
import type { FetchedArticle } from "../../../articles/index.ts";
import { readDocument, readStdin } from "../../input.ts";
import type { Io } from "../../io.ts";
import type { Notices } from "../../terminal/notices.ts";
import type { Screen } from "../../terminal/screen.ts";
import { extractList } from "./extract-list.ts";
import type { ExtractCommand, PageInput } from "./extract-options.ts";
import { formatArticle, openSink, warnOfResult } from "./output.ts";
import { requireSelectors } from "./selectors.ts";

export type ExtractParts = {
  readonly app: App;
  readonly screen: Screen;
  readonly notices: Notices;
  readonly now: () => Date;
};

/** Runs `extract`; returns the exit code. Throws the `Failure` of a single page. */
export async function runExtract(command: ExtractCommand, parts: ExtractParts): Promise<number> {
  const { io } = parts.screen;
  await using session = parts.app.openSession(command.network);
  const { input } = command;
  if (input.kind === "list") {
    const read = (page: PageInput) => extractOne(page, command, { session, io });
    return await extractList(input.sources, command, { ...parts, session, read });
  }
  await using sink = await openSink(command.outputFile, io);
  if (input.kind === "url") await requireSelectors(command.extraction, { session, signal: io.signal });
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
