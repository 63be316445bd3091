import { existsSync } from "node:fs";
import type { Damage } from "../../../base/damaged.ts";
import { type Database, openDatabase } from "../../../base/database/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { QueryObserver } from "../mcp/fetch-document.ts";
import type { z } from "../openapi.ts";
import type * as schemas from "./schemas.ts";

/** The answer of `GET /analytics`. */
export type QueriesRecord = z.infer<typeof schemas.Queries>;

/** How often a query was asked. */
export type QueryCounts = QueriesRecord["frequent"][number];

export type QueriesWish = {
  /** How many days back; today is the first. */
  readonly days: number;
  /** The most queries of each list. */
  readonly size: number;
};

type QueryLogOptions = {
  readonly path: string;
  /** How many days are kept, at least 1. */
  readonly days: number;
  readonly maxBytes?: number;
  /** Called when the log begins to refuse writes; searches continue without it. */
  readonly onTrouble: (error: unknown) => void;
  /** Called when the file was damaged and put aside; without it, a damaged file is refused. */
  readonly onDamaged?: (damage: Damage) => void;
  /** The time in ms since 1970. */
  readonly now?: () => number;
};

/** The longest query that is kept, in UTF-16 code units; the rest is cut. */
const MAX_QUERY = 200;
/** A query that begins with the same client's earlier query continues it within this time, in ms. */
const TYPING_MS = 5_000;
/** An opened document counts for a search within this time, in ms. */
const FOLLOW_MS = 600_000;
const FLUSH_MS = 1_000;
/** The most entries that wait while the file cannot be written; further entries are lost. */
const MAX_PENDING = 2_000;
/** Hits after these are opened too rarely. */
const MAX_HITS = 10;
/** How long a write waits for another process, in ms; a search may wait behind it. */
const BUSY_MS = 50;
/** The size of the file; a full one takes no more until days fall out. */
const MAX_BYTES = 64 * 1024 * 1024;
const PAGE_BYTES = 4096;
const DAY_MS = 86_400_000;

type Event =
  | {
      readonly at: number;
      readonly client: number;
      readonly query: string;
      readonly hits: number;
      readonly urls: readonly number[];
    }
  | { readonly at: number; readonly url: number };

/**
 * Counts what people look for. It never throws: what cannot be written now is written later, or lost. It opens its file a
 * moment later; several processes may have that open.
 */
export function openQueryLog(options: QueryLogOptions) {
  const { path, days, maxBytes = MAX_BYTES, onTrouble, onDamaged, now = Date.now } = options;
  let store: QueryStore | null = null;
  let pending: Event[] = [];
  let isTroubled = false;
  let isSettled = false;
  const note = (event: Event): void => {
    if (pending.length < MAX_PENDING) pending.push(event);
  };
  const flush = (): void => {
    if (pending.length === 0 && isSettled) return;
    try {
      store ??= new QueryStore(path, maxBytes, onDamaged);
      // First, so that a file that is full can lose its oldest days.
      isSettled = store.settle(now(), days) && pending.length === 0;
      if (pending.length > 0) store.write(pending);
      pending = [];
      isTroubled = false;
    } catch (error) {
      if (!isTroubled) onTrouble(error);
      isTroubled = true;
      // Only a lock ends soon.
      if (!(error instanceof Failure) || error.code !== "invalid_usage") pending = [];
    }
  };
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  return {
    searched({ client, query, urls }: Parameters<QueryObserver["searched"]>[0]): void {
      const text = keptText(query);
      if (text === "") return;
      const shown = [...new Set(urls.slice(0, MAX_HITS).map((url) => hashOf(url, URL_BITS)))];
      note({ at: now(), client: hashOf(client, CLIENT_BITS), query: text, hits: urls.length, urls: shown });
    },
    fetched: (url: string): void => note({ at: now(), url: hashOf(url, URL_BITS) }),
    /** @throws Failure of the database */
    read(wish: QueriesWish): QueriesRecord {
      flush();
      store ??= new QueryStore(path, maxBytes, onDamaged);
      return store.read(now(), wish);
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      flush();
      try {
        store?.forget(Number.POSITIVE_INFINITY);
      } catch {
        // The next process that opens the file does it.
      }
      store?.[Symbol.dispose]();
    },
  };
}

/**
 * Reads the log of a state directory, beside the servers or without one.
 * @throws Failure `unreadable_input` when there is none, and of the database
 */
export function readQueryLog(path: string, wish: QueriesWish, now = Date.now()): QueriesRecord {
  if (!existsSync(path))
    throw new Failure(
      "unreadable_input",
      `no queries have been logged: there is no ${path}; infrastructure.query_log_days in the deployment file turns logging on`,
    );
  using store = new QueryStore(path, MAX_BYTES);
  return store.read(now, wish);
}

const URL_BITS = 52;
/** So few that a hash says nothing of an address: each belongs to 65 536 addresses of IPv4. */
const CLIENT_BITS = 16;

const hashOf = (text: string, bits: number): number => Number(BigInt.asUintN(bits, BigInt(Bun.hash(text))));

