import { afterEach, expect, test } from "bun:test";
import { openPostgresJobQueue } from "../../src/scale/job-queue.ts";
import type { Postgres, Queries } from "../../src/scale/postgres/postgres.ts";
import type { QueuePlace } from "../support/job-queue-steps.ts";
import { testDatabase } from "../support/postgres.ts";
import { untilTrue } from "../support/until.ts";
import { describeJobQueue } from "./job-queue.contract.ts";

async function makePostgresPlace(change: (database: Postgres) => Postgres): Promise<QueuePlace> {
  const place = await testDatabase();
  const open = () => place.open({ connections: 3 });
  let database: Postgres | undefined;
  return {
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    open: async (limits) => openPostgresJobQueue({ ...limits, database: change(await open()) }),
    dump: async () => {
      const database = await open();
      const tables = ["job", "job_event"].map((table) => database.query(`SELECT * FROM ${table}`));
      return JSON.stringify(await Promise.all(tables));
    },
    pass: async (ms) => {
      database ??= await open();
      await database.run("UPDATE job_event SET told_at = told_at - $1 * interval '1 ms'", [ms]);
      await database.run("UPDATE job SET completed_at = completed_at - $1 * interval '1 ms'", [ms]);
    },
  };
}

describeJobQueue("PostgreSQL", () => makePostgresPlace((database) => database));

/** A database whose first answer to everything is lost, after it took effect. */
const answeringTwice = (database: Postgres): Postgres => ({
  ...database,
  query: async <Row>(...statement: Parameters<Queries["query"]>) => {
    await database.query(...statement);
    return await database.query<Row>(...statement);
  },
  run: async (...statement) => {
    await database.run(...statement);
    return await database.run(...statement);
  },
  transaction: async (work) => {
    await database.transaction(work);
    return await database.transaction(work);
  },
});

describeJobQueue("PostgreSQL where every statement is sent twice", () => makePostgresPlace(answeringTwice));

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part[Symbol.asyncDispose]();
});

test("tells the other processes that share a database which job has changed", async () => {
  const place = await testDatabase();
  open.push(place);
  const limits = { maxQueued: 5, maxRunning: 5, leaseMs: 600_000 };
  const openQueue = async () => openPostgresJobQueue({ ...limits, database: await place.open() });
  const [one, other] = [await openQueue(), await openQueue()];
  const told: (string | null)[] = [];
  using _ = other.onChange((id) => told.push(id));
  // It begins with null, since something may have changed before.
  await untilTrue(() => told.length === 1);
  const isTold = async (id: string | null, act: () => Promise<unknown>): Promise<void> => {
    told.length = 0;
    await act();
    await untilTrue(() => told.includes(id));
  };
  await isTold(null, () => one.submit({ place: "/a", shown: {}, spec: {} }));
  const job = await one.claim();
  if (!job) throw new Error("there was no job");
  const counts = { progress: 1, total: 1, successful: 1, failed: 0, skipped: 0 };
  await isTold(job.id, () => one.report(job, { counts, after: 0, events: [] }));
  await isTold(job.id, () => one.cancel(job.id));
  await isTold(job.id, () => one.finish(job, { state: "completed", error: null, after: 0, events: [] }));
  expect(told).not.toContain(null);
});

test("counts the processes that ask for jobs until they close or are silent", async () => {
  const place = await testDatabase();
  open.push(place);
  const database = await place.open();
  const limits = { maxQueued: 5, maxRunning: 5, leaseMs: 600_000 };
  const openQueue = async () => openPostgresJobQueue({ ...limits, database: answeringTwice(database) });
  const [watcher, one, other] = [await openQueue(), await openQueue(), await openQueue()];
  expect(await watcher.runners?.()).toBe(0);
  for (const queue of [one, one, other]) await queue.claim();
  expect(await watcher.runners?.()).toBe(2);
  await one[Symbol.asyncDispose]();
  expect(await watcher.runners?.()).toBe(1);
  await database.run("UPDATE job_runner SET seen_at = seen_at - interval '16 s'");
  expect(await watcher.runners?.()).toBe(0);
  const late = await openQueue();
  await late.claim();
  expect(await watcher.runners?.()).toBe(1);
  expect(await database.query("SELECT FROM job_runner")).toHaveLength(1);
});
