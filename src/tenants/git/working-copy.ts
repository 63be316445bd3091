import { lstat, readFile, rmdir, unlink } from "node:fs/promises";
import { join, posix } from "node:path";
import { Failure } from "../../base/failure.ts";
import { systemCode } from "../../base/system-error.ts";
import { writeWhole } from "../state-file.ts";
import type { ChosenFile } from "./choose-files.ts";
import { blobName } from "./repository.ts";

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
      for (let folder = posix.dirname(path); folder !== "."; folder = posix.dirname(folder))
        folders.add(folder);
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
    for (let folder = posix.dirname(path); folder !== "."; folder = posix.dirname(folder)) {
      if ((await lstat(join(this.#directory, folder)).catch(() => null))?.isSymbolicLink()) return true;
    }
    return false;
  }
}

function ignoreMissing(error: unknown): void {
  const code = systemCode(error);
  if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
}
