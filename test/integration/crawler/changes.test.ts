import { describe, expect, test } from "bun:test";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../../src/base/failure.ts";
import type { CrawlEvent, ManifestEntry } from "../../../src/crawler/index.ts";
import { createFileSink } from "../../../src/crawler/output.ts";
import { type CrawlRoute, html, page, serveCrawlSite } from "../../support/crawl-site.ts";
import {
  type CrawlPlace,
  type CrawlResult,
  crawlPlace,
  crawlPlan,
  openTestApp,
} from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { pageUrl } from "../../support/test-fetcher.ts";

const app = forAllTests(openTestApp());

type Answer = string | number;

/** A site whose answers the test changes between crawls: a page's HTML or an HTTP status. */
function serveChangingSite(answers: Record<string, Answer>) {
  const route: CrawlRoute = ({ path }) => {
    const answer = answers[path] ?? 404;
    return typeof answer === "number" ? new Response(null, { status: answer }) : html(answer);
  };
  const paths = ["/", "/a", "/b", "/c", "/d", "/e", "/f"];
  return serveCrawlSite(Object.fromEntries(paths.map((path) => [path, route])));
}

type Feed = { readonly lines: Record<string, unknown>[] };

/** Crawls with a feed of changes, which is kept when the crawl says that it is whole. */
async function crawlWithFeed(
  place: CrawlPlace,
  plan: ReturnType<typeof crawlPlan>,
  options: Parameters<CrawlPlace["crawl"]>[1] = {},
): Promise<CrawlResult & Feed> {
  let text = "";
  let lines: Record<string, unknown>[] = [];
  const changes = {
    write: async (piece: string) => {
      text += piece;
    },
    finish: async () => {
      lines = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    },
  };
  const result = await place.crawl(plan, { changes, ...options });
  const { total_pages, successful = 0, failed = 0, skipped = 0, results = [] } = result.manifest ?? {};
  expect([successful + failed + skipped, results.length]).toEqual([total_pages ?? -1, total_pages ?? -1]);
  return { ...result, lines };
}

const pathsOf = ({ lines }: Feed): string[] =>
  lines.map(({ change, url }) => `${change} ${new URL(String(url)).pathname}`).toSorted();

const goneFiles = (place: CrawlPlace): Promise<string[]> =>
  readdir(join(place.path, ".article-extractor", "gone")).catch(() => []);

