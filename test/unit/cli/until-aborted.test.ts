import { expect, test } from "bun:test";
import { untilAborted } from "../../../src/cli/index.ts";

test("work that fails after the interruption is nobody's unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const take = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", take);
  const work = Promise.reject(new Error("called off, too"));
  await expect(untilAborted(work, AbortSignal.abort())).rejects.toThrow("interrupted");
  await Bun.sleep(0);
  process.off("unhandledRejection", take);
  expect(unhandled).toEqual([]);
});
