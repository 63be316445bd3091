import { expect, test } from "bun:test";
import { page, redirect, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlSite, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());
const ENDS = ["/docs/a", "/docs/b/print/1", "/docs/en/a.html?page=2", "/blog/a", "/moved"];
const site = forAllTests(
  serveCrawlSite({
    "/": page("Home", ["/docs/", ...ENDS]),
    "/docs/": page("Docs", ["/blog/b", "/docs/deep/er"]),
    ...Object.fromEntries([...ENDS, "/blog/b", "/docs/deep/er"].map((path) => [path, page(`At ${path}`)])),
    "/moved": () => redirect("/blog/c"),
    "/blog/c": page("At /blog/c"),
  }),
);

const stored = async (changes: { includeUrls?: string[]; excludeUrls?: string[] }) => {
  const { outcomes } = await crawlSite(app, site, changes);
  return outcomes
    .filter(({ status }) => status === "success")
    .map(({ finalUrl }) => (finalUrl ?? "").replace(site.origin, ""))
    .sort();
};

const DOCS = ["/docs/", "/docs/a", "/docs/b/print/1", "/docs/deep/er", "/docs/en/a.html?page=2"];

test.each([
  [
    "a folder and all below it, with the seed that leads there",
    { includeUrls: ["/docs/**"] },
    ["/", ...DOCS],
  ],
  ["one of two", { includeUrls: ["/docs/a", "/blog/*"] }, ["/", "/blog/a", "/docs/a"]],
  ["a whole address", { includeUrls: ["http://*/blog/a"] }, ["/", "/blog/a"]],
  ["a query", { includeUrls: ["/docs/*/*page=2"] }, ["/", "/docs/en/a.html?page=2"]],
  [
    "what is not left out",
    { includeUrls: ["/docs/**"], excludeUrls: ["**/print/*"] },
    ["/", "/docs/", "/docs/a", "/docs/deep/er", "/docs/en/a.html?page=2"],
  ],
  ["all but a beginning", { excludeUrls: ["/docs/", "/moved"] }, ["/", "/blog/a"]],
  ["nothing of a seed that is left out", { excludeUrls: ["/"] }, []],
] as const)("globs choose %s", async (_, changes, expected) => {
  expect(await stored({ ...changes } as never)).toEqual([...expected]);
});

test("a page that is moved to where no glob leads is no page of the crawl", async () => {
  const { outcomeOf } = await crawlSite(app, site, { excludeUrls: ["/blog/c"] });
  expect(outcomeOf("/moved")).toMatchObject({ status: "skipped", reason: "out_of_scope" });
});
