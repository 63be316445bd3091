import { existsSync } from "node:fs";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { replaceFile } from "../base/atomic-file.ts";
import { makePrivateDirectory } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import { freeBytesIn, LOW_DISK_BYTES } from "../base/free-disk.ts";
import { isStoreUrl } from "../base/objects.ts";
import { systemFailure } from "../base/system-error.ts";
import { createFileStore, picturesIn } from "../pages/index.ts";
import { MANIFEST_START } from "./manifest.ts";
import type {
  CrawlNotice,
  CrawlOutput,
  ManifestPlace,
  OutputOptions,
  OutputPlace,
  PageSink,
} from "./types.ts";

/** The place for a crawl's pages, memory and manifest. */
export type OpenOutput = AsyncDisposable & OutputPlace & { readonly stateDirectory: string };

/** The state directory below the output directory; scanners of pages skip it. */
export const STATE_DIRECTORY = ".article-extractor";

/** The directory below the state directory for files whose pages are gone. */
const GONE_DIRECTORY = "gone";

/** Stores pages as Markdown files in one flat directory, and moves gone ones below the state directory. */
export function createFileSink(directory: string): PageSink {
  const store = createFileStore(directory);
  return {
    put: ({ page }) => store.put(page),
    has: async (url) => (await store.get(url)) !== null,
    retire: async (url) => {
      const name = await store.copyTo(join(directory, STATE_DIRECTORY, GONE_DIRECTORY), url);
      return name === null ? null : `${STATE_DIRECTORY}/${GONE_DIRECTORY}/${name}`;
    },
    removeRetired: (url) => store.delete(url),
  };
}

/** @throws Failure `invalid_usage` beside a foreign `manifest.json`; of a store, also what its calls throw */
export async function openOutput(output: CrawlOutput, options: OutputOptions): Promise<OpenOutput> {
  if (output.kind === "directory") {
    refuseStateDirectory(output.path, resolve(output.path));
    await refuseForeignManifest(output.path);
    const stateDirectory = join(output.path, STATE_DIRECTORY);
    return {
      sink: createFileSink(output.path),
      pictures: picturesIn(output.path, options),
      stateDirectory,
      manifest: manifestFile(join(output.path, "manifest.json"), stateDirectory),
      place: output.path,
      save: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  }
  if (output.kind === "store") refuseStateDirectory(output.url);
  const { stateDirectory } = output;
  const temporary = stateDirectory === null ? await mkdtemp(join(tmpdir(), "article-extractor-")) : null;
  const directory = stateDirectory ?? temporary ?? "";
  const close = {
    [Symbol.asyncDispose]: async () => {
      if (temporary !== null) await rm(temporary, { recursive: true, force: true });
    },
  };
  if (output.kind === "store") {
    await using stack = new AsyncDisposableStack();
    stack.use(close);
    const opened = await output.open({ ...options, directory });
    stack.move();
    return { ...opened, stateDirectory: directory, ...close };
  }
  const { sink, manifestPath } = output;
  // The frontier of this process alone makes it.
  if (options.isShared) makePrivateDirectory(directory);
  return {
    sink,
    pictures: null,
    stateDirectory: directory,
    manifest: manifestPath === null ? null : manifestFile(manifestPath, directory),
    place: stateDirectory ?? "the crawl",
    save: async () => {},
    ...close,
  };
}

/** @param stateDirectory on the same disk; the file is there while it is written */
function manifestFile(path: string, stateDirectory: string): ManifestPlace {
  const aside = join(stateDirectory, "manifest.json.tmp");
  return {
    path,
    async write(pieces) {
      const writeAll = async (file: FileHandle): Promise<void> => {
        // At the end of what is written so far; `write` may write less where the disk fills up, and says so in its result.
        for await (const piece of pieces) await file.writeFile(piece);
      };
      try {
        await replaceFile(path, writeAll, { aside });
      } catch (error) {
        throw systemFailure(error, "unwritable_output", `could not write the manifest ${path}`);
      }
    },
  };
}

/** Tells whether a path is, or is inside, a directory in which crawls and tenants keep their state. */
export const isInStateDirectory = (path: string): boolean =>
  // On a case-insensitive disk, such a name leads there too.
  path.split(/[\\/]/).some((name) => name.toLowerCase() === STATE_DIRECTORY);

function refuseStateDirectory(place: string, path = place): void {
  if (isInStateDirectory(path))
    throw new Failure(
      "invalid_usage",
      `${place} is where state is kept (${STATE_DIRECTORY}): name another directory`,
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
    `${directory} holds a manifest.json that is not a crawl's: name another directory`,
  );
}

const DISK_EVERY_MS = 10_000;

/** Checks the disk now and then, and reports once that free space is low. */
export function watchDisk({ stateDirectory, place }: Pick<OpenOutput, "stateDirectory" | "place">) {
  let nextAt = 0;
  return async (): Promise<readonly CrawlNotice[]> => {
    const now = performance.now();
    if (now < nextAt) return [];
    nextAt = now + DISK_EVERY_MS;
    const freeBytes = await freeBytesIn(stateDirectory);
    if (freeBytes >= LOW_DISK_BYTES) return [];
    nextAt = Number.POSITIVE_INFINITY;
    // A store's disk is not this machine's, where the frontier is.
    const directory = isStoreUrl(place) ? stateDirectory : place;
    return [{ kind: "low_disk", directory, freeBytes }];
  };
}
