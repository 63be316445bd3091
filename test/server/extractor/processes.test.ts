import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOver, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { childrenOf, processOfOwner } from "../../support/lease-owners.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { untilTrue } from "../../support/until.ts";

const PAGES = 60;
const site = forAllTests(serveNumberedSite({ pages: PAGES, answerMs: 40 }));
const server = forAllTests(
  await startExtractor({ env: { WEB_CONCURRENCY: "2", ARTICLE_EXTRACTOR_MAX_RUNNING_JOBS: "2" } }),
);

/** Process numbers of the server's copies. */
const copies = (): number[] => childrenOf(server.pid);

/** Which process has the job, out of the queue's own file. */
async function ownerOf(id: string): Promise<number> {
  const { Database } = await import("bun:sqlite");
  const db = new Database(join(server.directory, "state/jobs.sqlite"), { readonly: true });
  const row = db.query<{ owner: string | null }, [string]>("SELECT owner FROM job WHERE id = ?").get(id);
  db.close();
  return processOfOwner(copies(), row?.owner?.split("/")[0] ?? "") ?? 0;
}

/** Whether ten connections in a row are answered. */
async function answers(): Promise<boolean> {
  try {
    for (let request = 0; request < 10; request++) await server.get("/health", alone);
    return true;
  } catch {
    return false;
  }
}

const alone = { headers: { connection: "close" } };

describe.skipIf(process.platform !== "linux")("two processes on one port", () => {
  test("know of each other, and count together", async () => {
    await untilTrue(async () => {
      const health = (await (await server.get("/health", alone)).json()) as { processes: { alive: number } };
      return health.processes.alive === 2;
    });
    expect(copies()).toHaveLength(2);
    for (let request = 0; request < 20; request++) await server.get("/crawl/none", alone);
    await untilTrue(async () => {
      const text = await (await server.get("/metrics", alone)).text();
      return (
        /http_requests_total\{method="GET",route="\/crawl\/\{job_id\}",status="404"\} (\d+)/.exec(
          text,
        )?.[1] === "20"
      );
    });
  });

  test("count as alive what lives, right after one was killed and another has come", async () => {
    for (let round = 0; round < 3; round++) {
      const [victim = 0] = copies();
      process.kill(victim, "SIGKILL");
      while (copies().length < 2 || copies().includes(victim)) await Bun.sleep(5);
      // The new one counts itself when it is up; the dead one must not be counted then, nor before.
      for (const until = performance.now() + 1500; performance.now() < until; await Bun.sleep(20)) {
        const answer = await server.get("/health", alone).catch(() => null);
        const health = (await answer?.json()) as { processes: { alive: number } } | undefined;
        if (health) expect(health.processes.alive).toBeLessThanOrEqual(2);
      }
    }
  });

  test("any answers for any job: status, events, cancel and manifest", async () => {
    const body = { seeds: [`${site.origin}/`], concurrency: 2 };
    const id = await submitJob(server, { ...body, output_dir: "any" });
    const streams = await Promise.all(
      Array.from({ length: 6 }, () =>
        server.get(`/crawl/${id}/events`, alone).then((stream) => stream.text()),
      ),
    );
    for (const text of streams) {
      expect(text.match(/event: page/g)).toHaveLength(PAGES);
      expect(text).toContain("event: end");
    }
    for (let request = 0; request < 6; request++)
      expect((await server.get(`/crawl/${id}/manifest`, alone)).status).toBe(200);
    for (let round = 0; round < 4; round++) {
      // Another host than that of the next test: what was cancelled may still wait for its turn there.
      const seeds = [`${site.origin.replace("127.0.0.1", "localhost")}/`];
      const other = await submitJob(server, { seeds, output_dir: `cancel${round}`, rate_limit_delay: 5 });
      await untilJob(server, other, ({ status }) => status === "running");
      await server.get(`/crawl/${other}`, { method: "DELETE", ...alone });
      expect((await untilJob(server, other, isOver)).error?.code).toBe("cancelled");
    }
  });

  test("jobs of both are as polite to a host as one", async () => {
    const before = site.visits.length;
    const body = { max_pages: 6, rate_limit_delay: 0.3, ignore_robots: true, follow_links: false };
    const seeds = (from: number) =>
      Array.from({ length: 6 }, (_, index) => `${site.origin}/p/${from + index}`);
    const ids = [
      await submitJob(server, { ...body, output_dir: "polite1", seeds: seeds(1) }),
      await submitJob(server, { ...body, output_dir: "polite2", seeds: seeds(20) }),
    ];
    for (const id of ids) expect((await untilJob(server, id, isOver)).successful).toBe(6);
    const starts = site.visits
      .slice(before)
      .filter(({ headers }) => headers.host?.startsWith("127.0.0.1"))
      .map(({ at }) => at)
      .sort((a, b) => a - b);
    expect(starts).toHaveLength(12);
    // The site sees a request a little after it was sent, so two may come nearer to each other than they went.
    const span = (starts.at(-1) ?? 0) - (starts[0] ?? 0);
    expect(span).toBeGreaterThan(11 * 300 - 150);
  });

  test("what one was doing when it was killed, the other goes on with; a new one takes its place", async () => {
    const id = await submitJob(server, { seeds: [`${site.origin}/`], output_dir: "killed", concurrency: 1 });
    await untilJob(server, id, ({ successful }) => successful > 3);
    const owner = await ownerOf(id);
    expect(copies()).toContain(owner);
    process.kill(owner, "SIGKILL");
    // Until the killed one's socket is gone, connections may still be given to it.
    await untilTrue(answers);
    expect(await untilJob(server, id, isOver)).toMatchObject({
      status: "completed",
      successful: PAGES,
      failed: 0,
    });
    await untilTrue(() => copies().length === 2);
    expect(copies()).not.toContain(owner);
  });

  test("end together with SIGTERM", async () => {
    const pids = copies();
    server.signal("SIGTERM");
    expect(await server.exited).toBe(0);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
  });
});

test("a state directory that cannot be had ends several processes as it ends one, told once", async () => {
  using directory = temporaryDirectory();
  writeFileSync(join(directory.path, "file"), "");
  for (const count of ["1", "2"]) {
    const env = { WEB_CONCURRENCY: count, ARTICLE_EXTRACTOR_STATE_DIR: join(directory.path, "file/state") };
    await expect(startExtractor({ directory: directory.path, env })).rejects.toThrow(
      /ended with 1: \{.*"critical","message":"could not make the state directory .*: a part of the path is not a directory"\}\n$/,
    );
  }
});
