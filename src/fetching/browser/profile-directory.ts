import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const NAME = /^browser-(\d+)$/;

/**
 * The directory of this process's browser profiles and their temporary files, made with access for its user
 * alone. Those that ended processes left behind (a SIGKILL leaves no time to tidy up) are removed on the way.
 * @param base the user's own directory for temporary files of the product
 * @returns an absolute path; the caller removes it at the end
 * @throws Error when the base is somebody else's or cannot be made
 */
export function openProfileDirectory(base: string, pid: number): string {
  mkdirSync(base, { recursive: true, mode: 0o700 });
  requireOwn(base);
  sweep(base);
  const directory = join(base, `browser-${pid}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** Removes a directory of profiles; a browser that is just ending may still write into it. */
export function removeProfileDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

// In a directory that all users share somebody else may have made it first, to read what is put there.
function requireOwn(base: string): void {
  const stats = lstatSync(base);
  const user = process.getuid?.() ?? stats.uid;
  if (!stats.isDirectory() || stats.uid !== user) throw new Error(`${base} is no directory of this user`);
  if ((stats.mode & 0o077) !== 0 && process.platform !== "win32") chmodSync(base, 0o700);
}

function sweep(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = Number(NAME.exec(name)?.[1] ?? 0);
    if (pid === 0 || isRunning(pid)) continue;
    try {
      rmSync(join(base, name), { recursive: true, force: true });
    } catch {
      // What cannot be removed now is tried again at the next start.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process runs, too; it only cannot be signalled.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
