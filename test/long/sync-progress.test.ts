import { afterEach, beforeEach, expect, test } from "bun:test";
import { runBinary } from "../support/binary.ts";
import { add, environment, root, setUp, site, tearDown } from "../support/tenants-run.ts";

beforeEach(setUp);
afterEach(tearDown);

test("a sync in a pipe says in a line a minute how far it is", async () => {
  site.fill(16);
  site.write("/docs/", "Start");
  await add(`${site.origin}/docs/`, "--codename", "manual");
  const env = { ...environment(), ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "4.2" };
  const { stderr } = await runBinary(["sync", "--all"], { cwd: root, env, timeoutMs: 120_000 });
  expect(stderr).toMatch(/^1 min.*: manual \d+ fetched, 0 unchanged, 0 failed\n$/);
}, 130_000);
