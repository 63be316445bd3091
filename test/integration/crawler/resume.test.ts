import { expect, test } from "bun:test";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_NETWORK } from "../../../src/app/index.ts";
import { type CrawlEvent, manifestEntry, parseSitemapSource } from "../../../src/crawler/index.ts";
import { type CrawlRoute, html, page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlPlace, crawlPlan, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { failureOf } from "../../support/test-fetcher.ts";
import { untilTrue } from "../../support/until.ts";

const app = forAllTests(openTestApp());

/** A chain of pages, each with links to the next two. */
function chain(count: number): Record<string, CrawlRoute> {
  const routes: Record<string, CrawlRoute> = {};
  for (let at = 0; at < count; at++)
    routes[at === 0 ? "/" : `/${at}`] = page(
      `Page ${at}`,
      [`/${at + 1}`, `/${at + 2}`].slice(0, count - at - 1),
    );
  return routes;
}

test("a crawl that was cancelled goes on, and ends as if nothing had been", async () => {
  await using site = serveCrawlSite(chain(40));
  const plan = crawlPlan({ seeds: [`${site.origin}/`], maxDepth: 100, concurrency: 3 });
  await using whole = await crawlPlace(app);
  const expected = await whole.crawl(plan);
  await using place = await crawlPlace(app);
  const controller = new AbortController();
  const cut = await place.crawl(plan, {
    signal: controller.signal,
    onEvent: (event) => {
      if (event.kind === "page" && event.progress.successful >= 15) controller.abort();
    },
  });
  expect(cut.summary).toMatchObject({ state: "cancelled", error: { code: "cancelled" } });
  expect(cut.manifest?.status).toBe("cancelled");
  expect(cut.manifest?.total_pages).toBeGreaterThanOrEqual(15);
  expect(cut.allOutcomes.map(manifestEntry)).toEqual([...(cut.manifest?.results ?? [])]);
  const before = site.visits.length;
  const result = await place.crawl(plan);
  expect(result.events[0]).toMatchObject({ kind: "started", mode: "resumed", jobId: cut.summary.jobId });
  expect(result.files).toEqual(expected.files);
  expect(result.manifest).toMatchObject({ status: "completed", successful: 40, failed: 0, skipped: 0 });
  // The last event gives the pages of both runs, and the page events those of this run only.
  expect(result.outcomes.length).toBeLessThan(40);
  expect(result.allOutcomes.map(({ url }) => url)).toEqual(expected.allOutcomes.map(({ url }) => url));
  expect(result.allOutcomes.map(manifestEntry)).toEqual([...(result.manifest?.results ?? [])]);
  // What was stored is not asked for again; robots.txt is.
  expect(site.visits.length - before).toBeLessThanOrEqual(40 - 15 + 3 + 1);
});

test("a copy that was made of the folder under way may lack files of pages: they are fetched again", async () => {
  await using site = serveCrawlSite(chain(20));
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${site.origin}/`], maxDepth: 100 });
  const controller = new AbortController();
  const cut = await place.crawl(plan, {
    signal: controller.signal,
    onEvent: (event) => {
      if (event.kind === "page" && event.progress.successful >= 10) controller.abort();
    },
  });
  for (const file of cut.files.slice(0, 3)) await rm(join(place.path, file));
  const { manifest, files, events } = await place.crawl(plan);
  expect(events[0]).toMatchObject({ mode: "resumed" });
  expect(manifest).toMatchObject({ status: "completed", total_pages: 20, successful: 20 });
  expect(files).toHaveLength(20);
  expect(manifest?.results.map((entry) => entry.file_path).toSorted()).toEqual([...files].toSorted());
});

test("leaving the loop stops the crawl, leaves a manifest, and the next one goes on", async () => {
  await using site = serveCrawlSite(chain(20));
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${site.origin}/`], maxDepth: 100 });
  await expect(
    place.crawl(plan, {
      onEvent: (event: CrawlEvent) => {
        if (event.kind === "page") throw new Error("enough");
      },
    }),
  ).rejects.toThrow("enough");
  expect((await Bun.file(join(place.path, "manifest.json")).json()).status).toBe("cancelled");
  expect((await place.crawl(plan)).summary.progress.successful).toBe(20);
});

