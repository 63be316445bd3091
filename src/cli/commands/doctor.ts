import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, resolve } from "node:path";
import {
  authorityPlacesOf,
  checkDatabase,
  type DatabaseReport,
  hasDisplay,
  inspectDatabase,
  openDatabase,
  openStore,
  openTenants,
  stateDirectoryOf,
} from "../../app/index.ts";
import { Failure } from "../../base/failure.ts";
import { freeBytesIn, LOW_DISK_BYTES } from "../../base/free-disk.ts";
import { type ObjectStore, parseStoreUrl } from "../../base/objects.ts";
import { VERSION } from "../../base/version.ts";
import { authorityFiles } from "../../fetching/index.ts";
import type { TenantStatus } from "../../tenants/index.ts";
import { chooseDeployment, DEFAULT_CONFIG } from "../deployment.ts";
import { readText } from "../input.ts";
import { type CommandApp, openCommandApp } from "../program.ts";
import { type Run, requireNoArguments, type Shell } from "../shell.ts";
import { describeCut, describeLeftOut } from "../tenants.ts";
import { countedDocuments, type Paint } from "../terminal/notices.ts";

/** The result of a check: a `note` affects nothing that is asked for, a `problem` does. */
type Finding = {
  readonly name: string;
  readonly status: "ok" | "note" | "problem";
  readonly detail: string;
};

type DoctorParts = Shell & CommandApp;

/** Runs `doctor`; returns 0, or 1 when it finds a problem. */
export const doctor: Run = async (shell) => {
  const { typed, io } = shell;
  requireNoArguments(typed);
  const opened = await openCommandApp(shell);
  await using _ = opened.app;
  const findings = await look({ ...shell, ...opened });
  const isWell = findings.every(({ status }) => status !== "problem");
  await io.stdout.write(
    typed.has("json")
      ? `${JSON.stringify({ version: VERSION, ok: isWell, checks: findings }, null, 2)}\n`
      : formatFindings(findings, shell.paint()),
  );
  return isWell ? 0 : 1;
};

const look = async (parts: DoctorParts): Promise<readonly Finding[]> => [
  ...(await findingsOf("browser", () => lookAtBrowser(parts))),
  display(parts),
  ...proxies(parts),
  await certificates(parts),
  systemAuthorities(parts),
  ...(await findingsOf("storage state", async () => [storageState(parts)])),
  await disk("disk", process.cwd()),
  await disk("temporary files", tmpdir()),
  await stateDirectory("state directory", stateDirectoryOf(parts.program, "extractor")),
  await stateDirectory("search state directory", stateDirectoryOf(parts.program, "search")),
  ...(await findingsOf("database", () => lookAtDatabase(parts))),
  ...(await findingsOf("store", () => lookAtStore(parts))),
  await git(),
  ...(await lookAtTenants(parts)),
];

function formatFindings(findings: readonly Finding[], paint: Paint): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const mark = { ok: paint.green("ok     "), note: "note   ", problem: paint.red("problem") };
  return findings
    .map(({ name, status, detail }) => `${mark[status]}  ${name.padEnd(width)}  ${detail}\n`)
    .join("");
}

const ok = (name: string, detail: string): Finding => ({ name, status: "ok", detail });
const note = (name: string, detail: string): Finding => ({ name, status: "note", detail });
const problem = (name: string, detail: string): Finding => ({ name, status: "problem", detail });

/** Returns a look's findings; if the look fails, the failure is a problem of this name. */
const findingsOf = (name: string, look: () => Promise<Finding[]>): Promise<Finding[]> =>
  look().catch((error) => [problem(name, messageOf(error))]);

async function lookAtBrowser({ app, program }: DoctorParts): Promise<Finding[]> {
  const name = "browser";
  const isRoot = process.getuid?.() === 0;
  const path = app.browserPath();
  if (path === null) {
    const missing = "no Chromium, Chrome or Edge was found: pages are fetched over plain HTTP";
    return [program.settings.preferBrowser === true ? problem(name, missing) : note(name, missing)];
  }
  const found = ok(name, `${path}, version ${await app.browserVersion()}, starts`);
  if (program.settings.browserSandbox ?? !isRoot)
    return [found, ok("sandbox", "the browser runs in its sandbox")];
  const why = isRoot ? "as root a browser has none" : "ARTICLE_EXTRACTOR_BROWSER_SANDBOX turns it off";
  return [found, note("sandbox", `the browser runs without its sandbox: ${why}`)];
}

const display = ({ program }: DoctorParts): Finding =>
  hasDisplay(program.environment, process.platform)
    ? ok("display", "a browser can show its window (--headed)")
    : note("display", "none: --headed needs one, or a virtual one such as Xvfb");

