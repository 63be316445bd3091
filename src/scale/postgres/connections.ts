import type { Client, ClientBase, ClientConfig, Pool, PoolClient } from "pg";
import { onAbort } from "../../base/abort.ts";
import type { Target } from "../../base/database-url.ts";
import { Failure } from "../../base/failure.ts";
import { DatabaseSilence, judged } from "./faults.ts";

export type { Client, QueryResult } from "pg";

/** A limit of time for one step, after which its connection is given up. */
export type Limit = { readonly ms: number; readonly signal: AbortSignal | undefined };

type ConnectionsOptions = {
  readonly target: Target;
  /** The schema in which unqualified names are looked for, and nowhere else. */
  readonly schema: string;
  /** Connections that are open at most, beside those of `open`. */
  readonly size: number;
};

/** How long a connection may take to come about, TLS and login included, in ms. */
const CONNECT_MS = 10_000;
/** After this time without use a connection is closed, in ms. */
const IDLE_MS = 60_000;
/**
 * After this time in ms the server itself ends what a process that froze or vanished has left: a transaction
 * holds locks that all others wait for. A statement ends a little after the longest limit on our side.
 */
const SERVER_LIMITS = { statement: 40_000, idleTransaction: 15_000 };
/** How long the last goodbyes may take, in ms. */
const GOODBYE_MS = 1_000;
/** The types whose values JavaScript's numbers hold as far as they are used here: int8 and numeric. */
const NUMBER_TYPES = new Set([20, 1700]);

type Driver = Pick<typeof import("pg"), "Client" | "Pool" | "types">;

/**
 * The connections of one process to one database, of which the first is opened when it is needed. Every step on them has
 * a limit of ours, since the driver has none.
 */
export class Connections implements AsyncDisposable {
  readonly #target: Target;
  readonly #pool: Pool;
  readonly #Client: new () => Client;
  readonly #setUp: (client: ClientBase) => Promise<void>;
  readonly #connected = new Set<Client>();
  #tls: Target["tls"];

  static async prepare(options: ConnectionsOptions): Promise<Connections> {
    // Loaded only where there is a database.
    const { default: pg } = await import("pg");
    return new Connections(pg, options);
  }

  private constructor(pg: Driver, { target, schema, size }: ConnectionsOptions) {
    this.#target = target;
    this.#tls = target.tls;
    const config = (): ClientConfig => ({ ...configOf(pg, target), ssl: this.#tls ?? false });
    const connected = this.#connected;
    this.#Client = class extends pg.Client {
      constructor() {
        super(config());
        // A broken connection rejects its running statement; an idle connection has nobody to notify.
        this.on("error", () => {});
        this.once("connect", () => connected.add(this));
        this.once("end", () => connected.delete(this));
      }
    };
    this.#setUp = (client) => setUp(client, schema);
    this.#pool = new pg.Pool({
      Client: this.#Client,
      max: size,
      idleTimeoutMillis: IDLE_MS,
      onConnect: this.#setUp,
    });
    this.#pool.on("error", () => {});
  }

  /** Lends a connection of the pool, which `release(true)` closes. */
  async borrow(limit: Limit): Promise<PoolClient & Client> {
    const pool = this.#pool;
    // An idle one is there at once.
    if (pool.idleCount > pool.waitingCount && limit.ms > 0) return await pool.connect();
    const lending = this.#orWithoutTls(() => pool.connect());
    try {
      return await limited(lending, "waiting for a connection", limit);
    } catch (error) {
      // One that comes too late is of use to the next.
      lending.then((late) => late.release()).catch(() => {});
      throw error;
    }
  }

  /** Opens a connection beside the pool; whoever opens it ends it with `closeNow`. */
  async open(): Promise<Client> {
    const client = await this.#orWithoutTls(async () => {
      const fresh = new this.#Client();
      await fresh.connect();
      return fresh;
    });
    await this.#setUp(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.race([this.#pool.end(), Bun.sleep(GOODBYE_MS)]);
    for (const client of this.#connected) closeNow(client);
  }

  /** A server without TLS is asked once for it, where TLS is optional. */
  async #orWithoutTls<T>(connect: () => Promise<T>): Promise<T> {
    try {
      return await connect();
    } catch (error) {
      const isRefused = error instanceof Error && /does not support SSL/.test(error.message);
      if (!isRefused || !this.#target.isTlsOptional || this.#tls === null) throw error;
      this.#tls = null;
      return await connect();
    }
  }
}

const configOf = (pg: Driver, target: Target): ClientConfig => ({
  host: target.host,
  port: target.port,
  user: target.user,
  // As a function, since an empty text would make the driver look for a password in the user's home.
  password: () => target.password,
  database: target.database,
  application_name: "article-extractor",
  client_encoding: "UTF8",
  connectionTimeoutMillis: CONNECT_MS,
  keepAlive: true,
  types: {
    getTypeParser: (id, format) =>
      NUMBER_TYPES.has(id) ? Number : pg.types.getTypeParser(id, format as "text"),
  },
});

async function setUp(client: ClientBase, schema: string): Promise<void> {
  const parameters = Object.entries({
    search_path: `"${schema}"`,
    statement_timeout: String(SERVER_LIMITS.statement),
    idle_in_transaction_session_timeout: String(SERVER_LIMITS.idleTransaction),
    default_transaction_isolation: "read committed",
    // Short statements are compiled for longer than they run.
    jit: "off",
  });
  const calls = parameters.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, false)`);
  const setting = client.query(`SELECT ${calls.join(", ")}`, parameters.flat());
  try {
    await limited(setting, "a new connection", { ms: CONNECT_MS, signal: undefined });
  } catch (error) {
    closeNow(client as Client); // of the pool or of `open`, both of which make whole clients
    throw error;
  }
}

/** Ends a connection without waiting for its server, which may never answer. */
export function closeNow(client: Client): void {
  client.end().catch(() => {});
  // The driver has it, its types do not.
  (client as Client & { unref(): void }).unref();
}

/**
 * The result of a step, or a rejection when its time is over or its signal aborts; the step is left behind then.
 * @throws DatabaseSilence when the time is over; Failure `cancelled`; else what the step throws, `judged`
 */
export function limited<T>(step: Promise<T>, what: string, { ms, signal }: Limit): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DatabaseSilence(what, ms)), ms);
    const listening =
      signal && onAbort(signal, () => reject(new Failure("cancelled", `${what} was cancelled`)));
    const end = (): void => {
      clearTimeout(timer);
      listening?.[Symbol.dispose]();
    };
    step.then(resolve, (error) => reject(judged(error))).finally(end);
  });
}
