import { createHash } from "node:crypto";
import { lstat, readFile, rmdir, unlink } from "node:fs/promises";
import { extname, join, posix } from "node:path";
import { Failure } from "../../base/failure.ts";
import { systemCode } from "../../base/system-error.ts";
import {
  compilePathRules,
  isSafePath,
  type LeftOut,
  type LeftOutReason,
  mayBeDocument,
  type PathFilter,
  type PathRules,
  pathKey,
} from "../../search/index.ts";
import { writeWhole } from "../state-file.ts";
import { blobName, type TreeEntry } from "./repository.ts";

/** Copies of a commit's documents in the tenant's directory; other files there are not touched. */
export class WorkingCopy {
  readonly #directory: string;
  /** Folders that have been checked to be real ones and not links to elsewhere. */
  readonly #safe = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Reads a copy's bytes; null when they differ from those of the commit. */
  async read({ path, oid }: ChosenFile): Promise<Uint8Array | null> {
    try {
      const file = join(this.#directory, path);
      if (!(await lstat(file)).isFile()) return null;
      const bytes = await readFile(file);
      return blobName(bytes, oid.length) === oid ? bytes : null;
    } catch {
      return null;
    }
  }

  /** @throws Failure `unwritable_output` */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#makeSafe(posix.dirname(path));
    const file = join(this.#directory, path);
    const found = await lstat(file).catch(() => null);
    if (found?.isSymbolicLink()) await unlink(file);
    await writeWhole(file, bytes);
  }

  /** Removes copies, and the folders that become empty. */
  async remove(paths: readonly string[]): Promise<void> {
    const folders = new Set<string>();
    for (const path of paths) {
      const found = await lstat(join(this.#directory, path)).catch(() => null);
      // A folder that has the name of a removed file contains files that still exist.
      if (found && !found.isDirectory() && !(await this.#isBelowLink(path)))
        await unlink(join(this.#directory, path)).catch(ignoreMissing);
      for (const folder of foldersAbove(path)) folders.add(folder);
    }
    const deepestFirst = [...folders].sort((a, b) => b.length - a.length);
    for (const folder of deepestFirst) await rmdir(join(this.#directory, folder)).catch(() => {});
  }

  /** Makes every folder on the way a real one; a file in its place is removed. */
  async #makeSafe(folder: string): Promise<void> {
    if (folder === "." || this.#safe.has(folder)) return;
    await this.#makeSafe(posix.dirname(folder));
    const found = await lstat(join(this.#directory, folder)).catch(() => null);
    if (found?.isSymbolicLink())
      throw new Failure("unwritable_output", `${join(this.#directory, folder)} is a symbolic link`);
    if (found?.isFile()) await unlink(join(this.#directory, folder));
    this.#safe.add(folder);
  }

  async #isBelowLink(path: string): Promise<boolean> {
    for (const folder of foldersAbove(path))
      if ((await lstat(join(this.#directory, folder)).catch(() => null))?.isSymbolicLink()) return true;
    return false;
  }
}

/** The folders above a path, the nearest first. */
export function* foldersAbove(path: string): Generator<string> {
  for (let folder = posix.dirname(path); folder !== "."; folder = posix.dirname(folder)) yield folder;
}

function ignoreMissing(error: unknown): void {
  const code = systemCode(error);
  if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
}

/** A document of a commit, and the place of its copy. */
export type ChosenFile = {
  /** The path in the repository. */
  readonly from: string;
  /** The path below the tenant's directory, with `/`; unique even when case and Unicode form are ignored. */
  readonly path: string;
  readonly oid: string;
};

type ChooseOptions = {
  /** Folders or files of the repository; `.` is the whole repository. */
  readonly subpaths: readonly string[];
  /** Rules for what is below the subpaths; a subpath itself is never left out. */
  readonly rules: PathRules;
  readonly stripPrefix: string | null;
  readonly maxFiles: number;
};

/**
 * Chooses the documents of a commit: regular files below the subpaths whose names are safe on every disk.
 * Symbolic links, submodules and names that git could take for its own are left out.
 */
export function chooseFiles(entries: readonly TreeEntry[], options: ChooseOptions) {
  const { rules, stripPrefix, maxFiles } = options;
  // The deepest subpath that holds a file is the one by which a person has named it.
  const subpaths = [...new Set(options.subpaths.map(normalSubpath))].sort((a, b) => b.length - a.length);
  const filter = compilePathRules(rules);
  const met = new Set<string>();
  const leftOut: LeftOut[] = [];
  const leftOutFolders = new Set<string>();
  const chosen: { from: string; path: string; oid: string }[] = [];
  for (const { mode, oid, path } of entries) {
    const below = subpaths.filter((subpath) => isBelow(path, subpath));
    for (const subpath of below) met.add(subpath);
    if (below[0] === undefined) continue;
    const refused = refusedPart(path, mode, filter, below[0]);
    const reason = chosen.length < maxFiles ? refusalOf(mode, path) : "too_many";
    if (refused?.path.endsWith("/")) {
      if (!leftOutFolders.has(refused.path)) leftOut.push(refused);
      leftOutFolders.add(refused.path);
    } else if (refused) leftOut.push(refused);
    else if (reason !== null) leftOut.push({ path, reason });
    else chosen.push({ from: path, path: strip(path, stripPrefix), oid });
  }
  return {
    files: withoutClashes(chosen),
    /** Paths below the subpaths that are not documents; a skipped folder is listed once. */
    leftOut,
    /** Subpaths that do not exist in the commit. */
    emptySubpaths: subpaths.filter((subpath) => !met.has(subpath)),
  };
}

export type Choice = Readonly<ReturnType<typeof chooseFiles>>;

/** The file, or the first folder above it, that the rules leave out; null when they leave out neither. */
function refusedPart(path: string, mode: string, filter: PathFilter, subpath: string): LeftOut | null {
  if (path === subpath) return null;
  const start = subpath === "" ? 0 : subpath.length + 1;
  for (let end = path.indexOf("/", start); end >= 0; end = path.indexOf("/", end + 1)) {
    const reason = filter.refuse(path.slice(0, end), true);
    if (reason !== null) return { path: path.slice(0, end + 1), reason };
  }
  const reason = filter.refuse(path, mode === SUBMODULE);
  return reason && { path, reason };
}

/** `./docs/`, `docs/**` and `docs` mean the same; the empty text means everything. */
export function normalSubpath(written: string): string {
  const path = posix.normalize(written.replaceAll("\\", "/").replace(/\/\*{1,2}$/, ""));
  return path === "." ? "" : path.replace(/^\.\//, "").replace(/(?<!\/)\/+$/, "");
}

const isBelow = (path: string, folder: string): boolean =>
  folder === "" || path === folder || path.startsWith(`${folder}/`);

function strip(path: string, prefix: string | null): string {
  const folder = prefix === null ? "" : normalSubpath(prefix);
  return folder !== "" && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

const SUBMODULE = "160000";

/** Why a file is not copied; null when it is. */
function refusalOf(mode: string, path: string): LeftOutReason | null {
  if (mode === SUBMODULE) return "submodule";
  if (mode === "120000") return "link";
  if (!mode.startsWith("100")) return "special";
  if (!mayBeDocument(path)) return "unknown_kind";
  return isSafePath(path) ? null : "bad_name";
}

/** Adds a hash to all but the first of paths that are the same on some disks, or that are also a folder. */
function withoutClashes(files: readonly ChosenFile[]): ChosenFile[] {
  const taken = new Set<string>();
  for (const { path } of files) for (const folder of foldersAbove(path)) taken.add(pathKey(folder));
  const sorted = [...files].sort((a, b) => (a.from < b.from ? -1 : 1));
  return sorted.map((file) => {
    const path = taken.has(pathKey(file.path)) ? withHash(file) : file.path;
    taken.add(pathKey(path));
    return { ...file, path };
  });
}

function withHash({ from, path }: ChosenFile): string {
  const ending = extname(path);
  const hash = createHash("sha256").update(from).digest("hex").slice(0, 12);
  return `${path.slice(0, path.length - ending.length)}~${hash}${ending}`;
}
