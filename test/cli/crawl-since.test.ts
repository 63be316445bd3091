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
  expect(first.manifest?.config["since"]).toBeNull();

  dates["/b"] = tomorrow();
  const second = await crawl();
  expect([pathsOf(second), second.files]).toEqual([["/b"], first.files]);
  expect(second.manifest).toMatchObject({
    changed: 0,
    gone: 0,
    config: { since: first.manifest?.started_at },
  });
  expect(second.isAsked).toBeFalse();

  // The day of the last crawl moves on, and a date of one's own goes with the same folder.
  dates["/b"] = LONG_AGO;
  dates["/named"] = tomorrow();
  const third = await crawl();
  expect([pathsOf(third), third.files]).toEqual([["/named"], first.files]);
  expect(third.manifest?.config["since"]).toBe(second.manifest?.started_at);
  expect(pathsOf(await crawl("--since", "2023-12-31"))).toEqual(["/", "/a", "/b", "/named"]);
  expect(pathsOf(await crawl("--fresh"))).toEqual(["/", "/a", "/b", "/named"]);
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
