import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openSqliteJobQueue } from "../../../src/crawler/index.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

test("a queue of a version without warnings and times of events is gone on with", async () => {
  using place = temporaryDirectory();
  const options = { directory: place.path, maxQueued: 5, maxRunning: 1, leaseMs: 1000, now: Date.now };
  {
    await using queue = openSqliteJobQueue(options);
    await queue.submit({ place: "/a", shown: {}, spec: {} });
  }
  {
    using file = new Database(join(place.path, "jobs.sqlite"));
    file.run("ALTER TABLE job DROP COLUMN warnings");
    file.run("ALTER TABLE event DROP COLUMN told_at");
  }
  await using queue = openSqliteJobQueue(options);
  const job = await queue.claim();
  if (!job) throw new Error("the job is gone");
  await queue.finish(job, { state: "completed", error: null, warnings: ["a warning"], after: 0, events: [] });
  expect(await queue.get(job.id)).toMatchObject({ state: "completed", warnings: ["a warning"] });
  expect(await queue.eventsAfter(job.id, 0, 10)).toMatchObject([{ number: 1, kind: "end" }]);
});
