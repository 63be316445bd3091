import { expect, test } from "bun:test";
import { page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlSite, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());

test("the frames of a frameset are crawled, and the frameset says which they are", async () => {
  await using site = serveCrawlSite({
    "/": `<html><head><title>Manual</title></head><frameset cols="20%,80%"><frame src="toc.html"><FRAMESET rows="*,*">
      <FRAME NAME=main SRC='over view.html?a=1&amp;b=2'><frame name="empty"></FRAMESET><noframes>Needs frames.</noframes></frameset></html>`,
    "/toc.html": page("Contents", ["one.html"]),
    "/over%20view.html?a=1&b=2": page("Overview"),
    "/one.html": page("One"),
  });
  const { outcomes, outcomeOf } = await crawlSite(app, site);
  const stored = outcomes.flatMap(({ url, status }) =>
    status === "success" ? [url.slice(site.origin.length)] : [],
  );
  expect(stored.sort()).toEqual(["/one.html", "/over%20view.html?a=1&b=2", "/toc.html"]);
  expect(outcomeOf("/")?.error).toEqual({
    code: "no_content",
    message: `${site.origin}/ is a frameset: the content is in its frames, ${site.origin}/toc.html ${site.origin}/over%20view.html?a=1&b=2`,
  });
});
