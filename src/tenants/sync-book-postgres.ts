import type { Log } from "../base/log.ts";
import type { Postgres } from "../base/postgres/index.ts";
import { openSharedLeases } from "../base/postgres/index.ts";
import { beginWork, leaseOf, recordOf, type SyncBook, type SyncRecord, warnsOf } from "./sync-book.ts";

/** How long who waits for an answer waits for a database that is away, in ms. */
const WAIT_MS = 10_000;

/** Opens the book of all processes that share a database, on whatever machine they run. */
export function openSharedSyncBook(database: Postgres, log: Log): SyncBook {
  const db = database.patient({ waitMs: WAIT_MS });
  const leases = openSharedLeases(database);
  const leasing = { leases, owner: crypto.randomUUID(), onLeaseError: warnsOf(log) };
  return {
    ...leasing,
    async read(codenames) {
      const rows = await db.query<Row>(READ, [codenames, codenames.map(leaseOf)]);
      return rows.map(({ record, is_asked: isAsked, is_taken: isTaken }) =>
        recordOf(record ?? {}, { isAsked, isTaken }),
      );
    },
    async write(codename, change) {
      await db.run(MERGE, [codename, jsonOf(change)]);
    },
    async request(codename) {
      await db.run(
        "INSERT INTO sync_request (codename) VALUES ($1) ON CONFLICT (codename) DO UPDATE SET taker = NULL",
        [codename],
      );
    },
    async takeRequests(codenames) {
      const taker = crypto.randomUUID();
      const taken = await db.query<{ readonly codename: string }>(TAKE, [codenames, taker]);
      if (taken.length > 0) await db.run("DELETE FROM sync_request WHERE taker = $1", [taker]);
      return taken.map(({ codename }) => codename);
    },
    // No released version kept records here.
    inherit: async () => {},
    begin: (codename) =>
      beginWork(codename, leasing, async (change, { fence, lost }) => {
        // Without the lease there is nothing to write, and so nothing to wait for.
        if (lost.aborted) return;
        const waiting = database.patient({ signal: lost });
        await waiting.run(MERGE_FENCED, [codename, jsonOf(change), leaseOf(codename), fence]);
      }),
  };
}

type Row = {
  readonly record: Partial<SyncRecord> | null;
  readonly is_asked: boolean;
  readonly is_taken: boolean;
};

const READ = `
  SELECT record, request.codename IS NOT NULL AS is_asked, lease.name IS NOT NULL AS is_taken
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (codename, lease, place)
  LEFT JOIN sync_record USING (codename)
  LEFT JOIN sync_request AS request USING (codename)
  LEFT JOIN lease ON lease.name = wanted.lease AND owner IS NOT NULL AND expires_at > clock_timestamp()
  ORDER BY place`;
const MERGE = `
  INSERT INTO sync_record AS kept (codename, record) VALUES ($1, $2::jsonb)
  ON CONFLICT (codename) DO UPDATE SET record = kept.record || excluded.record`;
// The row of the lease is locked, so that nobody takes it between the look and the write.
const MERGE_FENCED = `
  WITH held AS (SELECT FROM lease WHERE name = $3 AND fence = $4 FOR SHARE)
  INSERT INTO sync_record AS kept (codename, record) SELECT $1, $2::jsonb FROM held
  ON CONFLICT (codename) DO UPDATE SET record = kept.record || excluded.record`;
// Sent twice, it yields what this taker has taken already.
const TAKE = `
  UPDATE sync_request SET taker = $2, taken_at = clock_timestamp()
  WHERE codename = ANY ($1::text[])
    AND (taker IS NULL OR taker = $2 OR taken_at < clock_timestamp() - interval '15 seconds')
  RETURNING codename`;

/** As JSON that the database takes: texts of documents and messages may hold what is no text there. */
const jsonOf = (change: Partial<SyncRecord>): string =>
  JSON.stringify(change, (_, value: unknown) =>
    typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : value,
  );
