import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../../src/base/log.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { type BrowsingSession, createBrowsingSession, openStorage } from "../../../src/fetching/index.ts";
import type { StoredCookie } from "../../../src/fetching/session/cookies.ts";
import type { StorageOptions } from "../../../src/fetching/session/storage.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "session-"));
  file = join(directory, "state.json");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const SHOP = new URL("http://shop.test/");

const open = (options: Partial<StorageOptions> = {}): BrowsingSession =>
  createBrowsingSession(
    openStorage({
      file,
      queueDirectory: null,
      takesUnowned: true,
      maxEntries: 20,
      maxAgeMs: 60_000,
      retentionMs: 100_000,
      log: silentLog,
      now: Date.now,
      ...options,
    }),
    options.now ?? Date.now,
  );

type SavedState = {
  cookies: StoredCookie[];
  origins: { origin: string; localStorage: unknown[]; indexedDB?: unknown[] }[];
};
const saved = (): SavedState => JSON.parse(readFileSync(file, "utf8"));
const names = (): string[] =>
  saved()
    .cookies.map(({ name }) => name)
    .toSorted();
const named = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.endsWith(".json"));
const waiting = (): string[] => named(`${file}.changes`);
const done = (): string[] => named(join(`${file}.changes`, "done"));

async function setCookies(session: BrowsingSession, ...cookies: string[]): Promise<void> {
  session.cookies.store(SHOP, cookies);
  await session.saved();
}

/** Opens a session, sets cookies in it as an answer does, and closes it. */
async function setOnce(cookies: readonly string[], options: Partial<StorageOptions> = {}): Promise<void> {
  await using session = open(options);
  await setCookies(session, ...cookies);
}

const WRITER = new URL("../../support/session-writer.ts", import.meta.url).pathname;

const spawnWriter = (prefix: string, count: number) =>
  Bun.spawn([process.execPath, WRITER, file, prefix, String(count)], { stdout: "pipe", stderr: "inherit" });

describe("a queue that several state files share", () => {
  test("keeps their changes apart, even those that wait", async () => {
    const queueDirectory = join(directory, "queue");
    const other = { file: join(directory, "other.json"), queueDirectory, takesUnowned: false };
    {
      await using mine = open({ queueDirectory });
      await using theirs = open(other);
      await setCookies(mine, "mine=1; Max-Age=3600");
      await setCookies(theirs, "theirs=2; Max-Age=3600");
      // Whatever has been merged so far, neither reads the other's changes.
      for (const [options, name] of [
        [{ queueDirectory }, "mine"],
        [other, "theirs"],
      ] as const) {
        await using reader = open(options);
        expect(reader.state().cookies.map((cookie) => cookie.name)).toEqual([name]);
      }
    }
    expect(names()).toEqual(["mine"]);
    file = other.file;
    expect(names()).toEqual(["theirs"]);
  });

  test("assigns changes of an earlier version only to the file in the settings", async () => {
    const queueDirectory = join(directory, "queue");
    {
      // Such changes name no file, like those in a directory of a single file.
      await using before = open();
      await setCookies(before, "before=1; Max-Age=3600");
    }
    const [name = ""] = done();
    mkdirSync(queueDirectory);
    renameSync(join(`${file}.changes`, "done", name), join(queueDirectory, name));
    rmSync(file);
    await using other = open({ file: join(directory, "o.json"), queueDirectory, takesUnowned: false });
    expect([other.pendingEntries(), other.state().cookies]).toEqual([0, []]);
    await using own = open({ queueDirectory });
    expect([own.pendingEntries(), own.state().cookies.length]).toEqual([1, 1]);
  });
});

