import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runBinary } from "../../support/binary.ts";
import { environmentFor, makeBucket, standBefore } from "../../support/bucket.ts";
import {
  type ExtractorProcess,
  isOver,
  type JobJson,
  startExtractor,
  submitJob,
  untilJob,
} from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { type NumberedSite, serveNumberedSite } from "../../support/numbered-site.ts";
import { startPostgres, testDatabase } from "../../support/postgres.ts";
import { until, untilTrue } from "../../support/until.ts";

const PAGES = 60;
const site = forAllTests(serveNumberedSite({ pages: PAGES, answerMs: 40 }));
const endless = forAllTests(serveNumberedSite({ pages: 10_000, answerMs: 40 }));
const bucket = await makeBucket();
const database = forAllTests(await testDatabase());

type Role = "all" | "api" | "worker";

const sharedEnv = (place: { readonly url: string; readonly schema: string }): Record<string, string> => ({
  ARTICLE_EXTRACTOR_DATABASE_URL: place.url,
  ARTICLE_EXTRACTOR_DATABASE_SCHEMA: place.schema,
  ARTICLE_EXTRACTOR_STORE_URL: `s3://${bucket.name}/pages`,
  ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1",
  ...environmentFor(bucket.options),
});

const start = (role: Role, env = sharedEnv(database)): Promise<ExtractorProcess> =>
  startExtractor({ words: ["--role", role], env });

const linesOf = (stderr: string): { readonly message?: string; readonly job_id?: string }[] =>
  stderr.split("\n").flatMap((line) => (line.startsWith("{") ? JSON.parse(line) : []));

const hasTaken = ({ stderr }: ExtractorProcess, id: string): boolean =>
  linesOf(stderr()).some(({ message, job_id }) => message === "job taken" && job_id === id);

type Event = { readonly event: string; readonly id: number | null; readonly data: { readonly url?: string } };

/** Serves half of its pages, and the others once it may go on, so that a fast machine has work left for then. */
function serveHalf(): NumberedSite & { goOn(): void } {
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  const until = (_: string, earlier: number) => (earlier > PAGES / 2 ? promise : undefined);
  return Object.assign(serveNumberedSite({ pages: PAGES, until }), { goOn });
}

/** Reads events of a stream until it ends or one is as wanted. */
async function readEvents(
  response: Response,
  isWanted: (event: Event) => boolean = () => false,
): Promise<Event[]> {
  const found: Event[] = [];
  let text = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split("\n")
          .map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]),
      );
      text = text.slice(end + 2);
      if (fields.event === undefined) continue;
      const event = {
        event: fields.event,
        id: fields.id ? Number(fields.id) : null,
        data: JSON.parse(fields.data),
      };
      found.push(event);
      if (isWanted(event)) return found;
    }
  }
  return found;
}

