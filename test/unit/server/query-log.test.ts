import { beforeEach, describe, expect, test } from "bun:test";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../../src/base/database/index.ts";
import { openQueryLog } from "../../../src/server/api/search/query-log.ts";
import { readQueryLog } from "../../../src/server/index.ts";
import { directoryForEachTest } from "../../support/for-all-tests.ts";

const DAY_MS = 86_400_000;
const HITS = ["docs://a/1.md", "docs://a/2.md"];

const directory = directoryForEachTest();
let path: string;
let now: number;
let troubles: unknown[];
beforeEach(async () => {
  path = join(directory(), "queries.sqlite");
  now = 20_000 * DAY_MS + 1000;
  troubles = [];
});

const open = (days = 30, maxBytes = 1e8) =>
  openQueryLog({ path, days, maxBytes, now: () => now, onTrouble: (error) => troubles.push(error) });
const ask = (log: ReturnType<typeof open>, query: string, urls: readonly string[] = HITS, client = "me") =>
  log.searched({ client, query, urls });
const WISH = { days: 3650, size: 20 };

/** What is counted once nothing is typing any more: `query searches/without hits/followed`. */
function counted(log: ReturnType<typeof open>): readonly string[] {
  log.read(WISH);
  now += 6_000;
  return log
    .read(WISH)
    .frequent.map(
      ({ query, searches, without_hits, followed }) => `${query} ${searches}/${without_hits}/${followed}`,
    );
}