const SECRETS =
  /(passw(?:or)?d|pwd|secret|token|authorization|(?:api|access|secret)[_ -]?key)(\s?[:=]\s?)(?:basic |bearer )?\S+/gi;
/** A key has digits here and there; a name has them in one place, or is all small as `windows-10-22h2-19045`. */
const withoutKey = (word: string): string =>
  /^(?:(?=.*[A-Z])(?=.*[a-z])|(?!.*[_+=-]))(?:\D*\d+(?!\d)){2}/.test(word) ? "…" : word;

/** A query as it is kept: in one line and in lower case, without what looks personal or secret. */
const keptText = (query: string): string =>
  query
    .slice(0, 10 * MAX_QUERY)
    .toWellFormed()
    .replace(/:\/\/[^\s/@]*@/g, "://…@")
    // E-mail addresses, but neither packages (@types/node), nor versions of them (react@18.2.0), nor remotes of git.
    .replace(/[^\s@<>()[\]:;,"'=]{1,64}(?:@|%40)[\p{L}\p{N}.-]{1,253}\.\p{L}{2,63}/gu, (address) =>
      address.startsWith("git@") ? address : "…",
    )
    .replace(SECRETS, "$1$2…")
    .replace(/\beyJ[\w.-]{8,}/g, "…")
    // Names of code have small letters, or no digits.
    .replace(/\b(?=[A-Z\d]*\d)(?=\d*[A-Z])[A-Z\d]{16,}\b|\b(?=[a-f]*\d)[a-f\d]{16,}\b/g, "…")
    // Numbers of telephones, cards and accounts; a date has eight digits, and CVE-2024-12345 is none.
    .replace(/(?<!\d|[A-Z]-)\d(?:[ ./()-]{0,2}\d){8,}/g, "…")
    .replace(/[A-Za-z0-9]{24,}/g, withoutKey)
    .replace(/[\w+=-]{20,}/g, withoutKey)
    // Characters that reverse text would do so in what the log is shown with.
    .replace(/[\p{Cc}\s\u202A-\u202E\u2066-\u2069]+/gu, " ")
    .trim()
    .toLowerCase()
    .slice(0, MAX_QUERY)
    .toWellFormed();

const TABLES = `
  CREATE TABLE IF NOT EXISTS recent_searches (
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, client INTEGER, query TEXT NOT NULL, hits INTEGER NOT NULL,
    is_followed INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX IF NOT EXISTS recent_searches_at ON recent_searches (at);
  CREATE TABLE IF NOT EXISTS shown_documents (
    search INTEGER NOT NULL, url INTEGER NOT NULL, PRIMARY KEY (search, url)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS shown_documents_url ON shown_documents (url);
  CREATE TABLE IF NOT EXISTS queries (
    day INTEGER NOT NULL, query TEXT NOT NULL, searches INTEGER NOT NULL, without_hits INTEGER NOT NULL,
    followed INTEGER NOT NULL, PRIMARY KEY (day, query)
  ) STRICT, WITHOUT ROWID`;

/** SQL for past days, and for searches whose typing has ended; `?1` is the first day, `?2` the time. */
const COUNTED = `
  SELECT query, sum(searches) AS searches, sum(without_hits) AS without_hits, sum(followed) AS followed FROM (
    SELECT query, searches, without_hits, followed FROM queries WHERE day >= ?1
    UNION ALL
    SELECT query, 1, hits = 0, is_followed FROM recent_searches WHERE at >= ?1 * ${DAY_MS} AND at < ?2
  ) GROUP BY query`;

/** The file of the log. Everything throws a Failure of the database. */
class QueryStore implements Disposable {
  readonly #database: Database;
  readonly #add: ReturnType<typeof addingStatements>;
  readonly #settle: ReturnType<typeof settlingStatements>;
  readonly #read: ReturnType<typeof readingStatements>;

  constructor(path: string, maxBytes: number, onDamaged?: (damage: Damage) => void) {
    this.#database = openDatabase({
      path,
      name: "the log of queries",
      access: { kind: "shared" },
      onDamaged,
    });
    try {
      this.#database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
      this.#database.run(`PRAGMA max_page_count = ${Math.floor(maxBytes / PAGE_BYTES)}`);
      for (const table of TABLES.split(";")) this.#database.run(table);
      this.#add = addingStatements(this.#database);
      this.#settle = settlingStatements(this.#database);
      this.#read = readingStatements(this.#database);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  write(events: readonly Event[]): void {
    this.#database.transaction(() => {
      for (const event of events) {
        if ("query" in event) this.#addSearch(event);
        else this.#add.follow.run(event.url, event.at - FOLLOW_MS);
      }
    });
  }

  #addSearch({ at, client, query, hits, urls }: Extract<Event, { query: string }>): void {
    const { typed, add, change, hide, show } = this.#add;
    const rows = typed.all(at - TYPING_MS, client);
    // Another process may have written what was typed later.
    if (rows.some((row) => row.at > at && row.query !== query && row.query.startsWith(query))) return;
    const earlier = rows.find(
      (row) => row.query === query || (row.is_followed === 0 && query.startsWith(row.query)),
    );
    const id = earlier?.id ?? add.get(at, client, query, hits)?.id ?? 0;
    if (earlier) {
      const isSame = earlier.query === query;
      // The page asks tenant by tenant.
      change.run(Math.max(at, earlier.at), query, isSame ? earlier.hits + hits : hits, id);
      if (!isSame) hide.run(id);
    }
    for (const url of urls) show.run(id, url);
  }

  /** Forgets who asked in searches of before. */
  forget(before: number): void {
    this.#settle.forget.run(before);
  }

  /** Brings the file up to date with the time; tells whether nothing is left to do later. */
  settle(now: number, days: number): boolean {
    const { count, hideOld, dropOld, dropDays, left } = this.#settle;
    // By themselves, because counting fails in a full file until days are dropped.
    const first = firstDayOf(now, days);
    dropDays.run(first);
    hideOld.run(first * DAY_MS);
    dropOld.run(first * DAY_MS);
    this.forget(now - TYPING_MS);
    return this.#database.transaction(() => {
      const old = now - FOLLOW_MS;
      count.run(old);
      hideOld.run(old);
      dropOld.run(old);
      return left.get()?.left === 0;
    });
  }

  read(now: number, { days, size }: QueriesWish): QueriesRecord {
    const { totals, frequent, withoutHits, withoutClick } = this.#read;
    const first = firstDayOf(now, days);
    const settled = now - TYPING_MS;
    return {
      since: new Date(first * DAY_MS).toISOString().slice(0, 10),
      ...(totals.get(first, settled) ?? { searches: 0, queries: 0 }),
      frequent: frequent.all(first, settled, size),
      without_hits: withoutHits.all(first, settled, size),
      without_click: withoutClick.all(first, settled, size),
    };
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

const addingStatements = (database: Database) => ({
  typed: database.prepare<
    { id: number; query: string; hits: number; at: number; is_followed: number },
    [number, number]
  >(
    "SELECT id, query, hits, at, is_followed FROM recent_searches WHERE at >= ? AND client = ? ORDER BY at DESC LIMIT 20",
  ),
  add: database.prepare<{ id: number }, [number, number, string, number]>(
    "INSERT INTO recent_searches (at, client, query, hits) VALUES (?, ?, ?, ?) RETURNING id",
  ),
  change: database.prepare<never, [number, string, number, number]>(
    "UPDATE recent_searches SET at = ?, query = ?, hits = ? WHERE id = ?",
  ),
  hide: database.prepare<never, [number]>("DELETE FROM shown_documents WHERE search = ?"),
  show: database.prepare<never, [number, number]>("INSERT OR IGNORE INTO shown_documents VALUES (?, ?)"),
  follow: database.prepare<never, [number, number]>(
    `UPDATE recent_searches SET is_followed = 1 WHERE id = (
       SELECT id FROM shown_documents JOIN recent_searches ON id = search WHERE url = ? AND at >= ?
       ORDER BY at DESC LIMIT 1)`,
  ),
});

const settlingStatements = (database: Database) => ({
  forget: database.prepare<never, [number]>(
    "UPDATE recent_searches SET client = NULL WHERE client IS NOT NULL AND at < ?",
  ),
  count: database.prepare<never, [number]>(
    `INSERT INTO queries SELECT at / ${DAY_MS}, query, count(*), sum(hits = 0), sum(is_followed)
     FROM recent_searches WHERE at < ? GROUP BY 1, 2
     ON CONFLICT DO UPDATE SET searches = searches + excluded.searches,
       without_hits = without_hits + excluded.without_hits, followed = followed + excluded.followed`,
  ),
  hideOld: database.prepare<never, [number]>(
    "DELETE FROM shown_documents WHERE search IN (SELECT id FROM recent_searches WHERE at < ?)",
  ),
  dropOld: database.prepare<never, [number]>("DELETE FROM recent_searches WHERE at < ?"),
  dropDays: database.prepare<never, [number]>("DELETE FROM queries WHERE day < ?"),
  left: database.prepare<{ left: number }>("SELECT EXISTS (SELECT 1 FROM recent_searches) AS left"),
});

function readingStatements(database: Database) {
  const listOf = (condition: string, order: string) =>
    database.prepare<QueryCounts, [number, number, number]>(
      `SELECT * FROM (${COUNTED}) WHERE ${condition} ORDER BY ${order} DESC, query LIMIT ?3`,
    );
  const unfollowed = "searches - without_hits - followed";
  return {
    totals: database.prepare<{ searches: number; queries: number }, [number, number]>(
      `SELECT coalesce(sum(searches), 0) AS searches, count(*) AS queries FROM (${COUNTED})`,
    ),
    frequent: listOf("true", "searches"),
    withoutHits: listOf("without_hits > 0", "without_hits"),
    withoutClick: listOf(`${unfollowed} > 0`, unfollowed),
  };
}

const firstDayOf = (now: number, days: number): number => Math.floor(now / DAY_MS) - days + 1;