describe("a session that is kept", () => {
  test("gives its cookies to the next one, for both fetchers", async () => {
    {
      await using first = open();
      await setCookies(first, "sid=1; HttpOnly; Max-Age=3600", "tab=2");
    }
    await using next = open();
    expect(next.cookies.headerFor(SHOP)).toBe("sid=1; tab=2");
    expect(next.state().cookies.map(({ name, expires }) => [name, expires > 0])).toEqual([
      ["sid", true],
      ["tab", false],
    ]);
  });

  test("forgets what an answer removes and what has expired", async () => {
    {
      await using first = open();
      await setCookies(first, "gone=1; Max-Age=3600", "short=1; Max-Age=5", "stays=1; Max-Age=3600");
      await setCookies(first, "gone=; Max-Age=0");
    }
    const later = () => Date.now() + 10_000;
    await using next = open({ now: later });
    expect(next.state().cookies.map(({ name }) => name)).toEqual(["stays"]);
  });

  test("keeps local storage, and what else is in the file", async () => {
    const indexedDB = [{ name: "db" }];
    writeFileSync(
      file,
      JSON.stringify({
        cookies: [],
        origins: [{ origin: "http://a.test", localStorage: [], indexedDB }],
        more: 1,
      }),
    );
    {
      await using session = open();
      await session.take({ cookies: [], storage: [{ origin: "http://a.test", name: "k", value: "v" }] });
    }
    expect(saved()).toMatchObject({
      more: 1,
      origins: [{ origin: "http://a.test", localStorage: [{ name: "k", value: "v" }], indexedDB }],
    });
  });

  test("keeps the databases of an origin, each time as a whole", async () => {
    const origin = "http://a.test";
    for (const name of ["old", "new"]) {
      await using session = open();
      await session.take({ cookies: [], storage: [], databases: [{ origin, indexedDB: [{ name }] }] });
    }
    expect(saved().origins).toEqual([{ origin, localStorage: [], indexedDB: [{ name: "new" }] }]);
  });

  test("takes as many entries of one origin as a page may store", async () => {
    await using session = createBrowsingSession(null, Date.now);
    const storage = Array.from({ length: 100_000 }, (_, n) => ({
      origin: "http://a.test",
      name: `k${n}`,
      value: "",
    }));
    await session.take({ cookies: [], storage });
    expect(session.state().origins[0]?.localStorage).toHaveLength(100_000);
  });

  test("keeps the storage of a limited number of origins", async () => {
    await using session = createBrowsingSession(null, Date.now);
    for (let n = 0; n < 150; n++)
      await session.take({ cookies: [], storage: [{ origin: `http://o${n}.test`, name: "k", value: "v" }] });
    await session.take({ cookies: [], storage: [{ origin: "http://o0.test", name: "k", value: "new" }] });
    expect(session.state().origins).toHaveLength(100);
    expect(session.state().origins[0]?.localStorage).toEqual([{ name: "k", value: "new" }]);
    const large = "x".repeat(5_000_000);
    for (let n = 0; n < 10; n++)
      await session.take({
        cookies: [],
        storage: [{ origin: `http://o${n}.test`, name: "l", value: large }],
      });
    const kept = session.state().origins.filter(({ localStorage }) => localStorage.length > 1);
    expect(kept.map(({ origin }) => origin)).toEqual([0, 1, 2, 3, 4, 5].map((n) => `http://o${n}.test`));
  });

  test("can be read only by its user", async () => {
    writeFileSync(file, '{"cookies":[],"origins":[]}', { mode: 0o644 });
    await setOnce(["sid=1"]);
    const directory = `${file}.changes`;
    const merged = done().map((name) => join(directory, "done", name));
    const paths = [file, directory, join(directory, "done"), ...merged, join(directory, "lock")];
    expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700, 0o700, 0o600, 0o600]);
  });

  test("replaces the target of a link, and keeps the link", async () => {
    const target = join(directory, "target.json");
    writeFileSync(target, '{"cookies":[],"origins":[]}');
    symlinkSync(target, file);
    await setOnce(["sid=1"]);
    expect(JSON.parse(readFileSync(target, "utf8")).cookies).toHaveLength(1);
  });

  test("says what is wrong with a file that holds no state", () => {
    writeFileSync(file, "<html>");
    expect(open).toThrow(`${file} holds no storage state as Playwright writes it`);
    writeFileSync(file, '{"cookies":[{"name":"a"}]}');
    expect(open).toThrow("holds no storage state");
    rmSync(file);
    expect(() => open({ file: directory })).toThrow("cannot be read: it is a directory, not a file");
  });

  test("says when a change cannot be kept", async () => {
    writeFileSync(join(directory, "queue"), "a file");
    const session = open({ queueDirectory: join(directory, "queue") });
    const failure = await setCookies(session, "sid=1").catch((error: Error) => error.message);
    expect(failure).toContain("a change of the session cannot be kept in");
  });

  test("writes nothing when nothing changes", async () => {
    await setOnce(["sid=1"]);
    const before = done().length;
    await setOnce(["sid=1"]);
    expect(done()).toHaveLength(before);
  });

  test("ends normally when the file cannot be written, and the next session has the changes", async () => {
    const lines: string[] = [];
    const log = createLog({ level: "warning", format: "json", write: (line) => lines.push(line) });
    {
      await using session = open({ log });
      writeFileSync(file, "<html>");
      await setCookies(session, "sid=1");
    }
    expect(lines.join("")).toContain("the storage state cannot be written");
    rmSync(file);
    expect(open().cookies.headerFor(SHOP)).toBe("sid=1");
  });

  test("prunes merged changes after the retention", async () => {
    let now = Date.now();
    const times = { now: () => now, retentionMs: 5_000 };
    await setOnce(["a=1"], times);
    expect(done()).toHaveLength(1);
    now += 6_000;
    await setOnce(["b=1"], times);
    expect(done()).toHaveLength(1);
    expect(names()).toEqual(["a", "b"]);
  });
});

