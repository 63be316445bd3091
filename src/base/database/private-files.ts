import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../system-error.ts";

/**
 * The mode of files that hold state: only the program's user may read them, whatever the directory allows.
 */
export const PRIVATE_FILE_MODE = 0o600;
const PRIVATE_DIRECTORY_MODE = 0o700;

/**
 * Creates one of our directories for its user alone, and closes one that an earlier version left open to
 * others. Directories above it are made with the system's default mode, since they may hold files for others.
 * @throws Error of the file system when it cannot be made
 */
export function makePrivateDirectory(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  tighten(path, PRIVATE_DIRECTORY_MODE);
}

/**
 * Creates a SQLite file for its user alone before SQLite opens it, and closes an older one and its companions
 * to others. SQLite gives new companions the mode of the file.
 * @throws Error of the file system when it cannot be made
 */
export function makePrivateDatabase(path: string): void {
  // An existing file must not be opened here: closing it would lift the locks that this process has on it.
  try {
    closeSync(openSync(path, "wx", PRIVATE_FILE_MODE));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
  for (const suffix of ["", "-wal", "-shm", "-journal"]) tighten(path + suffix, PRIVATE_FILE_MODE);
}

function tighten(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch {
    // The file does not exist, or belongs to somebody who has given us access to it.
  }
}
