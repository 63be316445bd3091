import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary, runShell } from "../support/binary.ts";
import { add, environment, makeFolder, root, setUp, site, tearDown } from "../support/tenants-run.ts";

beforeEach(setUp);
afterEach(tearDown);

const addSites = async (): Promise<void> => {
  site.fill(20);
  site.write("/docs/", "Start");
  site.write("/guide/", "Guide");
  for (const name of ["docs", "guide"]) await add(`${site.origin}/${name}/`, "--codename", name);
};

test.skipIf(Bun.which("script") === null)("sync --all shows how far it is on a terminal", async () => {
  await addSites();
  site.intercept = async () => {
    await Bun.sleep(150);
    return null;
  };
  writeFileSync(join(root, "run.sh"), "stty cols 100\narticle-extractor sync --all\necho code=$?\n");
  const { stdout } = await runShell("script -qec 'sh run.sh' /dev/null", {
    cwd: root,
    env: { TERM: "xterm", ...environment(), ARTICLE_EXTRACTOR_CRAWLER_CONCURRENCY: "1" },
  });
  const drawn = stdout.replaceAll("\r\n", "\n").split("\r\u001b[K");
  expect(
    drawn.filter((line) => /^\d+(?:\.\d+)? s: .*docs \d+ fetched, \d+ unchanged, 0 failed/.test(line)).length,
  ).toBeGreaterThan(1);
  for (const line of drawn) expect(line.split("\n")[0]?.length).toBeLessThan(100);
  expect(stdout).toContain("\u001b[Kdocs: 21 documents; 21 fetched, ");
  expect(stdout).toContain("code=0");
});

test("a sync in a pipe that takes less than a minute says nothing but its results", async () => {
  await addSites();
  const { stdout, stderr } = await runShell("article-extractor sync --all", {
    cwd: root,
    env: environment(),
  });
  expect({ stderr, lines: stdout.trimEnd().split("\n").length }).toEqual({ stderr: "", lines: 2 });
});

test("sync names what failed, and --retry-failed requests only that", async () => {
  site.fill(10);
  site.write("/docs/", "Start");
  await add(`${site.origin}/docs/`, "--codename", "docs");
  let isDown = true;
  site.intercept = (request) =>
    isDown && /\/docs\/p[1-7]$/.test(request.url) ? new Response("", { status: 503 }) : null;
  const sync = (...words: string[]) =>
    runBinary(["sync", ...words, "docs"], { cwd: root, env: environment() });
  const first = (await sync()).stdout.split("\n");
  expect(first).toEqual([
    "docs: 4 documents; 4 fetched, 0 unchanged, 0 removed, 7 failed",
    expect.stringMatching(/^ {2}failed: 7 http_status, for example GET \S+ answered HTTP 503/),
    expect.stringMatching(/^ {2}failed pages: (?:\S+\/docs\/p[1-7],? ){5}and 2 more$/),
    "  article-extractor sync --retry-failed docs tries only those again",
    "",
  ]);
  site.pages.delete("/docs/p0");
  site.requests.length = 0;
  expect((await sync("--retry-failed")).stdout).toStartWith(
    "docs: 4 documents; 0 fetched, 4 unchanged, 0 removed, 7 failed\n",
  );
  isDown = false;
  const again = await sync("--retry-failed");
  expect([again.stdout, again.exitCode]).toEqual([
    "docs: 11 documents; 7 fetched, 4 unchanged, 0 removed, 0 failed\n",
    0,
  ]);
  const asked = new Set(site.requests.map(({ path }) => path).filter((path) => /^\/docs\/p\d$/.test(path)));
  expect([...asked].sort()).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => `/docs/p${number}`));
  site.requests.length = 0;
  expect((await sync("--retry-failed")).stdout).toStartWith("docs: 11 documents; 0 fetched, 11 unchanged");
  expect(site.requests).toEqual([]);
  // The next sync knows what the first one had: nothing is transferred twice.
  expect((await sync()).stdout).toStartWith(
    "docs: 11 documents; 0 fetched, 11 unchanged, 0 removed, 0 failed",
  );
});

test("sync --retry-failed is for websites", async () => {
  makeFolder("handbook", "a.md");
  await add("handbook");
  const { exitCode, stderr } = await runBinary(["sync", "--retry-failed", "handbook"], {
    cwd: root,
    env: environment(),
  });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: "error: --retry-failed is for websites; a sync reads folders and repositories anew\n",
  });
});
