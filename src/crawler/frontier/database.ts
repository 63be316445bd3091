import { Database, type SQLQueryBindings } from "bun:sqlite";
import { Failure } from "../../failure.ts";

/** A prepared statement with positional parameters. */
export type Query<Row, Parameters extends SQLQueryBindings[]> = {
  get(...parameters: Parameters): Row | null;
  all(...parameters: Parameters): Row[];
  run(...parameters: Parameters): { readonly changes: number };
};

/** One SQLite file that this process alone has open. */
export interface FrontierDatabase {
  prepare<Row, Parameters extends SQLQueryBindings[] = []>(sql: string): Query<Row, Parameters>;
  run(sql: string): void;
  /** All or nothing. @throws Failure for what the disk refuses */
  transaction<T>(work: () => T): T;
  /** Moves the log into the file and closes it. */
  close(): void;
}

/** Kept in memory of the file; the rest of a large crawl is the system's page cache's. */
const CACHE_KIB = 16 * 1024;
/** The log is moved into the file when it is as long; a transaction of a page writes about 20 KB. */
const CHECKPOINT_PAGES = 4000;

/**
 * Opens the file, or makes it, and locks it for as long as it is open. The lock is the system's, so it ends
 * with the process, however that ends.
 * @throws Failure `invalid_usage` where another process (or crawl of this one) has it open,
 *   `unreadable_input` where it is no database, `unwritable_output`
 */
export function openDatabase(path: string): FrontierDatabase {
  const db = translated(path, () => new Database(path, { create: true }));
  try {
    translated(path, () => {
      // Before the first access: with it SQLite locks the file once and needs no shared memory.
      db.run("PRAGMA locking_mode = EXCLUSIVE");
      db.run("PRAGMA busy_timeout = 0");
      db.run("PRAGMA journal_mode = WAL");
      // A crash of the program loses nothing; one of the machine at most what it did last.
      db.run("PRAGMA synchronous = NORMAL");
      db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
      db.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      db.run("PRAGMA temp_store = FILE");
      db.run("BEGIN IMMEDIATE");
      db.run("COMMIT");
    });
  } catch (error) {
    db.close();
    throw error;
  }
  // Left open, a statement would keep the file locked after the database is closed.
  const statements: { finalize(): void }[] = [];
  return {
    prepare<Row, Parameters extends SQLQueryBindings[]>(sql: string) {
      const statement = translated(path, () => db.prepare(sql));
      statements.push(statement);
      // The runtime's type describes the same calls in a form that generic parameters do not fit.
      return statement as unknown as Query<Row, Parameters>;
    },
    run: (sql) => translated(path, () => void db.run(sql)),
    transaction: (work) => translated(path, () => inTransaction(db, work)),
    close() {
      for (const statement of statements) statement.finalize();
      try {
        db.run("PRAGMA wal_checkpoint(TRUNCATE)");
      } catch {
        // On a full disk the log stays, and the next crawl goes on from it.
      }
      db.close();
    },
  };
}

function inTransaction<T>(db: Database, work: () => T): T {
  db.run("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.run("COMMIT");
    return result;
  } catch (error) {
    // After some errors, a full disk among them, SQLite has rolled back by itself.
    if (db.inTransaction) db.run("ROLLBACK");
    throw error;
  }
}

function translated<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asFailure(path, error);
  }
}

function asFailure(path: string, error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!code.startsWith("SQLITE_")) return error;
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED"))
    return new Failure("invalid_usage", `another crawl is running there: it has ${path} open`, {
      cause: error,
    });
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT"))
    return new Failure("unreadable_input", `${path} is damaged, or is not a crawl's memory (${code})`, {
      cause: error,
    });
  if (/^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|PERM|NOMEM)/.test(code)) {
    const why = code === "SQLITE_FULL" ? "the disk is full" : code;
    return new Failure("unwritable_output", `could not write the crawl's memory ${path}: ${why}`, {
      cause: error,
    });
  }
  return error;
}