describe("servers of several machines", async () => {
  const [one, other] = [forAllTests(await start("api")), forAllTests(await start("api"))];
  const workers = [forAllTests(await start("worker")), forAllTests(await start("worker"))];

  test("take a job at one, run it at the workers, and tell of it at any", async () => {
    const id = await submitJob(one, {
      output_dir: "site/a",
      seeds: [`${site.origin}/`],
      rate_limit_delay: 0,
    });
    const job = await untilJob(other, id, isOver);
    expect(job).toMatchObject({ status: "completed", progress: PAGES, successful: PAGES, failed: 0 });
    for (const server of [one, other]) {
      const manifest = await (await server.get(`/crawl/${id}/manifest`)).json();
      expect(manifest).toMatchObject({ job_id: id, successful: PAGES, config: { output_dir: "site/a" } });
    }
    const events = await readEvents(await other.get(`/crawl/${id}/events`));
    const pages = events.filter(({ event }) => event === "page").map(({ data }) => data.url);
    expect(pages).toHaveLength(PAGES);
    expect(new Set(pages).size).toBe(PAGES);
    for (const worker of workers) expect(worker.stderr()).not.toContain('"level":"error"');
  });

  test("a worker answers probes and metrics, and nothing else", async () => {
    const [worker] = workers;
    for (const path of ["/", "/docs", "/openapi.json", "/crawl", "/mcp.json", `/${site.origin}/`]) {
      const headers = { accept: "text/html" };
      expect((await worker?.get(path, { headers }))?.status).toBe(404);
    }
    expect((await worker?.post("/crawl", {}))?.status).toBe(404);
    expect(await (await worker?.get("/health"))?.json()).toMatchObject({ status: "healthy", role: "worker" });
    expect((await worker?.get("/ready"))?.status).toBe(200);
    const metrics = await (await worker?.get("/metrics"))?.text();
    expect(metrics).toMatch(/crawl_jobs\{state="queued"\} \d/);
    expect(metrics).toMatch(/crawl_jobs\{state="running"\} \d/);
  });

  test("a stream goes on at another process without a gap, and a cancellation there ends the job", async () => {
    const id = await submitJob(one, {
      output_dir: "endless",
      seeds: [`${endless.origin}/`],
      max_pages: 10_000,
      concurrency: 2,
      rate_limit_delay: 0,
    });
    const isTenth = ({ id: number }: Event): boolean => number !== null && number >= 10;
    const begun = await readEvents(await one.get(`/crawl/${id}/events`), isTenth);
    const last = begun.findLast((event) => event.id !== null)?.id ?? 0;
    const resumed = await other.get(`/crawl/${id}/events`, { headers: { "last-event-id": String(last) } });
    const isThirtieth = ({ id: number }: Event): boolean => number !== null && number >= 30;
    const rest = await readEvents(resumed, isThirtieth);
    const numbers = [...begun, ...rest].flatMap((event) => event.id ?? []);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => index + 1));
    // The worker without a job of its own helps.
    await untilTrue(() => workers.some((worker) => worker.stderr().includes("joins a job")));

    const ending = readEvents(await one.get(`/crawl/${id}/events`));
    expect((await other.get(`/crawl/${id}`, { method: "DELETE" })).status).toBe(202);
    expect(await untilJob(one, id, isOver)).toMatchObject({ status: "failed", error: { code: "cancelled" } });
    expect((await ending).at(-1)).toMatchObject({ event: "end" });
    const { length } = endless.visits;
    await untilTrue(() => endless.open === 0);
    expect(endless.visits.length - length).toBeLessThan(10);
    expect((await one.get(`/crawl/${id}/manifest`)).status).toBe(400);
  });

  test("a job goes on at another worker when its own is told to end, and no page is lost", async () => {
    await using half = serveHalf();
    const leaving = await start("worker");
    const id = await submitJob(one, {
      output_dir: "drained",
      seeds: [`${half.origin}/`],
      concurrency: 2,
      rate_limit_delay: 0,
    });
    await untilJob(other, id, ({ successful }) => successful > PAGES / 3);
    const takers = [...workers, leaving];
    const leader = takers.find((worker) => hasTaken(worker, id)) ?? leaving;
    leader.signal("SIGTERM");
    half.goOn();
    expect(await leader.exited).toBe(0);
    expect(linesOf(leader.stderr())).toContainEqual(
      expect.objectContaining({ message: "job handed back", job_id: id }),
    );
    const job = await untilJob(other, id, isOver);
    expect(job).toMatchObject({ status: "completed", successful: PAGES, failed: 0 });
    const manifest = (await (await one.get(`/crawl/${id}/manifest`)).json()) as {
      readonly results: readonly { readonly url: string }[];
    };
    expect(new Set(manifest.results.map(({ url }) => url)).size).toBe(PAGES);
    const visits = half.visits.filter(({ path }) => path !== "/robots.txt");
    expect(visits.length).toBeLessThanOrEqual(PAGES + 8);
    await leaving[Symbol.asyncDispose]();
  });

  test("a job goes on at another worker when its own is killed, and tells of no page twice", async () => {
    await using _ = await start("worker");
    const before = site.visits.length;
    const id = await submitJob(one, {
      output_dir: "killed",
      seeds: [`${site.origin}/`],
      concurrency: 1,
      rate_limit_delay: 0.1,
    });
    await untilJob(other, id, ({ successful }) => successful > 5);
    workers.find((worker) => hasTaken(worker, id))?.signal("SIGKILL");
    const job = await untilJob(other, id, isOver);
    expect(job).toMatchObject({ status: "completed", successful: PAGES, failed: 0 });
    const events = await readEvents(await other.get(`/crawl/${id}/events`));
    const pages = events.filter(({ event }) => event === "page").map(({ data }) => data.url);
    expect(new Set(pages).size).toBe(pages.length);
    const visits = site.visits.slice(before).filter(({ path }) => path !== "/robots.txt");
    expect(visits.length).toBeLessThanOrEqual(PAGES + 4);
  });

  test.each([
    ["../a", 403],
    ["/etc", 403],
    [`s3://${bucket.name}/a`, 403],
    ["a/../../b", 403],
    ["a/.article-extractor/b", 403],
    ["a//b\\c", 422],
    ["a\u0000b", 422],
    ["x".repeat(600), 422],
  ])("an output_dir %p is %p, since nothing leads out of the store", async (output_dir, status) => {
    const response = await one.post("/crawl", { output_dir, seeds: [`${site.origin}/`] });
    expect(response.status).toBe(status);
  });

  test("a file of one machine is refused", async () => {
    const body = { output_dir: "x", seeds: [`${site.origin}/`] };
    for (const more of [{ sitemaps: ["list.txt"] }, { network: { storage_state: "state.json" } }]) {
      const response = await one.post("/crawl", { ...body, ...more });
      expect(response.status).toBe(403);
      expect(await response.text()).toContain("other machines");
    }
  });
});

