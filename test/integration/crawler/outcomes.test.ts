import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CrawlEvent } from "../../../src/crawler/index.ts";
import { type CrawlSite, html, page, redirect, serveCrawlSite } from "../../support/crawl-site.ts";
import { type CrawlResult, crawlOnce, crawlPlan, crawlSite, openTestApp } from "../../support/crawling.ts";
import { type FaultySite, startFaultySite } from "../../support/faulty-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());

describe("every outcome", () => {
  let site: CrawlSite;
  let foreign: CrawlSite;
  let result: CrawlResult;

  beforeAll(async () => {
    foreign = serveCrawlSite({ "/": page("Foreign") });
    const links = [
      "/plain",
      "/redirected",
      "/away",
      "/into-private",
      "/private/secret",
      "/missing",
      "/error",
      "/empty",
      "/picture",
      "/installer",
      "/seed.pdf",
      "/forbidden",
      "/gone",
      "/short-404",
      "/canonical-copy",
      "/canonical-header",
      "/canonical-elsewhere",
      "/noindex",
      "/big",
      "/soft-404",
      `${foreign.origin}/`,
      "/denied/page",
      "/calendar?date=2051-01",
      "/x/x/x/x",
      "#top",
      "mailto:a@b.test",
      "/tracked?utm_source=x",
      "/tracked",
    ];
    site = serveCrawlSite({
      "/": page("Home", links),
      "/robots.txt": () => new Response("User-agent: *\nDisallow: /private/"),
      "/plain": page("Plain", ["/"]),
      "/redirected": () => redirect("/target"),
      "/target": page("Target"),
      "/away": () => redirect(`${foreign.origin}/`),
      "/into-private": () => redirect("/private/other"),
      "/error": () => html("<p>no</p>", { status: 500 }),
      "/empty": "<html><body><script>1</script></body></html>",
      "/forbidden": () => html(page("Forbidden").padEnd(2000), { status: 403 }),
      "/gone": () => html("Gone".padEnd(2000), { status: 410 }),
      "/short-404": () => html("<article><p>Not here, sorry.</p></article>", { status: 404 }),
      "/installer": () =>
        new Response(new Uint8Array(5_000_000), { headers: { "content-type": "application/octet-stream" } }),
      "/seed.pdf": () => new Response("%PDF-1.7", { headers: { "content-type": "application/pdf" } }),
      "/seed.png": () => new Response("PNG", { headers: { "content-type": "image/png" } }),
      "/picture": () => new Response("PNG", { headers: { "content-type": "image/png" } }),
      "/canonical-copy": page("Plain", [], '<link rel="canonical" href="/plain">'),
      "/canonical-header": () =>
        html(page("Plain"), { headers: { link: '</a.css>; rel=preload, </plain>; rel="canonical"' } }),
      "/canonical-elsewhere": () =>
        html(page("Elsewhere"), { headers: { link: `<${foreign.origin}/>; rel="canonical"` } }),
      "/noindex": page("Hidden", ["/behind"], '<meta name="robots" content="noindex">'),
      "/behind": page("Behind"),
      "/big": () => html(`<p>${"word ".repeat(30_000)}</p>`),
      "/soft-404": () => html(page("Soft").padEnd(2000), { status: 404 }),
      "/tracked": page("Tracked"),
    });
    result = await crawlOnce(
      app,
      crawlPlan({
        seeds: [
          `${site.origin}/`,
          `${site.origin}/seed.pdf`,
          `${site.origin}/seed.png`,
          `${site.origin}/denied/seed`,
          `${site.origin}/${"a/".repeat(40)}`,
        ],
        denyPrefixes: [`${site.origin}/denied/`],
        respectsMetaRobots: true,
      }),
      { network: { retries: 0, maxBytes: 100_000 } },
    );
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await foreign[Symbol.asyncDispose]();
  });

  const shown = (path: string) => {
    const outcome = result.outcomeOf(path);
    return outcome && [outcome.status, outcome.error?.code ?? outcome.reason, outcome.httpStatus];
  };

  test.each([
    ["/", "success", null, 200],
    ["/plain", "success", null, 200],
    ["/redirected", "success", null, 200],
    ["/tracked", "success", null, 200],
    ["/behind", "success", null, 200],
    ["/soft-404", "success", null, 404],
    ["/missing", "failed", "http_status", 404],
    ["/error", "failed", "http_status", 500],
    ["/empty", "failed", "no_content", 200],
    ["/installer", "skipped", "content_type", 200],
    ["/picture", "skipped", "content_type", 200],
    ["/seed.png", "failed", "unsupported_content", 200],
    ["/seed.pdf", "failed", "damaged_document", 200],
    ["/forbidden", "failed", "http_status", 403],
    ["/gone", "failed", "http_status", 410],
    ["/short-404", "failed", "http_status", 404],
    ["/big", "failed", "too_large", 200],
    ["/private/secret", "skipped", "robots", null],
    ["/into-private", "skipped", "robots", null],
    ["/away", "skipped", "out_of_scope", null],
    ["/denied/seed", "skipped", "out_of_scope", null],
    ["/canonical-copy", "skipped", "duplicate", 200],
    ["/canonical-header", "skipped", "duplicate", 200],
    ["/canonical-elsewhere", "success", null, 200],
    ["/noindex", "skipped", "noindex", 200],
  ])("%s is %s (%s, HTTP %p)", (path, status, why, httpStatus) => {
    expect<unknown>(shown(path)).toEqual([status, why, httpStatus]);
  });

  test("a success after an HTTP error is named as a transient 404, and no other entry is", () => {
    const named = result.manifest?.results.filter((entry) => entry.transient_404) ?? [];
    expect(
      named.map(({ url, http_status, warnings }) => [new URL(url).pathname, http_status, warnings]),
    ).toEqual([["/soft-404", 404, ["Extracted after HTTP 404 (SPA/client-rendered)"]]]);
    expect(result.summary.transient404).toBe(1);
  });

  test("no address is a trap before its page has been asked for", () => {
    expect(result.outcomes.filter(({ reason }) => reason === "trap")).toEqual([]);
    expect(result.summary.skippedLinks).toEqual({ foreign_origin: 1, denied: 1 });
  });

  test("nothing is asked for that robots.txt or the scope forbids", () => {
    const asked = site.visits.map(({ path }) => path);
    expect(asked.filter((path) => path.startsWith("/private/") || path.startsWith("/denied/"))).toEqual([]);
    expect(foreign.visits).toEqual([]);
  });

  test("outcomes, counters, manifest and files agree, and every entry has every field", () => {
    const { manifest, summary, files, outcomes } = result;
    const by = (status: string) => outcomes.filter((outcome) => outcome.status === status).length;
    const counts = { successful: by("success"), failed: by("failed"), skipped: by("skipped") };
    expect(manifest).toMatchObject({ ...counts, total_pages: outcomes.length, status: "completed" });
    expect(summary.progress).toMatchObject({ ...counts, progress: outcomes.length, total: outcomes.length });
    expect(manifest?.results).toHaveLength(outcomes.length);
    expect(files.toSorted()).toEqual(
      (manifest?.results ?? []).flatMap((entry) => entry.file_path ?? []).toSorted(),
    );
    for (const entry of manifest?.results ?? []) {
      expect(Object.keys(entry)).toEqual([
        "url",
        "file_path",
        "status",
        "word_count",
        "title",
        "http_status",
        "final_url",
        "depth",
        "parent",
        "fetcher",
        "duration_ms",
        "content_hash",
        "warnings",
        "error",
        "reason",
        "unchanged",
        "change",
        "transient_404",
      ]);
    }
  });

  test("progress only grows, its total too, and both end equal", () => {
    const steps = result.events.flatMap((event: CrawlEvent) =>
      event.kind === "page" ? [event.progress] : [],
    );
    const grows = (numbers: readonly number[]): boolean =>
      numbers.every((n, at) => at === 0 || n >= (numbers[at - 1] ?? 0));
    expect(grows(steps.map(({ progress }) => progress))).toBe(true);
    expect(grows(steps.map(({ total }) => total))).toBe(true);
  });
});

