import { expect, test } from "bun:test";
import { join } from "node:path";
import { runBinary } from "../../support/binary.ts";
import { startExtractor } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { untilTrue } from "../../support/until.ts";

const { path: root } = forAllTests(temporaryDirectory());
const env = { ARTICLE_EXTRACTOR_KEYS_FILE: join(root, "keys.json") };
const keys = async (...words: string[]) => {
  const { exitCode, stdout, stderr } = await runBinary(["keys", ...words, "--service", "extractor"], {
    cwd: root,
    env,
  });
  return { exitCode, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
};

test.each(["1", "2"])("keys turn over without a restart, with %s processes", async (processes) => {
  const old = `old-${processes}`;
  const next = `next-${processes}`;
  const first = (await keys("add", old)).stdout;
  await using server = await startExtractor({ env: { ...env, WEB_CONCURRENCY: processes } });
  const statusOf = async (key: string): Promise<number> =>
    (await server.get("/crawl", { headers: { authorization: `Bearer ${key}`, connection: "close" } })).status;
  expect(await statusOf(first)).toBe(200);
  expect((await server.get("/crawl")).status).toBe(401);

  const second = (await keys("add", next)).stdout;
  await untilTrue(async () => (await statusOf(second)) === 200);
  expect(await statusOf(first)).toBe(200);
  await untilTrue(() => server.lines(`"key":"${next}"`).length > 0);

  expect(await keys("revoke", old)).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: `the key '${old}' is revoked`,
  });
  await untilTrue(async () => (await statusOf(first)) === 401);
  expect((await keys("list")).stdout).toContain(`${next}\tall tenants\t`);
});

test("a limit to tenants, and a missing name of the file, are refused", async () => {
  expect(await keys("add", "x", "--tenants", "a")).toMatchObject({
    exitCode: 2,
    stderr: "error: --tenants goes with keys of serve search; serve extractor has no tenants",
  });
  const { exitCode, stderr } = await runBinary(["keys", "list", "--service", "extractor"], { cwd: root });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: "error: ARTICLE_EXTRACTOR_KEYS_FILE must name the file of the keys\n",
  });
});
