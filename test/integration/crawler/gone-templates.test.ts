import { expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { html, page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlPlace, crawlPlan, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());

/** What many sites show for a page that is not there: as large as a page, and made of paragraphs. */
const template = (status: number) => html(page("Not found, try the search").padEnd(2000), { status });

test("a page that was there is not replaced by the site's page for what is not, but missed, then gone", async () => {
  let crawls = 0;
  let isBack = false;
  const laterwards = (status: number, first: string) => () =>
    crawls > 1 && !isBack ? template(status) : html(first);
  // Its status was never another: a script fills it.
  const application = () => html(page("Application").padEnd(2000), { status: 404 });
  await using site = serveCrawlSite({
    "/": page("Home", ["/a", "/b", "/app"]),
    "/a": laterwards(404, page("Leaf a")),
    "/b": laterwards(410, page("Leaf b")),
    "/app": application,
  });
  await using place = await crawlPlace(app);
  const crawl = async () => {
    crawls++;
    const { outcomeOf } = await place.crawl(crawlPlan({ seeds: [`${site.origin}/`] }), {
      network: { retries: 0 },
    });
    const shown = ["/a", "/b", "/app"].map((path) => {
      const outcome = outcomeOf(path);
      return outcome ? [outcome.status, outcome.error?.code ?? outcome.reason, outcome.httpStatus] : null;
    });
    const files = (await readdir(place.path)).filter((name) => name.endsWith(".md")).sort();
    const gone = await readdir(join(place.path, ".article-extractor", "gone")).catch(() => []);
    return { shown, files, gone, pathOf: (path: string) => outcomeOf(path)?.filePath ?? null };
  };
  const isThere = ["success", null, 200];
  const isApplication = ["success", null, 404];

  const first = await crawl();
  expect<unknown>(first.shown).toEqual([isThere, isThere, isApplication]);
  const leaf = first.pathOf("/a") ?? "";
  const text = await readFile(join(place.path, leaf), "utf8");

  const second = await crawl();
  expect<unknown>(second.shown).toEqual([
    ["failed", "http_status", 404],
    ["skipped", "gone", 410],
    isApplication,
  ]);
  expect(await readFile(join(place.path, leaf), "utf8")).toBe(text);
  expect(second.files.length).toBe(first.files.length - 1);

  const third = await crawl();
  expect<unknown>(third.shown).toEqual([
    ["skipped", "gone", 404],
    ["failed", "http_status", 410],
    isApplication,
  ]);
  expect(third.gone).toContain(leaf);
  expect(third.files).not.toContain(leaf);

  // What was gone is no new page for being linked still, and it is one when it is there again.
  const fourth = await crawl();
  expect<unknown>(fourth.shown[0]).toEqual(["failed", "http_status", 404]);
  isBack = true;
  expect<unknown>((await crawl()).shown[0]).toEqual(isThere);
  isBack = false;
  expect<unknown>((await crawl()).shown[0]).toEqual(["failed", "http_status", 404]);
});
