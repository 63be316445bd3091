import { expect, test } from "bun:test";
import { articleFromUrl } from "../../src/articles/index.ts";
import { extractBody } from "../../src/extraction/index.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { openTestHost, testBrowserFetcher, testMachine } from "../support/browser-fetcher.ts";
import { page, serveCrawlSite } from "../support/crawl-site.ts";
import { crawlSite, openTestApp } from "../support/crawling.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { testFetcher } from "../support/test-fetcher.ts";

const host = forAllTests(openTestHost());
const app = forAllTests(openTestApp(testMachine()));

test("a frameset is the content of its frames in the browser too", async () => {
  await using site = serveCrawlSite({
    "/": `<html><head><title>Manual</title></head><frameset cols="*,*"><frame src="one.html"><frame src="two.html"></frameset></html>`,
    "/one.html": page("First"),
    "/two.html": page("Second"),
  });
  await using http = testFetcher();
  await using browser = testBrowserFetcher({ host });
  const options = { ...DEFAULT_EXTRACTION, renderings: ["markdown"] as const };
  const request = { url: `${site.origin}/`, preference: "browser" as const, options, fetch: {} };
  const { article, fetcher } = await articleFromUrl(request, {
    fetchers: { http, browser },
    extractor: { extract: extractBody },
  });
  expect(fetcher).toBe("browser");
  for (const words of ["First is about the gate", "Second is about the gate"])
    expect(article.markdown).toContain(words);
});

test("the browser names the frames that it could not read, and a crawl follows the links of the others", async () => {
  await using other = serveCrawlSite({ "*": page("Elsewhere") });
  await using site = serveCrawlSite({
    "/": `<title>Manual</title><frameset cols="*,*,*"><frame src="toc.html"><frame src="main.html">
      <frame src="${other.origin}/a.html"></frameset>`,
    "/toc.html": page("Contents", ["main.html", "one.html"]),
    "/main.html": page("Main"),
    "/one.html": page("One"),
  });
  const { outcomes, outcomeOf } = await crawlSite(app, site, { preference: "browser" });
  const met = outcomes.map(({ url }) => url.slice(site.origin.length));
  expect(met.sort()).toEqual(["/", "/main.html", "/one.html"]);
  expect(outcomeOf("/")).toMatchObject({ status: "success", fetcher: "browser" });
  expect(outcomeOf("/")?.warnings).toEqual([
    `The frame ${other.origin}/a.html was not read: it is of another origin`,
  ]);
});
