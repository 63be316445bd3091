import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import { makePrivateDirectory } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import type { ObjectOptions, ObjectStore } from "../base/objects.ts";
import { isMissing, systemFailure } from "../base/system-error.ts";
import type { PageSink } from "../crawler/index.ts";
import {
  FRONTIER_FILE,
  MANIFEST_START,
  type OutputOptions,
  type OutputPlace,
  removeFrontier,
} from "../crawler/index.ts";
import { isPictureName, PICTURES_FOLDER, type PicturePlace } from "../pages/index.ts";
import { createObjectPageStore } from "./page-store.ts";

/** Prefix of objects that are not pages. */
const STATE = ".article-extractor/";
const GONE = `${STATE}gone/`;
const MANIFEST = "manifest.json";
const SAVED_FRONTIER = `${STATE}${FRONTIER_FILE}.zst`;

/** The local file that names the saved frontier which the local frontier continues. */
const SAVED_VERSION = "saved-version";

const START_PATIENCE_MS = 5_000;
/** How long a shared crawl waits for a store it cannot reach, in ms: a service continues by itself once its store is back. */
const SHARED_PATIENCE_MS = 24 * 60 * 60 * 1000;

/**
 * Opens a store for a crawl: pages and `manifest.json` are objects side by side. The frontier is a local file, and the
 * store has the copy that the last crawl saved. If this machine has neither saved nor loaded that copy, another machine
 * has continued the crawl, and its frontier replaces the local frontier. Otherwise the local frontier is as new or newer,
 * for example after a crash.
 * @throws Failure `invalid_usage` for a `manifest.json` of somebody else or of a shared crawl, or if another process
 *   crawls; failures of the store's calls
 */
export async function openStoreOutput(
  store: ObjectStore,
  options: OutputOptions & { readonly directory: string },
): Promise<OutputPlace> {
  const { directory, isFresh, isShared, signal } = options;
  // This comes first, because answers to GET say why a bucket refuses, unlike those to HEAD.
  const manifest = await whoseManifest(store, signal);
  const saved = await store.head(SAVED_FRONTIER, { signal });
  if (manifest === "foreign" && saved === null)
    throw new Failure(
      "invalid_usage",
      `${store.url} holds a manifest.json that is not a crawl's: name another prefix or directory`,
    );
  // A shared crawl is remembered in its database, and a crawl of one process would write over its manifest.
  const isElsewhere = manifest === "crawl" && saved === null && !existsSync(join(directory, FRONTIER_FILE));
  if (isElsewhere && !isShared && !isFresh)
    throw new Failure(
      "invalid_usage",
      `${store.url} holds the manifest of a crawl that nothing here or there remembers, such as a shared one: ` +
        "--join continues it, --fresh begins anew, or name another prefix or directory",
    );
  if (!isShared && !isFresh) await takeSaved(store, directory, saved?.version ?? null, signal);
  const asking = { signal, ...(isShared && { patienceMs: SHARED_PATIENCE_MS }) };
  return {
    sink: createObjectSink(store, asking),
    pictures: createObjectPictures(store, asking, isFresh),
    manifest: {
      path: `${store.url}/${MANIFEST}`,
      write: async (pieces) => {
        // A cancelled crawl still writes its manifest, but does not keep the user waiting for the store.
        const patience = signal.aborted ? {} : { patienceMs: asking.patienceMs };
        await store.putStream(MANIFEST, pieces, { contentType: "application/json", ...patience });
      },
    },
    place: store.url,
    save: (frontier) => saveFrontier(frontier, store, directory),
  };
}

/** Creates a sink that stores each page as an object, and moves gone pages below the state's prefix. */
function createObjectSink(store: ObjectStore, asking: ObjectOptions): PageSink {
  const pages = createObjectPageStore(store, asking);
  const gone = createObjectPageStore(store, { ...asking, folder: GONE });
  return {
    put: ({ page }, lost) => pages.put(page, lost && { signal: lost }),
    has: async (url) => (await pages.nameOf(url)) !== null,
    remove: (url) => pages.delete(url),
    retire: async (url) => {
      const page = await pages.get(url);
      const name = page ? await gone.put(page) : await gone.nameOf(url);
      await pages.delete(url);
      return name && `${GONE}${name}`;
    },
  };
}

