import { describe, expect, test } from "bun:test";
import FirecrawlClient, { type Document, SdkError } from "firecrawl";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import { crawlPage, type SiteAnswer, serveNumberedSite } from "../support/numbered-site.ts";
import { untilTrue } from "../support/until.ts";

const KEY = "k".repeat(32);
const bearer = { authorization: `Bearer ${KEY}` };

const HARBOUR = `<html lang="en"><head><title>Harbour</title>
<meta name="description" content="Of a gate."><meta property="article:published_time" content="2026-05-04"></head><body>
<nav><a href="/elsewhere">Navigation of the site</a></nav>
<article><h1>Harbour</h1><p class="lead">${"The harbour's gate opens at low water. ".repeat(20)}</p>
<p class="advert">${"Buy a boat from our sponsor today. ".repeat(10)}</p>
<p>${"See the tides and the locks that hold them. ".repeat(10)}<a href="/tides">Tides</a> <img src="/gate.png" alt="The gate"></p>
</article><footer>Imprint of the harbour office</footer></body></html>`;

const robots = (body: string): SiteAnswer => ({ body, headers: { "content-type": "text/plain" } });
const sitemap = (...paths: readonly string[]): SiteAnswer => ({
  body: `<urlset>${paths.map((path) => `<url><loc>{origin}${path}</loc></url>`).join("")}</urlset>`,
  headers: { "content-type": "application/xml" },
});

const site = forAllTests(
  serveNumberedSite({
    pages: 0,
    answers: {
      "/robots.txt": robots("User-agent: *\nDisallow: /private\nSitemap: {origin}/sitemap.xml\n"),
      "/sitemap.xml": sitemap("/docs/mapped", "/docs/b?page=2"),
      "/": { body: crawlPage("Start", ["/docs/", "/blog/a", "/private", "/missing"]) },
      "/docs/": { body: crawlPage("Docs", ["/docs/a", "/docs/b", "/blog/a"]) },
      "/docs/a": { body: crawlPage("Docs A", ["/docs/a/deep"]) },
      "/docs/a/deep": { body: crawlPage("Deep") },
      "/docs/b": { body: crawlPage("Docs B") },
      "/docs/b?page=2": { body: crawlPage("Docs B 2") },
      "/docs/mapped": { body: crawlPage("Mapped") },
      "/blog/a": { body: crawlPage("Blog A") },
      "/private": { body: crawlPage("Private") },
      "/harbour": { body: HARBOUR },
      "/plain": { body: "All of it. ".repeat(30), headers: { "content-type": "text/plain" } },
      "/gone": { status: 500, body: "no" },
    },
  }),
);
const slow = forAllTests(serveNumberedSite({ pages: 1000, answerMs: 300 }));
const server = forAllTests(
  await startExtractor({
    env: { ARTICLE_EXTRACTOR_API_KEY: KEY, ARTICLE_EXTRACTOR_EGRESS: "open" },
  }),
);
const client = new FirecrawlClient({ apiUrl: `${server.url}/firecrawl`, apiKey: KEY });

const post = (path: string, body: unknown) => server.post(`/firecrawl/v2${path}`, body, bearer);
const at = (path: string): string => `${site.origin}${path}`;

/** The answer to a request that is refused. */
async function refusal(path: string, body: unknown) {
  const response = await post(path, body);
  return { status: response.status, ...((await response.json()) as { success: boolean; error: string }) };
}

async function failureOf(work: Promise<unknown>): Promise<SdkError> {
  const error = await work.then(
    () => null,
    (failure: unknown) => failure,
  );
  if (!(error instanceof SdkError)) throw new Error(`it did not fail as it should: ${error}`);
  return error;
}