test("a finished crawl asks by condition, keeps what has not changed and replaces what has", async () => {
  let news = "old";
  const conditional =
    (body: () => string): CrawlRoute =>
    ({ headers }) => {
      const etag = `"${Bun.hash(body())}"`;
      return headers["if-none-match"] === etag
        ? new Response(null, { status: 304, headers: { etag } })
        : html(body(), { headers: { etag } });
    };
  await using site = serveCrawlSite({
    "/": conditional(() => page("Home", ["/a", "/news"])),
    "/a": conditional(() => page("Leaf", ["/b"])),
    "/b": page("Without validators"),
    "/news": conditional(() => page(`The ${news} news`)),
  });
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${site.origin}/`] });
  const first = await place.crawl(plan);
  expect(first.summary.changes).toEqual({ new: 4 });
  news = "new";
  const second = await place.crawl(plan);
  expect(second.events[0]).toMatchObject({ mode: "repeated" });
  expect(second.summary.jobId).not.toBe(first.summary.jobId);
  const shown = (path: string) => {
    const outcome = second.outcomeOf(path);
    return [outcome?.status, outcome?.httpStatus, outcome?.change];
  };
  expect(shown("/")).toEqual(["success", 304, "unchanged"]);
  expect(shown("/a")).toEqual(["success", 304, "unchanged"]);
  expect(shown("/b")).toEqual(["success", 200, "unchanged"]);
  expect(shown("/news")).toEqual(["success", 200, "changed"]);
  expect(second.files).toEqual(first.files);
  expect(second.outcomeOf("/a")?.filePath).toBe(first.outcomeOf("/a")?.filePath ?? null);
  const text = await Bun.file(join(place.path, second.outcomeOf("/news")?.filePath ?? "")).text();
  expect(text).toContain("The new news");
  expect(second.manifest).toMatchObject({ total_pages: 4, successful: 4 });
});

test("a file that is gone is fetched again, whatever the server would have said", async () => {
  await using site = serveCrawlSite({
    "/": ({ headers }) =>
      headers["if-none-match"]
        ? new Response(null, { status: 304 })
        : html(page("Home"), { headers: { etag: '"1"' } }),
  });
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${site.origin}/`] });
  const { files } = await place.crawl(plan);
  await Bun.file(join(place.path, files[0] ?? "")).delete();
  expect((await place.crawl(plan)).files).toEqual(files);
});

test("with trust in lastmod a page of a sitemap is not asked for until its date changes", async () => {
  let modified = "2026-01-01";
  await using site = serveCrawlSite({
    "/sitemap.xml": ({ path }) =>
      new Response(
        `<urlset><url><loc>${path && site.origin}/a</loc><lastmod>${modified}</lastmod></url></urlset>`,
        { headers: { "content-type": "application/xml" } },
      ),
    "/a": page("Leaf"),
  });
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ sitemaps: [`${site.origin}/sitemap.xml`], trustsLastModified: true });
  await place.crawl(plan);
  const second = await place.crawl(plan);
  expect(second.summary).toMatchObject({
    changes: { unchanged: 1 },
    progress: { successful: 1, fetched: 0 },
  });
  expect(site.count("/a")).toBe(1);
  modified = "2026-02-01";
  await place.crawl(plan);
  expect(site.count("/a")).toBe(2);
});

test("two crawls into one directory: the second is refused while the first runs", async () => {
  const { promise: isRefused, resolve: goOn } = Promise.withResolvers<void>();
  await using site = serveCrawlSite({ "/": () => isRefused.then(() => html(page("Home"))) });
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${site.origin}/`] });
  const first = place.crawl(plan);
  await untilTrue(() => site.count("/") === 1);
  const failure = await failureOf(place.crawl(plan));
  goOn();
  expect(failure?.message).toContain("another crawl is running");
  expect((await first).summary.state).toBe("completed");
});

test("another plan is refused, also after the first is finished; --fresh begins anew", async () => {
  await using site = serveCrawlSite({ "/": page("Home"), "/b": page("Other") });
  await using place = await crawlPlace(app);
  await place.crawl(crawlPlan({ seeds: [`${site.origin}/`] }));
  const other = crawlPlan({ seeds: [`${site.origin}/b`] });
  expect((await failureOf(place.crawl(other)))?.message).toContain("--fresh");
  const fresh = await place.crawl(other, { isFresh: true });
  expect(fresh.manifest?.total_pages).toBe(1);
});

test("pages whose URLs read alike have files of their own, the same after another crawl", async () => {
  const paths = [
    "/a/b",
    "/a__b",
    "/A/B",
    "/a/b/",
    "/a/b?x=1",
    "/a/b?x=2",
    "/a/b?x/1",
    "/caf%C3%A9",
    "/cafe%CC%81",
    "/%2e%2e/x",
    "/nul%00l",
    `/${"long/".repeat(1)}${"x".repeat(300)}`,
    `/${"long/".repeat(1)}${"x".repeat(301)}`,
    "/con",
    "/CON",
  ];
  const routes = Object.fromEntries(paths.map((path, index) => [path, page(`Page ${index}`)]));
  const home = { "/": page("Home", paths) };
  await using site = serveCrawlSite({ ...home, ...routes, "/x": page("Dots") });
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${site.origin}/`], concurrency: 16 });
  const { outcomes, files, summary } = await place.crawl(plan);
  expect(summary.progress).toMatchObject({ failed: 0, skipped: 0, successful: paths.length + 1 });
  const names = outcomes.map(({ filePath }) => filePath ?? "");
  expect(new Set(names.map((name) => name.normalize("NFC").toLowerCase())).size).toBe(outcomes.length);
  expect(names.toSorted()).toEqual([...files]);
  for (const { url, filePath } of outcomes)
    expect(await Bun.file(join(place.path, filePath ?? "")).text()).toContain(
      `url: ${JSON.stringify(url)}\n`,
    );
  const again = await place.crawl(plan);
  expect(again.files).toEqual(files);
  expect(new Map(again.outcomes.map(({ url, filePath }) => [url, filePath]))).toEqual(
    new Map(outcomes.map(({ url, filePath }) => [url, filePath])),
  );
});

