import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openJobQueue } from "../../../src/crawler/index.ts";
import { temporaryDirectory } from "../../support/binary.ts";

test("a queue of a version without warnings is gone on with", async () => {
  await using place = await temporaryDirectory();
  const options = { directory: place.path, maxQueued: 5, maxRunning: 1, leaseMs: 1000, now: Date.now };
  {
    using queue = openJobQueue(options);
    queue.submit({ directory: "/a", shown: {}, spec: {} });
  }
  {
    using file = new Database(join(place.path, "jobs.sqlite"));
    file.run("ALTER TABLE job DROP COLUMN warnings");
  }
  using queue = openJobQueue(options);
  const job = queue.claim();
  if (!job) throw new Error("the job is gone");
  queue.finish(job.id, { state: "completed", error: null, warnings: ["a warning"], events: [] });
  expect(queue.get(job.id)).toMatchObject({ state: "completed", warnings: ["a warning"] });
});