describe("scraping with Firecrawl's client", () => {
  test("gives the Markdown of the content and facts of the page", async () => {
    const { markdown, html, metadata } = await client.scrape(at("/harbour"));
    expect(markdown).toStartWith("# Harbour\n\nThe harbour's gate opens");
    expect(markdown).not.toContain("Navigation of the site");
    expect(html).toBeUndefined();
    expect(metadata).toMatchObject({
      title: "Harbour",
      description: "Of a gate.",
      language: "en",
      publishedTime: "2026-05-04",
      sourceURL: at("/harbour"),
      url: at("/harbour"),
      statusCode: 200,
    });
  });

  test("gives each format that is asked for, and no other", async () => {
    const formats = ["html", "rawHtml", { type: "links" }, "images"] as const;
    const found = await client.scrape(at("/harbour"), { formats: [...formats] as never });
    expect(found.markdown).toBeUndefined();
    expect(found.html).toContain('<a href="');
    expect(found.html).not.toContain("Navigation of the site");
    expect(found.rawHtml).toBe(HARBOUR);
    expect(found.links).toEqual([at("/tides")]);
    expect(found.images).toEqual([at("/gate.png")]);
  });

  test("takes the whole page, or what tags select, without what they exclude", async () => {
    const whole = await client.scrape(at("/harbour"), { onlyMainContent: false });
    expect(whole.markdown).toContain("Navigation of the site");
    expect(whole.markdown).toContain("Imprint of the harbour office");
    expect((await client.scrape(at("/plain"), { onlyMainContent: false })).markdown).toStartWith("All of it");
    const some = await client.scrape(at("/harbour"), { includeTags: [".lead", "footer"] });
    expect(some.markdown).toContain("low water");
    expect(some.markdown).toContain("Imprint");
    expect(some.markdown).not.toContain("tides");
    const less = await client.scrape(at("/harbour"), { excludeTags: [".lead", ".advert"] });
    expect(less.markdown).not.toContain("low water");
    expect(less.markdown).not.toContain("sponsor");
    expect(less.markdown).toContain("tides");
  });

  test("sends headers, and asks again when nothing may come from the cache", async () => {
    const before = site.count("/docs/a");
    const headers = { "X-Tide": "low" };
    await client.scrape(at("/docs/a"), { headers });
    await client.scrape(at("/docs/a"), { headers });
    expect(site.count("/docs/a")).toBe(before + 1);
    await client.scrape(at("/docs/a"), { headers, maxAge: 0 });
    await client.scrape(at("/docs/a"), { headers, storeInCache: false });
    expect(site.count("/docs/a")).toBe(before + 3);
    expect(site.visits.findLast(({ path }) => path === "/docs/a")?.headers).toMatchObject({
      "x-tide": "low",
    });
  });

  test("ends at its timeout with 408, as clients know it", async () => {
    const error = await failureOf(client.scrape(`${slow.origin}/p/1`, { timeout: 100 }));
    expect(error).toMatchObject({ status: 408, code: "timeout" });
    expect(error.message).toContain("100 ms");
  });

  test("a page that fails is asked for once, and its status is told", async () => {
    const before = site.count("/gone");
    const error = await failureOf(client.scrape(at("/gone")));
    expect(error).toMatchObject({ status: 500, code: "http_status" });
    expect(site.count("/gone")).toBe(before + 1);
  });

  test("gives what a page declares as json, where no model is asked", async () => {
    // The client itself asks a model, and sends no json without a prompt.
    for (const format of ["json", { type: "json" }]) {
      const answer = await post("/scrape", { url: at("/harbour"), formats: [format] });
      expect(await answer.json()).toMatchObject({ data: { json: { open_graph: {} } } });
    }
  });

  test("takes what clients send with their defaults", async () => {
    const body = {
      url: at("/harbour"),
      ...{ origin: "python-sdk@4", onlyMainContent: true, mobile: false, removeBase64Images: true },
      ...{ fastMode: false, blockAds: true, maxAge: 14_400_000, storeInCache: true, integration: null },
      ...{ parsers: ["pdf"], actions: [], proxy: "auto", waitFor: 0, skipTlsVerification: false },
    };
    expect((await post("/scrape", body)).status).toBe(200);
  });

  test.each<[string, unknown]>([
    ["mobile", true],
    ["waitFor", 500],
    ["actions", [{ type: "wait", milliseconds: 5 }]],
    ["location", { country: "DE" }],
    ["proxy", "stealth"],
    ["skipTlsVerification", true],
    ["blockAds", false],
    ["minAge", 5],
    ["parsers", ["image"]],
    ["formats", [{ type: "json", prompt: "the tides" }]],
    ["formats", [{ type: "json", schema: {} }]],
    ["formats", ["markdown", { type: "screenshot", fullPage: true }]],
    ["timeout", 0],
    ["headers", { "X-A": "1\n2" }],
    ["includeTags", ["p["]],
    ["excludeTags", ["p["]],
    ["url", "ftp://example.org/"],
    ["tide", "low"],
  ])("answers 422 that names %s (%j)", async (field, value) => {
    const answer = await refusal("/scrape", { url: at("/harbour"), [field]: value });
    expect(answer).toMatchObject({ status: 422, success: false });
    expect(answer.error).toContain(field);
  });
});

