import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { didYouMeanAny } from "../../base/nearest.ts";
import { wordsIn } from "../../base/text.ts";
import { type Git, type GitOptions, openGit } from "./git.ts";

/** A file of a commit. */
export type TreeEntry = {
  /** Six octal digits: 100644 and 100755 are files, 120000 is a symbolic link, 160000 a submodule. */
  readonly mode: string;
  readonly oid: string;
  /** The path in the commit, which may be hostile; bytes that are not UTF-8 become U+FFFD. */
  readonly path: string;
};

/** The remote commit of a revision. */
export type Tip = { readonly commit: string; readonly refspec: string };

/** A blob that has been fetched. */
export type Blob = { readonly oid: string; readonly size: number };

type RepositoryOptions = GitOptions & {
  /** The most disk space that the clone may take, in bytes. */
  readonly maxBytes: number;
};

/** Every fetch adds a pack, which does no harm up to this number. */
const MAX_PACKS = 50;

/** The fetched objects of a repository: commit and trees of one revision, and the requested blobs. */
export type Repository = ReturnType<typeof openRepository>;

export function openRepository(options: RepositoryOptions) {
  const { reach, directory, home, url } = options;
  const tooLarge = new AbortController();
  const signal = AbortSignal.any([options.signal, tooLarge.signal]);
  const git = openGit({ reach, directory, home, url, signal });
  const get = async (words: readonly string[], input?: string): Promise<void> => {
    await mkdir(home, { recursive: true });
    if (!existsSync(join(directory, "HEAD"))) await git.run(["init", "--bare", "--quiet"]);
    await withinSize(options, tooLarge, () => git.run(words, input));
  };
  const openOutside = async (): Promise<Git> => {
    await mkdir(home, { recursive: true });
    // This directory is outside the clone, because a question to the server needs none of the clone's files,
    // which may be damaged.
    const outside = join(home, "no-repository");
    return openGit({ reach, directory: outside, home, url, signal: options.signal });
  };
  return {
    /** Asks for the commit of the branch or tag. @throws Failure `unreadable_input` that names the existing ones */
    resolve: async (revision: string): Promise<Tip> => resolveRevision(await openOutside(), url, revision),
    /** Asks the server for the branch that it shows first; null when it has none. */
    defaultBranch: async (): Promise<string | null> => {
      const heads = await (await openOutside()).run(["ls-remote", "--quiet", "--symref", "origin", "HEAD"]);
      return /^ref: refs\/heads\/([^\t\n]{1,1000})\tHEAD$/m.exec(heads)?.[1] ?? null;
    },
    /** Fetches the commit and its trees, without blobs if the server can leave them out. */
    fetchCommit: ({ refspec }: Tip): Promise<void> =>
      get(["fetch", ...FETCH, "--depth=1", "origin", `+${refspec}:${TIP}`]),
    /** Lists all files of a fetched commit. */
    list: async (commit: string): Promise<readonly TreeEntry[]> =>
      parseTree(await git.run(["ls-tree", "-r", "-z", "--full-tree", commit])),
    /** Fetches missing blobs in one request. */
    fetchBlobs: async (oids: readonly string[]): Promise<void> => {
      const here = await sizesOf(git);
      const wanted = oids.filter((oid) => !here.has(oid));
      // Git itself fetches the missing objects of a partial clone like this: it requests each object without
      // negotiation.
      const words = ["-c", "fetch.negotiationAlgorithm=noop", "fetch", ...FETCH, "--stdin", "origin"];
      if (wanted.length > 0) await get(words, `${wanted.join("\n")}\n`);
    },
    /** The sizes of the fetched blobs. */
    sizes: (): Promise<ReadonlyMap<string, number>> => sizesOf(git),
    /** Yields the bytes of fetched blobs in order, checked against their names. */
    read: (blobs: readonly Blob[]) => readBlobs(git, blobs),
    /** Starts a new clone when many small fetches have accumulated. */
    tidy: async (): Promise<void> => {
      const packs = await readdir(join(directory, "objects/pack")).catch(() => []);
      if (packs.filter((name) => name.endsWith(".pack")).length > MAX_PACKS)
        await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A reference that keeps git from collecting the commit that is being read. */
const TIP = "refs/sync/tip";
const FETCH = wordsIn("--quiet --no-tags --no-recurse-submodules --no-write-fetch-head --filter=blob:none");

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

async function resolveRevision(git: Git, url: string, revision: string): Promise<Tip> {
  // A commit never changes, so the server need not be asked.
  if (COMMIT.test(revision)) return { commit: revision, refspec: revision };
  const branch = revision.startsWith("refs/") ? revision : `refs/heads/${revision}`;
  const tag = `refs/tags/${revision}`;
  const refs = parseRefs(await git.run(["ls-remote", "--quiet", "origin", branch, tag, `${tag}^{}`]));
  // An annotated tag is an object of its own; its peeled line names the commit.
  const commit = refs.get(branch) ?? refs.get(`${tag}^{}`) ?? refs.get(tag);
  if (commit !== undefined) return { commit, refspec: refs.has(branch) ? branch : tag };
  const all = parseRefs(await git.run(["ls-remote", "--quiet", "--heads", "--tags", "--refs", "origin"]));
  const names = [...all.keys()].map((ref) => ref.replace(/^refs\/(?:heads|tags)\//, ""));
  const isShort = /^[0-9a-f]{7,39}$/.test(revision);
  const hint = isShort
    ? "; a commit is given with all of its 40 digits"
    : didYouMeanAny(revision, names) || `; it has ${names.slice(0, 5).join(", ") || "none"}`;
  throw new Failure("unreadable_input", `${url} has no branch or tag ${JSON.stringify(revision)}${hint}`);
}

function parseRefs(text: string): Map<string, string> {
  const refs = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [oid = "", ref = ""] = line.split("\t");
    if (COMMIT.test(oid) && ref !== "") refs.set(ref, oid);
  }
  return refs;
}

function parseTree(text: string): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (const record of text.split("\0")) {
    const tab = record.indexOf("\t");
    const [mode = "", , oid = ""] = record.slice(0, Math.max(0, tab)).split(" ");
    if (tab > 0) entries.push({ mode, oid, path: record.slice(tab + 1) });
  }
  return entries;
}

async function sizesOf(git: Git): Promise<Map<string, number>> {
  const format = "--batch-check=%(objecttype) %(objectname) %(objectsize)";
  const sizes = new Map<string, number>();
  const lines = await git.run(["cat-file", "--batch-all-objects", "--unordered", format]);
  for (const line of lines.split("\n")) {
    const [type, oid = "", size] = line.split(" ");
    if (type === "blob") sizes.set(oid, Number(size));
  }
  return sizes;
}

const READ_AT_ONCE_BYTES = 8 * 1024 * 1024;
const READ_AT_ONCE = 1000;

async function* readBlobs(git: Git, blobs: readonly Blob[]): AsyncGenerator<Uint8Array> {
  let batch: Blob[] = [];
  let bytes = 0;
  for (const blob of blobs) {
    if (batch.length > 0 && (bytes + blob.size > READ_AT_ONCE_BYTES || batch.length >= READ_AT_ONCE)) {
      yield* readBatch(git, batch);
      batch = [];
      bytes = 0;
    }
    batch.push(blob);
    bytes += blob.size;
  }
  if (batch.length > 0) yield* readBatch(git, batch);
}

async function* readBatch(git: Git, blobs: readonly Blob[]): AsyncGenerator<Uint8Array> {
  const output = await git.catFile(["--batch"], `${blobs.map(({ oid }) => oid).join("\n")}\n`);
  let at = 0;
  for (const { oid, size } of blobs) {
    const head = `${oid} blob ${size}\n`;
    const start = at + head.length;
    const bytes = output.subarray(start, start + size);
    const isWhole = bytes.length === size && blobName(bytes, oid.length) === oid;
    if (!isWhole) throw new Failure("network", `the clone's object ${oid} is damaged`);
    yield bytes;
    at = start + size + 1;
  }
}

/** The name that git gives to a file's content. @param length 40 for SHA-1, 64 for SHA-256 */
export const blobName = (bytes: Uint8Array, length: number): string =>
  createHash(length === 64 ? "sha256" : "sha1")
    .update(`blob ${bytes.length}\0`)
    .update(bytes)
    .digest("hex");

const LOOK_AT_SIZE_EVERY_MS = 500;

/** Ends the work when the clone exceeds its limit, because a server may send without end. */
async function withinSize(
  { directory, maxBytes, url }: RepositoryOptions,
  tooLarge: AbortController,
  work: () => Promise<unknown>,
): Promise<void> {
  let isOver = false;
  const look = async (): Promise<void> => {
    isOver ||= (await packBytes(directory)) > maxBytes;
    if (isOver) tooLarge.abort();
  };
  const timer = setInterval(() => void look(), LOOK_AT_SIZE_EVERY_MS);
  const failure = (): Failure =>
    new Failure("too_large", `what ${url} sends is over the limit of ${maxBytes} bytes`);
  try {
    await work();
    await look();
  } catch (error) {
    throw isOver ? failure() : error;
  } finally {
    clearInterval(timer);
  }
  if (isOver) throw failure();
}

async function packBytes(directory: string): Promise<number> {
  const folder = join(directory, "objects/pack");
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => null)));
  return found.reduce((sum, stats) => sum + (stats?.size ?? 0), 0);
}
