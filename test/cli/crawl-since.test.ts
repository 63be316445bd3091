import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { crawlDirectory, pathsOf } from "../support/crawl-run.ts";
import { html, page, serveCrawlSite } from "../support/crawl-site.ts";

const LONG_AGO = "2024-01-01T00:00:00Z";
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

/** A site whose pages say when they were changed; its sitemap has one that nothing leads to. */
function serveDated() {
  const dates: Record<string, string> = { "/": LONG_AGO, "/a": LONG_AGO, "/b": LONG_AGO, "/named": LONG_AGO };
  const dated =
    (path: string, links: readonly string[] = []) =>
    () =>
      html(page(`Page ${path}`, links, `<meta property="article:modified_time" content="${dates[path]}">`));
  const site = serveCrawlSite({
    "/": dated("/", ["/a", "/b"]),
    "/a": dated("/a"),
    "/b": dated("/b"),
    "/named": dated("/named"),
    "/sitemap.xml": () =>
      new Response(
        `<urlset><url><loc>${site.origin}/named</loc><lastmod>${dates["/named"]}</lastmod></url></urlset>`,
      ),
  });
  return { site, dates };
}

test("--since last takes what says that it is newer than the last finished crawl, and keeps the rest", async () => {
  const { site, dates } = serveDated();
  await using _ = site;
  await using place = await crawlDirectory();
  const words = [`${site.origin}/`, "--sitemap", `${site.origin}/sitemap.xml`, "--since", "last"];
  const crawl = async (...more: string[]) => {
    site.visits.length = 0;
    const run = await place.crawl([...words, ...more]);
    expect([run.exitCode, run.stderr]).toEqual([0, run.stderr]);
    return { ...run, isAsked: site.count("/named") > 0 };
  };
  // Nothing was crawled before, so that nothing is too old.
  const first = await crawl();
  expect([pathsOf(first), first.isAsked]).toEqual([["/", "/a", "/b", "/named"], true]);
  expect(first.manifest?.config["since"]).toBe("last");

  dates["/b"] = tomorrow();
  const second = await crawl();
  expect([pathsOf(second), second.files]).toEqual([["/b"], first.files]);
  expect(second.manifest).toMatchObject({
    changed: 0,
    gone: 0,
    config: { since: "last" },
  });
  expect(second.isAsked).toBeFalse();

  // The day of the last crawl moves on, and a date of one's own goes with the same folder.
  dates["/b"] = LONG_AGO;
  dates["/named"] = tomorrow();
  const third = await crawl();
  expect([pathsOf(third), third.files]).toEqual([["/named"], first.files]);
  expect(pathsOf(await crawl("--since", "2023-12-31"))).toEqual(["/", "/a", "/b", "/named"]);
  expect(pathsOf(await crawl("--fresh"))).toEqual(["/", "/a", "/b", "/named"]);
});

test("--since last takes old pages that failed in the last crawl, or were too many for it", async () => {
  let isDown = true;
  const named = ["/a", "/b", "/c", "/d"];
  const old = (path: string) => () =>
    html(page(`Page ${path}`, [], `<meta property="article:modified_time" content="${LONG_AGO}">`));
  await using site = serveCrawlSite({
    ...Object.fromEntries(named.map((path) => [path, old(path)])),
    "/b": () => (isDown ? new Response("", { status: 500 }) : old("/b")()),
    "/sitemap.xml": () =>
      new Response(
        `<urlset>${named.map((path) => `<url><loc>${site.origin}${path}</loc><lastmod>${LONG_AGO}</lastmod></url>`).join("")}</urlset>`,
      ),
  });
  await using place = await crawlDirectory();
  const words = [
    "--sitemap",
    `${site.origin}/sitemap.xml`,
    "--since",
    "last",
    "--retries",
    "0",
    "--concurrency",
    "1",
  ];
  expect(pathsOf(await place.crawl([...words, "--max-pages", "3"]))).toEqual(["/a", "/c"]);
  isDown = false;
  site.visits.length = 0;
  expect(pathsOf(await place.crawl([...words, "--max-pages", "3"]))).toContain("/b");
  expect(site.count("/a")).toBe(0);
  const { files } = await place.crawl([...words, "--max-pages", "9"]);
  expect(files).toHaveLength(4);
});

test("--since last says what it could not read", async () => {
  await using place = await crawlDirectory();
  mkdirSync(join(place.output, "manifest.json"), { recursive: true });
  const run = await place.crawl(["http://127.0.0.1:9/", "--since", "last"]);
  expect([run.exitCode === 0, run.stderr]).toEqual([
    false,
    expect.stringContaining("the manifest of the last crawl could not be read: "),
  ]);
});

test("--since last goes with a directory", async () => {
  await using place = await crawlDirectory();
  const run = await place.crawl(["http://127.0.0.1:9/", "--jsonl", "--since", "last"]);
  expect([run.exitCode, run.stderr]).toEqual([
    2,
    expect.stringContaining("--since last goes with --output-dir DIR"),
  ]);
});
