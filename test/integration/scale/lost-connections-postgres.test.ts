import { afterAll, expect, test } from "bun:test";
import { readTarget } from "../../../src/base/database-url.ts";
import { Failure } from "../../../src/base/failure.ts";
import { type Client, Connections, limited } from "../../../src/scale/postgres/connections.ts";
import { DatabaseFault, judged } from "../../../src/scale/postgres/faults.ts";
import { testDatabase } from "../../support/postgres.ts";

const database = await testDatabase();
afterAll(() => database[Symbol.asyncDispose]());

const LIMIT = { ms: 10_000, signal: undefined };
type WithStream = { readonly connection: { readonly stream: { destroy(): void } } };

test.each<[string, (client: Client) => void]>([
  ["whose socket is gone", (client) => (client as unknown as WithStream).connection.stream.destroy()],
  ["that was closed", (client) => void client.end()],
  [
    "whose session was ended",
    (client) => void client.query("SELECT pg_terminate_backend(pg_backend_pid())").catch(() => {}),
  ],
])("a statement on a connection %s finds the database away, whatever the driver throws", async (_, lose) => {
  const target = readTarget(database.url);
  await using connections = await Connections.prepare({ target, schema: database.schema, size: 1 });
  const client = await connections.borrow(LIMIT);
  lose(client);
  const lost = await limited(client.query("SELECT 1"), "a statement", LIMIT).catch((error) => error);
  client.release(true);
  expect(lost).toBeInstanceOf(DatabaseFault);
  expect(lost.kind).toBe("away");
});

const coded = (code: string, message = "words"): Error => Object.assign(new Error(message), { code });

test.each<[string, unknown, string]>([
  [
    "a code that nobody has listed",
    coded("ERR_SOCKET_CLOSED"),
    "away: the connection was lost (ERR_SOCKET_CLOSED)",
  ],
  ["no code", new TypeError("undefined is not an object"), "away: the connection was lost"],
  ["no error", "closed", "away: the connection was lost"],
  ["a code of the system as long as a SQLSTATE", coded("EPIPE"), "away: the connection was lost (EPIPE)"],
  ["an internal error of the server", coded("XX000"), "away: words"],
  ["a damaged file of the server", coded("58P01"), "away: words"],
  ["a lock that cannot be had", coded("55P03"), "away: words"],
  ["a class of errors that no version has yet", coded("99999"), "away: words"],
  ["a deadlock", coded("40P01"), "conflict: two transactions waited for each other"],
])("%s is no answer", (_, thrown, fault) => {
  const error = judged(thrown);
  expect(error instanceof DatabaseFault && `${error.kind}: ${error.message}`).toBe(fault);
});

test.each(["23505", "42P01", "22012", "P0001", "0A000", "25P02", "54000"])("%s is an answer", (code) => {
  const error = coded(code);
  expect(judged(error)).toBe(error);
});

test("a failure of ours stays what it is", () => {
  const failure = new Failure("cancelled", "called off");
  expect(judged(failure)).toBe(failure);
});
