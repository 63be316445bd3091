import type { Leases } from "../database/index.ts";
import type { Postgres } from "./postgres.ts";

/**
 * Leases in the shared database, by its clock alone. They cannot tell that an owner has died, so a lease that is
 * not given back runs out. Requests that get no answer for half of a lease's time reject with the Failure
 * `database_unavailable`.
 *
 * A statement that may only take effect while a holding lasts locks its row:
 * `SELECT 1 FROM lease WHERE name = $1 AND fence = $2 FOR SHARE`.
 */
export function openSharedLeases(database: Postgres): Leases {
  const within = (ms: number): Postgres => database.patient({ waitMs: ms / 2, statementMs: ms / 4 });
  return {
    async take(name, owner, ttlMs) {
      const [row] = await within(ttlMs).query<{ fence: number }>(TAKE, [name, owner, ttlMs]);
      return row?.fence ?? null;
    },
    async release(name, owner) {
      await within(RELEASE_MS).run(RELEASE, [name, owner]);
    },
    async holder(name) {
      const [row] = await database.query<{ owner: string }>(HOLDER, [name]);
      return row?.owner ?? null;
    },
  };
}

/** How long a process that ends waits to give a lease back, in ms. */
const RELEASE_MS = 4_000;

// Sent twice it gives the same fence, as the owner then holds it already.
const TAKE = `
  INSERT INTO lease AS held (name, owner, fence, expires_at)
  VALUES ($1, $2, 1, clock_timestamp() + $3::float8 * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET
    owner = excluded.owner,
    expires_at = clock_timestamp() + $3::float8 * interval '1 millisecond',
    fence = CASE WHEN held.owner = excluded.owner THEN held.fence ELSE held.fence + 1 END
  WHERE held.owner = excluded.owner OR held.owner IS NULL OR held.expires_at <= clock_timestamp()
  RETURNING fence`;
const RELEASE =
  "UPDATE lease SET owner = NULL, expires_at = clock_timestamp() WHERE name = $1 AND owner = $2";
const HOLDER = "SELECT owner FROM lease WHERE name = $1 AND expires_at > clock_timestamp()";
