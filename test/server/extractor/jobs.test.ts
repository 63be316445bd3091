import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
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
const site = forAllTests(serveNumberedSite({ pages: 12, answers: { "/p/3": { status: 500, body: "no" } } }));
const slow = forAllTests(serveNumberedSite({ pages: 1000, answerMs: 300 }));

const canMount = Bun.spawnSync(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).exitCode === 0;

const endless = (name: string) => ({ output_dir: name, seeds: [`${slow.origin}/`], max_pages: 1000 });

describe("a crawl job", () => {
  test("is accepted with 202, runs, and gives its manifest when it is completed", async () => {
    const response = await server.post("/crawl", { output_dir: "site", seeds: [`${site.origin}/`] });
    expect(response.status).toBe(202);
    const submitted = (await response.json()) as JobJson;
    expect(submitted).toEqual({
      job_id: expect.any(String),
      status: "queued",
      progress: 0,
      total: 0,
    } as never);
    expect(response.headers.get("location")).toBe(`/crawl/${submitted.job_id}`);
    const job = await untilJob(server, submitted.job_id, isOver);
    expect(job).toMatchObject({
      status: "completed",
      progress: 12,
      total: 12,
      successful: 11,
      failed: 1,
      skipped: 0,
      error: null,
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    const answer = await server.get(`/crawl/${submitted.job_id}/manifest`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    const manifest = (await answer.json()) as { readonly results: readonly object[] };
    expect(manifest).toMatchObject({
      job_id: submitted.job_id,
      total_pages: 12,
      successful: 11,
      failed: 1,
      config: { seeds: [`${site.origin}/`], max_pages: 100, concurrency: 5 },
    });
    expect(manifest.results).toHaveLength(12);
    expect(readdirSync(join(server.directory, "site")).filter((name) => name.endsWith(".md"))).toHaveLength(
      11,
    );
  });

  test("takes seeds, sitemaps on the web and here, prefixes, limits and options", async () => {
    writeFileSync(
      join(server.directory, "list.txt"),
      `${site.origin}/p/1\n${site.origin}/p/2\n${site.origin}/p/4\n`,
    );
    const id = await submitJob(server, {
      output_dir: "options",
      sitemaps: ["list.txt"],
      allow_prefixes: [`${site.origin}/p/`],
      deny_prefixes: [`${site.origin}/p/4`],
      max_pages: 2,
      max_depth: 0,
      concurrency: 1,
      rate_limit_delay: 0,
      follow_links: false,
      prefer_browser: false,
      network: { user_agent: "crawler/1" },
      options: { min_word_count: 7 },
      ignore_robots: true,
    });
    expect(await untilJob(server, id, isOver)).toMatchObject({
      status: "completed",
      successful: 2,
      skipped: 1,
    });
    const { config } = JSON.parse(readFileSync(join(server.directory, "options/manifest.json"), "utf8"));
    expect(config).toMatchObject({
      max_pages: 2,
      max_depth: 0,
      concurrency: 1,
      follow_links: false,
      output_dir: "options",
      obey_robots: false,
      options: { min_word_count: 7 },
      network: { user_agent: "crawler/1" },
    });
    expect(site.visits.at(-1)?.headers["user-agent"]).toBe("crawler/1");
  });

  test.skipIf(!canMount)("on a small disk warns in its status, its manifest and the log alike", async () => {
    const mount = 'mkdir small && mount -t tmpfs -o size=50m tmpfs small && exec "$@"';
    await using small = await startExtractor({ within: ["unshare", "-rm", "sh", "-c", mount, "sh"] });
    const id = await submitJob(small, { output_dir: "small/out", seeds: [`${site.origin}/p/1`] });
    const warnings = ["Less than 100 MB are free in the output directory"];
    expect(await untilJob(small, id, isOver)).toMatchObject({ status: "completed", warnings });
    const manifest = await (await small.get(`/crawl/${id}/manifest`)).json();
    expect(manifest).toMatchObject({ warnings });
    const logged = small
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"low disk"'));
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ level: "warning", job_id: id }]);
  });

  test("fails, with a manifest, where every seed is refused", async () => {
    const id = await submitJob(server, {
      output_dir: "refused",
      seeds: [`${site.origin}/`],
      deny_prefixes: [`${site.origin}/`],
    });
    const job = await untilJob(server, id, isOver);
    expect(job).toMatchObject({
      status: "failed",
      error: { code: expect.any(String), message: expect.any(String) },
    });
    expect(await codeOf(await server.get(`/crawl/${id}/manifest`))).toBe("job_not_completed");
    expect(existsSync(join(server.directory, "refused/manifest.json"))).toBe(true);
  });

  test("whose pages all fail is completed", async () => {
    const id = await submitJob(server, { output_dir: "failing", seeds: [`${site.origin}/p/3`] });
    expect(await untilJob(server, id, isOver)).toMatchObject({
      status: "completed",
      successful: 0,
      failed: 1,
    });
    const lineOfPage = (): string | undefined =>
      server
        .stderr()
        .split("\n")
        .find((written) => written.includes('"page failed"') && written.includes(`"job_id":"${id}"`));
    while (lineOfPage() === undefined) await Bun.sleep(20);
    expect(lineOfPage()).toContain(`${site.origin}/p/3`);
  });

  test("repeats a finished crawl of the same directory; other limits go on, another scope fails, fresh forgets it", async () => {
    const body = { output_dir: "again", seeds: [`${site.origin}/p/1`], max_pages: 1 };
    const first = await submitJob(server, body);
    await untilJob(server, first, isOver);
    const second = await submitJob(server, body);
    expect(await untilJob(server, second, isOver)).toMatchObject({ status: "completed", successful: 1 });
    expect(await codeOf(await server.get(`/crawl/${first}/manifest`))).toBe("manifest_gone");
    const larger = await submitJob(server, { ...body, max_pages: 2 });
    expect(await untilJob(server, larger, isOver)).toMatchObject({ status: "completed", successful: 2 });
    const manifest = await (await server.get(`/crawl/${larger}/manifest`)).json();
    expect(manifest).toMatchObject({ job_id: larger, total_pages: 2, config: { max_pages: 2 } });
    const other = { ...body, deny_prefixes: [`${site.origin}/x`] };
    const third = await submitJob(server, other);
    expect((await untilJob(server, third, isOver)).error).toEqual({
      code: "crawl_conflict",
      message:
        'again holds a finished crawl with another plan (deny prefixes): "fresh": true forgets it, or choose another output directory',
    });
    const fourth = await submitJob(server, { ...other, fresh: true });
    expect((await untilJob(server, fourth, isOver)).status).toBe("completed");
  });
});

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
    symlinkSync(join(server.directory, "elsewhere"), join(server.directory, "swapped"));
    for (const other of busy) await server.get(`/crawl/${other}`, { method: "DELETE" });
    expect(await untilJob(server, id, isOver)).toMatchObject({
      status: "failed",
      error: { code: "unwritable_output" },
    });
    expect(readdirSync(join(server.directory, "elsewhere"))).toEqual([]);
  });
});

