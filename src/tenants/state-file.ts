import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { asideOf, replaceFile } from "../base/atomic-file.ts";
import { PRIVATE_FILE_MODE } from "../base/database/index.ts";
import { systemFailure } from "../base/system-error.ts";

/** Reads the value of a state file; null when there is no file, or its value is not valid. */
export async function readState<T>(path: string, isValid: (value: unknown) => value is T): Promise<T | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return isValid(value) ? value : null;
  } catch {
    // The file is missing or damaged; its contents can be found out again.
    return null;
  }
}

/** Writes a value to a temporary file and renames it. @throws Failure `unwritable_output` */
export const writeState = (path: string, value: unknown): Promise<void> =>
  writeWhole(path, JSON.stringify(value), PRIVATE_FILE_MODE);

/**
 * Writes a file so that a reader or a crash finds either the old or the new one.
 * @param mode the mode of a new file; by default the system's
 * @throws Failure `unwritable_output`
 */
export async function writeWhole(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await replaceFile(path, content, { aside: asideOf(path, "sync"), mode });
  } catch (cause) {
    throw systemFailure(cause, "unwritable_output", `could not write ${path}`);
  }
}
