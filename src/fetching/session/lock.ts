import { chmodSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

const PAUSE_MS = 15;

/**
 * Does the work while nobody else, in this process or another, holds the same lock. The lock is SQLite's lock
 * on an empty database, which the system releases when the process ends for whatever reason.
 * @param patienceMs how long to wait for the lock
 * @returns whether the work was done
 */
export async function withLock(
  path: string,
  patienceMs: number,
  work: () => Promise<void>,
): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Node has no bun:sqlite, and the library for Node keeps no sessions.
  const { Database } = await import("bun:sqlite");
  const db = new Database(path, { create: true });
  try {
    chmodSync(path, 0o600);
    const deadline = performance.now() + patienceMs;
    while (!begin(db)) {
      if (performance.now() >= deadline) return false;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * (0.5 + Math.random())));
    }
    try {
      await work();
    } finally {
      db.run("ROLLBACK");
    }
    return true;
  } finally {
    db.close();
  }
}

function begin(db: { run(sql: string): unknown }): boolean {
  try {
    db.run("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY"))
      return false;
    throw error;
  }
}