describe("mapping with Firecrawl's client", () => {
  const pathsOf = ({ links }: { readonly links: readonly { readonly url: string }[] }): readonly string[] =>
    links.map(({ url }) => url.replace(site.origin, ""));

  test("lists the page, its sitemap and its links, without those with a query", async () => {
    const found = await client.map(at("/"));
    expect(pathsOf(found)).toEqual(["/", "/docs/mapped", "/docs/", "/blog/a", "/missing"]);
    expect(found.links[0]).toMatchObject({ title: "Start" });
  });

  test.each<[object, readonly string[]]>([
    [{ sitemap: "skip" }, ["/", "/docs/", "/blog/a", "/missing"]],
    [{ sitemap: "only" }, ["/", "/docs/mapped"]],
    [{ limit: 2 }, ["/", "/docs/mapped"]],
    [{ search: "blog", sitemap: "skip" }, ["/blog/a", "/", "/docs/", "/missing"]],
    [{ sitemap: "only", ignoreQueryParameters: false }, ["/", "/docs/mapped", "/docs/b?page=2"]],
  ])("takes %j", async (options, paths) => {
    expect(pathsOf(await client.map(at("/"), options))).toEqual([...paths]);
  });

  test("fails for a page that cannot be read and has no sitemap", async () => {
    expect(await failureOf(client.map(at("/gone"), { sitemap: "skip" }))).toMatchObject({ status: 500 });
    expect(await failureOf(client.map(`${slow.origin}/`, { timeout: 50 }))).toMatchObject({ status: 408 });
  });

  test.each<[string, unknown]>([
    ["includeSubdomains", true],
    ["location", { country: "DE" }],
    ["limit", 0],
    ["url", "example.org"],
    ["sitemap", "maybe"],
    ["tide", 1],
  ])("answers 422 that names %s", async (field, value) => {
    const answer = await refusal("/map", { url: at("/"), [field]: value });
    expect([answer.status, answer.error]).toEqual([422, expect.stringContaining(field)]);
  });
});