describe("faults of a site", () => {
  let site: FaultySite;
  beforeAll(async () => {
    const routes = {
      "/robots.txt": ({ socket }: { socket: import("node:net").Socket }) =>
        void socket.write("HTTP/1.1 404 None\r\ncontent-length: 0\r\n\r\n"),
    };
    site = await startFaultySite({ routes });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("each ends as its own failure, and the crawl is complete", async () => {
    const seeds = [
      "/reset",
      "/truncated",
      "/not-gzip",
      "/not-http",
      "/empty-answer",
      "/loop",
      "/slow-headers?ms=100000",
      "/bomb/gzip?mb=30",
      "/status/403",
      "/status/429",
      "/page",
    ];
    const { outcomeOf, summary } = await crawlOnce(
      app,
      crawlPlan({ seeds: seeds.map((path) => site.origin + path), followsLinks: false, concurrency: 16 }),
      { network: { retries: 0, requestTimeoutMs: 8000, maxBytes: 1_000_000 } },
    );
    expect(summary.state).toBe("completed");
    const codes = Object.fromEntries(
      seeds.map((path) => {
        const { error, status, httpStatus } = outcomeOf(path)!;
        return [path, `${error?.code ?? status} ${httpStatus}`];
      }),
    );
    expect(codes).toEqual({
      "/reset": "network 200",
      "/truncated": "network 200",
      "/not-gzip": "success 200",
      "/not-http": "network null",
      "/empty-answer": "network null",
      "/loop": "network 302",
      "/slow-headers?ms=100000": "timeout null",
      "/bomb/gzip?mb=30": "too_large 200",
      "/status/403": "http_status 403",
      "/status/429": "rate_limited 429",
      "/page": "success 200",
    });
  });

  test("a host that is not there is a failure of the network, not a robots.txt that forbids", async () => {
    const { outcomes } = await crawlOnce(app, crawlPlan({ seeds: ["http://127.0.0.1:9/"] }), {
      network: { retries: 0 },
    });
    expect(outcomes.map(({ status, error }) => [status, error?.code])).toEqual([["failed", "network"]]);
  });

  test("a page that fails at first is tried again", async () => {
    const { outcomeOf } = await crawlOnce(
      app,
      crawlPlan({ seeds: [`${site.origin}/flaky?status=500&times=2`] }),
    );
    expect(outcomeOf("/flaky?status=500&times=2")?.status).toBe("success");
  });
});

describe("the bounds of a crawl", () => {
  test("max_pages counts fetched pages; what is left of seeds is an entry, of links a number", async () => {
    await using site = serveCrawlSite({
      "/robots.txt": () => new Response("User-agent: *\nDisallow: /closed"),
      "/": page("Home", ["/1", "/2", "/3"]),
      "/1": page("One"),
      "/2": page("Two"),
      "/3": page("Three"),
      "/late": page("Late"),
    });
    const { summary, outcomes } = await crawlOnce(
      app,
      crawlPlan({
        seeds: ["/closed", "/", "/late", "/1", "/2"].map((path) => site.origin + path),
        maxPages: 3,
      }),
    );
    expect(summary.progress).toMatchObject({ successful: 3, skipped: 2, fetched: 3, total: 5 });
    expect(summary.skips).toEqual({ robots: 1, max_pages: 1 });
    expect(summary.skippedLinks).toEqual({ max_pages: 1 });
    expect(outcomes.at(-1)).toMatchObject({ url: `${site.origin}/2`, reason: "max_pages" });
    expect(site.visits.filter(({ path }) => path !== "/robots.txt")).toHaveLength(3);
  });

  test("max_depth 0 fetches the seeds only", async () => {
    await using site = serveCrawlSite({ "/": page("Home", ["/1"]), "/1": page("One") });
    const { summary } = await crawlSite(app, site, { maxDepth: 0 });
    expect(summary.progress.successful).toBe(1);
    expect(summary.skippedLinks).toEqual({ too_deep: 1 });
  });

  test("without following links only what was named is fetched", async () => {
    await using site = serveCrawlSite({ "/": page("Home", ["/1"]), "/1": page("One") });
    const { summary } = await crawlSite(app, site, { followsLinks: false });
    expect(summary.progress.total).toBe(1);
  });

  test("a crawl whose every seed is refused fails, with a manifest that says why", async () => {
    const { summary, manifest } = await crawlOnce(
      app,
      crawlPlan({ seeds: ["http://127.0.0.1:9/a"], denyPrefixes: ["http://127.0.0.1:9/"] }),
    );
    expect(summary).toMatchObject({ state: "failed", error: { code: "invalid_usage" } });
    expect(manifest).toMatchObject({ status: "failed", skipped: 1 });
    expect(manifest?.results[0]?.reason).toBe("out_of_scope");
  });

  test("a seed that redirects to another origin takes the crawl there", async () => {
    await using www = serveCrawlSite({ "/": page("Home", ["/1"]), "/1": page("One") });
    await using bare = serveCrawlSite({ "/": () => redirect(`${www.origin}/`) });
    const { outcomes } = await crawlSite(app, bare);
    expect<unknown>(outcomes.map(({ url, status }) => [url, status])).toEqual([
      [`${bare.origin}/`, "success"],
      [`${www.origin}/1`, "success"],
    ]);
  });
});
