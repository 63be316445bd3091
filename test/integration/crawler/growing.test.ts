import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CrawlEvent, CrawlPlan } from "../../../src/crawler/index.ts";
import { type CrawlRoute, html, page, redirect, serveCrawlSite } from "../../support/crawl-site.ts";
import {
  type CrawlPlace,
  type CrawlResult,
  crawlPlace,
  crawlPlan,
  openTestApp,
} from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { failureOf } from "../../support/test-fetcher.ts";

const app = forAllTests(openTestApp());

/** Pages by number with the numbers that they link to; some only redirect, some are missing. */
type Graph = readonly { readonly kind: "page" | "redirect" | "missing"; readonly links: readonly number[] }[];

const pathOf = (number: number): string => (number === 0 ? "/" : `/p${number}`);

function routesOf(graph: Graph): Record<string, CrawlRoute> {
  return Object.fromEntries(
    graph.map(({ kind, links }, number): [string, CrawlRoute] => {
      const paths = links.map(pathOf);
      if (kind === "missing") return [pathOf(number), () => new Response(null, { status: 404 })];
      if (kind === "redirect") return [pathOf(number), () => redirect(paths[0] ?? "/")];
      return [pathOf(number), page(`Page ${number}`, paths)];
    }),
  );
}

const aGraph = fc.integer({ min: 1, max: 14 }).chain((count) => {
  const aNode = fc.record({
    kind: fc.oneof(
      { arbitrary: fc.constant("page" as const), weight: 6 },
      { arbitrary: fc.constantFrom("redirect" as const, "missing" as const), weight: 1 },
    ),
    links: fc.uniqueArray(fc.nat(count - 1), { maxLength: 5 }),
  });
  return fc
    .array(aNode, { minLength: count, maxLength: count })
    .map((nodes): Graph => nodes.map((node, at) => (at === 0 ? { ...node, kind: "page" } : node)));
});

const aLimit = fc.record({ maxPages: fc.integer({ min: 1, max: 16 }), maxDepth: fc.nat(6) });

const chainOf = (count: number): Graph =>
  Array.from({ length: count }, (_, at) => ({ kind: "page", links: at + 1 < count ? [at + 1] : [] }));

/**
 * What a crawl has made of the site. Which pages of the last depth a limit of pages leaves out is left to chance, for
 * extraction takes turns; without such a limit the pages themselves are compared. Of two pages of which one redirects
 * to the other either may be the duplicate, so pages are told by what answered.
 */
function madeOf({ manifest, summary }: CrawlResult) {
  const asked = (manifest?.results ?? []).filter(({ status }) => status !== "skipped");
  if (summary.skippedLinks.max_pages) return asked.map(({ depth }) => depth).toSorted((a, b) => a - b);
  const { total_pages, successful, failed, skipped, skipped_links } = manifest ?? {};
  const counts = { total_pages, successful, failed, skipped, skipped_links };
  return { ...counts, urls: asked.map(({ final_url, depth }) => `${final_url} ${depth}`).toSorted() };
}

function expectWhole({ manifest, outcomes, summary, files, events }: CrawlResult): void {
  const { total_pages, successful = 0, failed = 0, skipped = 0, results = [] } = manifest ?? {};
  expect(successful + failed + skipped).toBe(total_pages ?? -1);
  expect(results.length).toBe(total_pages ?? -1);
  expect(new Set(results.map(({ url }) => url)).size).toBe(results.length);
  expect(results.filter(({ status }) => status === "success").length).toBe(successful);
  const totals = events.flatMap((event) => ("progress" in event ? [event.progress.total] : []));
  expect(totals).toEqual(totals.toSorted((a, b) => a - b));
  for (const { file_path } of results) if (file_path !== null) expect(files).toContain(file_path);
  expect(outcomes.length).toBeLessThanOrEqual(results.length);
  if (summary.state === "completed") expect(summary.progress.total).toBe(summary.progress.progress);
}

/** Crawls to the end, called off after so many pages of each part but the last. */
async function crawlInParts(
  place: CrawlPlace,
  plan: CrawlPlan,
  stops: readonly number[],
): Promise<CrawlResult> {
  for (const after of [...stops, Number.POSITIVE_INFINITY]) {
    const controller = new AbortController();
    let pages = 0;
    const onEvent = ({ kind }: CrawlEvent): void => {
      if (kind === "page" && ++pages > after) controller.abort();
    };
    const result = await place.crawl(plan, { signal: controller.signal, onEvent });
    expectWhole(result);
    if (result.summary.state === "completed") return result;
  }
  throw new Error("the crawl did not end");
}