describe("crawling with Firecrawl's client", () => {
  const pathsOf = ({ data }: { readonly data: readonly Document[] }): readonly string[] =>
    data.map(({ metadata }) => String(metadata?.sourceURL).replace(site.origin, "")).sort();
  const crawl = (url: string, options: object = {}) =>
    client.crawl(at(url), { sitemap: "skip", pollInterval: 1, ...options });

  test("gives all pages of a site with their Markdown, and what failed", async () => {
    const job = await client.crawl(at("/"), { limit: 50, pollInterval: 1 });
    expect(job).toMatchObject({ status: "completed", completed: 8, total: 9, next: null });
    expect(pathsOf(job)).toEqual(
      [
        "/",
        "/blog/a",
        "/docs/",
        "/docs/a",
        "/docs/a/deep",
        "/docs/b",
        "/docs/b?page=2",
        "/docs/mapped",
      ].sort(),
    );
    const start = job.data.find(({ metadata }) => metadata?.sourceURL === at("/"));
    expect(start?.markdown).toStartWith("# Start\n\nStart tells of the gate");
    expect(start?.metadata).toMatchObject({ title: "Start", url: at("/"), statusCode: 200 });
    expect(await client.getCrawlErrors(job.id)).toEqual({
      errors: [expect.objectContaining({ url: at("/missing"), code: "http_status" })],
      robotsBlocked: [at("/private")],
    });
  });

  test.each<[string, string, object, readonly string[]]>([
    ["stays below its address", "/docs/", {}, ["/docs/", "/docs/a", "/docs/a/deep", "/docs/b"]],
    [
      "leaves it where it may",
      "/docs/",
      { crawlEntireDomain: true },
      ["/blog/a", "/docs/", "/docs/a", "/docs/a/deep", "/docs/b"],
    ],
    ["takes only so many pages", "/docs/", { limit: 2 }, ["/docs/", "/docs/a"]],
    ["goes only so deep", "/docs/", { maxDiscoveryDepth: 1 }, ["/docs/", "/docs/a", "/docs/b"]],
    [
      "takes paths by expressions",
      "/",
      { includePaths: ["docs/a$", "^/(blog|docs)/.?$"] },
      ["/", "/blog/a", "/docs/", "/docs/a", "/docs/b"],
    ],
    [
      "takes them below its address",
      "/docs/",
      { includePaths: [".*/a"] },
      ["/docs/", "/docs/a", "/docs/a/deep"],
    ],
    [
      "leaves paths out by expressions",
      "/docs/",
      { excludePaths: ["/a/[^/]+$"] },
      ["/docs/", "/docs/a", "/docs/b"],
    ],
    ["takes the sitemap only", "/docs/", { sitemap: "only" }, ["/docs/", "/docs/b?page=2", "/docs/mapped"]],
    [
      "ignores robots.txt where it is told to, with its pace",
      "/",
      { ignoreRobotsTxt: true, delay: 0, maxConcurrency: 2, maxDiscoveryDepth: 1 },
      ["/", "/blog/a", "/docs/", "/private"],
    ],
  ])("%s", async (_, url, options, paths) => {
    const { id } = await start(at(url), { sitemap: "skip", ...options });
    const job = await client.getCrawlStatus(id).then(async (first) => {
      let status = first;
      while (status.status === "scraping") {
        await Bun.sleep(50);
        status = await client.getCrawlStatus(id);
      }
      return status;
    });
    expect([job.status, pathsOf(job)]).toEqual(["completed", [...paths]]);
  });

  /** Starts a crawl with fields that the client has no way to send. */
  async function start(url: string, options: object): Promise<{ readonly id: string }> {
    const response = await post("/crawl", { url, ...options });
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()) as { id: string };
  }

  test("reads pages as it is told to", async () => {
    const job = await crawl("/harbour", {
      limit: 1,
      scrapeOptions: {
        formats: ["markdown"],
        excludeTags: [".lead"],
        headers: { "X-Tide": "high" },
        timeout: 5000,
      },
    });
    expect(job.data[0]?.markdown).not.toContain("low water");
    expect(site.visits.findLast(({ path }) => path === "/harbour")?.headers["x-tide"]).toBe("high");
  });

  test("gives documents some at a time, under the address of the next ones", async () => {
    const { id } = await crawl("/docs/");
    const first = (await (
      await server.get(`/firecrawl/v2/crawl/${id}?limit=3`, { headers: bearer })
    ).json()) as { readonly data: readonly Document[]; readonly next: string };
    expect(first.data).toHaveLength(3);
    expect(first.next).toBe(`${server.url}/firecrawl/v2/crawl/${id}?skip=3&limit=3`);
    const rest = (await (await fetch(first.next, { headers: bearer })).json()) as typeof first;
    expect([rest.data.length, rest.next]).toEqual([1, null as never]);
    expect((await server.get(`/firecrawl/v2/crawl/${id}?skip=x`, { headers: bearer })).status).toBe(422);
  });

  test("is cancelled, once", async () => {
    const { id } = await client.startCrawl(`${slow.origin}/`, { limit: 1000, sitemap: "skip" });
    // What is there already can be read before the end.
    const soFar = async () => await client.getCrawlStatus(id);
    await untilTrue(async () => (await soFar()).data.length > 2);
    const running = await soFar();
    expect([running.status, running.next]).toEqual(["scraping", null]);
    expect(running.data[0]).toMatchObject({
      markdown: expect.stringContaining("# "),
      metadata: { sourceURL: `${slow.origin}/`, statusCode: 200 },
    });
    const skipping = await server.get(`/firecrawl/v2/crawl/${id}?skip=1&limit=1`, { headers: bearer });
    expect(((await skipping.json()) as { data: Document[] }).data).toEqual([running.data[1]!]);
    expect(await client.cancelCrawl(id)).toBe(true);
    let job = await client.getCrawlStatus(id);
    while (job.status === "scraping") job = await client.getCrawlStatus(id);
    expect(job.status).toBe("cancelled");
    expect(await client.cancelCrawl(id)).toBe(true);
    const ended = await crawl("/docs/b");
    expect(await failureOf(client.cancelCrawl(ended.id))).toMatchObject({ status: 409 });
  });

  test("an unknown crawl is 404", async () => {
    for (const work of [
      client.getCrawlStatus("none"),
      client.cancelCrawl("none"),
      client.getCrawlErrors("none"),
    ])
      expect(await failureOf(work)).toMatchObject({ status: 404, code: "unknown_job" });
  });

  test.each<[string, unknown]>([
    ["allowExternalLinks", true],
    ["allowSubdomains", true],
    ["ignoreQueryParameters", true],
    ["regexOnFullURL", true],
    ["prompt", "the docs"],
    ["webhook", "ftp://example.org/hook"],
    ["webhook", { url: "https://example.org/hook", events: ["tide"] }],
    ["webhook", { url: "https://example.org/hook", headers: { Host: "other.test" } }],
    ["webhook", { url: "https://example.org/hook", headers: { "X-A": "1\n2" } }],
    ["robotsUserAgent", "x"],
    ["includePaths", ["(a+)+$"]],
    ["includePaths", ["\\d+"]],
    ["excludePaths", ["a{1,9}"]],
    ["excludePaths", ["x".repeat(101)]],
    ["limit", 0],
    ["url", "example.org"],
    ["maxDiscoveryDepth", 101],
    ["scrapeOptions", { formats: ["html"] }],
    ["scrapeOptions", { mobile: true }],
    ["includeTags", null],
    ["tide", 1],
  ])("answers 422 that names %s (%j)", async (field, value) => {
    const wrong = field === "includeTags" ? { scrapeOptions: { includeTags: ["p["] } } : { [field]: value };
    const answer = await refusal("/crawl", { url: at("/"), ...wrong });
    expect([answer.status, answer.error]).toEqual([422, expect.stringContaining(field)]);
  });
});

