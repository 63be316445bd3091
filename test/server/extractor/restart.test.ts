import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isOver, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const PAGES = 40;
const site = forAllTests(serveNumberedSite({ pages: PAGES, answerMs: 60 }));

const ENV = { ARTICLE_EXTRACTOR_MAX_RUNNING_JOBS: "1", ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1" };

/** Starts a server with one job running and one waiting, ends it in a way, and starts it again. */
async function acrossRestart(end: NodeJS.Signals, fresh: boolean) {
  using directory = temporaryDirectory();
  const before = site.visits.length;
  const ids: string[] = [];
  {
    await using server = await startExtractor({ directory: directory.path, env: ENV });
    const body = { seeds: [`${site.origin}/`], concurrency: 2, fresh };
    ids.push(await submitJob(server, { ...body, output_dir: "one" }));
    ids.push(await submitJob(server, { ...body, output_dir: "two" }));
    await untilJob(server, ids[0] ?? "", ({ successful }) => successful >= 5);
    server.signal(end);
    const code = await server.exited;
    if (end === "SIGTERM") expect(code).toBe(0);
  }
  await using server = await startExtractor({ directory: directory.path, env: ENV });
  const jobs = [];
  for (const id of ids) jobs.push(await untilJob(server, id, isOver));
  const manifest = (await (await server.get(`/crawl/${ids[0]}/manifest`)).json()) as {
    readonly job_id: string;
    readonly results: readonly { readonly url: string }[];
  };
  const files = readdirSync(join(directory.path, "one")).filter((name) => name.endsWith(".md"));
  return { ids, jobs, manifest, files, visits: site.visits.slice(before), directory: directory.path };
}

describe.each<[NodeJS.Signals, boolean]>([
  ["SIGTERM", false],
  ["SIGKILL", false],
  ["SIGKILL", true],
])("after %s (fresh: %p) the server started again", (signal, fresh) => {
  test("goes on with the running job, runs the waiting one, and loses and repeats no page", async () => {
    const { ids, jobs, manifest, files, visits } = await acrossRestart(signal, fresh);
    for (const job of jobs)
      expect(job).toMatchObject({ status: "completed", progress: PAGES, successful: PAGES, failed: 0 });
    expect(manifest.job_id).toBe(ids[0] ?? "");
    expect(new Set(manifest.results.map(({ url }) => url)).size).toBe(PAGES);
    expect(files).toHaveLength(PAGES);
    // Two crawls, and once more at most what was under way: two pages at the site, two at the worker.
    expect(visits.filter(({ path }) => path !== "/robots.txt").length).toBeLessThanOrEqual(2 * PAGES + 4);
  });
});

test("a job that is called off while its process is gone ends as cancelled", async () => {
  using directory = temporaryDirectory();
  const body = { seeds: [`${site.origin}/`], output_dir: "one", rate_limit_delay: 1 };
  let id: string;
  {
    await using server = await startExtractor({ directory: directory.path, env: ENV });
    id = await submitJob(server, body);
    await untilJob(server, id, ({ status }) => status === "running");
  }
  {
    // Another process of the same state directory takes the request, as any may.
    const db = new Database(join(directory.path, "state/jobs.sqlite"));
    db.run("UPDATE job SET is_cancelled = 1");
    db.close();
  }
  await using server = await startExtractor({ directory: directory.path, env: ENV });
  expect(await untilJob(server, id, isOver)).toMatchObject({
    status: "failed",
    error: { code: "cancelled" },
  });
});

test("a job that ends its process again and again without a page between fails at last", async () => {
  await using deaf = serveNumberedSite({ pages: 1, until: () => new Promise(() => {}) });
  using directory = temporaryDirectory();
  let id = "";
  for (let start = 0; start < 5; start++) {
    await using server = await startExtractor({ directory: directory.path, env: ENV });
    if (start === 0) id = await submitJob(server, { seeds: [`${deaf.origin}/`], output_dir: "one" });
    await untilJob(server, id, ({ status }) => status === "running");
  }
  await using server = await startExtractor({ directory: directory.path, env: ENV });
  expect(await untilJob(server, id, isOver)).toMatchObject({ status: "failed", error: { code: "internal" } });
});

test("kills between pages are no crashes of the job", async () => {
  // The site answers some requests of each start, so that the job gets on and cannot end, on any machine.
  let answered = 0;
  await using halting = serveNumberedSite({
    pages: PAGES,
    until: async (_, earlier) => {
      while (earlier >= answered) await Bun.sleep(10);
    },
  });
  using directory = temporaryDirectory();
  let id = "";
  let seen = 0;
  for (let start = 0; start < 7; start++) {
    await using server = await startExtractor({ directory: directory.path, env: ENV });
    const body = { seeds: [`${halting.origin}/`], output_dir: "one", concurrency: 1 };
    if (start === 0) id = await submitJob(server, body);
    answered += 4;
    seen = (await untilJob(server, id, ({ progress }) => progress > seen)).progress;
  }
  answered = Number.POSITIVE_INFINITY;
  await using server = await startExtractor({ directory: directory.path, env: ENV });
  expect(await untilJob(server, id, isOver)).toMatchObject({ status: "completed", successful: PAGES });
});

test("what the queue keeps is for its user alone, and holds no credentials when the job has ended", async () => {
  await using server = await startExtractor();
  const id = await submitJob(server, {
    output_dir: "secret",
    seeds: [`http://reader:pa55word@${new URL(site.origin).host}/p/39`],
    network: { proxy_bypass: ["*"], proxy: "http://proxy-user:pr0xy@127.0.0.1:9" },
  });
  await untilJob(server, id, isOver);
  const path = join(server.directory, "state/jobs.sqlite");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(server.directory, "state")).mode & 0o777).toBe(0o700);
  // SQLite's log holds what was written lately.
  for (const file of [path, `${path}-wal`])
    for (const secret of [btoa("reader:pa55word"), "pr0xy"])
      expect(`${file} ${readFileSync(file, "latin1").includes(secret)}`).toBe(`${file} false`);
  const db = new Database(path);
  const rows = JSON.stringify([db.query("SELECT * FROM job").all(), db.query("SELECT * FROM event").all()]);
  db.close();
  expect(rows).not.toContain("pa55word");
  expect(rows).not.toContain(btoa("reader:pa55word"));
  expect(rows).not.toContain("pr0xy");
  expect(await (await server.get(`/crawl/${id}`)).text()).not.toContain("pa55word");
  expect(server.stderr()).not.toContain("pa55word");
  expect(server.stderr()).not.toContain("pr0xy");
});

