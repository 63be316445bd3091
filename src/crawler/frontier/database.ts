import { type Database, openDatabase as openFile } from "../../base/database/index.ts";

/** One SQLite file that this process alone has open. */
export type FrontierDatabase = Database;

/**
 * Opens the file, or makes it, and locks it for as long as it is open.
 * @throws Failure `invalid_usage` where another process (or crawl of this one) has it open,
 *   `unreadable_input` where it is no database, `unwritable_output`
 */
export const openDatabase = (path: string): FrontierDatabase =>
  openFile({
    path,
    name: "a crawl's memory",
    access: { kind: "exclusive", refusal: "another crawl is running there" },
  });
