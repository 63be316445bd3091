import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../../src/base/log.ts";
import { noMetrics } from "../../../src/base/metrics.ts";
import { openPostgres } from "../../../src/scale/postgres/postgres.ts";
import { checkReady, migrate, WANTED_VERSION } from "../../../src/scale/postgres/schema.ts";
import { reservePort } from "../../../src/server/listen.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { startPostgres, testDatabase } from "../../support/postgres.ts";
import { untilTrue } from "../../support/until.ts";

/** Stands in every URL here, and in nothing that a person gets to see. */
const SECRET = "s3cr3t-pässwörd/%?";

const certificate = await makeCertificate("localhost");
const directory = mkdtempSync(join(tmpdir(), "postgres-start-"));
writeFileSync(join(directory, "ca.pem"), certificate.cert);
writeFileSync(join(directory, "other.pem"), (await makeCertificate("localhost")).cert);
writeFileSync(join(directory, "no.pem"), "no certificate");

/** With TLS, and with users who need a password. */
const server = await startPostgres(["max_connections=12", "superuser_reserved_connections=4"]);
server.write("server.crt", certificate.cert);
server.write("server.key", certificate.key);
server.write(
  "pg_hba.conf",
  `host all postgres 127.0.0.1/32 trust
   hostssl all careful 127.0.0.1/32 scram-sha-256
   host all reader,standby,poor,outsider 127.0.0.1/32 scram-sha-256`,
);
const database = await testDatabase(server);
const { schema } = database;
const owner = await database.open({ connections: 1 });
for (const user of ["careful", "reader", "standby", "poor", "outsider"])
  await owner.script(`CREATE ROLE ${user} LOGIN PASSWORD '${SECRET}'`);
await owner.script(`GRANT USAGE ON SCHEMA ${schema} TO careful, reader, standby, poor;
  GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO careful, reader, standby;
  ALTER ROLE standby SET default_transaction_read_only = on`);
await owner.script("ALTER SYSTEM SET ssl = on");
await owner.query("SELECT pg_reload_conf()");
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

type Change = { readonly [Part in "user" | "password" | "host" | "port" | "database" | "query"]?: string };

/** The URL with one part changed. */
function urlWith(change: Change = {}): string {
  const {
    user = "reader",
    password = SECRET,
    host = "127.0.0.1",
    database: name = "test",
    query = "",
  } = change;
  const port = change.port ?? new URL(server.url).port;
  return `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${name}${query}`;
}

/** Begins to use the database as a program does; gives the failure's code and text, and all lines of the log. */
async function begin(
  url: string,
  { waitMs = 0, statementMs = 30_000, inSchema = schema } = {},
): Promise<{ code: string; message: string; lines: readonly string[] }> {
  const lines: string[] = [];
  const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(line) });
  let failure: unknown = null;
  try {
    await using opened = await openPostgres({ url, schema: inSchema, log, metrics: noMetrics });
    await checkReady(opened.patient({ statementMs }), waitMs);
  } catch (error) {
    failure = error;
  }
  const shown = `${lines.join("")}${Bun.inspect(failure, { depth: 10 })}${JSON.stringify(failure)}`;
  for (const secret of [SECRET, encodeURIComponent(SECRET), "s3cr3t"]) expect(shown).not.toContain(secret);
  const { code = "none", message = "" } = (failure ?? {}) as { code?: string; message?: string };
  return { code, message, lines };
}

/** What a wrong start says: one line, and nothing was waited for. */
const refused = (message: string) => ({ code: "invalid_settings", message, lines: [] });

describe("a database that can be used", () => {
  test.each([
    ["", "by a user with a password"],
    ["?sslmode=disable", "without TLS"],
    ["?sslmode=require", "with TLS"],
  ])("begins%s without a word, %s", async (query) => {
    expect(await begin(urlWith({ query }))).toEqual({ code: "none", message: "", lines: [] });
  });

  test("is encrypted where the server offers it, and verified as sslmode says", async () => {
    const usesTls = async (query: string): Promise<boolean> => {
      const url = urlWith({ host: "localhost", query });
      await using opened = await openPostgres({ url, schema, log: console as never, metrics: noMetrics });
      const sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
      return (await opened.patient({ waitMs: 0 }).query<{ ssl: boolean }>(sql))[0]!.ssl;
    };
    const ca = `sslrootcert=${directory}/ca.pem`;
    expect(await usesTls("")).toBe(true);
    expect(await usesTls("?sslmode=disable")).toBe(false);
    expect(await usesTls("?sslmode=require")).toBe(true);
    expect(await usesTls(`?sslmode=verify-ca&${ca}`)).toBe(true);
    expect(await usesTls(`?sslmode=verify-full&${ca}`)).toBe(true);
  });
});

