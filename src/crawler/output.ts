import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileStore } from "../pages/index.ts";
import type { CrawlOutput, PageSink } from "./types.ts";

/** Where a crawl's pages, memory and manifest go. */
export type OpenOutput = AsyncDisposable & {
  readonly sink: PageSink;
  readonly stateDirectory: string;
  readonly manifestPath: string | null;
  /** What messages call it. */
  readonly place: string;
};

/** Below the output directory; scanners of pages pass it over. */
export const STATE_DIRECTORY = ".article-extractor";

/** Pages as Markdown files, one each, flat in a directory. */
export function createFileSink(directory: string): PageSink {
  const store = createFileStore(directory);
  return {
    put: ({ page }) => store.put(page),
    has: async (url) => (await store.get(url)) !== null,
  };
}

export async function openOutput(output: CrawlOutput): Promise<OpenOutput> {
  if (output.kind === "directory") {
    return {
      sink: createFileSink(output.path),
      stateDirectory: join(output.path, STATE_DIRECTORY),
      manifestPath: join(output.path, "manifest.json"),
      place: output.path,
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const { sink, stateDirectory, manifestPath } = output;
  const temporary = stateDirectory === null ? await mkdtemp(join(tmpdir(), "article-extractor-")) : null;
  return {
    sink,
    stateDirectory: stateDirectory ?? temporary ?? "",
    manifestPath,
    place: stateDirectory ?? "the crawl",
    [Symbol.asyncDispose]: async () => {
      if (temporary !== null) await rm(temporary, { recursive: true, force: true });
    },
  };
}

/** Specification, "Crawl rules", 6. */
const LOW_DISK_BYTES = 100 * 1024 * 1024;

/** The bytes that are free when they are too few for comfort, else null. */
export async function lowDiskBytes(directory: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(directory);
    const free = Number(bavail) * Number(bsize);
    return free < LOW_DISK_BYTES ? free : null;
  } catch {
    return null; // a file system that does not tell
  }
}
