import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOver, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

const SITEMAP = "<urlset><url><loc>{origin}/p/6</loc></url></urlset>";
const answers = { "/sitemap.xml": { headers: { "content-type": "application/xml" }, body: SITEMAP } };
const site = forAllTests(serveNumberedSite({ pages: 130, answers }));
const chain = forAllTests(serveNumberedSite({ pages: 6, fanOut: 1 }));
// As it comes: no output root is named, and the pace is the default where a test does not say otherwise.
const env = { ARTICLE_EXTRACTOR_OUTPUT_ROOT: "", ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "" };
const server = forAllTests(await startExtractor({ env }));
const root = join(server.directory, "state/crawls");
const elsewhere = forAllTests(temporaryDirectory()).path;

type Manifest = {
  readonly config: Readonly<Record<string, unknown>>;
  readonly results: readonly { readonly url: string; readonly status: string; readonly depth: number }[];
};
let crawls = 0;

/** Crawls to the end; gives the manifest. Without a delay, unless the fields have one. */
async function crawl(fields: object): Promise<Manifest> {
  const id = await submitJob(server, { output_dir: `crawl-${++crawls}`, rate_limit_delay: 0, ...fields });
  const job = await untilJob(server, id, isOver);
  expect(job.error).toBeNull();
  return (await (await server.get(`/crawl/${id}/manifest`)).json()) as Manifest;
}

const pathsOf = ({ results }: Manifest, status = "success"): string[] =>
  results
    .filter((entry) => entry.status === status)
    .map(({ url }) => url.slice(site.origin.length))
    .sort();

const SECTION = "Crawl job request";
const SEED = `${site.origin}/`;
const one = (path: string) => ({ seeds: [site.origin + path], max_depth: 0 });

statement(SECTION, "output_dir | string | — | Directory (on the server host)", async () => {
  await crawl({ ...one("/p/1"), output_dir: "docs/first" });
  const host = new URL(SEED).host.replace(":", "_");
  const written = readdirSync(join(root, "docs/first")).filter((name) => !name.startsWith("."));
  expect(written.sort()).toEqual([`${host}__p__1.md`, "manifest.json"].sort());
});

describe("the server's own directory for crawls", () => {
  const FORWARDED = { "x-forwarded-for": "203.0.113.7" };
  const submit = (output_dir: string, headers = {}) =>
    server.post("/crawl", { output_dir, seeds: [SEED], max_pages: 1 }, headers);

  test("takes crawls of callers from anywhere", async () => {
    expect((await submit("from-elsewhere", FORWARDED)).status).toBe(202);
  });

  test("takes an absolute path that is within it", async () => {
    const response = await submit(join(root, "absolute"), FORWARDED);
    const { job_id: id } = (await response.json()) as { job_id: string };
    await untilJob(server, id, isOver);
    expect(existsSync(join(root, "absolute/manifest.json"))).toBeTrue();
  });

  test("is not left by any path, from here or elsewhere", async () => {
    mkdirSync(join(root, "held"), { recursive: true });
    symlinkSync(elsewhere, join(root, "link"));
    for (const path of [elsewhere, "../beside", "a/../../beside", "link", "link/below", "/etc"])
      for (const headers of [{}, FORWARDED]) {
        const response = await submit(path, headers);
        expect([path, response.status]).toEqual([path, 403]);
        expect(((await response.json()) as { detail: string }).detail).toContain(
          "ARTICLE_EXTRACTOR_OUTPUT_ROOT",
        );
      }
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(existsSync(join(root, "../beside"))).toBeFalse();
  });

  test("holds the sitemaps and storage states of requests too", async () => {
    writeFileSync(join(elsewhere, "list.txt"), `${site.origin}/p/1\n`);
    const outside = { sitemaps: [join(elsewhere, "list.txt")] };
    expect((await server.post("/crawl", outside)).status).toBe(403);
    const network = { storage_state: join(elsewhere, "state.json") };
    expect((await server.post("/crawl", { seeds: [SEED], network })).status).toBe(403);
    expect((await server.post("/", { url: `${site.origin}/p/1`, network })).status).toBe(403);
  });

  test("keeps a manifest that is not ours", async () => {
    mkdirSync(join(root, "foreign"), { recursive: true });
    writeFileSync(join(root, "foreign/manifest.json"), "{}");
    expect((await submit("foreign")).status).toBe(422);
    expect(readFileSync(join(root, "foreign/manifest.json"), "utf8")).toBe("{}");
  });
});

statement(SECTION, "seeds | array of string | empty | Seed URLs.", async () => {
  const seeds = [`${site.origin}/p/1`, `${site.origin}/p/2`];
  expect(pathsOf(await crawl({ seeds, max_depth: 0 }))).toEqual(["/p/1", "/p/2"]);
  writeFileSync(join(root, "only.txt"), `${site.origin}/p/3\n`);
  expect((await crawl({ sitemaps: ["only.txt"] })).config.seeds).toEqual([]);
});

statement(SECTION, "sitemaps | array of string | empty | Sitemap URLs or local file paths.", async () => {
  writeFileSync(join(root, "list.txt"), `${site.origin}/p/5\n`);
  const sitemaps = [`${site.origin}/sitemap.xml`, "list.txt"];
  expect(pathsOf(await crawl({ sitemaps, follow_links: false }))).toEqual(["/p/5", "/p/6"]);
  expect((await crawl(one("/p/1"))).config.sitemaps).toEqual([]);
});