describe("a file that several processes share", () => {
  test("loses none of two processes' 200 updates each", async () => {
    const writers = [spawnWriter("a", 200), spawnWriter("b", 200)];
    await Promise.all(writers.map((writer) => new Response(writer.stdout).text()));
    expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0]);
    const expected = ["a", "b"].flatMap((prefix) => Array.from({ length: 200 }, (_, n) => `${prefix}${n}`));
    expect(names()).toEqual(expected.toSorted());
    expect(waiting()).toEqual([]);
  });

  test("loses nothing when a process is killed, whatever it was doing", async () => {
    const reported: string[] = [];
    for (let round = 0; round < 5; round++) {
      const writer = spawnWriter(`r${round}n`, 10_000);
      let text = "";
      for await (const chunk of writer.stdout) {
        text += new TextDecoder().decode(chunk);
        // This is somewhere between pushing and merging.
        if (text.split("\n").length > 20 + 7 * round) writer.kill("SIGKILL");
      }
      await writer.exited;
      reported.push(...text.split("\n").slice(0, -1));
    }
    await setOnce(["last=1"]);
    expect(names()).toEqual(expect.arrayContaining(reported));
    expect(waiting()).toEqual([]);
  });

  test("reads waiting changes, and merges them once the lock is free", async () => {
    await setOnce(["first=1"]);
    const lock = new Database(join(`${file}.changes`, "lock"));
    lock.run("BEGIN EXCLUSIVE");
    const session = open();
    await setCookies(session, "waits=1");
    expect(session.pendingEntries()).toBe(1);
    expect(names()).toEqual(["first"]);
    expect(open().cookies.headerFor(SHOP)).toBe("first=1; waits=1");
    lock.close();
    await session[Symbol.asyncDispose]();
    expect(names()).toEqual(["first", "waits"]);
  });

  test("warns of too many waiting changes, and of one that waits too long", async () => {
    const lines: string[] = [];
    const log = createLog({ level: "warning", format: "json", write: (line) => lines.push(line) });
    let now = Date.now();
    await setOnce(["first=1"]);
    const lock = new Database(join(`${file}.changes`, "lock"));
    lock.run("BEGIN EXCLUSIVE");
    const session = open({ log, maxEntries: 2, maxAgeMs: 1_000, now: () => now });
    for (const name of ["a", "b", "c", "d"]) await setCookies(session, `${name}=1`);
    now += 2_000;
    await setCookies(session, "e=1");
    const logged = lines.map((line) => JSON.parse(line));
    expect(logged.map(({ message, storage_queue_pending_entries: n }) => [message, n])).toEqual([
      ["more than 2 changes of the session wait to be merged", 3],
      ["a change of the session waits longer than 1 s to be merged", 5],
    ]);
    lock.close();
    await session[Symbol.asyncDispose]();
    expect(names()).toHaveLength(6);
  });
});