test("a second server on the port says so, ends with 2, and takes no job of the first", async () => {
  const slow = serveNumberedSite({ pages: 1000, answerMs: 300 });
  await using server = await startExtractor({ env: ENV });
  const body = { seeds: [`${slow.origin}/`], max_pages: 1000 };
  await submitJob(server, { ...body, output_dir: "one" });
  const waiting = await submitJob(server, { ...body, output_dir: "two" });
  const second = startExtractor({
    directory: server.directory,
    port: Number(new URL(server.url).port),
    env: { ARTICLE_EXTRACTOR_MAX_RUNNING_JOBS: "5" },
  });
  await expect(second).rejects.toThrow(
    /ended with 2: \{.*"critical","message":"cannot listen on .*: the port is in use"\}\n$/,
  );
  expect(await (await server.get(`/crawl/${waiting}`)).json()).toMatchObject({ status: "queued" });
  await slow[Symbol.asyncDispose]();
});

test("a job whose end cannot be written down just then ends when it can", async () => {
  await using server = await startExtractor();
  const db = new Database(join(server.directory, "state/jobs.sqlite"));
  db.run("PRAGMA busy_timeout = 5000");
  db.run(
    "CREATE TRIGGER full BEFORE UPDATE ON job WHEN NEW.state = 'completed' BEGIN SELECT RAISE(ABORT, 'full'); END",
  );
  const id = await submitJob(server, { output_dir: "one", seeds: [`${site.origin}/p/39`], max_pages: 1 });
  while (!server.stderr().includes("a job's end cannot be written")) await Bun.sleep(20);
  expect(await (await server.get(`/crawl/${id}`)).json()).toMatchObject({ status: "running" });
  db.run("DROP TRIGGER full");
  db.close();
  expect(await untilJob(server, id, isOver)).toMatchObject({ status: "completed", successful: 1 });
});