test.each<[string, Record<string, string>, RegExp]>([
  ["api", {}, /role api .*ARTICLE_EXTRACTOR_DATABASE_URL .* and ARTICLE_EXTRACTOR_STORE_URL/],
  [
    "worker",
    { ARTICLE_EXTRACTOR_STORE_URL: "s3://bucket" },
    /role worker .*missing here: ARTICLE_EXTRACTOR_DATABASE_URL/,
  ],
  [
    "worker",
    { ARTICLE_EXTRACTOR_DATABASE_URL: "postgres://u@127.0.0.1/d" },
    /missing here: ARTICLE_EXTRACTOR_STORE_URL/,
  ],
  ["all", { ARTICLE_EXTRACTOR_DATABASE_URL: "postgres://u@127.0.0.1/d" }, /a place for pages that all reach/],
  ["reader", {}, /--role/],
])("a server with the role %s that lacks what it shares ends with one line: %p", async (role, env, line) => {
  const { exitCode, stdout, stderr } = await runBinary(["serve", "extractor", "--role", role], { env });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr.trimEnd().split("\n")).toEqual([expect.stringMatching(line)]);
});

test("a server whose bucket does not exist ends with one line", async () => {
  const env = { ...environmentFor(bucket.options), ARTICLE_EXTRACTOR_STORE_URL: "s3://nobody-made-this/a" };
  const { exitCode, stderr } = await runBinary(["serve", "extractor", "--host", "127.0.0.1", "--port", "0"], {
    env,
  });
  expect(exitCode).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({
    level: "critical",
    message: expect.stringMatching(/^ARTICLE_EXTRACTOR_STORE_URL: .*: there is no such bucket$/),
  });
});

test("a worker with another store leaves a job to those that have its own", async () => {
  await using place = await testDatabase();
  const env = sharedEnv(place);
  await using api = await start("api", env);
  const lone = await submitJob(api, { output_dir: "lone", seeds: [`${site.origin}/`] });
  // The pipe of its log may be slower than its answer.
  await untilTrue(() =>
    linesOf(api.stderr()).some(
      ({ message, job_id }) => message === "no process runs jobs" && job_id === lone,
    ),
  );
  expect(await (await api.get("/health")).json()).toMatchObject({ job_workers: 0 });
  await api.get(`/crawl/${lone}`, { method: "DELETE" });
  await using stray = await start("worker", {
    ...env,
    ARTICLE_EXTRACTOR_STORE_URL: `s3://${bucket.name}/elsewhere`,
  });
  const id = await submitJob(api, { output_dir: "x", seeds: [`${site.origin}/`] });
  const ofStray = (wanted: string) => linesOf(stray.stderr()).filter(({ message }) => message === wanted);
  await untilTrue(() => ofStray("job of another store").length > 0);
  const waiting = await untilJob(api, id, ({ warnings }) => warnings !== null);
  expect(waiting.warnings).toEqual([expect.stringContaining("waits for one that has its own")]);
  expect(await (await api.get("/health")).json()).toMatchObject({ job_workers: 1 });
  await using _ = await start("worker", env);
  expect(await untilJob(api, id, isOver)).toMatchObject({
    status: "completed",
    successful: PAGES,
    warnings: null,
  });
  expect([ofStray("job of another store").length, ofStray("job taken").length]).toEqual([1, 1]);
});

test("serve search has no roles", async () => {
  const { exitCode, stderr } = await runBinary(["serve", "search", "--role", "api"]);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("serve extractor"),
  });
});

