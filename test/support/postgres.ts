import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import type { Log } from "../../src/base/log.ts";
import { type Metrics, noMetrics } from "../../src/base/metrics.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import { openPostgres, type Postgres } from "../../src/scale/postgres/postgres.ts";
import { migrate } from "../../src/scale/postgres/schema.ts";
import { reservePort } from "../../src/server/listen.ts";
import { type RunningProcess, runningProcesses } from "./processes.ts";
import { untilTrue } from "./until.ts";

// Debian keeps PostgreSQL's programs out of the path; see scripts/ensure.sh.
const DEBIAN = [...new Glob("/usr/lib/postgresql/*/bin").scanSync({ onlyFiles: false })].join(":");
const PATH = `${process.env.PATH}:${DEBIAN}:/usr/sbin`;
// PostgreSQL refuses to run as root.
const IS_ROOT = process.getuid?.() === 0;
const AS_OWNER = IS_ROOT ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : [];
const DATABASE = "test";
/** No crash of the machine is tested, and many files of tests share one server. */
const SETTINGS = ["fsync=off", "full_page_writes=off", "max_connections=300", "listen_addresses='127.0.0.1'"];

/** A schema of its own on the server that all tests of a run share; disposing of it drops it. */
export type TestDatabase = Awaited<ReturnType<typeof testDatabase>>;

type OpenParts = { readonly log?: Log; readonly metrics?: Metrics; readonly connections?: number };

/**
 * Makes a schema with all tables.
 * @param server a server of the test's own; without it the shared one
 */
export async function testDatabase(server?: Pick<PostgresServer, "url">, { isEmpty = false } = {}) {
  shared ??= server === undefined ? shareServer() : null;
  const url = server?.url ?? (await shared) ?? "";
  const schema = `test_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  const opened: Postgres[] = [];
  const open = async (parts: OpenParts = {}): Promise<Postgres> => {
    const postgres = await openPostgres({ url, schema, log: silentLog, metrics: noMetrics, ...parts });
    opened.push(postgres);
    return postgres;
  };
  if (!isEmpty) await migrate(await open());
  return {
    /** For `ARTICLE_EXTRACTOR_DATABASE_URL`. */
    url,
    /** For `ARTICLE_EXTRACTOR_DATABASE_SCHEMA`. */
    schema,
    /** Opens it once more, as another process would; it is closed with the schema. */
    open,
    async [Symbol.asyncDispose]() {
      const dropping = await openPostgres({ url, schema, log: silentLog, metrics: noMetrics });
      await dropping.patient({ waitMs: 5_000 }).script(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      for (const postgres of [dropping, ...opened]) await postgres[Symbol.asyncDispose]();
    },
  };
}

/** A server of a test's own, for faults; it ends with the test's process at the latest. */
export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

/** Starts a server; `settings` are lines of postgresql.conf. */
export async function startPostgres(settings: readonly string[] = []) {
  const directory = run([...AS_OWNER, "mktemp", "-d", "/tmp/article-extractor-postgres.XXXXXX"]);
  const port = await reservePort("127.0.0.1", 0);
  const data = join(directory, "data");
  const users = join(directory, "users");
  const held = await holdLock(users);
  whenFree(users, `${stopping(data)}; rm -rf ${directory}`);
  create(data, port, settings);
  const start = async (): Promise<void> => void run([...AS_OWNER, ...starting(data)]);
  await start();
  createDatabase(directory, port);
  const children = (): RunningProcess[] => {
    const postmaster = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    return runningProcesses().filter(({ pid, parent }) => pid === postmaster || parent === postmaster);
  };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/${DATABASE}`,
    /** Its data directory, which belongs to the user that runs it. */
    directory: data,
    /** Writes a file of the data directory that only its user can read, such as `pg_hba.conf`. */
    write(name: string, text: string) {
      run([...AS_OWNER, "tee", join(data, name)], text);
      run([...AS_OWNER, "chmod", "600", join(data, name)]);
    },
    start,
    /** `immediate` is as if the machine's power were cut, but for what the system has not yet written. */
    stop: async (mode: "immediate" | "fast") =>
      void run([...AS_OWNER, "pg_ctl", "-D", data, "-w", "-m", mode, "stop"]),
    /** Stops (SIGSTOP) the processes that serve connections, or all with the one that accepts them. */
    freeze(which: "connections" | "all") {
      for (const { pid, args } of children())
        if (which === "all" || args.includes(" 127.0.0.1(")) process.kill(pid, "SIGSTOP");
    },
    /** Lets all of them go on. */
    thaw() {
      for (const { pid } of children()) process.kill(pid, "SIGCONT");
    },
    async [Symbol.asyncDispose]() {
      held.stdin.end();
      await untilTrue(() => !existsSync(directory));
    },
  };
}

let shared: Promise<string> | null = null;

/**
 * The URL of one server for all processes that run tests at the same time. The first starts it. Each holds a shared lock
 * as long as it lives, and who waits for the whole lock stops the server when the last has ended.
 */