describe("a site that is crawled again", () => {
  test("tells new, changed and gone pages, and moves the files of those that are gone", async () => {
    const answers: Record<string, Answer> = {
      "/": page("Home", ["/a", "/b", "/c", "/d"]),
      "/a": page("Leaf a"),
      "/b": page("Leaf b"),
      "/c": page("Leaf c"),
    };
    await using site = serveChangingSite(answers);
    await using place = await crawlPlace(app);
    const plan = crawlPlan({ seeds: [`${site.origin}/`] });
    const first = await crawlWithFeed(place, plan);
    expect(pathsOf(first)).toEqual(["new /", "new /a", "new /b", "new /c"]);
    const pathOfB = first.outcomeOf("/b")?.filePath ?? "";
    const bytesOfB = await readFile(join(place.path, pathOfB));

    Object.assign(answers, { "/a": page("Another leaf a"), "/b": 410, "/c": 404, "/d": page("Leaf d") });
    const second = await crawlWithFeed(place, plan);
    expect(pathsOf(second)).toEqual(["changed /a", "gone /b", "new /d"]);
    expect(second.summary.changes).toEqual({ new: 1, changed: 1, unchanged: 1, gone: 1 });
    expect(second.manifest).toMatchObject({
      new: 1,
      changed: 1,
      unchanged: 1,
      gone: 1,
      successful: 3,
      skipped: 1,
      failed: 1,
    });
    const entry = second.manifest?.results.find(({ reason }) => reason === "gone");
    expect(entry).toMatchObject({
      url: `${site.origin}/b`,
      status: "skipped",
      file_path: null,
      http_status: 410,
      change: "gone",
    });
    const moved = String(second.lines.find(({ change }) => change === "gone")?.["file_path"]);
    expect(moved).toBe(`.article-extractor/gone/${pathOfB}`);
    expect(await readFile(join(place.path, moved))).toEqual(bytesOfB);
    expect(second.files).not.toContain(pathOfB);
    // One answer of 404 may be a mistake of the site.
    expect(second.files).toContain(first.outcomeOf("/c")?.filePath ?? "");

    const third = await crawlWithFeed(place, plan);
    expect(pathsOf(third)).toEqual(["gone /c"]);
    expect(await goneFiles(place)).toHaveLength(2);
    expect((await crawlWithFeed(place, plan)).lines).toEqual([]);

    answers["/b"] = page("Leaf b is back");
    expect(pathsOf(await crawlWithFeed(place, plan))).toEqual(["new /b"]);
  });

  test("keeps the files that the last manifest lists until the next one is written", async () => {
    await using place = await crawlPlace(app);
    const missing: string[] = [];
    const noteMissing = async (): Promise<void> => {
      const { results } = await Bun.file(join(place.path, "manifest.json")).json();
      const files = await readdir(place.path);
      missing.push(
        ...results.map((one: ManifestEntry) => one.file_path).filter((it: string) => !files.includes(it)),
      );
    };
    let crawls = 0;
    await using site = serveCrawlSite({
      "/": () => html(page(`Home ${++crawls}`, ["/a", "/b"])),
      "/a": () => (crawls > 1 ? new Response(null, { status: 410 }) : html(page("Leaf a", []))),
      "/b": () => html(page("Leaf b", ["/c"])),
      "/c": async () => {
        if (crawls > 1) await noteMissing();
        return html(page("Leaf c"));
      },
    });
    const plan = crawlPlan({ seeds: [`${site.origin}/`], concurrency: 1 });
    expect((await place.crawl(plan)).files).toHaveLength(4);
    const second = await place.crawl(plan);
    expect([second.files.length, crawls, missing]).toEqual([3, 2, []]);
    expect(await goneFiles(place)).toHaveLength(1);
  });

  test("asks for stored pages that no link leads to any more, and follows no link of theirs", async () => {
    const answers: Record<string, Answer> = {
      "/": page("Home", ["/a", "/b"]),
      "/a": page("Leaf a", ["/c"]),
      "/b": page("Leaf b"),
      "/c": page("Leaf c"),
    };
    await using site = serveChangingSite(answers);
    await using place = await crawlPlace(app);
    const plan = crawlPlan({ seeds: [`${site.origin}/`] });
    await crawlWithFeed(place, plan);
    Object.assign(answers, {
      "/": page("Home"),
      "/a": page("Leaf a", ["/d"]),
      "/b": 410,
      "/d": page("Leaf d"),
    });
    const second = await crawlWithFeed(place, plan);
    expect(pathsOf(second)).toEqual(["gone /b"]);
    expect(second.outcomeOf("/a")).toMatchObject({ status: "success", change: "unchanged" });
    expect(site.count("/d")).toBe(0);
    // Under smaller limits nothing is asked for beyond them, and nothing is gone.
    answers["/a"] = 410;
    const fewer = await crawlWithFeed(place, crawlPlan({ seeds: [`${site.origin}/`], maxPages: 1 }));
    expect([fewer.lines, fewer.manifest?.total_pages]).toEqual([[], 1]);
    const shallow = await crawlWithFeed(place, crawlPlan({ seeds: [`${site.origin}/`], maxDepth: 0 }));
    expect([shallow.lines, shallow.manifest?.total_pages]).toEqual([[], 1]);
    expect(pathsOf(await crawlWithFeed(place, plan))).toEqual(["gone /a"]);
  });

  test("remembers what is stored of a page through crawls in which it fails", async () => {
    const answers: Record<string, Answer> = { "/": page("Home", ["/a"]), "/a": page("Leaf a") };
    await using site = serveChangingSite(answers);
    await using place = await crawlPlace(app);
    const plan = crawlPlan({ seeds: [`${site.origin}/`] });
    await crawlWithFeed(place, plan);
    const whole = answers["/a"] ?? 0;
    for (const status of [403, 404, 500]) {
      answers["/a"] = status;
      expect((await crawlWithFeed(place, plan, { network: { retries: 0 } })).lines).toEqual([]);
      answers["/a"] = whole;
      const back = await crawlWithFeed(place, plan);
      expect([back.lines, back.summary.changes]).toEqual([[], { unchanged: 2 }]);
    }
  });

  test("loses no change when it is cut off, or given up for another way of reading", async () => {
    const answers: Record<string, Answer> = {
      "/": page("Home", ["/a", "/b", "/c"]),
      "/a": page("Leaf a"),
      "/b": page("Leaf b"),
      "/c": page("Leaf c"),
    };
    await using site = serveChangingSite(answers);
    await using place = await crawlPlace(app);
    const plan = crawlPlan({ seeds: [`${site.origin}/`], concurrency: 1 });
    await crawlWithFeed(place, plan);
    Object.assign(answers, { "/a": page("Another leaf a"), "/b": 410, "/c": page("Another leaf c") });
    const expected = ["changed /a", "changed /c", "gone /b"];
    const last = { ...plan, extraction: { ...plan.extraction, includeImages: false } };
    for (const cutPlan of [plan, last]) {
      const controller = new AbortController();
      let pages = 0;
      const onEvent = ({ kind }: CrawlEvent): void => {
        if (kind === "page" && ++pages === 2) controller.abort();
      };
      const cut = await crawlWithFeed(place, cutPlan, { signal: controller.signal, onEvent });
      expect([cut.summary.state, cut.lines]).toEqual(["cancelled", []]);
    }
    const refused = {
      write: () => Promise.reject(new Failure("unwritable_output", "full")),
      finish: async () => {},
    };
    const unread = await place.crawl(last, { changes: refused });
    expect(unread.summary).toMatchObject({ state: "failed", error: { code: "unwritable_output" } });
    expect(pathsOf(await crawlWithFeed(place, last))).toEqual(expected);
    expect((await crawlWithFeed(place, last)).lines).toEqual([]);
  });

  test("tells a page as gone though a crash came between the move of its file and the record", async () => {
    const answers: Record<string, Answer> = { "/": page("Home", ["/a"]), "/a": page("Leaf a") };
    await using site = serveChangingSite(answers);
    await using place = await crawlPlace(app);
    const plan = crawlPlan({ seeds: [`${site.origin}/`] });
    await crawlWithFeed(place, plan);
    await createFileSink(place.path).retire?.(pageUrl(`${site.origin}/a`));
    answers["/a"] = 410;
    const second = await crawlWithFeed(place, plan);
    expect(pathsOf(second)).toEqual(["gone /a"]);
    expect([second.files.length, (await goneFiles(place)).length]).toEqual([1, 1]);
    expect(second.lines[0]?.file_path).toStartWith(".article-extractor/gone/");
  });

  test("fails as a whole where files cannot be moved, and tells them the next time", async () => {
    const answers: Record<string, Answer> = { "/": page("Home", ["/a"]), "/a": page("Leaf a") };
    await using site = serveChangingSite(answers);
    await using place = await crawlPlace(app);
    const plan = crawlPlan({ seeds: [`${site.origin}/`] });
    await crawlWithFeed(place, plan);
    answers["/a"] = 410;
    const obstacle = join(place.path, ".article-extractor", "gone");
    await Bun.write(obstacle, "a file");
    const cut = await crawlWithFeed(place, plan);
    expect(cut.summary).toMatchObject({ state: "failed", error: { code: "unwritable_output" } });
    await Bun.file(obstacle).delete();
    await mkdir(obstacle);
    expect(pathsOf(await crawlWithFeed(place, plan))).toEqual(["gone /a"]);
  });
});

test("pages that larger limits add are told once", async () => {
  await using site = serveCrawlSite({
    "/": page("Home", ["/a"]),
    "/a": page("Leaf a", ["/b"]),
    "/b": page("Leaf b"),
  });
  await using place = await crawlPlace(app);
  const plan = (maxDepth: number) => crawlPlan({ seeds: [`${site.origin}/`], maxDepth });
  expect(pathsOf(await crawlWithFeed(place, plan(1)))).toEqual(["new /", "new /a"]);
  expect(pathsOf(await crawlWithFeed(place, plan(2)))).toEqual(["new /b"]);
  expect((await crawlWithFeed(place, plan(2))).lines).toEqual([]);
});