/** The events of a stream until it ends. */
async function readEvents(response: Response) {
  const text = await response.text();
  return text
    .split("\n\n")
    .map((block) =>
      Object.fromEntries(
        block.split("\n").map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]),
      ),
    )
    .filter((fields): fields is { event: string; data: string; id?: string } => fields.event !== undefined)
    .map(({ event, data, id }) => ({
      event,
      data: JSON.parse(data),
      id: id === undefined ? null : Number(id),
    }));
}

describe("the event stream", () => {
  test("tells pages and progress, ends with the job, and goes on behind the last event", async () => {
    const id = await submitJob(server, { output_dir: "events", seeds: [`${site.origin}/`] });
    const response = await server.get(`/crawl/${id}/events`);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = await readEvents(response);
    const pages = events.filter(({ event }) => event === "page");
    expect(pages).toHaveLength(12);
    expect(pages[0]?.data).toMatchObject({ url: `${site.origin}/`, status: "success", depth: 0 });
    expect(events.at(-1)).toMatchObject({ event: "end", data: { status: "completed", successful: 11 } });
    const ids = events.flatMap((event) => event.id ?? []);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));

    const from = pages[5]?.id ?? 0;
    const rest = await readEvents(
      await server.get(`/crawl/${id}/events`, { headers: { "last-event-id": String(from) } }),
    );
    expect(rest.filter(({ event }) => event === "page")).toEqual(pages.slice(6));
    const seen = await server.get(`/crawl/${id}/events`, {
      headers: { "last-event-id": String(ids.at(-1)) },
    });
    expect(seen.status).toBe(204);
  });

  test("says which events are kept no longer, to readers that begin and to those that come back", async () => {
    const id = await submitJob(server, { output_dir: "gap", seeds: [`${site.origin}/`] });
    await untilJob(server, id, isOver);
    for (const file of new Bun.Glob("**/jobs.sqlite").scanSync(server.directory)) {
      using jobs = new Database(join(server.directory, file));
      jobs.run("DELETE FROM event WHERE number <= 5 AND job = (SELECT number FROM job WHERE id = ?)", [id]);
    }
    const idsBehind = async (seen: number): Promise<unknown[]> => {
      const headers = { "last-event-id": String(seen) };
      const events = await readEvents(await server.get(`/crawl/${id}/events`, { headers }));
      return events.flatMap(({ event, id, data }) => (event === "gap" ? { id, ...data } : (id ?? [])));
    };
    const rest = await idsBehind(5);
    expect(rest.length).toBeGreaterThan(6);
    for (const seen of [0, 3])
      expect(await idsBehind(seen)).toEqual([{ id: 5, from: seen + 1, to: 5 }, ...rest]);
  });

  test("follows a running job live", async () => {
    const id = await submitJob(server, endless("live"));
    const response = await server.get(`/crawl/${id}/events`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("event: page")) text += (await reader?.read())?.value ?? "";
    await server.get(`/crawl/${id}`, { method: "DELETE" });
    while (!text.includes("event: end")) text += (await reader?.read())?.value ?? "";
    expect(text).toContain('"code":"cancelled"');
  });
});
