import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const NAME = /^browser-(\d+)$/;

/**
 * Makes the directory for this process's browser profiles and their temporary files, with access for its user
 * alone. It also removes directories of ended processes, since SIGKILL leaves no time to tidy up.
 * @param base the user's own directory for this program's temporary files
 * @returns an absolute path; the caller removes it at the end
 * @throws Error when the base belongs to somebody else or cannot be made
 */
export function openProfileDirectory(base: string, pid: number): string {
  mkdirSync(base, { recursive: true, mode: 0o700 });
  requireOwn(base);
  sweep(base);
  const directory = join(base, `browser-${pid}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** Removes a directory of profiles, although a browser that is just ending may still write into it. */
export function removeProfileDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

// In a directory that all users share, somebody else may have made it first in order to read its contents.
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
      // The next start tries again to remove it.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process runs, as another user whom we may not signal.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