test("pages may go to a sink instead of files, and nothing is kept", async () => {
  await using site = serveCrawlSite(chain(5));
  await using place = await crawlPlace(app);
  const taken: string[] = [];
  const sink = {
    put: async ({ page: { url } }: { page: { url: string } }) => {
      taken.push(url);
      return null;
    },
    has: async () => false,
  };
  const { summary, manifest } = await place.crawl(crawlPlan({ seeds: [`${site.origin}/`] }), {
    output: { kind: "sink", sink, stateDirectory: null, manifestPath: null },
  });
  expect(summary).toMatchObject({ state: "completed", manifestPath: null });
  expect(taken).toHaveLength(5);
  expect(manifest).toBeNull();
  expect(await readdir(place.path)).toEqual([]);
});

test("a sink that fails ends the crawl with its failure, and the next one goes on", async () => {
  await using site = serveCrawlSite(chain(10));
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${site.origin}/`], maxDepth: 100 });
  let puts = 0;
  const { Failure } = await import("../../../src/base/failure.ts");
  const output = (fails: boolean) => ({
    kind: "sink" as const,
    stateDirectory: join(place.path, "state"),
    manifestPath: join(place.path, "manifest.json"),
    sink: {
      put: async () => {
        if (fails && ++puts === 4) throw new Failure("unwritable_output", "the disk is full");
        return null;
      },
      has: async () => true,
    },
  });
  const cut = await place.crawl(plan, { output: output(true) });
  expect(cut.summary).toMatchObject({ state: "failed", error: { code: "unwritable_output" } });
  expect(cut.manifest).toMatchObject({ status: "failed", error: { code: "unwritable_output" } });
  const whole = await place.crawl(plan, { output: output(false) });
  expect(whole.events[0]).toMatchObject({ mode: "resumed" });
  expect(whole.summary.progress.successful).toBe(10);
});

test("a dry run tells a robots.txt that cannot be read from one that forbids", async () => {
  await using site = serveCrawlSite({ "/robots.txt": () => new Response("", { status: 500 }) });
  await using session = app.openSession(DEFAULT_NETWORK);
  const plan = crawlPlan({ seeds: [`${site.origin}/`] });
  const options = { authorizations: new Map(), onSitemapFailure: () => {} };
  const listed = await Array.fromAsync(session.previewCrawl(plan, options, new AbortController().signal));
  const message = `GET ${site.origin}/robots.txt answered HTTP 500`;
  expect(listed.map(({ refusal }) => refusal)).toEqual([{ code: "http_status", message }]);
});

test("a dry run lists seeds and sitemap URLs with what would become of them, and fetches no page", async () => {
  await using site = serveCrawlSite({
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /closed"),
    "/list.txt": () =>
      new Response(`${site.origin}/a\n${site.origin}/denied\n`, {
        headers: { "content-type": "text/plain" },
      }),
  });
  await using session = app.openSession(DEFAULT_NETWORK);
  const plan = crawlPlan({
    seeds: [`${site.origin}/`, `${site.origin}/closed`],
    sitemaps: [`${site.origin}/closed.xml`, `${site.origin}/list.txt`],
    denyPrefixes: [`${site.origin}/denied`],
  });
  const failures: string[] = [];
  const listed = await Array.fromAsync(
    session.previewCrawl(
      plan,
      { authorizations: new Map(), onSitemapFailure: ({ message }) => failures.push(message) },
      new AbortController().signal,
    ),
  );
  expect(listed.map(({ url, source, refusal }) => [new URL(url).pathname, source, refusal])).toEqual([
    ["/", "seed", null],
    ["/closed", "seed", "robots"],
    ["/a", "sitemap", null],
    ["/denied", "sitemap", "out_of_scope"],
  ]);
  expect(site.visits.map(({ path }) => path).toSorted()).toEqual(["/closed.xml", "/list.txt", "/robots.txt"]);
  expect(failures).toEqual([`GET ${site.origin}/closed.xml answered with status 404`]);
  expect(parseSitemapSource(plan.sitemaps[0] ?? "", "/")).toMatchObject({ kind: "url" });
});
