import type { Database } from "../../base/database/index.ts";
import type { FrontierCounts } from "./frontier.ts";

/** A page as the frontier finds it by its URL. */
export type KnownRow = {
  readonly id: number;
  readonly state: number;
  readonly run: number;
  readonly depth: number;
  readonly parent: number | null;
};

type Count = { readonly count: number };
type LeftRow = { readonly id: number; readonly host: number; readonly depth: number; readonly state: number };

/** The statements of a frontier about pages, counts, links and warnings. */
export function prepare(db: Database) {
  return {
    counts: db.prepare<FrontierCounts>("SELECT successful, failed, skipped, fetched, queued FROM crawl"),
    setCounts: db.prepare<unknown, [number, number, number, number, number]>(
      "UPDATE crawl SET successful = ?1, failed = ?2, skipped = ?3, fetched = ?4, queued = ?5",
    ),
    find: db.prepare<KnownRow, [string]>("SELECT id, state, run, depth, parent FROM page WHERE url = ?1"),
    insert: db.prepare<
      { id: number },
      [string, number, number, number | null, number, number, number, string | null]
    >(
      `INSERT INTO page (url, host, depth, parent, source, state, run, last_modified)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (url) DO UPDATE SET depth = ?3, parent = ?4, source = ?5, state = ?6, run = ?7,
          last_modified = ?8, tries = 0, spent_ms = 0, ready_at = 0, owner = NULL
        RETURNING id`,
    ),
    found: db.prepare<unknown, [number, number, number | null, number]>(
      "UPDATE page SET depth = ?2, parent = ?3, source = ?4 WHERE id = ?1",
    ),
    lower: db.prepare<unknown, [number, number, number | null]>(
      "UPDATE page SET depth = ?2, parent = ?3 WHERE id = ?1",
    ),
    raise: db.prepare<unknown, [number, number, number | null]>(
      "UPDATE page SET state = 0, depth = ?2, parent = ?3 WHERE id = ?1",
    ),
    requeueLeft: db.prepare<LeftRow, [number, number]>(
      `UPDATE page SET state = iif(tries > 0, 2, 0)
        WHERE id IN (SELECT id FROM page WHERE state >= 5 AND depth <= ?1 LIMIT ?2) RETURNING id, host, depth, state`,
    ),
    queueUnmet: db.prepare<{ host: number; depth: number }, [number, number, number]>(
      `UPDATE page SET state = 0, run = ?2, source = ?3, last_modified = NULL, tries = 0, spent_ms = 0, ready_at = 0,
        owner = NULL WHERE id = ?1 RETURNING host, depth`,
    ),
    leftLinks: db.prepare<Count, [number, number]>(
      "SELECT count(*) AS count FROM page WHERE state >= 5 AND state = ?1 AND source > ?2",
    ),
    origins: db.prepare<{ name: string }>("SELECT name FROM origin"),
    addOrigin: db.prepare<unknown, [string]>("INSERT OR IGNORE INTO origin (name) VALUES (?1)"),
    setLastModified: db.prepare<unknown, [number, string]>(
      "UPDATE page SET last_modified = ?2 WHERE id = ?1",
    ),
    setOwner: db.prepare<unknown, [number, number]>("UPDATE page SET owner = ?2 WHERE id = ?1"),
    owner: db.prepare<{ owner: number | null }, [number]>("SELECT owner FROM page WHERE id = ?1"),
    settle: db.prepare<unknown, [number]>("UPDATE page SET state = 3 WHERE id = ?1"),
    settleClaimed: db.prepare<unknown, [number]>("UPDATE page SET state = 3 WHERE id = ?1 AND state = 1"),
    skipLinks: db.prepare<unknown, [string, number]>(
      `INSERT INTO skipped_link VALUES (?1, ?2)
        ON CONFLICT (reason) DO UPDATE SET count = count + excluded.count`,
    ),
    skippedLinks: db.prepare<{ reason: string; count: number }>("SELECT reason, count FROM skipped_link"),
    addWarning: db.prepare<unknown, [string]>(
      "INSERT INTO warning (text) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM warning WHERE text = ?1)",
    ),
    warnings: db.prepare<{ text: string }>("SELECT text FROM warning ORDER BY id"),
  };
}
