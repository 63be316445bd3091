import { orAborted } from "../base/abort.ts";
import { keepNewest } from "../base/bounded-map.ts";
import { Failure } from "../base/failure.ts";
import {
  createHostSlots,
  type HostPace,
  type HostPaces,
  type HostRefusal,
  type HostSlots,
  type HostTurn,
  paceAfterRefusal,
  sentAt,
} from "../crawler/index.ts";
import type { Clock, RobotsStore } from "../fetching/index.ts";
import type { Postgres } from "./postgres/postgres.ts";
import { createRobotsStore, SWEEP_ROBOTS } from "./robots.ts";

/** Knowledge about hosts that all processes of one database share. Dispose of it before the database. */
export type SharedHosts = AsyncDisposable & {
  readonly slots: HostSlots;
  readonly paces: HostPaces;
  /**
   * The robots.txt files that sites gave to one kind of client.
   * @param client differs where answers may differ: by user agent, proxy or cookies, or by what may be reached
   */
  robots(client: string): RobotsStore;
};

/** The turn of a process that has died or is frozen ends after this time, in ms. */
const HOLD_MS = 15_000;
const RENEW_EVERY_MS = 5_000;
/** How often a process asks for a host that another process has a request to, in ms. */
const POLL_MS = 50;
/** Another process may lengthen a pause, so a wait is checked again after this time, in ms. */
const MAX_WAIT_MS = 60_000;
/** How old the knowledge of what other processes have learned may be, in ms. */
const LEARN_EVERY_MS = 1_000;
/** Each look also rereads this period before the last look, in ms: a row with an earlier time may commit later. */
const OVERLAP_MS = 10_000;
/** How far back a new process reads, in ms: no pause is longer than an hour. */
const FIRST_LOOK_MS = 70 * 60_000;
const SWEEP_EVERY_MS = 60 * 60_000;
/** The maximum number of hosts whose pace is kept here; the oldest is dropped first. */
const MAX_HOSTS = 10_000;
/** How long the program may take to release its last turns when it ends, in ms. */
const GOODBYE_MS = 1_000;
/** A longer name is kept by its hash, because an index holds no long keys. */
const MAX_NAME = 300;

/**
 * Opens the slots and paces of hosts in a database: all crawls of all processes together are as polite as one. The
 * database's clock grants the turns; one statement takes a host and one frees it. Requests without a delay cost no
 * statement: what other processes have learned of hosts is read once a second.
 */
export const openSharedHosts = (database: Postgres, clock: Clock): SharedHosts =>
  new HostsInDatabase(database, clock);

