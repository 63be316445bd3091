import { join } from "node:path";
import { type ArticleField, articleFields } from "../../../articles/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { CrawledPage, CrawlOutput, PageOutcome } from "../../../crawler/index.ts";
import { type Io, OutputClosed } from "../../io.ts";

/** Pages as JSON lines on stdout. */
export interface LineOutput {
  readonly output: CrawlOutput;
  /** Writes the line of a page that failed; the others are written by the crawl. */
  writeFailed(outcome: PageOutcome): Promise<void>;
  /** Whether the reader has gone, as `head` does when it has seen enough. */
  readonly isClosed: boolean;
}

/**
 * @param options.directory keeps the frontier and the manifest; null keeps neither
 * @param options.stop called when nobody reads any more
 */
export function createLineOutput(
  io: Io,
  options: {
    readonly fields: readonly ArticleField[];
    readonly directory: string | null;
    readonly stop: () => void;
  },
): LineOutput {
  const { fields, directory, stop } = options;
  let isClosed = false;
  const write = async (value: unknown): Promise<void> => {
    try {
      await io.stdout.write(`${JSON.stringify(value)}\n`);
    } catch (error) {
      if (!(error instanceof OutputClosed)) throw error;
      isClosed = true;
      stop();
      throw new Failure("cancelled", "the reader of the output has gone", { cause: error });
    }
  };
  const put = async ({ article, depth, parent }: CrawledPage): Promise<null> => {
    await write({ ...articleFields(article, fields), depth, parent });
    return null;
  };
  return {
    output: {
      kind: "sink",
      // A line that was written is out of reach, so a page that has not changed is written again.
      sink: { put, has: async () => false, retire: async () => null },
      stateDirectory: directory === null ? null : join(directory, ".article-extractor"),
      manifestPath: directory === null ? null : join(directory, "manifest.json"),
    },
    writeFailed: ({ url, error, depth, parent }) => write({ url, success: false, error, depth, parent }),
    get isClosed() {
      return isClosed;
    },
  };
}
