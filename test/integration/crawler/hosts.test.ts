import { expect, test } from "bun:test";
import { page, redirect, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlOnce, crawlPlan, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());

test.each([0, 20])(
  "hosts that redirect to each other without end fail, and those that do so once do not, with delay %p",
  async (hostDelayMs) => {
    let other = "";
    await using one = serveCrawlSite({
      "/loop": () => redirect(`${other}/loop`),
      "/there": () => redirect(`${other}/back`),
      "/end": page("End"),
    });
    await using two = serveCrawlSite({
      "/loop": () => redirect(`${one.origin}/loop`),
      "/back": () => redirect(`${one.origin}/end`),
    });
    other = two.origin;
    const seeds = [`${one.origin}/loop`, `${two.origin}/loop`, `${one.origin}/there`];
    const { outcomes } = await crawlOnce(app, crawlPlan({ seeds, hostDelayMs, maxDepth: 0 }));
    const shown = outcomes.map(({ url, status, error }) => [
      url,
      status,
      error?.message.replace(/^GET \S+ ?/, "") ?? null,
    ]);
    expect(shown.toSorted()).toEqual(
      [
        [`${one.origin}/loop`, "failed", "more than 10 redirects"],
        [`${two.origin}/loop`, "failed", "more than 10 redirects"],
        [`${one.origin}/there`, "success", null],
      ].toSorted(),
    );
    expect([one.count("/robots.txt"), two.count("/robots.txt")]).toEqual([1, 1]);
  },
);

test("a host outside ASCII is one host, however it is written", async () => {
  await using site = serveCrawlSite({
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /closed"),
    "/": ({ headers }) => {
      const port = new URL(`http://${headers["host"]}`).port;
      const hosts = ["b\u00fccher", "xn--bcher-kva", "B\u00dcCHER", "bu\u0308cher", "b%C3%BCcher"];
      return new Response(
        page("Home", [
          "/closed",
          ...hosts.map((host, n) => `http://${host}.localhost:${port}/gr\u00f6\u00dfe/${n % 2}`),
        ]),
        {
          headers: { "content-type": "text/html; charset=utf-8" },
        },
      );
    },
    "/gr%C3%B6%C3%9Fe/0": page("Zero"),
    "/gr%C3%B6%C3%9Fe/1": page("One"),
  });
  const { port } = new URL(site.origin);
  const plan = crawlPlan({ seeds: [`http://b\u00fccher.localhost:${port}/`], hostDelayMs: 1 });
  const { outcomes, files } = await crawlOnce(app, plan);
  const origin = `http://xn--bcher-kva.localhost:${port}`;
  expect(outcomes.map(({ url, status }) => `${status} ${url}`).toSorted()).toEqual([
    `skipped ${origin}/closed`,
    `success ${origin}/`,
    `success ${origin}/gr%C3%B6%C3%9Fe/0`,
    `success ${origin}/gr%C3%B6%C3%9Fe/1`,
  ]);
  const host = `xn--bcher-kva.localhost_${port}`;
  expect(files).toEqual([`${host}.md`, `${host}__gr\u00f6\u00dfe__0.md`, `${host}__gr\u00f6\u00dfe__1.md`]);
  expect(site.count("/robots.txt")).toBe(1);
});