describe("a crawl that grows", () => {
  test("ends as one that began with the larger limits, stopped in between or not", async () => {
    await fc.assert(
      fc.asyncProperty(
        aGraph,
        aLimit,
        aLimit,
        fc.array(fc.nat(8), { maxLength: 2 }),
        async (graph, a, more, stops) => {
          await using site = serveCrawlSite(routesOf(graph));
          // With more at once, which pages a limit leaves out is left to chance.
          const common = { seeds: [`${site.origin}/`], concurrency: 1 };
          // A page that redirects may be one request more or less, so limits bind only where there is none.
          const hasRedirects = graph.some(({ kind }) => kind === "redirect");
          const larger = {
            maxPages: a.maxPages + (hasRedirects ? 50 : more.maxPages - 1),
            maxDepth: a.maxDepth + more.maxDepth,
          };
          await using fresh = await crawlPlace(app);
          const expected = await fresh.crawl(crawlPlan({ ...common, ...larger }));
          await using place = await crawlPlace(app);
          await crawlInParts(place, crawlPlan({ ...common, ...a }), stops);
          const grown = await crawlInParts(place, crawlPlan({ ...common, ...larger }), stops);
          expect(madeOf(grown)).toEqual(madeOf(expected));
        },
      ),
      { numRuns: 40 },
    );
  });

  test("asks only for what was left out, then for everything by condition", async () => {
    await using site = serveCrawlSite(routesOf(chainOf(12)));
    await using place = await crawlPlace(app);
    const plan = (maxPages: number, maxDepth = 50) =>
      crawlPlan({ seeds: [`${site.origin}/`], maxPages, maxDepth, concurrency: 1 });
    const first = await place.crawl(plan(3));
    expect(first.summary.skippedLinks).toEqual({ max_pages: 1 });
    const second = await place.crawl(plan(7));
    expect(second.events[0]).toMatchObject({ kind: "started", mode: "resumed", jobId: first.summary.jobId });
    expect(second.outcomes).toHaveLength(4);
    expect(second.manifest).toMatchObject({ successful: 7, total_pages: 7, status: "completed" });
    expect(site.visits.filter(({ path }) => path !== "/robots.txt")).toHaveLength(7);
    const third = await place.crawl(plan(7));
    expect(third.events[0]).toMatchObject({ mode: "repeated" });
    expect(third.summary.changes).toEqual({ unchanged: 7 });
  });

  test("takes back the entries of a sitemap that were left over, and never goes back itself", async () => {
    const paths = Array.from({ length: 30 }, (_, at) => `/p${at}`);
    await using site = serveCrawlSite({
      "/map.txt": () =>
        new Response(paths.map((path) => site.origin + path).join("\n"), {
          headers: { "content-type": "text/plain" },
        }),
      ...Object.fromEntries(paths.map((path) => [path, page(`Page ${path}`)])),
    });
    await using place = await crawlPlace(app);
    const plan = (maxPages: number) => crawlPlan({ sitemaps: [`${site.origin}/map.txt`], maxPages });
    const first = await place.crawl(plan(5));
    expect(first.manifest).toMatchObject({ total_pages: 30, successful: 5, skipped: 25 });
    const second = await place.crawl(plan(12));
    expectWhole(second);
    expect(second.events[0]).toMatchObject({ progress: { progress: 5, total: 12 } });
    expect(second.manifest).toMatchObject({ total_pages: 30, successful: 12, skipped: 18 });
    const third = await place.crawl(plan(99));
    expectWhole(third);
    expect(third.manifest).toMatchObject({ total_pages: 30, successful: 30, skipped: 0 });
    expect(site.count("/map.txt")).toBe(1);
  });

  test("follows the links that were too deep, and counts those that are too deep now", async () => {
    await using site = serveCrawlSite(routesOf(chainOf(12)));
    await using place = await crawlPlace(app);
    const plan = (maxDepth: number) => crawlPlan({ seeds: [`${site.origin}/`], maxDepth });
    const first = await place.crawl(plan(2));
    expect([first.files.length, first.summary.skippedLinks]).toEqual([3, { too_deep: 1 }]);
    const second = await place.crawl(plan(5));
    expect([second.files.length, second.summary.skippedLinks]).toEqual([6, { too_deep: 1 }]);
    expect(site.visits.filter(({ path }) => path !== "/robots.txt")).toHaveLength(6);
    const third = await place.crawl(plan(50));
    expect([third.files.length, third.summary.skippedLinks]).toEqual([12, {}]);
  });

  test("keeps the links of a page that answers unmodified at the old limit of depth", async () => {
    const conditional =
      (body: string): CrawlRoute =>
      ({ headers }) =>
        headers["if-none-match"]
          ? new Response(null, { status: 304 })
          : html(body, { headers: { etag: '"1"' } });
    await using site = serveCrawlSite({
      "/": conditional(page("Home", ["/a"])),
      "/a": conditional(page("Leaf", ["/b"])),
      "/b": page("Last"),
    });
    await using place = await crawlPlace(app);
    const plan = (maxDepth: number) => crawlPlan({ seeds: [`${site.origin}/`], maxDepth });
    await place.crawl(plan(1));
    expect((await place.crawl(plan(1))).summary.changes).toEqual({ unchanged: 2 });
    expect((await place.crawl(plan(2))).files).toHaveLength(3);
  });

  test("goes on under smaller limits, and takes up again under larger ones what they left out", async () => {
    await using site = serveCrawlSite(routesOf(chainOf(12)));
    await using place = await crawlPlace(app);
    const plan = (maxDepth: number) => crawlPlan({ seeds: [`${site.origin}/`], maxDepth, concurrency: 1 });
    const controller = new AbortController();
    const onEvent = ({ kind }: CrawlEvent): void => {
      if (kind === "page") controller.abort();
    };
    await place.crawl(plan(20), { signal: controller.signal, onEvent });
    const smaller = await place.crawl(plan(3));
    expectWhole(smaller);
    expect([smaller.files.length, smaller.summary.skippedLinks]).toEqual([4, { too_deep: 1 }]);
    const larger = await place.crawl(plan(20));
    expect([larger.events[0], larger.files.length]).toMatchObject([{ mode: "resumed" }, 12]);
  });

  test("asks for everything again where larger limits leave nothing to go on with", async () => {
    await using site = serveCrawlSite(routesOf(chainOf(3)));
    await using place = await crawlPlace(app);
    const plan = (maxPages: number) => crawlPlan({ seeds: [`${site.origin}/`], maxPages });
    await place.crawl(plan(50));
    const again = await place.crawl(plan(80));
    expect([again.events[0], again.summary.changes]).toMatchObject([{ mode: "repeated" }, { unchanged: 3 }]);
    const smaller = await place.crawl(plan(2));
    expect([smaller.events[0], smaller.manifest?.total_pages]).toMatchObject([{ mode: "repeated" }, 2]);
    expect(smaller.files).toHaveLength(3);
  });

  test("tries pages that failed again where it may ask more often", async () => {
    await using site = serveCrawlSite({
      "/": page("Home", ["/a"]),
      "/a": (_, times) => (times < 3 ? new Response(null, { status: 500 }) : html(page("Leaf", ["/b"]))),
      "/b": page("Last"),
    });
    await using place = await crawlPlace(app);
    const plan = crawlPlan({ seeds: [`${site.origin}/`] });
    const first = await place.crawl(plan, { network: { retries: 0 } });
    expect([first.summary.progress.failed, first.manifest?.successful]).toEqual([1, 1]);
    const second = await place.crawl(plan, { network: { retries: 1 } });
    expectWhole(second);
    expect(second.manifest).toMatchObject({ successful: 3, failed: 0, total_pages: 3 });
    expect(site.count("/")).toBe(1);
  });

  test("asks for pages without a condition where they are to be read in another way", async () => {
    await using site = serveCrawlSite({
      "/": ({ headers }) =>
        headers["if-none-match"]
          ? new Response(null, { status: 304 })
          : html(page("Home", [], "").replace("<nav>", "<nav><p id=x>The words that are wanted now.</p>"), {
              headers: { etag: '"1"' },
            }),
    });
    await using place = await crawlPlace(app);
    const plan = crawlPlan({ seeds: [`${site.origin}/`] });
    await place.crawl(plan);
    const extraction = { ...plan.extraction, select: "#x" };
    const second = await place.crawl({ ...plan, extraction });
    expect(second.outcomes).toMatchObject([{ status: "success", httpStatus: 200, change: "changed" }]);
    const third = await place.crawl({ ...plan, extraction });
    expect(third.outcomes).toMatchObject([{ status: "success", httpStatus: 304, change: "unchanged" }]);
  });
});

describe("the directory of a crawl", () => {
  test("is refused to another scope by a code, and free where nothing was stored", async () => {
    await using site = serveCrawlSite({ "/": page("Home") });
    await using place = await crawlPlace(app);
    const nothing = await place.crawl(
      crawlPlan({ seeds: [`${site.origin}/missing`, `${site.origin}/none`] }),
    );
    expect(nothing.summary.progress).toMatchObject({ successful: 0, failed: 2 });
    const first = await place.crawl(crawlPlan({ seeds: [`${site.origin}/`] }));
    expect([first.events[0], first.manifest?.total_pages]).toMatchObject([{ mode: "new" }, 1]);
    for (const change of [
      { seeds: [`${site.origin}/other`] },
      { allowPrefixes: [`${site.origin}/`] },
      { denyPrefixes: [`${site.origin}/x`] },
      { obeysRobots: false },
    ]) {
      const failure = await failureOf(place.crawl(crawlPlan({ seeds: [`${site.origin}/`], ...change })));
      expect(failure?.code).toBe("crawl_conflict");
      expect(failure?.message).toContain("--fresh");
    }
  });
});