async function shareServer(): Promise<string> {
  const directory = `/tmp/article-extractor-postgres-of-${process.getuid?.() ?? 0}`;
  mkdirSync(directory, { recursive: true });
  if (IS_ROOT) run(["chown", "postgres", directory]);
  const users = join(directory, "users");
  await holdLock(users);
  const own = await reservePort("127.0.0.1", 0);
  // The script asks under a lock of its own whether another process has just started the server.
  const script = join(import.meta.dir, "share-postgres.ts");
  return run(["flock", join(directory, "guard"), process.execPath, script, directory, String(own)]);
}

/** Starts the shared server unless it runs, and prints its URL; only one process does so at a time. */
export function startShared(directory: string, port: number): void {
  const data = join(directory, "data");
  const noted = join(directory, "url");
  const isRunning = Bun.spawnSync([...AS_OWNER, "pg_ctl", "-D", data, "status"], { env: { PATH } }).success;
  if (!isRunning) {
    run(["rm", "-rf", data]);
    create(data, port, []);
    run([...AS_OWNER, ...starting(data)]);
    createDatabase(directory, port);
    writeFileSync(noted, `postgres://postgres@127.0.0.1:${port}/${DATABASE}`);
    whenFree(join(directory, "users"), `${stopping(data)}; rm -rf ${data}`);
  }
  console.log(readFileSync(noted, "utf8"));
}

/** Holds a lock, together with others, until this process has ended, however it ends, or the holder's stdin is closed. */
async function holdLock(path: string): Promise<Bun.Subprocess<"pipe", "pipe", "inherit">> {
  const holder = Bun.spawn(["flock", "-s", path, "sh", "-c", "echo held; exec cat"], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  holder.unref();
  await holder.stdout.getReader().read();
  return holder;
}

/** Runs a script when nobody holds a lock any more. Whatever ends this process's children does not end it. */
function whenFree(lock: string, script: string): void {
  const stdio: ["ignore", "ignore", "ignore"] = ["ignore", "ignore", "ignore"];
  Bun.spawnSync(["setsid", "--fork", "flock", lock, "sh", "-c", script], {
    stdio,
    env: { ...process.env, PATH },
  });
}

function create(data: string, port: number, settings: readonly string[]): void {
  run([
    ...AS_OWNER,
    "initdb",
    "-A",
    "trust",
    "-U",
    "postgres",
    "-E",
    "UTF8",
    "--locale=C",
    "--no-sync",
    "-D",
    data,
  ]);
  const lines = [...SETTINGS, `port=${port}`, `unix_socket_directories='${join(data, "..")}'`, ...settings];
  run([...AS_OWNER, "tee", "-a", join(data, "postgresql.conf")], `${lines.join("\n")}\n`);
}

function createDatabase(socket: string, port: number): void {
  run([...AS_OWNER, "createdb", "-h", socket, "-p", String(port), "-U", "postgres", DATABASE]);
}

const starting = (data: string): string[] => ["pg_ctl", "-D", data, "-w", "-l", join(data, "log"), "start"];

const stopping = (data: string): string =>
  [...AS_OWNER, "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop"].join(" ");

/** The program's output without its last line break. @throws when it fails */
function run(command: readonly string[], input = ""): string {
  const program = command[command[0] === "setpriv" ? AS_OWNER.length : 0] ?? "";
  if (Bun.which(program, { PATH }) === null)
    throw new Error(`${program} is missing: run sh scripts/ensure.sh slow`);
  const { success, stdout, stderr } = Bun.spawnSync([...command], {
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, PATH },
    cwd: "/tmp",
  });
  if (!success) throw new Error(`${command.join(" ")}: ${stderr.toString() || stdout.toString()}`);
  return stdout.toString().trimEnd();
}

/** Starts a PgBouncer before the database of a URL, which lends sessions for as long as the mode says. */
export async function startPgbouncer(
  url: string,
  mode: "session" | "transaction",
): Promise<AsyncDisposable & { readonly url: string }> {
  const { port: serverPort } = new URL(url);
  const port = await reservePort("127.0.0.1", 0);
  const config = run([...AS_OWNER, "mktemp", "/tmp/pgbouncer.XXXXXX"]);
  const lines = [
    "[databases]",
    `${DATABASE} = host=127.0.0.1 port=${serverPort} user=postgres`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    `pool_mode = ${mode}`,
  ];
  run([...AS_OWNER, "tee", config], `${lines.join("\n")}\n`);
  const child = Bun.spawn([...AS_OWNER, "pgbouncer", config], {
    stdio: ["ignore", "ignore", "ignore"],
    env: { ...process.env, PATH },
  });
  await untilTrue(() =>
    Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).then(
      (socket) => {
        socket.end();
        return true;
      },
      () => false,
    ),
  );
  return {
    url: `postgres://postgres@127.0.0.1:${port}/${DATABASE}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      run([...AS_OWNER, "rm", config]);
    },
  };
}