describe("a start says in one line that", () => {
  const place = () => `the database 127.0.0.1:${new URL(server.url).port}/test cannot be used: `;

  test("the password is wrong, or missing", async () => {
    const message = `${place()}it refuses the user or the password (password authentication failed for user "reader")`;
    expect(await begin(urlWith({ password: `${SECRET}x` }))).toEqual(refused(message));
    expect(await begin(urlWith({ password: "" }))).toEqual(
      refused(`${place()}it wants a password, and the URL has none`),
    );
  });

  test("there is no such user, and none is told from a wrong password", async () => {
    const reason = `no pg_hba.conf entry for host "127.0.0.1", user "nobody", database "test", SSL encryption`;
    const message = `${place()}it lets this user in neither from here nor in this way (${reason})`;
    expect(await begin(urlWith({ user: "nobody" }))).toEqual(refused(message));
  });

  test("there is no such database", async () => {
    const message = expect.stringContaining('no database of this name (database "none" does not exist)');
    expect(await begin(urlWith({ database: "none" }))).toEqual(refused(message));
  });

  test("there is no such host", async () => {
    const { code, message } = await begin(urlWith({ host: "no-such-host.invalid" }));
    expect(code).toBe("invalid_settings");
    expect(message).toMatch(/there is no host of this name|the host's name could not be looked up/);
  });

  test("nothing listens there", async () => {
    const port = String(await reservePort("127.0.0.1", 0));
    expect(await begin(urlWith({ port }))).toEqual(refused(expect.stringContaining("nothing listens there")));
  });

  test("the address does not answer, or speaks another language", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    const rude = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")).listen(
      0,
      "127.0.0.1",
    );
    await untilTrue(() => silent.listening && rude.listening);
    const portOf = (one: typeof silent) => String((one.address() as { port: number }).port);
    const message = expect.stringContaining("took longer than 200 ms");
    expect(await begin(urlWith({ port: portOf(silent) }), { statementMs: 200 })).toMatchObject({ message });
    const { code, message: answer } = await begin(urlWith({ port: portOf(rude) }), { statementMs: 5000 });
    expect(code).toBe("invalid_settings");
    expect(answer).toContain("does not speak PostgreSQL's protocol");
    silent.close();
    rude.close();
  });

  test("the user lacks rights to the schema", async () => {
    const message = expect.stringContaining(
      "the user lacks a right (permission denied for table schema_version)",
    );
    expect(await begin(urlWith({ user: "poor" }))).toEqual(refused(message));
    const closed = expect.stringContaining(`(permission denied for schema ${schema})`);
    expect(await begin(urlWith({ user: "outsider" }))).toEqual(refused(closed));
  });

  test("the schema has not been set up, is older, or is newer", async () => {
    const inPlace = `of the database 127.0.0.1:${new URL(server.url).port}/test`;
    expect(await begin(urlWith(), { inSchema: "nowhere" })).toEqual(
      refused(`the schema nowhere ${inPlace} has not been set up: run article-extractor database migrate`),
    );
    await owner.run("INSERT INTO schema_version (version) VALUES ($1)", [WANTED_VERSION + 1]);
    const newer = `is of version ${WANTED_VERSION + 1}, and this program knows versions up to ${WANTED_VERSION}: use a newer program`;
    expect(await begin(urlWith())).toEqual(refused(`the schema ${schema} ${inPlace} ${newer}`));
    await expect(migrate(owner)).rejects.toMatchObject({ code: "invalid_settings" });
    await owner.run("DELETE FROM schema_version WHERE version >= $1", [WANTED_VERSION]);
    const older = `is of version ${WANTED_VERSION - 1}, not ${WANTED_VERSION}: run article-extractor database migrate`;
    expect(await begin(urlWith())).toEqual(refused(`the schema ${schema} ${inPlace} ${older}`));
    await owner.run("INSERT INTO schema_version (version) VALUES ($1)", [WANTED_VERSION]);
  });

  test("the database is read-only", async () => {
    const message = `${place()}it is read-only`;
    expect(await begin(urlWith({ user: "standby" }))).toEqual(refused(message));
  });

  test("the certificate is of no authority that is trusted, or is for another host", async () => {
    const careful = (query: string, host = "localhost") => begin(urlWith({ user: "careful", host, query }));
    const ca = `sslrootcert=${directory}/ca.pem`;
    const untrusted = refused(
      expect.stringContaining("its certificate is of no authority that is trusted here"),
    );
    expect(await careful("?sslmode=verify-full")).toEqual(untrusted);
    expect(await careful(`?sslmode=verify-full&sslrootcert=${directory}/other.pem`)).toEqual(untrusted);
    expect(await careful(`?sslmode=require&sslrootcert=${directory}/other.pem`)).toEqual(untrusted);
    const another = refused(expect.stringContaining("its certificate is for another host"));
    expect(await careful(`?sslmode=verify-full&${ca}`, "127.0.0.1")).toEqual(another);
    expect(await careful(`?sslmode=verify-ca&${ca}`, "127.0.0.1")).toMatchObject({ code: "none" });
    const unreadable = `not the URL of a PostgreSQL database: sslrootcert ${directory}/none.pem could not be read: there is no such file`;
    expect(await careful(`?sslrootcert=${directory}/none.pem`)).toEqual(refused(unreadable));
  });

  test("TLS is demanded and not offered, or offered in vain", async () => {
    await using plain = await testDatabase();
    const message = expect.stringContaining("it offers no TLS, and sslmode demands it");
    for (const mode of ["require", "verify-ca", "verify-full"])
      expect(await begin(`${plain.url}?sslmode=${mode}`, { inSchema: plain.schema })).toEqual(
        refused(message),
      );
    expect(await begin(plain.url, { inSchema: plain.schema })).toMatchObject({ code: "none" });
    expect(await begin(urlWith({ user: "careful", query: "?sslmode=disable" }))).toEqual(
      refused(expect.stringContaining("no encryption")),
    );
  });
});

