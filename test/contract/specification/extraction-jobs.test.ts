import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isOver, type JobJson, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

const site = forAllTests(serveNumberedSite({ pages: 12, answers: { "/p/3": { status: 500, body: "no" } } }));
const slow = forAllTests(serveNumberedSite({ pages: 1000, answerMs: 300 }));
const server = forAllTests(await startExtractor());

const post = async (body: object) => {
  const response = await server.post("/crawl", body);
  return { response, job: (await response.json()) as JobJson };
};
const crawl = { seeds: [`${site.origin}/`, `${site.origin}/x`], deny_prefixes: [`${site.origin}/x`] };
const startedAt = Date.now();
const accepted = await post({ ...crawl, output_dir: "crawl" });
const id = accepted.job.job_id;
const done = await untilJob(server, id, isOver);
const manifestOf = (job: string) => server.get(`/crawl/${job}/manifest`);
/** A job that is under way until it is cancelled. */
const endless = await submitJob(server, {
  output_dir: "endless",
  seeds: [`${slow.origin}/`],
  max_pages: 1000,
});
const cancelled = (job: string) => server.get(`/crawl/${job}`, { method: "DELETE" });

const STATUS = "Crawl job status record";

statement(STATUS, "job_id | string | Job identifier.", () => {
  expect(id).toMatch(/^[\w-]{8,}$/);
  expect(done.job_id).toBe(id);
});

statement(STATUS, "status | string | One of `queued`, `running`, `completed`, `failed`.", async () => {
  expect(accepted.job.status).toBe("queued");
  expect((await untilJob(server, endless, ({ status }) => status === "running")).status).toBe("running");
  expect(done.status).toBe("completed");
  const refused = await submitJob(server, {
    output_dir: "refused",
    seeds: [`${site.origin}/`],
    deny_prefixes: [site.origin],
  });
  expect((await untilJob(server, refused, isOver)).status).toBe("failed");
});

statement(STATUS, "progress | integer | Progress counter.", async () => {
  const first = await untilJob(server, endless, ({ progress }) => progress > 0);
  const later = await untilJob(server, endless, ({ progress }) => progress > first.progress);
  expect(Number.isSafeInteger(later.progress)).toBeTrue();
  expect(done.progress).toBe(13);
});

statement(STATUS, "total | integer | Total counter.", () => {
  expect(done.total).toBe(13);
});

const ABSENT = ["successful", "failed", "skipped", "started_at"];
const isAbsent = (field: string): void => {
  expect(ABSENT).toContain(field);
  expect(accepted.job).not.toHaveProperty(field);
};

statement(STATUS, "successful | integer | Pages extracted (absent in the submit response).", () => {
  isAbsent("successful");
  expect(done.successful).toBe(11);
});

statement(STATUS, "failed | integer | Pages that failed (absent in the submit response).", () => {
  isAbsent("failed");
  expect(done.failed).toBe(1);
});

statement(STATUS, "skipped | integer | Pages skipped (absent in the submit response).", () => {
  isAbsent("skipped");
  expect(done.skipped).toBe(1);
});

statement(
  STATUS,
  "started_at | string, ISO 8601 UTC timestamp | Start time (absent in the submit response).",
  () => {
    isAbsent("started_at");
    expect(done.started_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
    expect(Date.parse(done.started_at ?? "")).toBeGreaterThanOrEqual(startedAt - 1000);
  },
);

statement("States and transitions", "Response 202 with progress 0 and total 0.", () => {
  expect(accepted.response.status).toBe(202);
  expect(accepted.job).toMatchObject({ status: "queued", progress: 0, total: 0 });
});

statement("States and transitions", "(no job) | `POST /crawl` | request accepted | queued", async () => {
  const two = [
    await submitJob(server, { ...crawl, output_dir: "a" }),
    await submitJob(server, { ...crawl, output_dir: "b" }),
  ];
  const jobs = (await (await server.get("/crawl")).json()) as { readonly jobs: readonly JobJson[] };
  expect(jobs.jobs.map(({ job_id }) => job_id)).toEqual(expect.arrayContaining(two));
  for (const job of two) await untilJob(server, job, isOver);
});

statement("States and transitions", "job completed | completed | Manifest is returned.", async () => {
  for (const _ of [1, 2]) {
    expect((await manifestOf(id)).status).toBe(200);
    const { status } = (await (await server.get(`/crawl/${id}`)).json()) as JobJson;
    expect(status).toBe("completed");
  }
});

statement("Endpoints", "POST | /crawl | Submit a crawl job.", () => {
  expect(accepted.response.headers.get("location")).toBe(`/crawl/${id}`);
});

statement("Endpoints", "response status 202 with JSON `job_id`, `status`, `progress`, `total`", () => {
  expect(accepted.response.status).toBe(202);
  expect(Object.keys(accepted.job).sort()).toEqual(["job_id", "progress", "status", "total"]);
});

statement("Endpoints", "GET | /crawl/{job_id} | Poll job status.", async () => {
  expect((await server.get(`/crawl/${id}`)).status).toBe(200);
});

statement("Endpoints", "path parameter `job_id` (string); response is the status record", async () => {
  const record = (await (await server.get(`/crawl/${id}`)).json()) as object;
  const fields = ["job_id", "status", "progress", "total", ...ABSENT];
  expect(Object.keys(record)).toEqual(expect.arrayContaining(fields));
});

statement(
  "Endpoints",
  "GET | /crawl/{job_id}/manifest | Download the manifest of a completed job.",
  async () => {
    expect(((await (await manifestOf(id)).json()) as { job_id: string }).job_id).toBe(id);
  },
);

statement("Endpoints", "response body is the manifest JSON file", async () => {
  const response = await manifestOf(id);
  expect(response.headers.get("content-type")).toStartWith("application/json");
  const file = readFileSync(join(server.directory, "crawl/manifest.json"), "utf8");
  expect(await response.text()).toBe(file);
});

statement("Errors", "Manifest requested for an unknown job | 404", async () => {
  for (const job of ["nothing", crypto.randomUUID()]) expect((await manifestOf(job)).status).toBe(404);
});

statement("Errors", "Manifest requested for a job that is not completed | 400", async () => {
  expect((await manifestOf(endless)).status).toBe(400);
  await cancelled(endless);
  await untilJob(server, endless, isOver);
  // A cancelled job has failed.
  expect((await manifestOf(endless)).status).toBe(400);
});

statement(
  "Errors",
  "A page cannot be extracted in a crawl | Counted as `failed` in the manifest",
  async () => {
    const manifest = (await (await manifestOf(id)).json()) as {
      readonly failed: number;
      readonly results: readonly { readonly url: string; readonly status: string }[];
    };
    expect(manifest.failed).toBe(1);
    expect(manifest.results.filter(({ status }) => status === "failed").map(({ url }) => url)).toEqual([
      `${site.origin}/p/3`,
    ]);
  },
);