const proxies = ({ app }: DoctorParts): Finding[] =>
  (["http", "https"] as const).map((scheme) => {
    const proxy = app.proxyFor(new URL(`${scheme}://example.org/`));
    return ok(`proxy for ${scheme}`, proxy ?? "none");
  });

const MAX_CERTIFICATE_BYTES = 10_000_000;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The runtime itself reads the variable, and only when it first opens a connection with TLS. */
async function certificates({ io, program }: DoctorParts): Promise<Finding> {
  const name = "own certificates";
  const variable = "NODE_EXTRA_CA_CERTS";
  const path = io.environment[variable] ?? "";
  if (path === "")
    return program.environment[variable]
      ? problem(name, `${variable} has no effect in a .env file: set it in the environment`)
      : ok(name, "none");
  try {
    const found = (await readText(path, io, MAX_CERTIFICATE_BYTES)).match(CERTIFICATE) ?? [];
    if (found.length === 0) return problem(name, `${variable}: ${path} holds no certificate in PEM`);
    for (const certificate of found) new X509Certificate(certificate);
    return ok(name, `${resolve(path)}, ${found.length} of them; a browser does not know them`);
  } catch (error) {
    const reason = error instanceof Failure ? error.message : `${path} holds a damaged certificate`;
    return problem(name, `${variable}: ${reason}`);
  }
}

function systemAuthorities({ program: { settings } }: DoctorParts): Finding {
  const name = "system authorities";
  const places = authorityPlacesOf(settings);
  if (places === null) return note(name, "ARTICLE_EXTRACTOR_SYSTEM_CA turns them off");
  const missing = [places.file, places.directory].find(
    (path) => path !== null && !existsSync(path.split(":")[0] ?? ""),
  );
  if (missing) return problem(name, `SSL_CERT_FILE or SSL_CERT_DIR names ${missing}, which does not exist`);
  const files = authorityFiles(places);
  return ok(name, files.length === 0 ? "none beside the built-in ones" : files.slice(0, 5).join(", "));
}

function storageState({ app, program: { settings } }: DoctorParts): Finding {
  const name = "storage state";
  if (settings.storageState === null) return ok(name, "none: sessions end with the program");
  const pending = app.pendingEntries();
  const detail = `${resolve(settings.storageState)}, ${pending} changes wait to be merged`;
  return pending > settings.storageQueueMaxEntries ? problem(name, detail) : ok(name, detail);
}

async function disk(name: string, directory: string): Promise<Finding> {
  const free = await freeBytesIn(directory);
  if (free === Number.POSITIVE_INFINITY)
    return problem(name, `the free space of ${directory} cannot be asked`);
  const detail = `${Math.floor(free / 1_000_000)} MB free in ${directory}`;
  return free < LOW_DISK_BYTES ? problem(name, detail) : ok(name, detail);
}

async function stateDirectory(name: string, directory: string): Promise<Finding> {
  // It is created when it is first needed, in the nearest existing directory.
  for (let path = directory; ; path = dirname(path)) {
    try {
      await access(path, constants.W_OK | constants.X_OK);
      return ok(name, path === directory ? directory : `${directory}, made when it is needed`);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" || path === dirname(path))
        return problem(name, `${directory} cannot be written: ${code} at ${path}`);
    }
  }
}

/** How long a store may take for one step, in ms. */
const STORE_PATIENCE_MS = 10_000;

/** Tries what pages need of a store: listing, writing, reading back and deleting; the first that fails is named. */
async function lookAtStore({ app, program, io, log }: DoctorParts): Promise<Finding[]> {
  const { storeUrl } = program.settings;
  if (storeUrl === null) return [];
  const { metrics } = app;
  const location = parseStoreUrl(storeUrl);
  await using store = await openStore(program, location, { metrics, log, patienceMs: STORE_PATIENCE_MS });
  await tryStore(store, io.signal);
  return [ok("store", `${store.url}, lists, writes, reads and deletes objects`)];
}

async function tryStore(store: ObjectStore, signal: AbortSignal): Promise<void> {
  const key = `.article-extractor/probe-${crypto.randomUUID()}`;
  for await (const _ of store.list("", { signal })) break;
  await store.put(key, key, { signal });
  const read = await store.read(key, { signal }).finally(() => store.delete(key));
  if (new TextDecoder().decode(read ?? undefined) !== key)
    throw new Failure("unreadable_input", `${store.url} does not give back what was just written`);
}

/** How long the database may take for one answer, in ms. */
const DATABASE_PATIENCE_MS = 10_000;
/** A transaction older than this, in ms, keeps enough dead rows to slow claims of pages down. */
const OLD_SNAPSHOT_MS = 60_000;

