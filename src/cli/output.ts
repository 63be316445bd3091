import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { articleResult, type FetchedArticle } from "../articles/index.ts";
import { composeMarkdown } from "../extraction/index.ts";
import { Failure } from "../failure.ts";
import { formatFrontMatter } from "../pages/index.ts";
import type { ExtractCommand } from "./extract-options.ts";
import { reasonOf } from "./input.ts";
import type { Io } from "./io.ts";

/** One article in the asked-for format, ending with a line break. */
export function formatArticle(fetched: FetchedArticle, command: ExtractCommand, extractedAt: Date): string {
  const { article } = fetched;
  if (command.format === "json") return `${JSON.stringify(articleResult(fetched), null, 2)}\n`;
  if (command.format === "text")
    return `${article.title === null ? "" : `${article.title}\n\n`}${article.text}\n`;
  const body = composeMarkdown(article.title, article.markdown ?? "");
  const frontMatter = command.hasFrontmatter
    ? `${formatFrontMatter({
        url: fetched.finalUrl ?? fetched.url,
        title: article.title,
        extracted_at: { timestamp: extractedAt.toISOString() },
        word_count: article.wordCount,
      })}\n`
    : "";
  return `${frontMatter}${body}\n`;
}

/** Where the results of a command go: stdout, or a file that appears whole at the end. */
export interface Sink extends AsyncDisposable {
  write(text: string): Promise<void>;
  /** Makes the file appear; without it nothing is left behind. */
  finish(): Promise<void>;
}

/** Opens the sink; throws `Failure` `unwritable_output` when the file cannot be made. */
export async function openSink(outputFile: string | null, io: Io): Promise<Sink> {
  if (outputFile === null) {
    return {
      write: (text) => io.stdout.write(text),
      finish: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const target = await resolveTarget(outputFile);
  // Renaming over a device or a pipe would replace it, so only regular files are written aside.
  const aside = target.isReplaceable ? `${target.path}.${process.pid}.tmp` : null;
  const file = await attempt(outputFile, () => open(aside ?? target.path, "w"));
  return {
    write: (text) => attempt(outputFile, () => file.writeFile(text)),
    finish: () =>
      attempt(outputFile, async () => {
        if (aside === null) return;
        await file.sync();
        await file.close();
        await rename(aside, target.path);
      }),
    [Symbol.asyncDispose]: async () => {
      await file.close().catch(() => {}); // closed already when finished
      if (aside !== null) await rm(aside, { force: true });
    },
  };
}

type Target = { readonly path: string; readonly isReplaceable: boolean };

async function resolveTarget(path: string): Promise<Target> {
  try {
    const real = await realpath(path); // a link stays a link: what it points to is replaced
    const stats = await stat(real);
    if (stats.isDirectory()) throw new Failure("unwritable_output", `${path} is a directory, not a file`);
    return { path: real, isReplaceable: stats.isFile() };
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    return { path, isReplaceable: true };
  }
}

async function attempt<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw new Failure("unwritable_output", `${path} cannot be written: ${reasonOf(cause)}`, { cause });
  }
}
