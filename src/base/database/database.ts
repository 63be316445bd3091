import { type SQLQueryBindings, Database as Sqlite } from "bun:sqlite";
import { chmodSync, closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Damage, putAside } from "../damaged.ts";
import { Failure } from "../failure.ts";
import type { Log } from "../log.ts";
import { systemCode, systemFailure, systemReason } from "../system-error.ts";

/** A prepared statement with positional parameters. Each call throws what `openDatabase` throws. */
export type Query<Row, Parameters extends SQLQueryBindings[]> = {
  get(...parameters: Parameters): Row | null;
  all(...parameters: Parameters): Row[];
  run(...parameters: Parameters): { readonly changes: number };
};

/** One open SQLite file. */
export interface Database {
  /** The file's path; `:memory:` for a database without a file. */
  readonly path: string;
  prepare<Row, Parameters extends SQLQueryBindings[] = []>(sql: string): Query<Row, Parameters>;
  run(sql: string): void;
  /** Runs the work in a transaction. @throws Failure when the disk refuses the write */
  transaction<T>(work: () => T): T;
  /** Merges the write-ahead log into the file and closes it. */
  close(): void;
}

type DatabaseOptions = {
  /** The file is created, for its user alone, if it does not exist; its directory must exist. */
  readonly path: string;
  /** The name in messages: "the crawl's memory". */
  readonly name: string;
  /**
   * Exclusive: while the file is open it belongs to this process alone, and the message tells others who has
   * it. Shared: other processes may have it open, and waits for their writes are short.
   */
  readonly access: { readonly kind: "exclusive"; readonly refusal: string } | { readonly kind: "shared" };
  /**
   * The version of the file's tables, and the SQL that creates them in a new file. A file of an earlier version, or of
   * another program, counts as damaged; one of a later version is refused, and stays.
   */
  readonly format?: { readonly version: number; readonly tables: string } | undefined;
  /** If given, it is called for a damaged file, which is put aside and replaced by an empty file. */
  readonly onDamaged?: ((damage: Damage) => void) | undefined;
};

/** How much of a file is kept in memory; a large file's rest is left to the system's page cache. */
const CACHE_KIB = { exclusive: 16 * 1024, shared: 1024 };
/**
 * The length at which the write-ahead log is merged into the file; a transaction of a crawled page writes about 20 KB.
 */
const CHECKPOINT_PAGES = { exclusive: 4000, shared: 500 };
/** How long a write waits for other processes' writes, in ms; each of them takes less than one. */
const SHARED_BUSY_MS = 5_000;

/**
 * Opens or creates the file. The lock of an exclusive one belongs to the system, so it ends with the process,
 * however the process ends.
 * @throws Failure `invalid_usage` when another process has it open exclusively, keeps it locked for more than 5 s, or
 * uses a file of an earlier version; `invalid_settings` when it is of a later version; `unreadable_input` when it is
 * damaged; `unwritable_output`
 */
export function openDatabase(options: DatabaseOptions): Database {
  if (!options.onDamaged) return openChecked(options);
  try {
    return openChecked(options);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "unreadable_input") throw error;
    const damage = putAside(options.path, error.message);
    for (const suffix of ["-wal", "-shm"]) rmSync(options.path + suffix, { force: true });
    options.onDamaged(damage);
    return openChecked(options);
  }
}

/**
 * Opens a file. If a damaged one may be put aside, all of it is read, since damage in its middle would be met by a
 * request.
 */
function openChecked(options: DatabaseOptions): Database {
  const database = openFile(options);
  try {
    if (options.format) takeUp(database, options.format, options);
    if (!options.onDamaged) return database;
    const [row] = database.prepare<{ quick_check: string }>("PRAGMA quick_check(1)").all();
    if (row?.quick_check === "ok") return database;
    throw new Failure("unreadable_input", `${options.path} is damaged`);
  } catch (error) {
    // A file that merely cannot be read now is closed too; only a damaged one is moved aside.
    database.close();
    throw error;
  }
}

/** Creates the tables of a new file, and checks the version of another. */
function takeUp(
  database: Database,
  { version, tables }: NonNullable<DatabaseOptions["format"]>,
  { path, name }: DatabaseOptions,
): void {
  const found = database.transaction(() => {
    const before = database.prepare<{ user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0;
    if (before !== 0 || database.prepare("SELECT 1 FROM sqlite_schema").get() !== null) return before;
    database.run(`${tables}; PRAGMA user_version = ${version}`);
    return version;
  });
  if (found === version) return;
  const formats = `it has format ${found}, this version reads ${version}`;
  if (found > version)
    throw new Failure(
      "invalid_settings",
      `${path} holds ${name} of a newer version of this program: ${formats}`,
    );
  // This writes the log into the file, and fails while another process has the file open, which keeps it usable there.
  database.run("PRAGMA journal_mode = DELETE");
  throw new Failure("unreadable_input", formats);
}

function openFile(options: DatabaseOptions): Database {
  const translated = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw asFailure(options, error);
    }
  };
  if (options.path !== ":memory:") ensurePrivate(options);
  const db = translated(() => new Sqlite(options.path, { create: true }));
  try {
    translated(() => prepareFile(db, options.access.kind));
  } catch (error) {
    db.close();
    throw error;
  }
  // An open statement would keep the file locked after the database is closed.
  const statements: { finalize(): void }[] = [];
  return {
    path: options.path,
    prepare<Row, Bindings extends SQLQueryBindings[]>(sql: string): Query<Row, Bindings> {
      const prepared = translated(() => db.prepare(sql));
      statements.push(prepared);
      // The runtime's type describes the same calls, but generic parameters do not fit it.
      const statement = prepared as unknown as Query<Row, Bindings>;
      return {
        get: (...parameters) => translated(() => statement.get(...parameters)),
        all: (...parameters) => translated(() => statement.all(...parameters)),
        run: (...parameters) => translated(() => statement.run(...parameters)),
      };
    },
    run: (sql) => translated(() => void db.run(sql)),
    transaction: (work) => translated(() => inTransaction(db, work)),
    close() {
      for (const statement of statements) statement.finalize();
      try {
        db.run("PRAGMA wal_checkpoint(TRUNCATE)");
      } catch {
        // On a full disk the log stays, and whoever opens the file next continues from it.
      }
      db.close();
    },
  };
}

