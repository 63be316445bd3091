import { afterAll, expect, test } from "bun:test";
import { claimOne, seed, settle } from "../../support/frontier-steps.ts";
import { testDatabase } from "../../support/postgres.ts";
import { openShared } from "../../support/shared-frontier.ts";
import { untilTrue as until } from "../../support/until.ts";

const database = await testDatabase();
const db = await database.open();
afterAll(() => database[Symbol.asyncDispose]());

const newPlace = (): string => `file:///${crypto.randomUUID()}`;
const WORKERS = "SELECT FROM crawl_worker w JOIN crawl c ON c.id = w.crawl WHERE c.place = $1";

/** Acts while a statement of the place's workers is under way, which ends when it is waited for. */
const besideStatement = async <T>(place: string, act: () => Promise<T>): Promise<T> => {
  const begun = Promise.withResolvers<void>();
  const acted = Promise.withResolvers<T>();
  const isBlocked = async (): Promise<boolean> => {
    const blocked = "SELECT FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0";
    return (await db.query(blocked)).length > 0;
  };
  const statement = db.transaction(async (queries) => {
    await queries.query(`${WORKERS} FOR KEY SHARE OF w`, [place]);
    begun.resolve();
    await Promise.race([acted.promise, until(isBlocked)]);
  });
  await begun.promise;
  act().then(acted.resolve, acted.reject);
  await statement;
  return await acted.promise;
};
test("a worker is ended by the next crawl also while a statement of its own is under way", async () => {
  const place = newPlace();
  await using old = await openShared(database, { db, place, jobId: "one", pace: { beatMs: 60_000 } });
  await old.finish();
  await using next = await besideStatement(place, () => openShared(database, { db, place, jobId: "two" }));
  expect(next.crawl.mode).toBe("repeated");
  expect(await db.query(WORKERS, [place])).toHaveLength(1);
});

test("a worker gives its pages back when it leaves also while a statement of its own is under way", async () => {
  const place = newPlace();
  const leaving = await openShared(database, { db, place, pace: { beatMs: 60_000 } });
  await besideStatement(place, async () => await leaving[Symbol.asyncDispose]());
  expect(await db.query(WORKERS, [place])).toEqual([]);
});

const CALLED_OFF = { code: "cancelled", message: "the job was cancelled" } as const;

test("a crawl that is stopped counts what others have under way, and waits for them to leave", async () => {
  const place = newPlace();
  await using leader = await openShared(database, { db, place, pace: { leaveMs: 60_000 } });
  const helper = await openShared(database, { db, place, canLead: false });
  await leader.add([seed("/one"), seed("/two")]);
  await leader.finishSeeding();
  const page = await claimOne(helper);
  let isStopped = false;
  const stopped = leader.stop(CALLED_OFF).then(() => {
    isStopped = true;
  });
  await until(() => helper.state().end !== null);
  expect(helper.state().end).toEqual(CALLED_OFF);
  expect(await settle(helper, page, {})).toBe(true);
  expect(isStopped).toBe(false);
  await helper[Symbol.asyncDispose]();
  await stopped;
  expect(await leader.counts()).toMatchObject({ successful: 1, underway: 0 });
});

test("a process that does not leave a stopped crawl records nothing more, and learns why", async () => {
  const place = newPlace();
  await using leader = await openShared(database, { db, place, pace: { leaveMs: 50 } });
  await using frozen = await openShared(database, { db, place, canLead: false, pace: { beatMs: 60_000 } });
  await leader.add([seed("/one"), seed("/two")]);
  await leader.finishSeeding();
  const page = await claimOne(frozen);
  await leader.stop(CALLED_OFF);
  const counts = await leader.counts();
  expect(await settle(frozen, page, {})).toBe(false);
  expect(await leader.counts()).toEqual(counts);
  expect(await db.query(WORKERS, [place])).toHaveLength(1);
  await using again = await openShared(database, { db, place });
  expect(again.state().end).toEqual(CALLED_OFF);
});