statement(SECTION, "allow_prefixes | array of string | empty (meaning: all URLs allowed)", async () => {
  const some = { seeds: [`${site.origin}/p/1`], max_pages: 5 };
  expect((await crawl(some)).results.length).toBe(5);
  const only = await crawl({ ...some, allow_prefixes: [`${site.origin}/p/1`] });
  expect(pathsOf(only).filter((path) => !path.startsWith("/p/1"))).toEqual([]);
});

statement(SECTION, "deny_prefixes | array of string | empty (meaning: none denied)", async () => {
  const some = { seeds: [SEED, `${site.origin}/p/2`], max_depth: 0 };
  expect(pathsOf(await crawl(some))).toEqual(["/", "/p/2"]);
  const denied = await crawl({ ...some, deny_prefixes: [`${site.origin}/p/`] });
  expect(pathsOf(denied)).toEqual(["/"]);
  expect(pathsOf(denied, "skipped")).toEqual(["/p/2"]);
});

statement(SECTION, "max_pages | integer | 100 | Maximum pages to crawl.", async () => {
  expect((await crawl({ seeds: [SEED] })).results.filter(({ status }) => status === "success")).toHaveLength(
    100,
  );
  expect(pathsOf(await crawl({ seeds: [SEED], max_pages: 7 }))).toHaveLength(7);
});

statement(SECTION, "max_depth | integer | 3 | Maximum breadth-first depth from the seeds.", async () => {
  const depthsOf = async (fields: object) => {
    const { results } = await crawl({ seeds: [`${chain.origin}/`], ...fields });
    return [...new Set(results.map(({ depth }) => depth))].sort();
  };
  expect(await depthsOf({})).toEqual([0, 1, 2, 3]);
  expect(await depthsOf({ max_depth: 1 })).toEqual([0, 1]);
  expect(await depthsOf({ max_depth: 0 })).toEqual([0]);
});

statement(SECTION, "concurrency | integer | 5 | Concurrent requests.", async () => {
  expect((await crawl(one("/p/1"))).config.concurrency).toBe(5);
  for (const concurrency of [1, 3]) {
    await using slow = serveNumberedSite({ pages: 30, answerMs: 50 });
    await crawl({ seeds: [`${slow.origin}/`], concurrency, max_pages: 9 });
    expect(slow.peak).toBe(concurrency);
  }
});

statement(SECTION, "rate_limit_delay | number (seconds) | 1.0 | Delay between requests", async () => {
  const gapsOf = async (fields: object) => {
    const before = site.visits.length;
    await crawl({ seeds: [`${site.origin}/p/1`, `${site.origin}/p/2`], max_depth: 0, ...fields });
    const times = site.visits.slice(before).map(({ at }) => at);
    return times.slice(1).map((at, i) => at - times[i]!);
  };
  for (const gap of await gapsOf({ rate_limit_delay: undefined })) expect(gap).toBeGreaterThanOrEqual(950);
  for (const gap of await gapsOf({ rate_limit_delay: 0.3 })) expect(gap).toBeGreaterThanOrEqual(280);
});

statement(SECTION, "follow_links | boolean | true | Discover and follow links in pages", async () => {
  expect((await crawl({ seeds: [SEED], max_pages: 4 })).results.length).toBe(4);
});

statement(SECTION, "when false only seed and sitemap URLs are crawled", async () => {
  writeFileSync(join(root, "beside.txt"), `${site.origin}/p/9\n`);
  const fields = { seeds: [SEED], sitemaps: ["beside.txt"], follow_links: false };
  expect(pathsOf(await crawl(fields))).toEqual(["/", "/p/9"]);
});

statement(SECTION, "network | object | — | Network options as above.", async () => {
  const before = site.visits.length;
  await crawl({ ...one("/p/1"), network: { user_agent: "crawler/7" }, prefer_browser: false });
  for (const { headers } of site.visits.slice(before)) expect(headers["user-agent"]).toBe("crawler/7");
});

type Schema = {
  readonly default?: unknown;
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
};

test("the OpenAPI document names every default of a crawl, as this server has it", async () => {
  const defaultsOf = async (from: typeof server) => {
    const document = (await (await from.get("/openapi.json")).json()) as {
      readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
    };
    const { schemas } = document.components;
    const defaults = (name: string): object =>
      Object.fromEntries(
        Object.entries(schemas[name]?.properties ?? {}).map(([field, schema]) => [field, schema.default]),
      );
    return {
      crawl: defaults("CrawlRequest"),
      network: defaults("NetworkOptions"),
      options: defaults("ExtractionOptions"),
    };
  };
  const lists = { seeds: [], sitemaps: [], allow_prefixes: [], deny_prefixes: [] };
  const documented = await defaultsOf(server);
  expect(documented.crawl).toMatchObject({
    ...lists,
    max_pages: 100,
    max_depth: 3,
    concurrency: 5,
    rate_limit_delay: 1,
    follow_links: true,
    ignore_robots: false,
    respect_meta_robots: false,
    discover_sitemaps: false,
    adaptive_delay: false,
    trust_lastmod: false,
    fresh: false,
  });
  expect(documented.network).toEqual({
    user_agent: undefined,
    random_user_agent: false,
    headed: false,
    proxy: null,
    proxy_bypass: [],
    storage_state: null,
    user_interaction_timeout: 0,
  } as never);
  expect(documented.options).toMatchObject({
    min_word_count: 150,
    include_images: true,
    include_code: true,
    favor: "balanced",
  });
  await using other = await startExtractor({ env: { ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES: "7" } });
  expect((await defaultsOf(other)).crawl).toMatchObject({ max_pages: 7, rate_limit_delay: 0 });
});