class HostsInDatabase implements HostSlots, SharedHosts {
  readonly slots = this;
  // It is handed on by itself, so it is bound.
  readonly robots = (client: string): RobotsStore =>
    createRobotsStore(this.#db, client, this.#closing.signal);
  readonly #db: Postgres;
  readonly #within: (signal: AbortSignal) => Postgres;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #known: ReturnType<typeof createKnowledge>;
  readonly #turns: ReturnType<typeof createTurns>;
  /** The last write about each host, so that this process writes in order. */
  readonly #writes = new Map<string, Promise<unknown>>();

  constructor(database: Postgres, clock: Clock) {
    const { signal: closing } = this.#closing;
    this.#clock = clock;
    this.#db = database.patient({ signal: closing });
    this.#within = (signal) => database.patient({ signal: AbortSignal.any([signal, closing]) });
    this.#known = createKnowledge(this.#db, clock);
    this.#turns = createTurns(this.#db, this.#within);
  }

  readonly paces: HostPaces = {
    learn: (signal) => this.#known.learn(signal),
    of: (host) => this.#known.of(keyOf(host)),
    noteRefusal: (host, refusal, signal) => this.#noteRefusal(keyOf(host), refusal, signal),
    noteSuccess: async (host, signal) => {
      const key = keyOf(host);
      const pace = this.#known.of(key);
      if (pace.pauses === 0) return;
      this.#known.keep(key, { ...pace, pauses: 0 });
      await this.#inOrder(key, () => this.#within(signal).run(FORGIVE, [key]));
    },
    adapt: async (host, delayMs, signal) => {
      const key = keyOf(host);
      this.#known.keep(key, { ...this.#known.of(key), adaptiveDelayMs: delayMs });
      // Before the first wait, so that a turn that is released next is freed after this.
      const written = this.#inOrder(key, () => rest(this.#within(signal), key, delayMs, delayMs));
      await Promise.all([this.#known.slots.pause(key, delayMs), written]);
    },
  };

  async take(host: string, options: Parameters<HostSlots["take"]>[1]): Promise<HostTurn> {
    // Unlimited patience always ends with a turn.
    return (await this.takeSoon(host, { ...options, patienceMs: Number.POSITIVE_INFINITY })) as HostTurn;
  }

  async takeSoon(host: string, options: Parameters<HostSlots["takeSoon"]>[1]): Promise<HostTurn | number> {
    const { delayMs, patienceMs, signal } = options;
    const key = keyOf(host);
    const { slots } = this.#known;
    await this.#known.learn(signal);
    const pausedMs = await slots.restMs(key, 0);
    if (pausedMs > patienceMs) return pausedMs;
    // The local line gives this process's requests an order, and only its first asks the database.
    const mine = await slots.take(key, options);
    if (delayMs === 0) return mine;
    const turn = crypto.randomUUID();
    const leave = (): Promise<void> => this.#inOrder(key, () => this.#turns.leave(key, turn));
    try {
      for (;;) {
        const waitMs = await this.#turns.take({ key, turn, delayMs, patienceMs, signal });
        if (waitMs === 0) break;
        if (waitMs > patienceMs) {
          mine.release();
          return waitMs;
        }
        await this.#clock.sleep(Math.min(waitMs, MAX_WAIT_MS), signal);
      }
    } catch (error) {
      leave().catch(() => {}); // otherwise the turn runs out
      mine.release();
      throw error;
    }
    // The next in line here would otherwise find the host taken.
    return { release: () => void leave().then(mine.release, mine.release) };
  }

  async pause(host: string, ms: number): Promise<number> {
    const key = keyOf(host);
    await this.#known.slots.pause(key, ms);
    return await this.#inOrder(key, () => rest(this.#db, key, ms, null));
  }

  restMs(host: string, delayMs: number): Promise<number> {
    return this.#known.slots.restMs(keyOf(host), delayMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.race([Promise.allSettled(this.#writes.values()), Bun.sleep(GOODBYE_MS)]);
    this.#closing.abort();
    this.#turns[Symbol.dispose]();
  }

  async #noteRefusal(key: string, refusal: HostRefusal, signal: AbortSignal): Promise<number> {
    const { slots, keep, of } = this.#known;
    // This process pauses at once, even while the database cannot be reached.
    await slots.pause(key, refusal.leastMs);
    const { pauseMs, ...pace } = await this.#inOrder(key, () =>
      recordRefusal(this.#within(signal), key, refusal, this.#clock),
    );
    keep(key, { ...of(key), ...pace });
    return Math.max(pauseMs, await slots.pause(key, pace.closedMs === 0 ? pauseMs : 0));
  }

  #inOrder<T>(key: string, write: () => Promise<T>): Promise<T> {
    const written = (this.#writes.get(key) ?? Promise.resolve()).then(write, write);
    this.#writes.set(key, written);
    const forget = (): void => {
      if (this.#writes.get(key) === written) this.#writes.delete(key);
    };
    written.then(forget, forget);
    return written;
  }
}

const keyOf = (host: string): string =>
  host.length <= MAX_NAME ? host : new Bun.CryptoHasher("sha256").update(host).digest("hex");

type Wish = {
  readonly key: string;
  readonly turn: string;
  readonly delayMs: number;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
};

/** The turns of this process; those under way are renewed, so that only a dead process loses them. */
function createTurns(db: Postgres, within: (signal: AbortSignal) => Postgres) {
  const held = new Map<string, { readonly key: string; readonly startedAt: number }>();
  const renew = (): void => {
    if (held.size === 0) return;
    const keys = [...held.values()].map(({ key }) => key);
    db.run(
      `UPDATE host_pace SET held_until = clock_timestamp() + $3 * interval '1 millisecond'
       WHERE host = ANY ($1::text[]) AND holder = ANY ($2::uuid[])`,
      [keys, [...held.keys()], HOLD_MS],
    ).catch(() => {}); // it is tried again, or the turn runs out
  };
  const timer = setInterval(renew, RENEW_EVERY_MS);
  timer.unref?.();
  return {
    /** Takes the host, or returns how long to wait before the next try, in ms. */
    async take({ key, turn, delayMs, patienceMs, signal }: Wish): Promise<number> {
      for (;;) {
        const askedAt = performance.now();
        const [row] = await within(signal).query<{ readonly wait_ms: number }>(
          "SELECT take_host($1, $2, $3, $4, $5, $6) AS wait_ms",
          [key, turn, delayMs, patienceMs, HOLD_MS, POLL_MS],
        );
        const waitMs = row?.wait_ms ?? POLL_MS;
        if (waitMs > 0) return waitMs;
        const startedAt = performance.now();
        // After a longer time, as after a freeze, another process may have the host.
        if (startedAt - askedAt >= HOLD_MS) continue;
        held.set(turn, { key, startedAt });
        return 0;
      }
    },
    /** Gives the host back, or the place in line for it. */
    async leave(key: string, turn: string): Promise<void> {
      // This process knew of its turn later than the database granted it.
      const now = performance.now();
      const sentMsAgo = now - sentAt(held.get(turn)?.startedAt ?? now, now);
      held.delete(turn);
      await db.run(
        `UPDATE host_pace SET
           holder = CASE WHEN holder = $2 THEN NULL ELSE holder END,
           waiter = CASE WHEN waiter = $2 THEN NULL ELSE waiter END,
           last_start = CASE WHEN holder = $2
             THEN greatest(last_start, clock_timestamp() - $3 * interval '1 millisecond') ELSE last_start END
         WHERE host = $1 AND (holder = $2 OR waiter = $2)`,
        [key, turn, sentMsAgo],
      );
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

type LearnedRow = {
  /** The time of the look, on the database's clock in s. */
  readonly at: number;
  /** Null where nothing was learned. */
  readonly host: string | null;
  readonly pauses: number;
  readonly adaptive_delay_ms: number;
  readonly paused_ms: number | null;
  readonly closed_ms: number | null;
};

const learnedSince = (condition: string): string =>
  `SELECT extract(epoch FROM now())::float8 AS at, host, pauses, adaptive_delay_ms,
     (extract(epoch FROM paused_until - now()) * 1000)::float8 AS paused_ms,
     (extract(epoch FROM closed_until - now()) * 1000)::float8 AS closed_ms
   FROM (SELECT) AS once LEFT JOIN host_pace ON ${condition}
   ORDER BY learned_at DESC NULLS LAST LIMIT ${MAX_HOSTS}`;
const LEARN = learnedSince("learned_at > to_timestamp($1)");
const LEARN_FIRST = learnedSince(
  "learned_at > now() - $1 * interval '1 millisecond' OR closed_until > now()",
);
const SWEEP = `DELETE FROM host_pace WHERE host IN (
  SELECT host FROM host_pace
  WHERE greatest(last_start, learned_at, held_until, paused_until, closed_until) < now() - interval '1 day'
  LIMIT 10000 FOR UPDATE SKIP LOCKED)`;
const FORGIVE =
  "UPDATE host_pace SET pauses = 0, learned_at = clock_timestamp() WHERE host = $1 AND pauses > 0";

/** This process's knowledge about hosts: its own requests, and those of other processes as read from the database. */
function createKnowledge(db: Postgres, clock: Clock) {
  const slots = createHostSlots(clock);
  const paces = new Map<string, Omit<HostPace, "closedMs"> & { readonly closedUntil: number }>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let since: number | null = null;
  let looking: Promise<void> | null = null;

  const keep = (key: string, { closedMs, ...pace }: HostPace): void => {
    keepNewest(paces, key, { ...pace, closedUntil: performance.now() + closedMs }, MAX_HOSTS);
  };
  const look = async (): Promise<void> => {
    const startedAt = performance.now();
    const rows =
      since === null
        ? await db.query<LearnedRow>(LEARN_FIRST, [FIRST_LOOK_MS])
        : await db.query<LearnedRow>(LEARN, [since - OVERLAP_MS / 1000]);
    for (const { host, pauses, adaptive_delay_ms: adaptiveDelayMs, ...row } of rows) {
      if (host === null) continue;
      keep(host, { pauses, adaptiveDelayMs, closedMs: Math.max(0, row.closed_ms ?? 0) });
      if (row.paused_ms !== null && row.paused_ms > 0) await slots.pause(host, row.paused_ms);
    }
    since = rows[0]?.at ?? since;
    lookedAt = startedAt;
    if (startedAt - sweptAt < SWEEP_EVERY_MS) return;
    sweptAt = startedAt;
    for (const sweep of [SWEEP, SWEEP_ROBOTS]) db.run(sweep).catch(() => {}); // tried again in an hour
  };
  return {
    /** This process's line for each host, with the pauses that it knows of. */
    slots,
    keep,
    async learn(signal: AbortSignal): Promise<void> {
      if (performance.now() - lookedAt < LEARN_EVERY_MS) return;
      looking ??= look().finally(() => {
        looking = null;
      });
      const calledOff = (): Failure => new Failure("cancelled", "learning the pace of hosts was cancelled");
      await orAborted(looking, signal, calledOff);
    },
    of(key: string): HostPace {
      const { adaptiveDelayMs = 0, pauses = 0, closedUntil = 0 } = paces.get(key) ?? {};
      return { adaptiveDelayMs, pauses, closedMs: Math.max(0, closedUntil - performance.now()) };
    },
  };
}

/**
 * Lets a host rest for everybody.
 * @param adaptiveDelayMs null leaves it as it is
 * @returns how long the host is paused now, in ms
 */
async function rest(
  db: Postgres,
  key: string,
  pauseMs: number,
  adaptiveDelayMs: number | null,
): Promise<number> {
  const [row] = await db.query<{ readonly paused_ms: number }>(
    `INSERT INTO host_pace AS pace (host, paused_until, adaptive_delay_ms, learned_at)
     VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond', coalesce($3::float8, 0), clock_timestamp())
     ON CONFLICT (host) DO UPDATE SET
       paused_until = greatest(pace.paused_until, excluded.paused_until),
       adaptive_delay_ms = coalesce($3::float8, pace.adaptive_delay_ms), learned_at = excluded.learned_at
     RETURNING (extract(epoch FROM paused_until - clock_timestamp()) * 1000)::float8 AS paused_ms`,
    [key, pauseMs, adaptiveDelayMs],
  );
  return Math.max(0, row?.paused_ms ?? 0);
}

type RefusedRow = {
  readonly pauses: number;
  readonly refusal: string | null;
  readonly paused_ms_ago: number | null;
  readonly closed_ms: number | null;
  readonly paused_ms: number | null;
};

/** Counts a refusal once, also when a statement runs twice, and pauses or closes the host for everybody. */
async function recordRefusal(
  db: Postgres,
  key: string,
  refusal: HostRefusal,
  clock: Pick<Clock, "random">,
): Promise<{ readonly pauses: number; readonly closedMs: number; readonly pauseMs: number }> {
  const id = crypto.randomUUID();
  for (;;) {
    const [row] = await db.query<RefusedRow>(
      `SELECT pauses, refusal::text, (extract(epoch FROM clock_timestamp() - paused_at) * 1000)::float8 AS paused_ms_ago,
         (extract(epoch FROM closed_until - clock_timestamp()) * 1000)::float8 AS closed_ms,
         (extract(epoch FROM paused_until - clock_timestamp()) * 1000)::float8 AS paused_ms
       FROM host_pace WHERE host = $1`,
      [key],
    );
    const { pauses = 0, refusal: seen = null } = row ?? {};
    const closedMs = Math.max(0, row?.closed_ms ?? 0);
    if (seen === id) return { pauses, closedMs, pauseMs: Math.max(refusal.leastMs, row?.paused_ms ?? 0) };
    const pausedMsAgo = row?.paused_ms_ago ?? Number.POSITIVE_INFINITY;
    const next = paceAfterRefusal({ pauses, closedMs, pausedMsAgo }, refusal, clock.random);
    // The pages of a closed host fail now, not after the pause.
    const [closedNowMs, pausedNowMs] = next.closedMs > 0 ? [next.closedMs, null] : [null, next.pauseMs];
    const changed = await db.run(
      `INSERT INTO host_pace AS pace (host, pauses, paused_at, closed_until, paused_until, refusal, learned_at)
       VALUES ($1, $2, clock_timestamp(), clock_timestamp() + $3::float8 * interval '1 millisecond',
         clock_timestamp() + $4::float8 * interval '1 millisecond', $5, clock_timestamp())
       ON CONFLICT (host) DO UPDATE SET pauses = excluded.pauses, refusal = excluded.refusal,
         paused_at = CASE WHEN $6 THEN excluded.paused_at ELSE pace.paused_at END,
         closed_until = greatest(pace.closed_until, excluded.closed_until),
         paused_until = greatest(pace.paused_until, excluded.paused_until), learned_at = excluded.learned_at
       WHERE pace.pauses = $7 AND pace.refusal IS NOT DISTINCT FROM $8::uuid`,
      [key, next.pauses, closedNowMs, pausedNowMs, id, next.isNew, pauses, seen],
    );
    if (changed > 0) return next;
  }
}
