import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Of files that hold state: nobody but the program's user reads them, whatever the directory allows. */
export const PRIVATE_FILE_MODE = 0o600;
const PRIVATE_DIRECTORY_MODE = 0o700;

/**
 * Makes a directory of our own for its user alone, also where an earlier version has made it for others to read.
 * Those above it are made as the system makes directories, since they may hold what others shall read.
 * @throws Error of the file system when it cannot be made
 */
export function makePrivateDirectory(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  tighten(path, PRIVATE_DIRECTORY_MODE);
}

/**
 * Makes a SQLite file for its user alone before SQLite opens it, and takes away what others may do with an older one
 * and its companions; SQLite makes further companions with the mode of the file.
 * @throws Error of the file system when it cannot be made
 */
export function makePrivateDatabase(path: string): void {
  // One that is there must not be opened: closing it would lift the locks that this process has on it.
  try {
    closeSync(openSync(path, "wx", PRIVATE_FILE_MODE));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  for (const suffix of ["", "-wal", "-shm", "-journal"]) tighten(path + suffix, PRIVATE_FILE_MODE);
}

function tighten(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch {
    // It is not there, or somebody else's who has given us access to it.
  }
}
