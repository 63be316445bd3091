import { expect } from "bun:test";
import { noMetrics } from "../../../src/base/metrics.ts";
import { silentLog } from "../../../src/base/silent-log.ts";
import { openPostgres } from "../../../src/scale/postgres/postgres.ts";
import type { Visit } from "./site.ts";

/** A process's turn at a host, in ms since 1970 by the database's clock. */
type Turn = {
  readonly host: string;
  readonly granted: number;
  /** What the delay to the next turn counts from: when the process knew of its turn, and not before. */
  readonly counted: number;
};

/** Notes each turn that the database grants, in a table of its own. */
const RECORD_TURNS = `
CREATE TABLE test_turn (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, turn uuid, host text, granted timestamptz, counted timestamptz);
CREATE INDEX ON test_turn (turn);
CREATE FUNCTION note_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.holder IS NOT NULL AND NEW.holder IS DISTINCT FROM OLD.holder THEN
    INSERT INTO test_turn (turn, host, granted, counted)
      VALUES (NEW.holder, NEW.host, NEW.last_start, NEW.last_start);
  ELSE
    -- It ends, or it is granted again since the answer was lost. One that ran out meanwhile is granted as a new one.
    UPDATE test_turn SET counted = NEW.last_start
      WHERE id = (SELECT max(id) FROM test_turn WHERE turn = OLD.holder);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER note_turn AFTER UPDATE OF last_start ON host_pace
  FOR EACH ROW WHEN (NEW.holder IS NOT NULL OR OLD.holder IS NOT NULL) EXECUTE FUNCTION note_turn();
`;

const READ_TURNS = `SELECT host, (extract(epoch FROM granted) * 1000)::float8 AS granted,
  (extract(epoch FROM counted) * 1000)::float8 AS counted FROM test_turn ORDER BY host, granted`;

/** The database that a test's processes share, for statements of its own. */
const open = (url: string) =>
  openPostgres({ url, schema: "article_extractor", log: silentLog, metrics: noMetrics });

/** Lets a database with the program's tables note all turns from now on. */
export async function recordTurns(url: string): Promise<void> {
  await using database = await open(url);
  await database.script(RECORD_TURNS);
}

/** The times that are read differ by the site's clock, which counts whole ms, and by rounding. */
const CLOCK_MS = 2;

/**
 * Checks that requests kept to the delay over all processes, each gap of them and on a machine under any load. Turns are
 * never granted less than the delay after the process of the turn before knew of it, and each turn has one request at
 * most. When a site sees that request depends on how long it is on its way: on a busy machine the sending thread and the
 * site wait for a core. So a site sees a gap that is shorter by the way of its first request, and by nothing else; one
 * that had no way to go would always see the whole delay.
 * @param maxStrays requests that may come in another process's turn: what processes sent when they woke after a freeze
 */
export async function expectGaps(
  url: string,
  visits: readonly Visit[],
  { delayMs, maxStrays = 0 }: { readonly delayMs: number; readonly maxStrays?: number },
): Promise<void> {
  await using database = await open(url);
  const byHost = Map.groupBy(await database.query<Turn>(READ_TURNS), ({ host }) => host);
  const arrivals = Map.groupBy(visits, ({ authority }) => authority);
  expect([...byHost.keys()]).toEqual(expect.arrayContaining([...arrivals.keys()]));
  const short: object[] = [];
  let strays = 0;
  for (const [host, seen] of arrivals) {
    const turns = byHost.get(host) ?? [];
    for (const [index, { granted }] of turns.entries()) {
      const gapMs = granted - (turns[index - 1]?.counted ?? Number.NEGATIVE_INFINITY);
      if (gapMs < delayMs - 0.01) short.push({ host, between: "turns", gapMs });
    }
    const times = seen.map(({ at }) => at).sort((one, other) => one - other);
    const turnsOf = times.map((at) => turns.findLastIndex(({ granted }) => granted <= at + CLOCK_MS));
    for (const [index, at] of times.entries()) {
      const gapMs = at - (times[index - 1] ?? Number.NEGATIVE_INFINITY);
      const before = turnsOf[index - 1] ?? -1;
      const wayMs = at - gapMs - (turns[before]?.counted ?? Number.NEGATIVE_INFINITY);
      if (turnsOf[index] === before) strays++;
      else if (gapMs < delayMs - wayMs - CLOCK_MS) short.push({ host, between: "requests", gapMs, wayMs });
    }
  }
  expect(short).toEqual([]);
  expect(strays).toBeLessThanOrEqual(maxStrays);
}