/** Looks at the database that processes share, if one is named: server, schema, pooler, clock and old transactions. */
async function lookAtDatabase({ app, program, log }: DoctorParts): Promise<Finding[]> {
  const { settings } = program;
  if (settings.databaseUrl === null) return [];
  await using opened = await openDatabase({ settings, log, metrics: app.metrics });
  const database = opened.patient({ waitMs: 0, statementMs: DATABASE_PATIENCE_MS, isStart: true });
  const { connections, serverVersion, version, clockAheadMs, oldestSnapshot } =
    await inspectDatabase(database);
  const pooler = POOLERS[await database.pooler()];
  const server = `${database.place}, PostgreSQL ${serverVersion}, ${connections.used} of ${connections.max} connections in use${pooler}`;
  const seconds = (Math.abs(clockAheadMs) / 1000).toFixed(1);
  const clock = `${seconds} s ${clockAheadMs < 0 ? "behind" : "ahead of"} this machine's; only the database's counts`;
  const schema = await findingsOf("database schema", async () => {
    await checkDatabase(database, 0);
    return [ok("database schema", `${database.schema}, version ${version}`)];
  });
  return [ok("database", server), ...schema, ok("database clock", clock), ...snapshot(oldestSnapshot)];
}

const POOLERS = {
  none: "",
  session: ", through a pooler in session mode",
  transaction: ", through a pooler in transaction mode",
};

/** @throws what is no `Failure` */
function messageOf(error: unknown): string {
  if (!(error instanceof Failure)) throw error;
  return error.message;
}

function snapshot(oldest: DatabaseReport["oldestSnapshot"]): Finding[] {
  const name = "database snapshot";
  if (oldest === null || oldest.ageMs < OLD_SNAPSHOT_MS) return [ok(name, "no transaction holds an old one")];
  const { ageMs, pid, program } = oldest;
  const who = `process ${pid}${program === "" ? "" : ` (${program})`}`;
  const minutes = Math.floor(ageMs / 60_000);
  return [
    note(name, `${who} has held one for ${minutes} min: dead rows stay, and claims of pages become slow`),
  ];
}

async function git(): Promise<Finding> {
  const name = "git";
  try {
    const child = Bun.spawn(["git", "--version"], { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
    const text = (await new Response(child.stdout).text()).trim();
    if ((await child.exited) === 0) return ok(name, text);
  } catch {
    // The program is not on PATH.
  }
  return note(name, "none was found: repositories cannot be sources of documentation search");
}

/** Checks the tenants of the deployment file and what keeps them from being synced; does nothing without a file. */
async function lookAtTenants(parts: DoctorParts): Promise<Finding[]> {
  const { typed, program, io } = parts;
  const { settings } = program;
  const config = typed.one("config");
  if (config === null && settings.deploymentConfig === null && !existsSync(DEFAULT_CONFIG)) return [];
  try {
    const deployment = await chooseDeployment(config, settings, io);
    await using tenants = openTenants(program, { ...parts, deployment });
    const { registry, sources } = tenants;
    const problems = await sources.problems(io.signal);
    const statuses = await registry.statuses();
    return [...problems.map((detail) => problem("sources", detail)), ...statuses.map(findingOf)];
  } catch (error) {
    return messageOf(error)
      .split("\n")
      .map((detail) => problem("deployment", detail));
  }
}

function findingOf(status: TenantStatus): Finding {
  const {
    codename,
    lastError,
    builtAt,
    documentCount,
    isSearchEnabled,
    testQueries,
    leftOut,
    problem: trouble,
  } = status;
  const name = `tenant ${codename}`;
  if (lastError !== null) return problem(name, lastError.message);
  if (!isSearchEnabled) return note(name, "search is disabled");
  if (builtAt === null) return note(name, "no search index yet");
  // The number is unknown when the index was built under another state directory.
  const documents = documentCount === null ? "" : `${countedDocuments(documentCount)}, `;
  const rest = describeCut(status.counts) + describeLeftOut(leftOut, "");
  const what = `${documents}indexed ${builtAt.toISOString()}${rest}`;
  if (trouble !== null) return problem(name, `${what}; ${trouble.message}`);
  const without = testQueries.filter(({ hits }) => hits === 0).map(({ query }) => JSON.stringify(query));
  if (without.length > 0) return note(name, `${what}; test queries that find nothing: ${without.join(", ")}`);
  const queries = testQueries.length > 0 ? `; all ${testQueries.length} test queries find something` : "";
  return ok(name, what + queries);
}