describe("a batch of Firecrawl's client", () => {
  test("has the documents of its addresses, and no others", async () => {
    const urls = [at("/harbour"), at("/docs/"), at("/gone"), at("/private")];
    const batch = await client.batchScrape(urls, { options: { formats: ["markdown"] }, pollInterval: 0.1 });
    expect(batch).toMatchObject({ status: "completed", completed: 3 });
    const titles = batch.data.map(({ metadata }) => metadata?.title).sort();
    expect(titles).toEqual(["Docs", "Harbour", "Private"]);
    expect(batch.data.every(({ markdown }) => markdown?.startsWith("# "))).toBeTrue();
    const { errors } = await client.getBatchScrapeErrors(batch.id ?? "");
    expect(errors.map(({ url }) => url)).toEqual([at("/gone")]);
  });

  test("tells of addresses that are none, and refuses them where it is asked to", async () => {
    const started = await client.startBatchScrape([at("/docs/"), "no address"], { ignoreInvalidURLs: true });
    expect(started.invalidURLs).toEqual(["no address"]);
    expect(await refusal("/batch/scrape", { urls: ["no address"] })).toMatchObject({ status: 422 });
    const strict = { urls: [at("/docs/"), "no address"], ignoreInvalidURLs: false };
    expect((await refusal("/batch/scrape", strict)).error).toContain("no address");
    expect(await refusal("/batch/scrape", { urls: [] })).toMatchObject({ status: 422, success: false });
  });

  test("is paged, and is cancelled", async () => {
    const { id } = await client.startBatchScrape(["/docs/", "/docs/a", "/docs/b"].map(at));
    await untilTrue(async () => (await client.getBatchScrapeStatus(id)).status === "completed");
    const page = await fetch(`${server.url}/firecrawl/v2/batch/scrape/${id}?limit=2`, { headers: bearer });
    const first = (await page.json()) as { data: unknown[]; next: string };
    expect(first.data).toHaveLength(2);
    const rest = await fetch(first.next, { headers: bearer });
    expect(await rest.json()).toMatchObject({ data: [{}], next: null });
    const many = Array.from({ length: 200 }, (_, number) => `${slow.origin}/p/${number}`);
    const under = await client.startBatchScrape(many);
    expect(await client.cancelBatchScrape(under.id)).toBeTrue();
    await untilTrue(async () => (await client.getBatchScrapeStatus(under.id)).status === "cancelled");
  });
});

