import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { FetchedArticle } from "../../../articles/index.ts";
import type { Failure } from "../../../base/failure.ts";
import {
  contentHashOf,
  manifestEntry,
  outcomeOf,
  STATE_DIRECTORY,
  storedPage,
} from "../../../crawler/index.ts";
import { createFileStore } from "../../../pages/index.ts";
import type { PageUrl } from "../../../urls/index.ts";
import { attempt } from "../../sink.ts";
import { pathBytes } from "../../words.ts";
import { MANIFEST_NAME } from "./list-place.ts";
import { openOutputDirectory } from "./output.ts";
import { lockList, openResumed } from "./resume.ts";

/**
 * Opens the folder of a list: a Markdown file for each page, as a crawl writes it, and in `manifest.jsonl` a line of the
 * form that an entry of a crawl's manifest has. An earlier run's lines say what is done.
 * @throws Failure `unwritable_output`, `invalid_usage` while another process writes there, and what `openResumed` throws
 */
export async function openFolder(directory: string, retriesFailed: boolean) {
  await attempt(directory, () => mkdir(pathBytes(directory), { recursive: true }));
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await openOutputDirectory(directory));
  const lock = lockList(directory, join(path, STATE_DIRECTORY), "list.sqlite");
  stack.defer(() => lock.close());
  const manifest = stack.use(await openResumed(join(path, MANIFEST_NAME), { retriesFailed, locks: null }));
  const store = createFileStore(path);
  const open = stack.move();
  return {
    ...manifest,
    /** Stores a page, and returns the line about it. */
    async put(name: string, result: FetchedArticle | Failure): Promise<string> {
      // A line of the list that is no URL has an entry too.
      const url = name as PageUrl;
      if (result instanceof Error) return lineOf(outcomeOf(url, result));
      const page = storedPage(url, result.article, Date.now());
      const filePath = await store.put(page);
      return lineOf(outcomeOf(url, { ...result, filePath, contentHash: contentHashOf(page) }));
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const lineOf = (outcome: ReturnType<typeof outcomeOf>): string =>
  `${JSON.stringify(manifestEntry(outcome))}\n`;
