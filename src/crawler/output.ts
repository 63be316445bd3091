import { existsSync } from "node:fs";
import { mkdtemp, open, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Failure } from "../base/failure.ts";
import type { Clock } from "../fetching/index.ts";
import { createFileStore } from "../pages/index.ts";
import { MANIFEST_START } from "./manifest.ts";
import type { CrawlNotice, CrawlOutput, PageSink } from "./types.ts";

/** The place for a crawl's pages, memory and manifest. */
export type OpenOutput = AsyncDisposable & {
  readonly sink: PageSink;
  readonly stateDirectory: string;
  readonly manifestPath: string | null;
  /** The name of the place in messages. */
  readonly place: string;
};

/** The state directory below the output directory; scanners of pages skip it. */
export const STATE_DIRECTORY = ".article-extractor";

/** The directory below the state directory for files whose pages are gone. */
const GONE_DIRECTORY = "gone";

/**
 * Creates a sink that stores each page as a Markdown file in one flat directory, and moves gone pages below the state
 * directory.
 */
export function createFileSink(directory: string): PageSink {
  const store = createFileStore(directory);
  return {
    put: ({ page }) => store.put(page),
    has: async (url) => (await store.get(url)) !== null,
    retire: async (url) => {
      const name = await store.moveTo(join(directory, STATE_DIRECTORY, GONE_DIRECTORY), url);
      return name === null ? null : `${STATE_DIRECTORY}/${GONE_DIRECTORY}/${name}`;
    },
  };
}

/** @throws Failure `invalid_usage` for a directory with a `manifest.json` of somebody else */
export async function openOutput(output: CrawlOutput): Promise<OpenOutput> {
  if (output.kind === "directory") {
    refuseStateDirectory(output.path);
    await refuseForeignManifest(output.path);
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

/** Tells whether a path is, or is inside, a directory in which crawls and tenants keep their state. */
export const isInStateDirectory = (path: string): boolean =>
  // On a case-insensitive disk, such a name leads there too.
  path.split(/[\\/]/).some((name) => name.toLowerCase() === STATE_DIRECTORY);

function refuseStateDirectory(directory: string): void {
  if (isInStateDirectory(resolve(directory)))
    throw new Failure(
      "invalid_usage",
      `${directory} is where state is kept (${STATE_DIRECTORY}): name another directory`,
    );
}

/** Pages can choose other file names when theirs are taken; the manifest has only one name. */
async function refuseForeignManifest(directory: string): Promise<void> {
  const file = await open(join(directory, "manifest.json")).catch(() => null);
  if (file === null) return;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(64), 0, 64, 0);
    if (bytesRead === 0 || buffer.toString("utf8", 0, bytesRead).startsWith(MANIFEST_START)) return;
    if (existsSync(join(directory, STATE_DIRECTORY))) return;
  } finally {
    await file.close();
  }
  throw new Failure(
    "invalid_usage",
    `${directory} holds a manifest.json that is no crawl's: name another directory`,
  );
}

/** A crawl warns when the disk has less free space than this. */
const LOW_DISK_BYTES = 100 * 1024 * 1024;

const DISK_EVERY_MS = 10_000;

/** Checks the disk now and then, and reports once that free space is low. */
export function watchDisk(
  { stateDirectory, place }: Pick<OpenOutput, "stateDirectory" | "place">,
  clock: Pick<Clock, "now">,
): () => Promise<readonly CrawlNotice[]> {
  let nextAt = 0;
  return async () => {
    const now = clock.now();
    if (now < nextAt) return [];
    nextAt = now + DISK_EVERY_MS;
    const freeBytes = await freeBytesIn(stateDirectory);
    if (freeBytes >= LOW_DISK_BYTES) return [];
    nextAt = Number.POSITIVE_INFINITY;
    return [{ kind: "low_disk", directory: place, freeBytes }];
  };
}

async function freeBytesIn(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return Number(bavail) * Number(bsize);
  } catch {
    return Number.POSITIVE_INFINITY; // a file system that does not tell
  }
}
