import { expect, test } from "bun:test";
import { html, page, redirect, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlPlace, crawlPlan, crawlSite, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());

const leadingTo = (target: string): string => `<meta http-equiv=refresh content="0;url=${target}"><p>Moved.`;
test("a page that refreshes counts as the one that it leads to, where the crawl may go there", async () => {
  await using foreign = serveCrawlSite({ "/": page("Foreign") });
  await using site = serveCrawlSite({
    "/": page("Home", ["/old", "/away", "/into-private", "/broken", "/last"]),
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /private/"),
    "/old": leadingTo("/new"),
    "/new": page("New"),
    "/away": leadingTo(`${foreign.origin}/`),
    "/into-private": leadingTo("/private/"),
    "/broken": leadingTo("/breaks-off"),
    "/breaks-off": () => redirect("http://["),
    "/last": page("Last", ["/later"]),
    "/later": page("Later"),
  });
  // With a delay a host has one turn, which a page that fails half-way has to give back.
  const result = await crawlSite(
    app,
    site,
    { hostDelayMs: 1 },
    {
      network: { retries: 0 },
    },
  );
  const told = ["/old", "/away", "/into-private", "/broken", "/last"].map((path) => {
    const { status, reason, finalUrl, error, warnings } = result.outcomeOf(path)!;
    return { path, status, reason, finalUrl, code: error?.code ?? null, warnings };
  });
  expect(told).toEqual([
    {
      path: "/old",
      status: "success",
      reason: null,
      finalUrl: `${site.origin}/new`,
      code: null,
      warnings: [`Read from ${site.origin}/new, to which ${site.origin}/old refreshes`],
    },
    {
      path: "/away",
      status: "skipped",
      reason: "out_of_scope",
      finalUrl: `${foreign.origin}/`,
      code: null,
      warnings: [],
    },
    {
      path: "/into-private",
      status: "skipped",
      reason: "robots",
      finalUrl: `${site.origin}/private/`,
      code: null,
      warnings: [],
    },
    { path: "/broken", status: "failed", reason: null, finalUrl: null, code: "network", warnings: [] },
    {
      path: "/last",
      status: "success",
      reason: null,
      finalUrl: `${site.origin}/last`,
      code: null,
      warnings: [],
    },
  ] as never);
  expect([site.count("/new"), site.count("/later"), site.count("/private/"), foreign.visits.length]).toEqual([
    1, 1, 0, 0,
  ]);
});

test("a refresh whose target changes is no unchanged page", async () => {
  let version = 1;
  await using site = serveCrawlSite({
    "/": ({ headers }) =>
      headers["if-modified-since"] || headers["if-none-match"]
        ? new Response(null, { status: 304 })
        : html(leadingTo("/latest"), { headers: { etag: '"same"' } }),
    "/latest": () => html(page(`Edition ${version}`), { headers: { etag: `"${version}"` } }),
  });
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${site.origin}/`] });
  await place.crawl(plan);
  version = 2;
  expect((await place.crawl(plan)).outcomeOf("/")?.title).toBe("Edition 2");
});
