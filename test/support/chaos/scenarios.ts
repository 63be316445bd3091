import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { optionsFor, standBefore } from "../bucket.ts";
import { isOver, type JobJson } from "../extractor-server.ts";
import { serveGit } from "../git-server.ts";
import { freePort, untilReady } from "../local.ts";
import { joinedCrawl, type ManifestJson, startCluster } from "../scale/crawl.ts";
import { serveManyHosts } from "../scale/site.ts";
import { gitTenant, rewriteSyncDeployment } from "../sync-run.ts";
import { untilTrue } from "../until.ts";
import type { Chaos } from "./chaos.ts";
import { openGround } from "./ground.ts";
import { Kept } from "./kept.ts";
import { expectCrawl, expectPace } from "./oracle.ts";
import { askSearches } from "./searches.ts";

type Environment = Readonly<Record<string, string>>;
export type Scenario = (chaos: Chaos) => Promise<void>;

const DELAY_MS = 500;
const SITE = { hosts: 12, answerMs: 10, missing: 20, bytes: 600, hasPrivate: true };
/** The name of the output. */
const PLACE = "pages";

/** A database, and a bucket that processes reach through a server with faults. */
async function startFaultyCluster() {
  const { database, bucket, env, [Symbol.asyncDispose]: dispose } = await startCluster();
  const store = standBefore(optionsFor(bucket.env.ARTICLE_EXTRACTOR_S3_ENDPOINT ?? ""));
  const list = async (): Promise<string[]> =>
    (await bucket.list(`all/${PLACE}/`)).map((name) => name.slice(`all/${PLACE}/`.length));
  const read = (name: string): Promise<string> => bucket.client.file(`all/${PLACE}/${name}`).text();
  return {
    output: `${bucket.url}/all/${PLACE}`,
    targets: { database, store },
    env: { ...env, ARTICLE_EXTRACTOR_S3_ENDPOINT: store.options.endpoint ?? "" } as Environment,
    list,
    read,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await dispose();
    },
  };
}