/**
 * Pictures as objects. For each address there is an object with the name of its picture, so that all processes know it;
 * a list of all would have to be written anew for each picture.
 * @param isFresh whether pictures of earlier runs are loaded again
 */
function createObjectPictures(store: ObjectStore, asking: ObjectOptions, isFresh: boolean): PicturePlace {
  const keyOf = (name: string): string => `${PICTURES_FOLDER}/${name}`;
  const addressKey = (url: string): string =>
    `${STATE}pictures/${createHash("sha256").update(url).digest("hex").slice(0, 32)}`;
  return {
    nameOf: async (url) => {
      const bytes = isFresh ? null : await store.read(addressKey(url), asking);
      const name = new TextDecoder().decode(bytes ?? new Uint8Array());
      return isPictureName(name) && (await store.head(keyOf(name), asking)) !== null ? name : null;
    },
    put: async (name, bytes, url) => {
      const type = extname(name).slice(1).replace("jpg", "jpeg").replace("svg", "svg+xml");
      if ((await store.head(keyOf(name), asking)) === null)
        await store.put(keyOf(name), bytes, { ...asking, contentType: `image/${type}` });
      // After the picture: what this names is there.
      if (url !== null) await store.put(addressKey(url), name, { ...asking, contentType: "text/plain" });
    },
  };
}

/** Pages have names of their own; the manifest has only this one. */
async function whoseManifest(
  store: ObjectStore,
  signal: AbortSignal,
): Promise<"crawl" | "foreign" | "nobody"> {
  // A mistyped endpoint is reported soon after the start.
  const manifest = await store.stream(MANIFEST, { signal, patienceMs: START_PATIENCE_MS });
  let start = "";
  for await (const piece of manifest ?? []) {
    start += new TextDecoder().decode(piece.subarray(0, MANIFEST_START.length));
    if (start.length >= MANIFEST_START.length) break;
  }
  if (start === "") return "nobody";
  return start.startsWith(MANIFEST_START) ? "crawl" : "foreign";
}

/** @param version that of the frontier that the store has; null when it has none */
async function takeSaved(
  store: ObjectStore,
  directory: string,
  version: string | null,
  signal: AbortSignal,
): Promise<void> {
  const file = join(directory, FRONTIER_FILE);
  const marker = join(directory, SAVED_VERSION);
  const known = await readIfThere(marker);
  if (known === version && (version === null || existsSync(file))) return;
  // A frontier that was saved and is not in the store any more knows of pages that are not there either.
  if (version === null) return await forget(directory);
  const saved = await store.stream(SAVED_FRONTIER, { signal });
  if (saved === null) return;
  const aside = join(directory, `${randomUUID()}.tmp`);
  try {
    makePrivateDirectory(directory);
    await pipeline(Readable.from(saved), createZstdDecompress(), createWriteStream(aside, { mode: 0o600 }));
    await forget(directory);
    await rename(aside, file);
    await writeFile(marker, version);
  } catch (error) {
    throw systemFailure(
      error,
      "unreadable_input",
      `could not take the crawl's memory from ${store.url}/${SAVED_FRONTIER} (--fresh forgets it)`,
    );
  } finally {
    await rm(aside, { force: true });
  }
}

async function forget(directory: string): Promise<void> {
  const file = join(directory, FRONTIER_FILE);
  if (existsSync(file)) removeFrontier(file);
  await rm(join(directory, SAVED_VERSION), { force: true });
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return null;
    throw systemFailure(error, "unreadable_input", `could not read ${path}`);
  }
}

async function saveFrontier(
  frontier: Parameters<OutputPlace["save"]>[0],
  store: ObjectStore,
  directory: string,
): Promise<void> {
  if (!frontier.copyTo) return;
  const copy = join(directory, `${randomUUID()}.tmp`);
  try {
    await frontier.copyTo(copy);
    const compress = createZstdCompress();
    const reading = pipeline(createReadStream(copy), compress);
    const [version] = await Promise.all([store.putStream(SAVED_FRONTIER, compress), reading]);
    await writeFile(join(directory, SAVED_VERSION), version);
  } catch (error) {
    throw systemFailure(error, "unwritable_output", `could not save the crawl's memory to ${store.url}`);
  } finally {
    await rm(copy, { force: true });
  }
}
