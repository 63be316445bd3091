import { createHash } from "node:crypto";
import { lstat, realpath } from "node:fs/promises";
import { join, posix } from "node:path";
import type { BunFile } from "bun";
import { storeOutput } from "../../../../app/index.ts";
import { asideOf, replaceFile } from "../../../../base/atomic-file.ts";
import { makePrivateDirectory } from "../../../../base/database/index.ts";
import { Failure } from "../../../../base/failure.ts";
import { folderOf, type ObjectStore } from "../../../../base/objects.ts";
import { systemFailure } from "../../../../base/system-error.ts";
import {
  type CrawlOutput,
  isInStateDirectory,
  type JobRecord,
  STATE_DIRECTORY,
} from "../../../../crawler/index.ts";
import { streamOf } from "../../../middleware/unread.ts";
import {
  confineDirectory,
  invalidPath,
  openConfinedDirectory,
  openOwnDirectory,
  type PathRules,
  refusedPath,
} from "../paths.ts";

/** The places of crawls' pages and manifests. */
export interface CrawlPlaces {
  /**
   * Finds the place that a request means with its `output_dir`.
   * @returns it as text, which is equal for the same place
   * @throws ProblemError 403 for a place that no caller may use, 422 for one where no crawl can go
   */
  find(written: string): Promise<string>;
  /**
   * Creates a new place for a crawl whose caller names none.
   * @returns the place, and its name for the caller
   * @throws Failure `unwritable_output`
   */
  create(name: string): Promise<{ readonly place: string; readonly shown: string }>;
  /** Opens the place of a job that is about to run. @throws Failure `unwritable_output` */
  open(place: string): Promise<CrawlOutput>;
  /** The manifest that a job has written; null when there is none, or a later crawl has replaced it. */
  manifest(job: JobRecord): Promise<BunFile | ReadableStream<Uint8Array> | null>;
  /** The file of a page that a job has stored, by its path below the job's place; null when it is gone. */
  page(job: JobRecord, path: string): Promise<ReadableStream<Uint8Array> | null>;
  /** Puts a text beside a job's pages. @throws Failure `unwritable_output`, `store_unavailable` */
  put(place: string, path: string, text: string, signal: AbortSignal): Promise<void>;
}

/** The directory for crawls whose callers name none. */
export type OwnCrawls = {
  /** Its path; it is made when it is needed. */
  readonly path: string;
  readonly shown: string;
};

/** Places that are directories of this machine. */
export const directoryPlaces = (rules: PathRules, own: OwnCrawls): CrawlPlaces => ({
  find: (written) => confineDirectory(written, rules),
  create: async (name) => ({
    place: join(await openOwnDirectory(own.path), name),
    shown: join(own.shown, name),
  }),
  async open(place) {
    await openConfinedDirectory(place);
    return { kind: "directory", path: place };
  },
  async manifest({ id, place }) {
    const path = join(place, "manifest.json");
    const stats = await lstat(path).catch(() => null);
    const file = Bun.file(path);
    return stats?.isFile() && isOf(id, await file.slice(0, HEAD_BYTES).text()) ? file : null;
  },
  async page({ place }, path) {
    const file = join(place, path);
    // A link may have taken the place of a folder or of a page.
    const isOwn = (await realpath(file).catch(() => null)) === file && (await lstat(file)).isFile();
    return isOwn ? Bun.file(file).stream() : null;
  },
  async put(place, path, text) {
    const file = join(place, path);
    try {
      await replaceFile(file, text, { aside: asideOf(file, "article") });
    } catch (error) {
      throw systemFailure(error, "unwritable_output", `could not write ${path}`);
    }
  },
});

/**
 * Places in a store, which every server of the jobs reaches.
 * @param frontiers the local directory for what unshared crawls remember; null where all are shared
 */
export const storePlaces = (store: ObjectStore, frontiers: string | null): CrawlPlaces => ({
  find: async (written) => confineFolder(store, written).url,
  create: async (name) => {
    const shown = `crawls/${name}`;
    return { place: folderOf(store, shown).url, shown };
  },
  async open(place) {
    const folder = folderAt(store, place);
    const name = createHash("sha256").update(place).digest("hex").slice(0, 32);
    const stateDirectory = frontiers === null ? null : join(frontiers, name);
    if (stateDirectory !== null) makePrivateDirectory(stateDirectory);
    return storeOutput(folder, stateDirectory);
  },
  async manifest({ id, place }) {
    const pieces = (await folderAt(store, place).stream("manifest.json"))?.[Symbol.asyncIterator]();
    if (!pieces) return null;
    const head = await readHead(pieces);
    if (isOf(id, new TextDecoder().decode(head.subarray(0, HEAD_BYTES))))
      return streamOf(pieces, { first: head });
    await pieces.return?.();
    return null;
  },
  async page({ place }, path) {
    const pieces = await folderAt(store, place).stream(path);
    return pieces && streamOf(pieces[Symbol.asyncIterator]());
  },
  async put(place, path, text, signal) {
    await folderAt(store, place).put(path, text, { signal, contentType: "application/json" });
  },
});

/** Names a place for a crawl after the host of its first address. */
export function placeName(url: string | undefined): string {
  const host = (URL.parse(url ?? "")?.host ?? "").replace(/[^\w.-]/g, "_").slice(0, 100);
  return `${host || "crawl"}-${crypto.randomUUID().slice(0, 8)}`;
}

/** @throws ProblemError 403, 422 */
function confineFolder(store: ObjectStore, written: string): ObjectStore {
  const path = posix.normalize(written).replace(/\/$/, "");
  const shown = JSON.stringify(written.slice(0, 200));
  if (path.startsWith("/") || path === ".." || path.startsWith("../") || /^[a-z][a-z\d+.-]*:\//i.test(path))
    throw refusedPath(`output_dir ${shown} leads out of the server's store: name a path below it`);
  if (isInStateDirectory(path))
    throw refusedPath(`${shown} leads to where state is kept (${STATE_DIRECTORY})`);
  try {
    return folderOf(store, path === "." ? "" : path);
  } catch (error) {
    if (error instanceof Failure) throw invalidPath("output_dir", error.message);
    throw error;
  }
}

/** Another server of the same queue may have the store that a place is in. */
export class OtherStore extends Failure {
  constructor() {
    super("unwritable_output", "the job's pages were to go to another store than this server's");
  }
}

/** @throws OtherStore for a place in another store */
function folderAt(store: ObjectStore, place: string): ObjectStore {
  if (place === store.url) return store;
  if (place.startsWith(`${store.url}/`)) return folderOf(store, place.slice(store.url.length + 1));
  throw new OtherStore();
}

/** Reads pieces until they tell whose manifest it is, however small they are. */
async function readHead(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head = new Uint8Array();
  while (head.length < HEAD_BYTES) {
    const { value, done } = await pieces.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  return head;
}

/** The manifest starts with the id of its job, so its beginning tells whose it is. */
const HEAD_BYTES = 200;

const isOf = (id: string, head: string): boolean => head.includes(JSON.stringify(id));
