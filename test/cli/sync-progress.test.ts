import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runShell } from "../support/binary.ts";
import { add, environment, root, setUp, site, tearDown } from "../support/tenants-run.ts";

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