describe("Firecrawl's webhooks", () => {
  type Told = {
    readonly type: string;
    readonly success: boolean;
    readonly data: Document[];
    readonly error?: string;
  };
  type Delivery = Told & { readonly id: string; readonly metadata: object; readonly tide: string | null };
  const told: Delivery[] = [];
  const receiver = forAllTests(
    serveLocal(async (request) => {
      told.push({ ...((await request.json()) as Delivery), tide: request.headers.get("x-tide") });
      return new Response();
    }),
  );
  const untilTold = async (id: string): Promise<readonly Delivery[]> => {
    const own = () => told.filter((one) => one.id === id);
    await untilTrue(() => own().some(({ type }) => /completed|failed/.test(type)));
    return own();
  };

  test("tell a crawl's pages with their documents, and what the caller sends along", async () => {
    const url = `http://127.0.0.1:${receiver.port}/`;
    const webhook = { url, headers: { "X-Tide": "high" }, metadata: { quay: "4" } };
    const { id } = await client.startCrawl(at("/"), { sitemap: "skip", webhook });
    const events = await untilTold(id);
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(["crawl.started", "crawl.completed"]);
    for (const { metadata, tide } of events) expect([metadata, tide]).toEqual([{ quay: "4" }, "high"]);
    const pages = events.filter(({ type }) => type === "crawl.page");
    const [missing] = pages.filter(({ success }) => !success);
    expect([missing?.data, missing?.error]).toEqual([[], expect.stringContaining("404")]);
    const stored = pages.flatMap(({ data }) => data);
    expect(stored).toEqual((await client.getCrawlStatus(id)).data);
    // Pages that were left out, as robots.txt wants, are not told.
    expect(pages).toHaveLength(stored.length + 1);
  });

  test("tell a batch's end alone where only that is wanted", async () => {
    const webhook = { url: `http://127.0.0.1:${receiver.port}/`, events: ["completed" as const] };
    const { id } = await client.startBatchScrape([at("/docs/")], { webhook });
    expect(await untilTold(id)).toEqual([
      { success: true, type: "batch_scrape.completed", id, data: [], metadata: {}, tide: null },
    ]);
  });
});

