import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Database, makePrivateDirectory, openDatabase as openFile } from "../../base/database/index.ts";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import type { Frontier } from "./frontier.ts";
import { SqliteFrontier } from "./sqlite.ts";
import { type OpenFrontierOptions, takeUp } from "./take-up.ts";

const FILE_NAME = "frontier.sqlite";

/**
 * Opens the frontier of a directory: of a new crawl, of the one that was cut off there or whose limits are other ones
 * now, or, where one is finished, of the next one, which knows what that stored.
 * @throws Failure `invalid_usage` where another process crawls; `crawl_conflict` where pages of another scope are
 *   remembered; `unreadable_input`, `unwritable_output`
 */
export function openSqliteFrontier(options: OpenFrontierOptions): Frontier {
  const { directory, isFresh } = options;
  makeDirectory(directory);
  const path = join(directory, FILE_NAME);
  if (isFresh) removeDatabase(path);
  const db = openDatabase(path);
  try {
    const record = db.transaction(() => takeUp(db, options));
    return new SqliteFrontier(db, record);
  } catch (error) {
    db.close();
    throw error;
  }
}

function makeDirectory(directory: string): void {
  try {
    makePrivateDirectory(directory);
  } catch (error) {
    const why = systemReason(error);
    throw new Failure("unwritable_output", `could not make the directory ${directory}: ${why}`, {
      cause: error,
    });
  }
}

// Opened first, so that the memory of a crawl that is running is not taken from under it.
function removeDatabase(path: string): void {
  try {
    openDatabase(path).close();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "unreadable_input") throw error;
  }
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
}

/**
 * Opens the file, or makes it, and locks it for as long as it is open.
 * @throws Failure `invalid_usage` where another process (or crawl of this one) has it open,
 *   `unreadable_input` where it is no database, `unwritable_output`
 */
const openDatabase = (path: string): Database =>
  openFile({
    path,
    name: "a crawl's memory",
    access: { kind: "exclusive", refusal: "another crawl is running there" },
  });
