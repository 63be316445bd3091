import { pause } from "../../base/abort.ts";
import { checkSchema, readTarget } from "../../base/database-url.ts";
import { Away, Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import { type Client, Connections, type Limit, limited, type QueryResult } from "./connections.ts";
import { DatabaseFault, DatabaseSilence, judged } from "./faults.ts";
import { createListener } from "./listener.ts";

type Scalar = string | number | bigint | boolean | null | Uint8Array;
/** A value of a statement's `$1`; a list is an array in SQL (`$1::text[]`), and JSON is given as text. */
export type Parameter = Scalar | readonly Scalar[];

/** Runs statements: the database itself, or one transaction in it. */
export interface Queries {
  /**
   * Runs one statement and returns its rows, with int8 and numeric as numbers (but as texts in lists). The text is constant: what
   * differs from call to call is a parameter, since the server keeps a plan of each text.
   * @throws Failure `cancelled`; Away `database_unavailable`; an error of the server with its SQLSTATE in `code`,
   * such as 23505, which is an answer to the statement
   */
  query<Row = Record<string, unknown>>(sql: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** Runs one statement and returns how many rows it inserted, updated or deleted. Throws as `query`. */
  run(sql: string, parameters?: readonly Parameter[]): Promise<number>;
  /** Runs several statements without parameters, all or none. Throws as `query`. */
  script(sql: string): Promise<void>;
}

/** How long calls wait for a database that cannot be reached. */
type Patience = {
  /** The longest wait in all, in ms; 0: one try; without it there is no end. */
  readonly waitMs?: number;
  /**
   * Whether a program begins: what only a person can mend, such as a wrong password, is not waited for, and the
   * Failure at the end is `invalid_settings`.
   */
  readonly isStart?: boolean;
  /** The longest time of one statement, in ms, by default 30 000; then it is sent again on another connection. */
  readonly statementMs?: number;
  /** Ends what is under way and what waits with the Failure `cancelled`. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * One PostgreSQL database, shared by all processes, with one schema of ours. Calls wait while it cannot be reached, with
 * one warning in the log and one line when it is back.
 *
 * **A lost connection leaves unknown whether a statement took effect, and it is sent again.** So every write has
 * to come out the same when it runs twice.
 */
export interface Postgres extends Queries, AsyncDisposable {
  /** Host, port and database for messages, without credentials. */
  readonly place: string;
  readonly schema: string;
  /** The same database and connections for callers with this patience; what it does not name stays. */
  patient(patience: Patience): Postgres;
  /**
   * Runs the work in one transaction, and repeats it from the start after a deadlock, a failed serialisation or a lost
   * connection; so the work may only run statements. Any error it throws rolls the transaction back.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  /**
   * Wakes whoever waits for messages of a channel. Messages only wake: they may be lost, so whoever listens
   * also looks every few seconds.
   * @param wake called with each message, and with null when listening begins or begins again, since messages
   * may have been missed until then
   */
  listen(channel: string, wake: (message: string | null) => void): Disposable;
  /** Sends a message of less than 8000 bytes to all that listen, in all processes. */
  notify(channel: string, message: string): Promise<void>;
  /** Detects a pooler between us and the database; in transaction mode it mixes our sessions with others. */
  pooler(): Promise<"none" | "session" | "transaction">;
  /** The channel's name in SQL, for `pg_notify($1, …)` in a statement that has to tell of itself. */
  channel(name: string): string;
}

type PostgresOptions = {
  /** See `parseDatabaseUrl`. */
  readonly url: string;
  readonly schema: string;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Connections that are open at most, beside one that listens. */
  readonly connections?: number;
};

const DEFAULT_CONNECTIONS = 6;
const STATEMENT_MS = 30_000;
/** The pauses between tries grow from the first to the last, in ms; each is shortened at random by up to half. */
const PAUSE_MS = { first: 50, last: 2_000 };
/** Texts of statements that a connection keeps prepared at most. */
const MAX_PREPARED = 500;

/** Prepares a database; the first statement reaches it. @throws Failure `invalid_settings` for a wrong URL or schema */
export async function openPostgres(options: PostgresOptions): Promise<Postgres> {
  const { url, schema, log, metrics } = options;
  checkSchema(schema);
  const target = readTarget(url);
  const size = options.connections ?? DEFAULT_CONNECTIONS;
  const connections = await Connections.prepare({ target, schema, size });
  const shared: Shared = {
    place: target.place,
    schema,
    log,
    metrics,
    connections,
    listener: createListener(connections),
    names: new Map(),
    awaySince: null,
    isClosed: false,
  };
  return handle(shared, {});
}

/** The parts that all handles of one database share. */
type Shared = Pick<Postgres, "place" | "schema"> &
  Pick<PostgresOptions, "log" | "metrics"> & {
    readonly connections: Connections;
    readonly listener: ReturnType<typeof createListener>;
    /** The names of prepared statements by their texts. */
    readonly names: Map<string, string>;
    /** Since when nothing has come through, as `performance.now()`; null while all is well. */
    awaySince: number | null;
    isClosed: boolean;
  };

function handle(shared: Shared, patience: Patience): Postgres {
  const { place, schema, connections, listener } = shared;
  const send = (sql: string, parameters: readonly Parameter[] = []): Promise<QueryResult> =>
    persist(shared, patience, (limit) => {
      const work = (client: Client) => execute(shared.names, { client, limit, sql, parameters });
      return lend(connections, limit, work, isAnswer);
    });
  const channel = (name: string): string => `${schema}.${name}`;
  return {
    place,
    schema,
    channel,
    query: async <Row>(sql: string, parameters?: readonly Parameter[]) =>
      (await send(sql, parameters)).rows as Row[], // the caller knows what the statement yields
    run: async (sql, parameters) => (await send(sql, parameters)).rowCount ?? 0,
    script: (sql) =>
      persist(shared, patience, (limit) => lend(connections, limit, script(sql, limit), isAnswer)),
    transaction: (work) => persist(shared, patience, (limit) => inTransaction(shared, limit, work)),
    patient: (other) => handle(shared, { ...patience, ...other }),
    listen: (name, wake) => listener.listen(channel(name), wake),
    pooler: () => persist(shared, patience, (limit) => findPooler(connections, limit)),
    notify: async (name, message) => void (await send("SELECT pg_notify($1, $2)", [channel(name), message])),
    async [Symbol.asyncDispose]() {
      if (shared.isClosed) return;
      shared.isClosed = true;
      listener[Symbol.dispose]();
      await connections[Symbol.asyncDispose]();
    },
  };
}

/** Tries until the work is done or the patience is at its end. */
async function persist<T>(
  shared: Shared,
  patience: Patience,
  attempt: (limit: Limit) => Promise<T>,
): Promise<T> {
  const { waitMs = Number.POSITIVE_INFINITY, isStart = false, statementMs = STATEMENT_MS, signal } = patience;
  const calledAt = performance.now();
  const giveUpAt = calledAt + waitMs;
  let told: DatabaseFault | null = null;
  for (let failures = 0; ; failures++) {
    const startedAt = performance.now();
    if (shared.isClosed || signal?.aborted)
      throw new Failure("cancelled", "a call of the database was cancelled");
    const leftMs = waitMs === 0 ? statementMs : giveUpAt - startedAt;
    try {
      const result = await attempt({ ms: Math.min(statementMs, leftMs), signal });
      shared.metrics.time("database_query_duration", {}, performance.now() - startedAt);
      if (failures > 0) shared.metrics.time("database_wait_duration", {}, startedAt - calledAt);
      tellOfReturn(shared);
      return result;
    } catch (error) {
      if (!(error instanceof DatabaseFault)) throw error;
      shared.metrics.count("database_retries", { reason: error.kind });
      const pauseMs = pauseAfter(failures, error, isStart);
      // The fault before our own time limit says more than the time limit does.
      if (!(error instanceof DatabaseSilence && leftMs < statementMs)) told = error;
      if (performance.now() + pauseMs >= giveUpAt) throw givenUp(shared.place, told ?? error, isStart);
      // After a restart each connection of the pool fails once, and the next try opens a new one.
      if (failures > 0 || error instanceof DatabaseSilence) tellOfAbsence(shared, error);
      await pause(pauseMs, signal);
    }
  }
}

function givenUp(place: string, fault: DatabaseFault, isStart: boolean): Failure {
  const message = `the database ${place} cannot be used: ${fault.message}`;
  return isStart
    ? new Failure("invalid_settings", message, { cause: fault })
    : new Away("database_unavailable", message, { cause: fault });
}

function pauseAfter(failures: number, { kind }: DatabaseFault, isStart: boolean): number {
  const { first, last } = PAUSE_MS;
  if (isStart && kind === "settings") return Number.POSITIVE_INFINITY; // until a person has mended them
  // A conflicting transaction ends soon, and a first failure may only concern one connection.
  const longest = kind === "away" || kind === "settings" ? (failures === 0 ? 0 : last) : first;
  return Math.min(longest, first * 2 ** Math.min(failures, 20)) * (1 - Math.random() / 2);
}

function tellOfAbsence(shared: Shared, { kind, message }: DatabaseFault): void {
  if (shared.awaySince !== null || kind === "conflict" || kind === "stale") return;
  shared.awaySince = performance.now();
  shared.log.warning("the database cannot be reached; work waits for it", {
    database: shared.place,
    error: message,
  });
}

function tellOfReturn(shared: Shared): void {
  if (shared.awaySince === null) return;
  const seconds = Math.round((performance.now() - shared.awaySince) / 100) / 10;
  shared.awaySince = null;
  // As loud as the line before, or who reads warnings alone would wait for ever.
  shared.log.warning("the database is back", { database: shared.place, seconds });
}

/** Lends a connection to the work. After a failure the connection is reused only if `isSound` says so. */
async function lend<T>(
  connections: Connections,
  limit: Limit,
  work: (client: Client) => Promise<T>,
  isSound: (error: unknown, client: Client) => boolean | Promise<boolean>,
): Promise<T> {
  const client = await connections.borrow(limit).catch((error) => Promise.reject(judged(error)));
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(!(await isSound(error, client)));
    throw error;
  }
}

/** Whether the server has answered and the connection is as good as before. */
const isAnswer = (error: unknown): boolean =>
  error instanceof DatabaseFault
    ? error.kind === "conflict"
    : !(error instanceof Failure && error.code === "cancelled");

type Execution = {
  readonly client: Client;
  readonly limit: Limit;
  readonly sql: string;
  readonly parameters: readonly Parameter[];
};

function execute(
  names: Shared["names"],
  { client, limit, sql, parameters }: Execution,
): Promise<QueryResult> {
  if (!names.has(sql) && names.size < MAX_PREPARED) names.set(sql, `s${names.size}`);
  const name = names.get(sql);
  const statement = { ...(name === undefined ? {} : { name }), text: sql, values: [...parameters] };
  return limited(client.query(statement), "a statement", limit);
}

const script =
  (sql: string, limit: Limit) =>
  async (client: Client): Promise<void> =>
    void (await limited(client.query(sql), "a script", limit));

function inTransaction<T>(
  { connections, names }: Shared,
  limit: Limit,
  work: (queries: Queries) => Promise<T>,
): Promise<T> {
  const once = (client: Client, sql: string): Promise<QueryResult> =>
    limited(client.query(sql), sql.toLowerCase(), limit);
  const run = async (client: Client): Promise<T> => {
    const send = (sql: string, parameters: readonly Parameter[] = []): Promise<QueryResult> =>
      execute(names, { client, limit, sql, parameters });
    await once(client, "BEGIN");
    const result = await work({
      query: async <Row>(sql: string, parameters?: readonly Parameter[]) =>
        (await send(sql, parameters)).rows as Row[], // as above
      run: async (sql, parameters) => (await send(sql, parameters)).rowCount ?? 0,
      script: (sql) => script(sql, limit)(client),
    });
    const { command } = await once(client, "COMMIT");
    // The server says nothing else when an error within was caught and the rest went on.
    if (command !== "COMMIT") throw new Error("a transaction with a failed statement was to be committed");
    return result;
  };
  return lend(connections, limit, run, async (error, client) => {
    if (!isAnswer(error)) return false;
    return await once(client, "ROLLBACK").then(
      () => true,
      () => false,
    );
  });
}

/** Tries of two connections to be seen on one session of the server. */
const POOLER_TRIES = 3;

async function findPooler(
  connections: Connections,
  limit: Limit,
): Promise<"none" | "session" | "transaction"> {
  const session = async (client: Client): Promise<number> =>
    (await limited(client.query("SELECT pg_backend_pid() AS pid"), "a statement", limit)).rows[0].pid;
  const look = async (first: Client) => {
    // A pooler makes up the numbers by which its clients cancel; the server's is that of the session.
    const { processID } = first as Client & { readonly processID: number };
    if ((await session(first)) === processID) return "none";
    for (let tries = 0; tries < POOLER_TRIES; tries++) {
      const own = await session(first);
      // In transaction mode the session that the first connection has just used is free for the second.
      const other = await lend(connections, limit, session, isAnswer);
      if (other === own) return "transaction";
    }
    return "session";
  };
  return await lend(connections, limit, look, isAnswer);
}