describe("Firecrawl's API", () => {
  test("names what is not supported", async () => {
    expect((await refusal("/search", {})).error).toBe("POST /firecrawl/v2/search is not supported");
    const earlier = await server.post("/firecrawl/v1/scrape", {}, bearer);
    expect([earlier.status, await earlier.json()]).toMatchObject([422, { code: "not_supported" }]);
    expect(await failureOf(client.getActiveCrawls())).toMatchObject({ status: 422 });
  });

  test("is at the root too, for clients that drop the path of their base URL", async () => {
    const response = await server.post("/v2/scrape", { url: at("/harbour") }, bearer);
    expect(await response.json()).toMatchObject({ success: true, data: { metadata: { title: "Harbour" } } });
  });

  test("gives every error its form, and needs the key", async () => {
    const stranger = new FirecrawlClient({ apiUrl: `${server.url}/firecrawl`, apiKey: "wrong" });
    expect(await failureOf(stranger.scrape(at("/harbour")))).toMatchObject({
      status: 401,
      code: "unauthorized",
      message: "the API key is wrong",
    });
    const unread = await post("/scrape", "{");
    expect([unread.status, await unread.json()]).toEqual([
      400,
      { success: false, code: "malformed_json", error: "the body is not JSON" },
    ]);
    const large = await post("/scrape", { url: "x".repeat(3 * 1024 * 1024) });
    expect([large.status, await large.json()]).toMatchObject([413, { success: false }]);
    expect(unread.headers.get("cache-control")).toBe("no-store");
  });

  test("is counted by its routes, and stands in no document of ours", async () => {
    const metrics = await (await server.get("/metrics", { headers: bearer })).text();
    expect(metrics).toContain('route="/firecrawl/v2/scrape"');
    expect(metrics).toContain('route="/firecrawl/v2/crawl/{id}"');
    expect(await (await server.get("/openapi.json", { headers: bearer })).text()).not.toContain("firecrawl");
  });

  test("obeys the egress policy", async () => {
    await using strict = await startExtractor({ env: { ARTICLE_EXTRACTOR_EGRESS: "public" } });
    const refused = await strict.post("/firecrawl/v2/scrape", { url: at("/harbour") });
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { success: false, code: "egress_refused" },
    ]);
    expect((await strict.get(`/r/${at("/harbour")}`)).status).toBe(403);
  });

  test("shares the limits of requests with all other work", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await using waiting = serveNumberedSite({ pages: 5, until: () => held });
    await using narrow = await startExtractor({ env: { ARTICLE_EXTRACTOR_MAX_CONCURRENT_REQUESTS: "1" } });
    const first = narrow.get(`/r/${waiting.origin}/p/1`);
    await untilTrue(() => waiting.open > 0);
    const refused = await narrow.post("/firecrawl/v2/scrape", { url: `${waiting.origin}/p/2` });
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toMatchObject([
      429,
      "1",
      { success: false, code: "overloaded" },
    ]);
    release();
    expect((await first).status).toBe(200);
  });
});

