import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOver, type JobJson, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const PAGES = 3;
const site = forAllTests(serveNumberedSite({ pages: PAGES }));

/** What faults of disks and of people make of a file. */
const DAMAGES: readonly [name: string, (content: Buffer) => Buffer][] = [
  ["cut", (content) => content.subarray(0, Math.floor(content.length / 3))],
  ["zeros", (content) => Buffer.alloc(content.length)],
  ["garbage", (content) => Buffer.alloc(content.length, "mill")],
  // The head is whole, so the damage would be met by the first request that reads there.
  [
    "a damaged middle",
    (content) => Buffer.concat([content.subarray(0, 4096), Buffer.alloc(content.length - 4096, 7)]),
  ],
];

const FOLDERS = ["one", "two/deeper", "three"];

type List = { readonly jobs: readonly JobJson[] };

test.each(DAMAGES)("jobs.sqlite: %s", async (_, damage) => {
  using directory = temporaryDirectory();
  const before: JobJson[] = [];
  {
    await using server = await startExtractor({ directory: directory.path });
    for (const output_dir of FOLDERS)
      before.push(
        await untilJob(server, await submitJob(server, { seeds: [`${site.origin}/`], output_dir }), isOver),
      );
    server.signal("SIGTERM");
    await server.exited;
  }
  const state = join(directory.path, "state");
  const file = join(state, "jobs.sqlite");
  for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix, { force: true });
  const damaged = damage(readFileSync(file));
  writeFileSync(file, damaged);
  // A manifest that somebody wrote is no job.
  writeFileSync(join(directory.path, "three/manifest.json"), '{"job_id": "x", "results": [');

  await using server = await startExtractor({ directory: directory.path });
  const aside = readdirSync(state).filter((name) => name.startsWith("jobs.sqlite.damaged-"));
  expect(aside).toHaveLength(1);
  expect(readFileSync(join(state, aside[0] ?? "")).equals(damaged)).toBe(true);
  expect(server.stderr()).toContain(join(state, aside[0] ?? ""));
  expect(await (await server.get("/health")).json()).toMatchObject({
    status: "degraded",
    problems: [expect.stringContaining(aside[0] ?? "?")],
    jobs: { running: 0, queued: 0 },
  });
  expect((await server.get("/ready")).status).toBe(200);

  const { jobs } = (await (await server.get("/crawl")).json()) as List;
  expect(jobs.map(({ job_id }) => job_id)).toEqual([before[1]?.job_id ?? "", before[0]?.job_id ?? ""]);
  for (const { job_id, status, successful, total, started_at } of before.slice(0, 2)) {
    expect(await (await server.get(`/crawl/${job_id}`)).json()).toMatchObject({
      ...{ job_id, status, successful, total, started_at },
    });
    expect(
      ((await (await server.get(`/crawl/${job_id}/manifest`)).json()) as { job_id: string }).job_id,
    ).toBe(job_id);
    const archive = await server.get(`/crawl/${job_id}/download?format=zip`);
    expect(archive.status).toBe(200);
    expect((await archive.arrayBuffer()).byteLength).toBeGreaterThan(1000);
  }
  // It takes pages and jobs as before.
  expect((await server.post("/", { url: `${site.origin}/` })).status).toBe(200);
  const again = await submitJob(server, { seeds: [`${site.origin}/`], output_dir: "four" });
  expect(await untilJob(server, again, isOver)).toMatchObject({ status: "completed", successful: PAGES });

  rmSync(join(state, aside[0] ?? ""));
  await Bun.sleep(2_100);
  expect(await (await server.get("/health")).json()).toMatchObject({ status: "healthy", problems: [] });
});

test("a damaged file of cookies is put aside, and pages are served", async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "cookies.json");
  writeFileSync(file, '{"cookies": [{"name": "a", "val');
  await using server = await startExtractor({
    directory: directory.path,
    env: { ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: file },
  });
  expect((await server.post("/", { url: `${site.origin}/` })).status).toBe(200);
  const [aside] = readdirSync(directory.path).filter((name) => name.startsWith("cookies.json.damaged-"));
  expect(readFileSync(join(directory.path, aside ?? ""), "utf8")).toBe('{"cookies": [{"name": "a", "val');
  expect(await (await server.get("/health")).json()).toMatchObject({
    status: "degraded",
    problems: [expect.stringContaining(aside ?? "?")],
  });
});

test("a file of cookies that is JSON of something else is left alone and named", async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "package.json");
  writeFileSync(file, '{"name": "mine"}');
  await using server = await startExtractor({
    directory: directory.path,
    env: { ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: file },
  });
  expect((await server.post("/", { url: `${site.origin}/` })).ok).toBe(false);
  expect(readFileSync(file, "utf8")).toBe('{"name": "mine"}');
});