/**
 * Creates the file for its user alone before SQLite opens it, and closes an older one and its companions to others.
 * SQLite gives new companions the mode of the file.
 */
function ensurePrivate({ path, name }: DatabaseOptions): void {
  // An existing file must not be opened here: closing it would lift the locks that this process has on it.
  try {
    closeSync(openSync(path, "wx", PRIVATE_FILE_MODE));
  } catch (cause) {
    const message = `could not write ${name} ${path}: ${systemReason(cause)}`;
    if (systemCode(cause) !== "EEXIST") throw new Failure("unwritable_output", message, { cause });
  }
  for (const suffix of ["", "-wal", "-shm", "-journal"]) tighten(path + suffix, PRIVATE_FILE_MODE);
}

function prepareFile(db: Sqlite, access: "exclusive" | "shared"): void {
  // Set before the first access, this makes SQLite lock the file once and need no shared memory.
  if (access === "exclusive") db.run("PRAGMA locking_mode = EXCLUSIVE");
  db.run(`PRAGMA busy_timeout = ${access === "exclusive" ? 0 : SHARED_BUSY_MS}`);
  db.run("PRAGMA journal_mode = WAL");
  // A crash of the program loses nothing; a crash of the machine may lose the last transactions.
  db.run("PRAGMA synchronous = NORMAL");
  db.run(`PRAGMA cache_size = -${CACHE_KIB[access]}`);
  db.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES[access]}`);
  db.run("PRAGMA temp_store = FILE");
  db.run("BEGIN IMMEDIATE");
  db.run("COMMIT");
}

function inTransaction<T>(db: Sqlite, work: () => T): T {
  db.run("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.run("COMMIT");
    return result;
  } catch (error) {
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (db.inTransaction) db.run("ROLLBACK");
    throw error;
  }
}

function asFailure({ path, name, access }: DatabaseOptions, error: unknown): unknown {
  const code = systemCode(error) ?? "";
  if (!code.startsWith("SQLITE_")) return error;
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    const refusal = access.kind === "exclusive" ? access.refusal : "another process is writing for too long";
    return new Failure("invalid_usage", `${refusal}: it has ${path} open`, { cause: error });
  }
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT"))
    return new Failure("unreadable_input", `${path} is damaged, or is not ${name} (${code})`, {
      cause: error,
    });
  if (/^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|PERM|NOMEM)/.test(code)) {
    const why = code === "SQLITE_FULL" ? "the disk is full" : code;
    return new Failure("unwritable_output", `could not write ${name} ${path}: ${why}`, { cause: error });
  }
  return error;
}

/**
 * Opens `state.sqlite` of a directory, which all processes of a server have open. All of its content can be found out
 * again: a file that is damaged or of an earlier version is moved aside, and if no file can be written, a database in
 * memory replaces it, each with a warning.
 * @returns with whether other processes really see it
 * @throws Failure `invalid_settings` for a file of a newer version, which stays as it is
 */
export function openSharedState(
  directory: string,
  log: Log,
): { readonly database: Database; readonly isShared: boolean } {
  const path = join(directory, "state.sqlite");
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return { database: openState(path, log), isShared: true };
  } catch (error) {
    if (error instanceof Failure && error.code === "invalid_settings") throw error;
    const message = error instanceof Error ? error.message : String(error);
    log.warning("state is kept in memory only", { path, error: message });
    return { database: openState(":memory:", log), isShared: false };
  }
}

/** Raised when a table changes in another way than by a further column; each part of the program adds its own tables. */
const STATE_FORMAT = { version: 1, tables: "" };

const openState = (path: string, log: Log): Database =>
  openDatabase({
    path,
    name: "the server's state",
    access: { kind: "shared" },
    format: STATE_FORMAT,
    onDamaged: (damage) => log.warning("damaged state is put aside", damage),
  });

/** The mode of files that hold state: only the program's user may read them, whatever the directory allows. */
export const PRIVATE_FILE_MODE = 0o600;
const PRIVATE_DIRECTORY_MODE = 0o700;

/**
 * Creates one of our directories for its user alone, and closes one that an earlier version left open to
 * others. Directories above it are made with the system's default mode, since they may hold files for others.
 * @throws Failure `unwritable_output`
 */
export function makePrivateDirectory(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  } catch (error) {
    throw systemFailure(error, "unwritable_output", `could not make the directory ${path}`);
  }
  tighten(path, PRIVATE_DIRECTORY_MODE);
}

function tighten(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch {
    // The file does not exist, or belongs to somebody who has given us access to it.
  }
}