describe("Jina Reader's addresses", () => {
  const read = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    server.get(`/r/${at(path)}`, { headers: { ...bearer, ...headers } });
  const textOf = async (path: string, headers?: Readonly<Record<string, string>>): Promise<string> =>
    await (await read(path, headers)).text();

  test("give the title, the source and the Markdown", async () => {
    const response = await read("/harbour");
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const text = await response.text();
    expect(text).toStartWith(
      `Title: Harbour\n\nURL Source: ${at("/harbour")}\n\nPublished Time: 2026-05-04\n\nMarkdown Content:\nThe harbour's gate`,
    );
    expect(text).not.toContain("Links/Buttons");
    expect((await read("/harbour", { accept: "text/markdown" })).headers.get("content-type")).toBe(
      "text/markdown; charset=utf-8",
    );
    const merged = await server.get(`/r/${at("/harbour").replace("//", "/")}`, { headers: bearer });
    expect(await merged.text()).toBe(text);
    expect(await textOf("/docs/b?page=2")).toContain("Docs B 2");
  });

  test("give JSON", async () => {
    const response = await read("/harbour", {
      accept: "application/json",
      "x-with-links-summary": "true",
      "x-with-images-summary": "true",
    });
    expect(await response.json()).toEqual({
      code: 200,
      status: 20000,
      data: {
        title: "Harbour",
        description: "Of a gate.",
        url: at("/harbour"),
        content: expect.stringContaining("low water"),
        publishedTime: "2026-05-04",
        links: { Tides: at("/tides") },
        images: { "Image 1: The gate": at("/gate.png") },
      },
    });
  });

  test("give the format alone that is asked for", async () => {
    expect(await textOf("/harbour", { "x-return-format": "markdown" })).toStartWith("The harbour's gate");
    expect(await textOf("/harbour", { "x-return-format": "html" })).toStartWith("<");
    expect(await textOf("/harbour", { "x-respond-with": "text" })).not.toContain("](");
    const json = await read("/harbour", { accept: "application/json", "x-return-format": "html" });
    expect(await json.json()).toMatchObject({ data: { html: expect.stringContaining("<p>") } });
  });

  test("select, leave out, sum up", async () => {
    expect(await textOf("/harbour", { "x-target-selector": "footer" })).toEndWith(
      "Markdown Content:\nImprint of the harbour office\n",
    );
    expect(await textOf("/harbour", { "x-remove-selector": ".lead, .advert" })).not.toContain("low water");
    const summed = await textOf("/harbour", {
      "x-with-links-summary": "all",
      "x-with-images-summary": "true",
      "x-retain-images": "all",
    });
    expect(summed).toEndWith(
      `\n\nImages:\n- ![Image 1: The gate](${at("/gate.png")})\n\nLinks/Buttons:\n- [Tides](${at("/tides")})\n`,
    );
    expect(await textOf("/harbour", { "x-retain-images": "none" })).not.toContain("gate.png");
  });

  test("ask again without the cache, and end at their timeout", async () => {
    const before = site.count("/docs/b");
    await textOf("/docs/b");
    await textOf("/docs/b", { "x-no-cache": "true" });
    await textOf("/docs/b", { "x-cache-tolerance": "0" });
    expect(site.count("/docs/b")).toBeGreaterThanOrEqual(before + 2);
    const late = await server.get(`/r/${slow.origin}/p/2`, { headers: { ...bearer, "x-timeout": "0.1" } });
    expect([late.status, await late.json()]).toMatchObject([504, { data: null, code: 504, name: "timeout" }]);
  });

  test.each<[string, string]>([
    ["x-return-format", "screenshot"],
    ["x-wait-for-selector", "main"],
    ["x-with-generated-alt", "true"],
    ["x-proxy-url", "http://x.test/"],
    ["x-set-cookie", "a=b"],
    ["x-target-selector", "p["],
    ["x-remove-selector", "p["],
    ["x-timeout", "soon"],
    ["accept", "text/event-stream"],
  ])("answer 422 that names %s", async (name, value) => {
    const response = await read("/harbour", { [name]: value });
    const { message } = (await response.json()) as { message: string };
    expect([response.status, message]).toEqual([422, expect.stringContaining(name)]);
  });

  test("need an address and the key", async () => {
    expect((await server.get("/r/harbour", { headers: bearer })).status).toBe(422);
    const stranger = await server.get(`/r/${at("/harbour")}`);
    expect([stranger.status, await stranger.json()]).toMatchObject([
      401,
      { code: 401, name: "unauthorized" },
    ]);
  });
});
