import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../failure.ts";
import type { Log } from "../log.ts";
import { type Database, openDatabase } from "./database.ts";

/** The state that processes share, and whether others really see it. */
export type SharedState = { readonly database: Database; readonly isShared: boolean };

/**
 * Opens `state.sqlite` of a directory, which all processes of a server have open. It holds nothing that
 * cannot be found out again: a damaged file is moved aside, and when none can be written a database in memory
 * replaces it, each with a warning.
 */
export function openSharedState(directory: string, log: Log): SharedState {
  const path = join(directory, "state.sqlite");
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return { database: openWhole(path, log), isShared: true };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    log.warning("state is kept in memory only", { path, error: message });
    return { database: openShared(":memory:"), isShared: false };
  }
}

const openShared = (path: string): Database =>
  openDatabase({ path, name: "the server's state", access: { kind: "shared" } });

function openWhole(path: string, log: Log): Database {
  try {
    return openChecked(path);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "unreadable_input") throw error;
    log.warning("damaged state is put aside", { path, as: `${path}.damaged`, error: error.message });
    renameSync(path, `${path}.damaged`);
    for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
    return openChecked(path);
  }
}

function openChecked(path: string): Database {
  const database = openShared(path);
  try {
    const [row] = database.prepare<{ quick_check: string }>("PRAGMA quick_check(1)").all();
    if (row?.quick_check === "ok") return database;
    throw new Failure("unreadable_input", `${path} is damaged`);
  } catch (error) {
    // A file that merely cannot be read now is closed too; only a damaged one is moved aside.
    database.close();
    throw error;
  }
}