/** A directory on a small disk. */
function openDirectory({ path, disk }: ReturnType<typeof openGround>) {
  const output = join(path, PLACE);
  const env: Environment = {
    ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "1",
    ARTICLE_EXTRACTOR_LOG_LEVEL: "info",
    ARTICLE_EXTRACTOR_STATE_DIR: join(path, "state"),
    ARTICLE_EXTRACTOR_OUTPUT_ROOT: path,
    WEB_CONCURRENCY: "2",
  };
  return {
    output,
    targets: { disk },
    env,
    list: async () => readdirSync(output),
    read: (name: string) => Bun.file(join(output, name)).text(),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** What a crawl needs: a site, which is crawled for somewhat longer than the chaos lasts, and a place for its pages. */
async function openCrawl({ random, seconds }: Chaos, isShared: boolean) {
  await using opened = new AsyncDisposableStack();
  const ground = opened.use(openGround());
  const pagesPerHost = Math.ceil((seconds * 1200) / DELAY_MS);
  const served = opened.use(await serveManyHosts({ ...SITE, pagesPerHost }));
  const site = { ...served, pagesPerHost, missing: SITE.missing };
  const place = opened.use(isShared ? await startFaultyCluster() : openDirectory(ground));
  // Half of all crawls may have every page, and the others meet their limit.
  const maxPages = Math.ceil(site.urls.length * (random() < 0.5 ? 2 : 0.7));
  const kept: Kept[] = [];
  const closing = opened.move();
  return {
    site,
    maxPages,
    output: place.output,
    processes: kept,
    targets: { processes: kept, site, clock: ground.clock, ...place.targets },
    /** Keeps a command running; the clock of the first one is the one that jumps. */
    keep(words: readonly string[], doneWith: number | null) {
      const env = { ...place.env, ...(kept.length === 0 && ground.clockEnv) };
      kept.push(closing.use(new Kept({ words, env, doneWith })));
    },
    /** Waits for the first page: a site that is away just then would leave no crawl. */
    begun: () => untilTrue(async () => (await site.count()) > 1),
    /** Checks what has come of it. @returns the manifest */
    async judge(chaos: Chaos): Promise<ManifestJson> {
      const files = (await place.list()).filter((name) => name.endsWith(".md"));
      const manifest: ManifestJson = JSON.parse(await place.read("manifest.json"));
      const visits = await site.visits();
      const mayFail = chaos.hasHad(/^the site is/);
      await expectCrawl({ site, manifest, files, read: place.read, maxPages, visits, mayFail });
      expectPace(visits, DELAY_MS, kept);
      return manifest;
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** `crawl`, by one process at a time with SQLite, or by three with `--join`, a database and a bucket. */
const crawls =
  (isShared: boolean): Scenario =>
  async (chaos) => {
    await using crawl = await openCrawl(chaos, isShared);
    const { site, output, maxPages, targets, processes } = crawl;
    const words = joinedCrawl(site, { place: output, maxPages, delayMs: DELAY_MS, concurrency: 8 });
    for (let count = isShared ? 3 : 1; count > 0; count--)
      crawl.keep(isShared ? words : words.filter((word) => word !== "--join"), 0);
    const done = Promise.all(processes.map((one) => one.done));
    await crawl.begun();
    await chaos.unleash(targets, done);
    await done;
    await crawl.judge(chaos);
  };

/** Asks until a server answers well, whatever happens to it meanwhile. */
async function askLong<T>(port: number, path: string, body?: object): Promise<T> {
  for (;;) {
    const asked = { headers: { "content-type": "application/json", connection: "close" } };
    const init = body ? { ...asked, method: "POST", body: JSON.stringify(body) } : asked;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init).catch(() => null);
    const answer = response?.ok ? ((await response.json().catch(() => null)) as T | null) : null;
    if (answer !== null) return answer;
    await Bun.sleep(200);
  }
}

/** Crawls as a job, which anybody may submit again where a full disk has ended it. @returns its last record */
async function endedJob(chaos: Chaos, port: () => number, body: object): Promise<JobJson> {
  for (let id: string | null = null; ; await Bun.sleep(200)) {
    id ??= (await askLong<JobJson>(port(), "/crawl", body)).job_id;
    const job = await askLong<JobJson>(port(), `/crawl/${id}`);
    if (job.status === "completed") return job;
    if (!isOver(job)) continue;
    chaos.note(`the job has failed: ${JSON.stringify(job.error)}`);
    expect({ error: job.error, isFull: chaos.hasHad(/disk is full/) }).toMatchObject({ isFull: true });
    id = null;
  }
}

/** A job of `serve extractor`: of two processes with SQLite, or of three servers with a database and a bucket. */
const jobs =
  (isShared: boolean): Scenario =>
  async (chaos) => {
    await using crawl = await openCrawl(chaos, isShared);
    const { site, maxPages, targets } = crawl;
    const ports = Array.from({ length: isShared ? 3 : 1 }, freePort);
    for (const port of ports)
      crawl.keep(["serve", "extractor", "--host", "127.0.0.1", "--port", String(port)], null);
    await Promise.all(ports.map(untilReady));
    const body = {
      output_dir: PLACE,
      seeds: [`${site.origin}/`],
      allow_prefixes: site.origins.map((origin) => `${origin}/`),
      max_pages: maxPages,
      max_depth: 100,
      concurrency: 8,
      rate_limit_delay: DELAY_MS / 1000,
    };
    let asked = 0;
    const port = (): number => ports[asked++ % ports.length] as number;
    const job = endedJob(chaos, port, body);
    await crawl.begun();
    await chaos.unleash({ ...targets, door: { port: port() } }, job);
    const { job_id, successful, failed, skipped } = await job;
    const manifest = await crawl.judge(chaos);
    expect(manifest).toMatchObject({ successful, failed, skipped });
    for (const _ of ports)
      expect(await askLong<ManifestJson>(port(), `/crawl/${job_id}/manifest`)).toEqual(manifest);
  };

/** Syncs of a repository that changes and searches in it, with two processes of `serve search` on one port. */
async function search(chaos: Chaos): Promise<void> {
  await using git = await serveGit();
  using ground = openGround();
  const port = freePort();
  const repository = await git.create("handbook");
  rewriteSyncDeployment(ground.path, {
    infrastructure: { mcp_port: port, uvicorn_workers: 2, log_level: "info" },
    tenants: [gitTenant(`${git.origin}/handbook.git`)],
  });
  await using kept = new Kept({
    words: ["serve", "search", "--config", join(ground.path, "deployment.json")],
    env: {
      DOCS_SEARCH_GIT_PROTOCOLS: "https,http",
      DOCS_SEARCH_STATE_DIR: join(ground.path, "state"),
      ...ground.clockEnv,
    },
    doneWith: null,
  });
  await using searches = await askSearches({ port, repository, pages: 40 });
  const { clock, disk } = ground;
  await chaos.unleash({ processes: [kept], clock, disk, source: git, door: { port } }, searches.failed);
  await searches.end();
  chaos.note(`${searches.answers()} answers of ${searches.editions()} editions`);
}

/** What suffers from faults. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "a crawl": crawls(false),
  "a joined crawl": crawls(true),
  "a job": jobs(false),
  "a shared job": jobs(true),
  "searches and syncs": search,
};