test("one server with a store and no database keeps its pages there and its jobs here, also when it is killed", async () => {
  const directory = mkdtempSync(join(tmpdir(), "store-"));
  const env = { ...environmentFor(bucket.options), ARTICLE_EXTRACTOR_STORE_URL: `s3://${bucket.name}/alone` };
  try {
    let id: string;
    {
      await using server = await startExtractor({ directory, env });
      id = await submitJob(server, { output_dir: "x", seeds: [`${site.origin}/`], concurrency: 1 });
      await untilJob(server, id, ({ successful }) => successful > 5);
    }
    await using server = await startExtractor({ directory, env });
    expect(await untilJob(server, id, isOver)).toMatchObject({ status: "completed", successful: PAGES });
    const manifest = await (await server.get(`/crawl/${id}/manifest`)).json();
    expect(manifest).toMatchObject({ job_id: id, successful: PAGES });
    // A later crawl into the same place replaces it.
    const later = await submitJob(server, { output_dir: "./x/", seeds: [`${site.origin}/`], fresh: true });
    await untilJob(server, later, isOver);
    expect((await server.get(`/crawl/${id}/manifest`)).status).toBe(404);
    expect((await server.get(`/crawl/${later}/manifest`)).status).toBe(200);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test.each(["a job that begins", "a job under way"])("%s waits for a bucket that is away", async (which) => {
  await using faulty = standBefore(bucket.options);
  await using place = await testDatabase();
  const isShared = which === "a job under way";
  const env = {
    ...(isShared ? sharedEnv(place) : {}),
    ...environmentFor(faulty.options),
    ARTICLE_EXTRACTOR_STORE_URL: `s3://${bucket.name}/${isShared ? "under-way" : "begins"}`,
  };
  await using server = await startExtractor({ env });
  await using half = serveHalf();
  let isAway = !isShared;
  let refused = 0;
  faulty.fault = ({ method }) => {
    // Of a job under way, only pages meet the fault.
    if (!isAway || (isShared && method !== "PUT")) return null;
    refused++;
    return new Response("busy", { status: 503 });
  };
  const id = await submitJob(server, { output_dir: "x", seeds: [`${half.origin}/`], rate_limit_delay: 0 });
  if (isShared) {
    await untilJob(server, id, ({ successful }) => successful > PAGES / 3);
    isAway = true;
    half.goOn();
    await untilTrue(() => refused > 8);
  } else {
    await untilTrue(() =>
      linesOf(server.stderr()).some(({ message }) => message === "job waits for its store"),
    );
    expect(isOver(await untilJob(server, id, () => true))).toBe(false);
  }
  isAway = false;
  half.goOn();
  expect(await untilJob(server, id, isOver)).toMatchObject({
    status: "completed",
    successful: PAGES,
    failed: 0,
  });
});

test("while the database cannot be reached jobs are 503, single pages are served, and work goes on afterwards", async () => {
  await using postgres = await startPostgres();
  await using place = await testDatabase(postgres);
  await using api = await start("api", sharedEnv(place));
  await using worker = await start("worker", sharedEnv(place));
  await using leaving = await start("worker", sharedEnv(place));
  const id = await submitJob(api, { output_dir: "away", seeds: [`${site.origin}/`], concurrency: 1 });
  await untilJob(api, id, ({ successful }) => successful > 3);
  await postgres.stop("immediate");
  const refused = await api.get(`/crawl/${id}`);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  const problem = await refused.text();
  expect(problem).toContain("database_unavailable");
  expect(problem).not.toContain("postgres:");
  for (const server of [api, worker])
    expect(await (await server.get("/health")).json()).toMatchObject({ status: "degraded", jobs: null });
  expect((await api.get("/ready")).status).toBe(200);
  expect((await worker.get("/metrics")).status).toBe(200);
  expect((await api.post("/", { url: `${site.origin}/p/1` })).status).toBe(200);
  leaving.signal("SIGTERM");
  expect(await leaving.exited).toBe(0);
  await postgres.start();
  expect(
    await until(
      () => statusOf(api, id),
      (status) => status === "completed",
    ),
  ).toBe("completed");
  expect(await (await worker.get("/health")).json()).toMatchObject({ status: "healthy" });
});

test("a server whose schema has lost something is not ready, and its health is told", async () => {
  await using place = await testDatabase();
  const db = await place.open();
  const servers = await Promise.all(
    (["all", "api", "worker"] as const).map((role) => start(role, sharedEnv(place))),
  );
  const statuses = (path: string) =>
    Promise.all(servers.map(async (server) => (await server.get(path)).status));
  expect(await statuses("/ready")).toEqual([200, 200, 200]);
  await db.script("DROP TABLE job_runner");
  expect(await statuses("/ready")).toEqual([503, 503, 503]);
  expect(await statuses("/health")).toEqual([200, 200, 200]);
  for (const server of servers) await server[Symbol.asyncDispose]();
});

async function statusOf(server: ExtractorProcess, id: string): Promise<string> {
  const response = await server.get(`/crawl/${id}`);
  return response.ok ? ((await response.json()) as JobJson).status : String(response.status);
}
