import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makePrivateDirectory, PRIVATE_FILE_MODE } from "../base/database/index.ts";
import { Failure } from "../base/failure.ts";
import { systemReason } from "../base/system-reason.ts";

/** The value of a JSON file of ours; null when there is none, or none that `isValid` takes. */
export async function readState<T>(path: string, isValid: (value: unknown) => value is T): Promise<T | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return isValid(value) ? value : null;
  } catch {
    // Not there, or damaged: what it remembers can be found out again.
    return null;
  }
}

/** Writes a value aside and renames it into place. @throws Failure `unwritable_output` */
export const writeState = (path: string, value: unknown): Promise<void> =>
  writeWhole(path, JSON.stringify(value), PRIVATE_FILE_MODE);

/**
 * Writes a file so that a reader or a crash finds the old one or the new one.
 * @param mode as of a new file of the system where it is absent
 * @throws Failure `unwritable_output`
 */
export async function writeWhole(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
  const directory = dirname(path);
  // A hidden name, which scanners of documents pass over.
  const temporary = join(directory, `.sync-${randomUUID()}.tmp`);
  try {
    await mkdir(directory, { recursive: true });
    {
      await using file = await open(temporary, "wx", mode);
      await file.writeFile(content);
      await file.datasync();
    }
    await rename(temporary, path);
  } catch (cause) {
    await unlink(temporary).catch(() => {});
    throw new Failure("unwritable_output", `could not write ${path}: ${systemReason(cause)}`, { cause });
  }
}

/** Whether an error of the file system says that there is no such file. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

/** Makes a tenant's directory of state, for this user alone. @throws Failure `unwritable_output` */
export function makeStateDirectory(directory: string): void {
  try {
    makePrivateDirectory(directory);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new Failure("unwritable_output", `the directory ${directory} cannot be made: ${code}`, { cause });
  }
}