describe("a start waits, with one line, for a database", () => {
  test("that has no connection left", async () => {
    const holders = await Promise.all(
      Array.from({ length: 8 }, () =>
        openPostgres({ url: urlWith(), schema, log: console as never, metrics: noMetrics }),
      ),
    );
    // As many as ordinary users get; the owner's connection is one of the reserved.
    const taken: AsyncDisposable[] = [];
    for (const holder of holders) {
      const got = await holder
        .patient({ waitMs: 0 })
        .query("SELECT 1")
        .catch(() => null);
      if (got) taken.push(holder);
    }
    expect(taken.length).toBeGreaterThan(3);
    expect(await begin(urlWith())).toEqual(refused(expect.stringContaining("it has no connection left")));
    const beginning = begin(urlWith(), { waitMs: 60_000 });
    await Bun.sleep(300);
    for (const holder of holders) await holder[Symbol.asyncDispose]();
    const { code, lines } = await beginning;
    expect({ code, lines: lines.map((line) => JSON.parse(line).message) }).toEqual({
      code: "none",
      lines: ["the database cannot be reached; work waits for it", "the database is back"],
    });
  });

  test("that has stopped, and gives up with one line", async () => {
    await using other = await startPostgres();
    await using own = await testDatabase(other);
    await other.stop("fast");
    const { code, message, lines } = await begin(own.url, { inSchema: own.schema, waitMs: 700 });
    const failed = refused(expect.stringContaining("nothing listens there"));
    expect({ code, message, lines: lines.slice(1) }).toEqual(failed);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "warning", error: "nothing listens there" });
    const beginning = begin(own.url, { inSchema: own.schema, waitMs: 60_000 });
    await other.start();
    expect((await beginning).code).toBe("none");
  });
});
