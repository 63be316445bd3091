import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { BINARY, cleanEnvironment } from "../support/binary.ts";
import { crawlDirectory } from "../support/crawl-run.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { untilTrue } from "../support/until.ts";

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").map(Number).filter(Boolean);

const isDead = (pid: number): boolean => / Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));

// Only root may make a namespace of processes everywhere.
test.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)(
  "as first process of a container the program reaps orphans",
  async () => {
    await using site = serveNumberedSite({ pages: 5, answerMs: 60_000, answers: {} });
    await using directory = await crawlDirectory();
    const crawl = [
      BINARY,
      "crawl",
      `${site.origin}/`,
      "--ignore-robots",
      "--no-browser",
      "--output-dir",
      "out",
    ];
    const outer = Bun.spawn(["unshare", "-p", "-f", "--kill-child", "--mount-proc", ...crawl], {
      cwd: directory.path,
      env: cleanEnvironment({ ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1" }),
      stdio: ["ignore", "ignore", "ignore"],
    });
    try {
      await untilTrue(() => site.open > 0);
      const first = childrenOf(outer.pid)[0] ?? 0;
      const orphan = ["nsenter", "-t", String(first), "-p", "--", "sh", "-c", "sleep 0.3 & sleep 0.3 & exit"];
      expect(await Bun.spawn(orphan).exited).toBe(0);
      await untilTrue(() => childrenOf(first).length === 2);
      await untilTrue(() => childrenOf(first).length === 0);
      expect(childrenOf(outer.pid).filter(isDead)).toEqual([]);
    } finally {
      outer.kill("SIGKILL");
      await outer.exited;
    }
  },
);

test.skipIf(process.platform !== "linux")(
  "a crawl that is to outlive its session ignores SIGHUP",
  async () => {
    await using site = serveNumberedSite({ pages: 12, answerMs: 30 });
    await using directory = await crawlDirectory();
    const crawl = Bun.spawn(
      [
        "sh",
        "-c",
        'trap "" HUP; exec "$@"',
        "sh",
        BINARY,
        "crawl",
        `${site.origin}/`,
        "--rate-limit",
        "0",
        "--output-dir",
        "out",
      ],
      { cwd: directory.path, env: cleanEnvironment({}), stdio: ["ignore", "ignore", "ignore"] },
    );
    await untilTrue(() => site.visits.length >= 3);
    crawl.kill("SIGHUP");
    expect(await crawl.exited).toBe(0);
  },
);
