import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
/** Crawls ask once a second, and each page is opened in the browser where there is one. */
const PATIENCE_MS = 1_800_000;

test(
  "the documentation's examples show the same at the program's own pace and with its own choice of fetcher",
  async () => {
    const { ARTICLE_EXTRACTOR_PREFER_BROWSER: _, ...env } = process.env;
    const run = Bun.spawn(
      [process.execPath, "test", "--timeout=600000", "test/docs/examples", "test/end-to-end/readme"],
      { cwd: ROOT, env: { ...env, EXAMPLES_AS_INSTALLED: "1" }, stdout: "ignore", stderr: "pipe" },
    );
    const failed = (await new Response(run.stderr).text()).match(/^\(fail\) .*$/gm) ?? [];
    expect({ failed, exitCode: await run.exited }).toEqual({ failed: [], exitCode: 0 });
  },
  PATIENCE_MS,
);
