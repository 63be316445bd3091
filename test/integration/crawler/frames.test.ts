import { expect, test } from "bun:test";
import { html, page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlPlace, crawlPlan, crawlSite, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { pageUrl } from "../../support/test-fetcher.ts";

const app = forAllTests(openTestApp());

test("a frameset is the content of its frames, which are crawled like links", async () => {
  await using site = serveCrawlSite({
    "/": `<html><head><title>Manual</title></head><frameset cols="20%,80%"><frame src="toc.html"><FRAMESET rows="*,*">
      <FRAME NAME=main SRC='over view.html?a=1&amp;b=2'><frame name="empty"></FRAMESET><noframes>Needs frames.</noframes></frameset></html>`,
    "/toc.html": page("Contents", ["one.html"]),
    "/over%20view.html?a=1&b=2": page("Overview"),
    "/one.html": page("One"),
  });
  const { outcomes, files, outcomeOf } = await crawlSite(app, site);
  const stored = outcomes.flatMap(({ url, status }) =>
    status === "success" ? [url.slice(site.origin.length)] : [],
  );
  expect(stored.sort()).toEqual(["/", "/one.html", "/over%20view.html?a=1&b=2", "/toc.html"]);
  expect(files).toHaveLength(4);
  expect(outcomeOf("/")).toMatchObject({ title: "Manual", warnings: [] });
});

test("robots.txt holds for frames, and a frame that asks not to be stored keeps its frameset out", async () => {
  const frameset = `<title>Manual</title><frameset cols="*,*"><frame src="toc.html"><frame src="secret/page.html"></frameset>`;
  await using site = serveCrawlSite({
    "/": frameset,
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /secret/"),
    "/toc.html": page("Contents"),
    "/secret/page.html": page("Secret"),
  });
  const { outcomeOf } = await crawlSite(app, site);
  expect(site.count("/secret/page.html")).toBe(0);
  expect(outcomeOf("/")).toMatchObject({ status: "success", title: "Manual" });
  expect(outcomeOf("/")?.warnings.join()).toContain(`The frame ${site.origin}/secret/page.html was not read`);

  await using hidden = serveCrawlSite({
    "/": frameset,
    "/toc.html": page("Contents", [], '<meta name="robots" content="noindex">'),
    "/secret/page.html": () => html(page("Secret"), { headers: { "x-robots-tag": "nofollow" } }),
  });
  const second = await crawlSite(app, hidden, { respectsMetaRobots: true });
  expect(second.outcomeOf("/")).toMatchObject({ status: "skipped", reason: "noindex" });
});

test("a frameset is asked for again whole, because its validators say nothing of its frames", async () => {
  let told = 0;
  await using site = serveCrawlSite({
    "/": ({ headers }) => {
      if (headers["if-none-match"]) told++;
      return html('<frameset cols="*"><frame src="a.html"></frameset>', { headers: { etag: '"1"' } });
    },
    "/a.html": page("First"),
  });
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [pageUrl(`${site.origin}/`)] });
  await place.crawl(plan);
  await place.crawl(plan);
  expect([site.count("/"), told]).toEqual([2, 0]);
});
