import { pause } from "../base/abort.ts";
import { Failure, type FailureRecord } from "../base/failure.ts";
import type { RobotsAnswer, RobotsStore } from "../fetching/index.ts";
import type { Postgres } from "./postgres/postgres.ts";

/** A process that fetches a file and is silent for this long, in ms, is taken to be dead; the next process fetches it. */
const FETCHING_MS = 15_000;
const RENEW_EVERY_MS = 5_000;
/** The pauses between looks at a file that another process fetches grow from the first to the last, in ms. */
const LOOK_EVERY_MS = { first: 50, last: 1_000 };

type Row = {
  readonly kind: RobotsAnswer["kind"] | null;
  readonly file: Uint8Array | null;
  readonly failure: string | null;
  readonly rest_ms: number;
};

/**
 * Keeps the robots.txt of sites for all processes, of which one fetches and the others wait.
 * @param client see `SharedHosts.robots`
 * @param closing ends what waits
 */
export function createRobotsStore(db: Postgres, client: string, closing: AbortSignal): RobotsStore {
  return {
    async load(origin, ask, lifetimeMs) {
      const key = new Bun.CryptoHasher("sha256").update(JSON.stringify([client, origin])).digest();
      for (let lookMs = LOOK_EVERY_MS.first; ; lookMs = Math.min(lookMs * 1.5, LOOK_EVERY_MS.last)) {
        const kept = await read(db, key);
        if (kept) return kept;
        const fetcher = crypto.randomUUID();
        if (await begin(db, key, fetcher)) {
          const answer = await fetchAlone({ db, key, fetcher }, ask);
          const restMs = lifetimeMs(answer);
          await keep({ db, key, fetcher }, answer, restMs);
          return { answer, restMs };
        }
        await pause(lookMs, closing);
        if (closing.aborted)
          throw new Failure("cancelled", `waiting for the robots.txt of ${origin} was cancelled`);
      }
    },
  };
}

/** Forgets files that are long out of date. */
export const SWEEP_ROBOTS = `DELETE FROM robots WHERE key IN (SELECT key FROM robots
  WHERE expires_at < now() - interval '1 day' LIMIT 10000 FOR UPDATE SKIP LOCKED)`;

async function read(db: Postgres, key: Uint8Array) {
  const [row] = await db.query<Row>(
    `SELECT kind, file, failure, (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS rest_ms
     FROM robots WHERE key = $1`,
    [key],
  );
  return row && row.kind !== null && row.rest_ms > 0
    ? { answer: answerOf(row.kind, row), restMs: row.rest_ms }
    : null;
}

/** The failure that rows of an earlier version stand for when they name none. */
const SERVER_ERROR: FailureRecord = {
  code: "http_status",
  message: "robots.txt answered with a server error",
};

function answerOf(kind: RobotsAnswer["kind"], { file, failure }: Row): RobotsAnswer {
  if (kind === "file")
    return { kind, text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(file ?? undefined) };
  if (kind === "absent") return { kind };
  return { kind, failure: failure === null ? SERVER_ERROR : (JSON.parse(failure) as FailureRecord) }; // as `keep` wrote it
}

/** Becomes the one who fetches, unless another does or an answer is there by now. */
async function begin(db: Postgres, key: Uint8Array, fetcher: string): Promise<boolean> {
  const changed = await db.run(
    `INSERT INTO robots AS kept (key, expires_at, fetcher, fetching_until)
     VALUES ($1, clock_timestamp(), $2, clock_timestamp() + $3 * interval '1 millisecond')
     ON CONFLICT (key) DO UPDATE SET fetcher = excluded.fetcher, fetching_until = excluded.fetching_until
     WHERE kept.expires_at <= clock_timestamp()
       AND (kept.fetcher IS NULL OR kept.fetcher = excluded.fetcher OR kept.fetching_until <= clock_timestamp())`,
    [key, fetcher, FETCHING_MS],
  );
  return changed > 0;
}

type Fetching = { readonly db: Postgres; readonly key: Uint8Array; readonly fetcher: string };

/** Fetches while the others wait; when it fails, the next of them fetches. */
async function fetchAlone(
  { db, key, fetcher }: Fetching,
  ask: () => Promise<RobotsAnswer>,
): Promise<RobotsAnswer> {
  const renew = (): void => {
    db.run(
      `UPDATE robots SET fetching_until = clock_timestamp() + $3 * interval '1 millisecond'
       WHERE key = $1 AND fetcher = $2`,
      [key, fetcher, FETCHING_MS],
    ).catch(() => {}); // it is tried again, or another fetches as well
  };
  const timer = setInterval(renew, RENEW_EVERY_MS);
  timer.unref?.();
  try {
    return await ask();
  } catch (error) {
    await db.run("UPDATE robots SET fetcher = NULL WHERE key = $1 AND fetcher = $2", [key, fetcher]);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Keeps an answer, unless another process has taken over because this one was silent for too long. */
async function keep({ db, key, fetcher }: Fetching, answer: RobotsAnswer, restMs: number): Promise<void> {
  const file = answer.kind === "file" ? new TextEncoder().encode(answer.text) : null;
  const failure = answer.kind === "unreachable" ? JSON.stringify(answer.failure) : null;
  await db.run(
    `UPDATE robots SET kind = $3, file = $4, failure = $5, fetcher = NULL,
       expires_at = clock_timestamp() + $6 * interval '1 millisecond'
     WHERE key = $1 AND fetcher = $2`,
    [key, fetcher, answer.kind, file, failure, restMs],
  );
}