describe("the log of queries", () => {
  test("has nothing before the first search", () => {
    using log = open();
    expect(log.read(WISH)).toEqual({
      since: expect.any(String),
      searches: 0,
      queries: 0,
      frequent: [],
      without_hits: [],
      without_click: [],
    });
  });

  test("counts what is asked most, finds nothing, and is not opened", () => {
    using log = open();
    for (let time = 0; time < 3; time++) {
      ask(log, "open a gate");
      now += 10_000;
    }
    log.fetched(HITS[1]!);
    ask(log, "zeppelin", []);
    now += 10_000;
    const record = log.read(WISH);
    expect(record).toMatchObject({ searches: 4, queries: 2 });
    expect(record.frequent.map(({ query }) => query)).toEqual(["open a gate", "zeppelin"]);
    expect(record.without_hits).toEqual([{ query: "zeppelin", searches: 1, without_hits: 1, followed: 0 }]);
    expect(record.without_click).toEqual([
      { query: "open a gate", searches: 3, without_hits: 0, followed: 1 },
    ]);
    expect(log.read({ days: 1, size: 1 }).frequent).toHaveLength(1);
  });

  // A query, with @ and how long nothing is typed after it in ms; `you:` stands before those of somebody else.
  test.each<[string, typed: string, readonly string[]]>([
    ["letter by letter is one query", "r@100;re@100;rea@100;react@100", ["react 1/0/0"]],
    [
      "with longer and longer words, too",
      "react@4000;react hooks@4000;react hooks in lists",
      ["react hooks in lists 1/0/0"],
    ],
    ["after a pause it is another", "react@6000;react hooks", ["react 1/0/0", "react hooks 1/0/0"]],
    ["of somebody else it is another", "you:react;react hooks", ["react 1/0/0", "react hooks 1/0/0"]],
    ["that goes on in the middle is another", "react;use react", ["react 1/0/0", "use react 1/0/0"]],
    ["beside another of the same client is kept apart", "re;vue;react", ["react 1/0/0", "vue 1/0/0"]],
    ["again at once is the same, as when the page asks each tenant", "gate;gate;gate", ["gate 1/0/0"]],
    ["again later counts again", "gate@6000;Gate  ", ["gate 2/0/0"]],
  ])("what is typed %s", (_, typed, expected) => {
    using log = open();
    for (const part of typed.split(";")) {
      const [, client, query = "", waitMs = "0"] = /^(?:(you):)?(.*?)(?:@(\d+))?$/.exec(part) ?? [];
      ask(log, query, HITS, client);
      now += Number(waitMs);
    }
    expect(counted(log)).toEqual(expected);
  });

  test("counts a search in which one of several tenants found something as one with hits", () => {
    using log = open();
    for (const urls of [[], HITS, []]) ask(log, "gate", urls);
    ask(log, "weir", []);
    ask(log, "weir", []);
    expect(counted(log)).toEqual(["gate 1/0/0", "weir 1/1/0"]);
  });

  test("counts a document for the last search that showed it, for ten minutes", () => {
    using log = open();
    ask(log, "gate");
    now += 10_000;
    ask(log, "weir");
    now += 10_000;
    ask(log, "lock", ["docs://a/3.md"]);
    log.fetched(HITS[0]!);
    log.fetched(HITS[1]!);
    log.fetched("docs://a/of-no-search.md");
    expect(counted(log)).toEqual(["gate 1/0/0", "lock 1/0/0", "weir 1/0/1"]);
    now += 600_000;
    log.fetched("docs://a/3.md");
    expect(counted(log)).toEqual(["gate 1/0/0", "lock 1/0/0", "weir 1/0/1"]);
  });

  test("does not take a query for typing whose result was opened", () => {
    using log = open();
    ask(log, "gate");
    log.fetched(HITS[0]!);
    ask(log, "gate in winter");
    expect(counted(log)).toEqual(["gate 1/0/1", "gate in winter 1/0/0"]);
  });

  test("keeps so many days, and reads fewer", () => {
    using log = open(3);
    for (let day = 0; day < 5; day++) {
      ask(log, `day ${day}`);
      log.read(WISH);
      now += DAY_MS;
    }
    now -= DAY_MS - 700_000;
    expect(counted(log)).toEqual(["day 2 1/0/0", "day 3 1/0/0", "day 4 1/0/0"]);
    const { since, searches } = log.read({ days: 2, size: 20 });
    expect({ since, searches }).toEqual({
      since: new Date(now - DAY_MS).toISOString().slice(0, 10),
      searches: 2,
    });
  });

  test.each([
    ["  Open\n a\tGATE  ", "open a gate"],
    ["x".repeat(1000), "x".repeat(200)],
    [`${"x".repeat(199)}😀`, `${"x".repeat(199)}\uFFFD`],
    ["401 for https://me:secret@host/x", "401 for https://…@host/x"],
    ["ghp_16C7e42F292c6912E7710c838347Ae178B4a fails", "ghp_… fails"],
    ["a" + "1b2c3d4e".repeat(8), "…"],
    ["internationalization.of.getElementsByTagNameNS2", "internationalization.of.getelementsbytagnamens2"],
    ["\uD83D", "\uFFFD"],
    ["mail to Jo.Smith+docs@mail.example.org fails", "mail to … fails"],
    ["<jürgen@bücher.example>: bounced", "<…>: bounced"],
    ["a@b.cd", "…"],
    ["@types/node and react@18.2.0", "@types/node and react@18.2.0"],
    ["decorators @app.get('/')", "decorators @app.get('/')"],
    ["call +49 (170) 123-45-67 now", "call +… now"],
    ["4111 1111 1111 1111", "…"],
    ["DE89370400440532013000", "…"],
    ["2026-11-24 at 10:15", "2026-11-24 at 10:15"],
    ["version 1.22.333 of 404", "version 1.22.333 of 404"],
    ["AKIAIOSFODNN7EXAMPLE", "…"],
    ["d41d8cd98f00b204e9800998ecf8427e", "…"],
    ["commit 0123456789abcdef", "commit …"],
    ["password: hunter2 refused", "password: … refused"],
    ["API_KEY=abc", "api_key=…"],
    ["bearer token of an api key", "bearer token of an api key"],
    ["MAX_SEARCH_RESULTS SQLITE_BUSY_SNAPSHOT2", "max_search_results sqlite_busy_snapshot2"],
    ["client_secret=abc", "client_secret=…"],
    ["AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI/K7", "aws_secret_access_key: …"],
    ["api key: 12ab or pwd=foo", "api key: … or pwd=…"],
    ["Authorization: Basic dXNlcjpw", "authorization: …"],
    ["Bearer eyJhbGciOiJI.eyJzdWIi.abcDEF expired", "bearer … expired"],
    ["user%40example.com login", "… login"],
    ["sk-proj-abc123DEF456ghi789JKL", "…"],
    ["AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", "…"],
    ["1".repeat(100), "…"],
    ["git clone git@github.com:org/repo.git", "git clone git@github.com:org/repo.git"],
    ["CVE-2024-12345 in MultiHeadAttention2DWithBias", "cve-2024-12345 in multiheadattention2dwithbias"],
    ["InternationalizationFixtureGenerator20241124", "internationalizationfixturegenerator20241124"],
    ["windows-10-version-22h2-build-19045 max_tokens=1", "windows-10-version-22h2-build-19045 max_tokens=1"],
    ["a\u202Eb", "a b"],
  ])("keeps of %p only %p", (query, kept) => {
    using log = open();
    ask(log, query);
    expect(counted(log)).toEqual([`${kept} 1/0/0`]);
  });

  test("keeps nothing of a query without text", () => {
    using log = open();
    for (const query of ["", " \n", "\u0000"]) ask(log, query);
    expect(counted(log)).toEqual([]);
  });

  test("is one for several processes", () => {
    using one = open();
    using other = open();
    ask(one, "re");
    one.read(WISH);
    now += 100;
    ask(other, "react");
    other.read(WISH);
    one.fetched(HITS[0]!);
    expect(counted(one)).toEqual(["react 1/0/1"]);
    expect(counted(other)).toEqual(["react 1/0/1"]);
  });

  test("forgets who asked within seconds, also when it ends or another was killed, and is for its user alone", () => {
    const clients = () => {
      const database = openDatabase({ path, name: "test", access: { kind: "shared" } });
      const rows = database.prepare<{ client: number | null }>("SELECT client FROM recent_searches").all();
      database.close();
      return rows.map(({ client }) => client);
    };
    const log = open();
    ask(log, "gate", HITS, "192.0.2.7");
    log.read(WISH);
    expect(clients()).toEqual([expect.any(Number)]);
    expect(clients()[0]).toBeLessThan(65_536);
    // Another process does it for one that was killed.
    now += 6_000;
    {
      using other = open();
      other.read(WISH);
      expect(clients()).toEqual([null]);
    }
    ask(log, "weir", HITS, "192.0.2.7");
    log[Symbol.dispose]();
    expect(clients()).toEqual([null, null]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("is read without a server, and says where none is", () => {
    expect(() => readQueryLog(path, WISH)).toThrow(
      `no queries have been logged: there is no ${path}; infrastructure.query_log_days in the deployment file turns logging on`,
    );
    expect(existsSync(path)).toBeFalse();
    const log = open();
    ask(log, "gate");
    log[Symbol.dispose]();
    expect(readQueryLog(path, WISH, now + 6_000).frequent).toHaveLength(1);
  });
});

describe("a log that cannot be written", () => {
  test("never throws, waits for a lock, and then has what was asked meanwhile", () => {
    using log = open();
    ask(log, "before");
    log.read(WISH);
    const other = openDatabase({ path, name: "test", access: { kind: "shared" } });
    other.run("BEGIN IMMEDIATE");
    now += 10_000;
    ask(log, "meanwhile");
    log.fetched(HITS[0]!);
    log.read(WISH);
    expect(troubles).toHaveLength(1);
    other.run("COMMIT");
    other.close();
    expect(counted(log)).toEqual(["before 1/0/0", "meanwhile 1/0/1"]);
    expect(troubles).toHaveLength(1);
  });

  test("is left out when its file is no database, or its directory is gone", () => {
    writeFileSync(path, "no database ".repeat(1000));
    const damaged = open();
    ask(damaged, "gate");
    expect(() => damaged.read(WISH)).toThrow("is damaged, or is not the log of queries");
    damaged[Symbol.dispose]();
    path = join(directory(), "missing/queries.sqlite");
    const lost = open();
    ask(lost, "gate");
    lost[Symbol.dispose]();
    expect(troubles.length).toBeGreaterThanOrEqual(2);
  });

  test("loses what is over its size, and takes queries again when days fall out", () => {
    using log = open(1, 200_000);
    for (let at = 0; at < 2_000; at++) ask(log, `${at} ${"x".repeat(180)}`, HITS, `${at}`);
    expect(log.read(WISH).searches).toBe(0);
    expect(troubles.map(String)).toEqual([expect.stringContaining("the disk is full")]);
    expect(statSync(path).size).toBeLessThan(250_000);
    for (let at = 0; at < 140; at++) {
      now += 601_000;
      for (let time = 0; time < 10; time++) ask(log, `${at} ${time} ${"y".repeat(180)}`);
      log.read(WISH);
    }
    now += 2 * DAY_MS;
    ask(log, "gate");
    expect(counted(log)).toEqual(["gate 1/0/0"]);
  });
});
