import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openSqliteJobQueue } from "../../src/crawler/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { describeJobQueue } from "./job-queue.contract.ts";

describeJobQueue("SQLite", async () => {
  const { path, ...place } = temporaryDirectory();
  let passedMs = 0;
  return {
    ...place,
    open: async (limits) =>
      openSqliteJobQueue({ ...limits, directory: path, now: () => Date.now() + passedMs }),
    pass: async (ms) => {
      passedMs += ms;
    },
    dump: async () =>
      readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => readFileSync(join(path, name), "latin1"))
        .join(),
  };
});
