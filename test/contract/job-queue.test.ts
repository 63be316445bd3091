import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openSqliteJobQueue } from "../../src/crawler/index.ts";
import { temporaryDirectory } from "../support/binary.ts";
import { describeJobQueue } from "./job-queue.contract.ts";

describeJobQueue("SQLite", async () => {
  const { path, ...place } = await temporaryDirectory();
  return {
    ...place,
    open: async (limits) =>
      openSqliteJobQueue({
        maxQueued: 5,
        maxRunning: 2,
        leaseMs: 1,
        ...limits,
        directory: path,
        now: Date.now,
      }),
    dump: async () =>
      readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => readFileSync(join(path, name), "latin1"))
        .join(),
  };
});
