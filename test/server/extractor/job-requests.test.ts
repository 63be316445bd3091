import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  codeOf,
  isOver,
  type JobJson,
  startExtractor,
  submitJob,
  untilJob,
} from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";

const server = forAllTests(
  await startExtractor({
    env: { ARTICLE_EXTRACTOR_MAX_RUNNING_JOBS: "2", ARTICLE_EXTRACTOR_MAX_QUEUED_JOBS: "3" },
  }),
);
const site = forAllTests(serveNumberedSite({ pages: 12 }));
const slow = forAllTests(serveNumberedSite({ pages: 1000, answerMs: 300 }));

const endless = (name: string) => ({ output_dir: name, seeds: [`${slow.origin}/`], max_pages: 1000 });

describe("requests for jobs", () => {
  test("unknown jobs are 404 everywhere", async () => {
    for (const [method, path] of [
      ["GET", "/crawl/none"],
      ["DELETE", "/crawl/none"],
      ["GET", "/crawl/none/manifest"],
      ["GET", "/crawl/none/events"],
      ["GET", "/crawl/%00%ff/manifest"],
    ] as const) {
      const response = await server.get(path, { method });
      expect(response.status).toBe(404);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
    }
  });

  test("the queue is bounded, jobs are listed, cancelled while waiting and while running", async () => {
    const running = [await submitJob(server, endless("r1")), await submitJob(server, endless("r2"))];
    for (const id of running)
      await untilJob(server, id, ({ status, progress }) => status === "running" && progress > 0);
    const waiting: string[] = [];
    for (const name of ["w1", "w2", "w3"]) waiting.push(await submitJob(server, endless(name)));
    const refused = await server.post("/crawl", endless("w4"));
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await codeOf(refused)).toBe("queue_full");
    expect(await (await server.get("/health")).json()).toMatchObject({ jobs: { running: 2, queued: 3 } });
    const list = (await (await server.get("/crawl?status=queued&limit=2")).json()) as { jobs: JobJson[] };
    expect(list.jobs.map(({ job_id }) => job_id)).toEqual([...waiting].reverse().slice(0, 2));
    expect(list).toMatchObject({ queued: 3, running: 2 });

    for (const id of waiting) {
      const response = await server.get(`/crawl/${id}`, { method: "DELETE" });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        status: "failed",
        error: { code: "cancelled" },
        started_at: null,
      });
    }
    for (const id of running) {
      expect((await server.get(`/crawl/${id}/manifest`)).status).toBe(400);
      expect((await server.get(`/crawl/${id}`, { method: "DELETE" })).status).toBe(202);
      const job = await untilJob(server, id, isOver);
      expect(job).toMatchObject({ status: "failed", error: { code: "cancelled" } });
      expect(job.total).toBe(job.progress);
      // Once more changes nothing.
      expect((await server.get(`/crawl/${id}`, { method: "DELETE" })).status).toBe(200);
    }
    expect(existsSync(join(server.directory, "r1/manifest.json"))).toBe(true);
  });

  test("a job's record stays short, however long its request was", async () => {
    const long = (number: number) => `http://127.0.0.1:1/${number}/${"x".repeat(8000)}`;
    const seeds = [
      "http://127.0.0.1:1/0",
      "http://127.0.0.1:1/1",
      ...Array.from({ length: 30 }, (_, n) => long(n)),
    ];
    const id = await submitJob(server, { output_dir: "long", seeds, max_pages: 1 });
    const record = (await (await server.get(`/crawl/${id}`)).json()) as { seeds: string[] };
    expect(record.seeds).toEqual(seeds.slice(0, 2));
    await untilJob(server, id, isOver);
  });

  test("an output directory that an unfinished job has is 409", async () => {
    const id = await submitJob(server, endless("shared"));
    const response = await server.post("/crawl", endless("./x/../shared/"));
    expect(response.status).toBe(409);
    expect(await codeOf(response)).toBe("output_in_use");
    await server.get(`/crawl/${id}`, { method: "DELETE" });
    await untilJob(server, id, isOver);
  });

  test.each<[string, object, string]>([
    ["neither seed nor sitemap", { output_dir: "x" }, ""],
    ["a seed that is none", { output_dir: "x", seeds: ["nope"] }, "seeds.0"],
    ["a sitemap that is missing", { output_dir: "x", sitemaps: ["missing.xml"] }, "sitemaps.0"],
    [
      "a prefix that is none",
      { output_dir: "x", seeds: ["https://example.org/"], allow_prefixes: ["nope"] },
      "",
    ],
    ["pages out of range", { output_dir: "x", seeds: ["https://example.org/"], max_pages: 0 }, "max_pages"],
    [
      "pages out of range above",
      { output_dir: "x", seeds: ["https://example.org/"], max_pages: 1_000_001 },
      "max_pages",
    ],
    ["depth out of range", { output_dir: "x", seeds: ["https://example.org/"], max_depth: 101 }, "max_depth"],
    [
      "concurrency out of range",
      { output_dir: "x", seeds: ["https://example.org/"], concurrency: 257 },
      "concurrency",
    ],
    [
      "a negative delay",
      { output_dir: "x", seeds: ["https://example.org/"], rate_limit_delay: -1 },
      "rate_limit_delay",
    ],
    [
      "a fraction of a page",
      { output_dir: "x", seeds: ["https://example.org/"], max_pages: 1.5 },
      "max_pages",
    ],
    ["an unknown field", { output_dir: "x", seeds: ["https://example.org/"], depth: 1 }, "depth"],
    [
      "a wrong selector",
      { output_dir: "x", seeds: ["https://example.org/"], options: { select: "p[" } },
      "options.select",
    ],
    [
      "two credentials for a site",
      { output_dir: "x", seeds: ["https://a:b@example.org/", "https://c:d@example.org/x"] },
      "seeds.1",
    ],
  ])("%s is 422 and touches no disk", async (_, body, path) => {
    const response = await server.post("/crawl", body);
    expect(response.status).toBe(422);
    const { errors } = (await response.json()) as { errors: { path: string }[] };
    expect(errors.map((error) => error.path)).toEqual([path]);
    expect(existsSync(join(server.directory, "x"))).toBe(false);
  });

  test.each(["limit=0", "limit=1001", "limit=x", "status=done"])("GET /crawl?%s is 422", async (query) => {
    expect((await server.get(`/crawl?${query}`)).status).toBe(422);
  });

  test("a directory with somebody else's manifest, and a file in its place, are 422", async () => {
    mkdirSync(join(server.directory, "foreign"));
    writeFileSync(join(server.directory, "foreign/manifest.json"), "{}");
    writeFileSync(join(server.directory, "file"), "");
    for (const name of ["foreign", "file", "file/below"]) {
      const response = await server.post("/crawl", { output_dir: name, seeds: [`${site.origin}/`] });
      expect(response.status).toBe(422);
    }
    expect(readFileSync(join(server.directory, "foreign/manifest.json"), "utf8")).toBe("{}");
  });

  test("a link that takes the place of the directory of a waiting job makes the job fail", async () => {
    const busy = [await submitJob(server, endless("b1")), await submitJob(server, endless("b2"))];
    for (const id of busy) await untilJob(server, id, ({ status }) => status === "running");
    const id = await submitJob(server, { output_dir: "swapped", seeds: [`${site.origin}/`] });
    mkdirSync(join(server.directory, "elsewhere"));
    rmSync(join(server.directory, "swapped"), { recursive: true });
    symlinkSync(join(server.directory, "elsewhere"), join(server.directory, "swapped"));
    for (const other of busy) await server.get(`/crawl/${other}`, { method: "DELETE" });
    expect(await untilJob(server, id, isOver)).toMatchObject({
      status: "failed",
      error: { code: "unwritable_output" },
    });
    expect(readdirSync(join(server.directory, "elsewhere"))).toEqual([]);
  });
});
