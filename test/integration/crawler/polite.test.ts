import { expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import {
  type CrawlRoute,
  type CrawlSite,
  type CrawlVisit,
  html,
  page,
  redirect,
  serveCrawlSite,
} from "../../support/crawl-site.ts";
import { crawlOnce, crawlPlace, crawlPlan, crawlSite, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());

const DELAY_MS = 200;

/** Pages `/0` … `/count - 1`, all linked from `/`, each after that many ms, or when the promise is settled. */
function pages(count: number, answer: number | (() => Promise<void>)): Record<string, CrawlRoute> {
  const names = Array.from({ length: count }, (_, index) => `/${index}`);
  const wait = typeof answer === "number" ? () => Bun.sleep(answer) : answer;
  const route =
    (name: string): CrawlRoute =>
    async () => {
      await wait();
      return html(page(`Page ${name}`));
    };
  return { "/": page("Home", names), ...Object.fromEntries(names.map((name) => [name, route(name)])) };
}

/**
 * Delays count from sending to sending, and a request may stay on its way while the machine is stalled: the gap
 * between two arrivals may be any. But none arrives before it was sent, so request number n comes at least
 * n delays after the start, whatever stalls; and where nothing stalls, one delay too few shows.
 */
function expectSpaced(visits: CrawlSite["visits"], delayMs: number, startedAt: number): void {
  const early = visits
    .map(({ path, at }, index) => ({ path, earlyMs: index * delayMs - (at - startedAt) }))
    // The crawl's clock counts whole milliseconds.
    .filter(({ earlyMs }) => earlyMs > 1);
  expect(early).toEqual([]);
}

test("requests to a host are spaced by the delay, robots.txt, redirects and retries included", async () => {
  await using site = serveCrawlSite({
    "/": page("Home", ["/moved", "/flaky"]),
    "/moved": () => redirect("/target"),
    "/target": page("Target"),
    "/flaky": (_, times) => (times === 1 ? html("", { status: 500 }) : html(page("Flaky"))),
  });
  const startedAt = performance.now();
  const { summary } = await crawlSite(app, site, { hostDelayMs: DELAY_MS, concurrency: 16 });
  expect(summary.progress.successful).toBe(3);
  expect(site.visits.map(({ path }) => path).toSorted()).toEqual(
    ["/", "/flaky", "/flaky", "/moved", "/robots.txt", "/target"].toSorted(),
  );
  expectSpaced(site.visits, DELAY_MS, startedAt);
});

/** Stands before a site; the first connection is opened to it only after so many ms. */
async function serveLate(to: number, firstMs: number) {
  const sockets = new Set<Socket>();
  const server = createServer(async (client) => {
    const isFirst = sockets.size === 0;
    sockets.add(client);
    if (isFirst) await Bun.sleep(firstMs);
    const site = connect(to, "127.0.0.1");
    sockets.add(site);
    for (const socket of [client, site]) socket.on("error", () => socket.destroy());
    client.pipe(site).pipe(client);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test.each(["robots.txt", "a sitemap", "a page"])(
  "the host sees the delay after %s whose connection took long to open",
  async (first) => {
    await using site = serveCrawlSite({
      "/": page("Home", ["/one"]),
      "/one": page("One"),
      "/sitemap.xml": ({ headers }) =>
        new Response(`<urlset><url><loc>http://${headers["host"]}/one</loc></url></urlset>`),
    });
    using late = await serveLate(Number(new URL(site.origin).port), 100);
    const seeds =
      first === "a sitemap" ? { sitemaps: [`${late.origin}/sitemap.xml`] } : { seeds: [`${late.origin}/`] };
    const obeysRobots = first === "robots.txt";
    await crawlOnce(app, crawlPlan({ ...seeds, obeysRobots, hostDelayMs: DELAY_MS }));
    const gaps = site.visits.slice(1).map(({ at }, index) => at - (site.visits[index]?.at ?? 0));
    expect(gaps).toHaveLength(first === "robots.txt" ? 2 : 1);
    expect(gaps.filter((gap) => gap < DELAY_MS - 10)).toEqual([]);
  },
);

test("with a delay a slow host has one request at a time, while another host goes on", async () => {
  await using slow = serveCrawlSite(pages(3, 700));
  await using quick = serveCrawlSite(pages(6, 0));
  await crawlOnce(
    app,
    crawlPlan({ seeds: [`${slow.origin}/`, `${quick.origin}/`], hostDelayMs: 50, concurrency: 2 }),
  );
  expect(slow.peak()).toBe(1);
  expect(slow.visits.at(-1)?.at).toBeGreaterThan(quick.visits.at(-1)?.at ?? Number.POSITIVE_INFINITY);
});

test("Crawl-delay of robots.txt is kept where it is longer than the plan's delay", async () => {
  await using site = serveCrawlSite({
    ...pages(3, 0),
    "/robots.txt": () => new Response("User-agent: article-extractor\nCrawl-delay: 0.3"),
  });
  const startedAt = performance.now();
  await crawlSite(app, site, { concurrency: 16 });
  expect(site.visits[0]?.path).toBe("/robots.txt");
  // The first page follows the robots.txt, whose delay was not known before it.
  expectSpaced(site.visits.slice(1), 300, startedAt);
});

test.each([429, 503])(
  "after %p nobody asks the host again before Retry-After, and other hosts go on",
  async (status) => {
    await using busy = serveCrawlSite({
      ...pages(30, 60),
      "/3": (_, times) =>
        times === 1 ? html("", { status, headers: { "retry-after": "2" } }) : html(page("Three")),
    });
    await using other = serveCrawlSite(pages(20, 30));
    const pauses: { readonly noticedAt: number; readonly until: number }[] = [];
    const { summary } = await crawlOnce(
      app,
      crawlPlan({ seeds: [`${busy.origin}/`, `${other.origin}/`], concurrency: 4 }),
      {
        onEvent: (event) => {
          if (event.kind !== "notice" || event.notice.kind !== "host_paused") return;
          const until = event.notice.untilMs - performance.timeOrigin;
          pauses.push({ noticedAt: performance.now(), until });
        },
      },
    );
    expect(summary.progress).toMatchObject({ successful: 52, failed: 0 });
    expect(pauses).toHaveLength(1);
    const { noticedAt, until } = pauses[0]!;
    const refusedAt = busy.visits.find(({ path }) => path === "/3")?.at ?? 0;
    expect(until - refusedAt).toBeGreaterThan(1999);
    const isInPause = ({ at }: CrawlVisit): boolean => at > noticedAt && at < until - 1;
    // The three others that may be sent when the answer comes arrive when they do.
    expect(busy.visits.filter(isInPause).length).toBeLessThanOrEqual(3);
    expect(busy.visits.filter(({ at }) => at >= until - 1).length).toBeGreaterThan(20);
    expect(other.visits.filter(isInPause).length).toBeGreaterThan(5);
  },
);

test("a host that keeps refusing is left alone longer each time, then its page fails", async () => {
  await using site = serveCrawlSite({ "/": () => html("", { status: 429 }) });
  const { outcomes } = await crawlSite(app, site, {}, { network: { retries: 2 } });
  expect(outcomes.map(({ error }) => error?.code)).toEqual(["rate_limited"]);
  expect(site.count("/")).toBe(3);
});

test("a host that asks for a day is asked once: its pages fail, and the crawl ends", async () => {
  await using site = serveCrawlSite({
    ...pages(8, 0),
    "/0": () => html("", { status: 503, headers: { "retry-after": "86400" } }),
  });
  const { summary, outcomeOf } = await crawlSite(app, site, { concurrency: 1 });
  expect(site.visits.map(({ path }) => path)).toEqual(["/robots.txt", "/", "/0"]);
  expect(summary.failures).toEqual({ http_status: 1, rate_limited: 7 });
  expect(summary.progress.fetched).toBe(2);
  expect(outcomeOf("/7")?.error?.message).toContain("asks to be left alone until");
});

test.each([1, 5, 64])(
  "concurrency %p is so many requests at a time, also to one host, and no more",
  async (concurrency) => {
    const { promise: isFull, resolve: fill } = Promise.withResolvers<void>();
    await using site: CrawlSite = serveCrawlSite(
      pages(130, async () => {
        if (site.peak() >= concurrency) fill();
        await isFull;
        // One more than may be would come meanwhile.
        await Bun.sleep(60);
      }),
    );
    const { summary, files } = await crawlSite(app, site, {
      concurrency,
      maxPages: concurrency === 1 ? 20 : 1000,
    });
    expect(site.peak()).toBe(concurrency);
    expect(files).toHaveLength(summary.progress.successful);
  },
);

test("robots.txt is asked for once, by two crawls of one session as well", async () => {
  await using site = serveCrawlSite(pages(30, 0));
  await crawlSite(app, site, { concurrency: 16 });
  expect(site.count("/robots.txt")).toBe(1);
});

test("a robots.txt that answers 5xx closes the site", async () => {
  await using site = serveCrawlSite({ ...pages(1, 0), "/robots.txt": () => html("", { status: 500 }) });
  const { outcomes } = await crawlSite(app, site);
  expect(outcomes.map(({ status, error }) => [status, error])).toEqual([
    ["failed", { code: "http_status", message: `GET ${site.origin}/robots.txt answered HTTP 500` }],
  ]);
  expect(site.count("/")).toBe(0);
});

test("a redirect to a site whose robots.txt answers 5xx fails, and is not counted as forbidden", async () => {
  await using other = serveCrawlSite({ ...pages(1, 0), "/robots.txt": () => html("", { status: 503 }) });
  await using site = serveCrawlSite({ "/": () => redirect(`${other.origin}/0`) });
  const { outcomes } = await crawlSite(app, site);
  expect(outcomes.map(({ status, error }) => [status, error])).toEqual([
    ["failed", { code: "http_status", message: `GET ${other.origin}/robots.txt answered HTTP 503` }],
  ]);
  expect(other.count("/0")).toBe(0);
});

test("a plan may ignore robots.txt, with a notice", async () => {
  await using site = serveCrawlSite({
    "/": page("Home"),
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /"),
  });
  const { summary, events } = await crawlSite(app, site, { obeysRobots: false });
  expect(summary.progress.successful).toBe(1);
  expect(site.count("/robots.txt")).toBe(0);
  expect(events.some((event) => event.kind === "notice" && event.notice.kind === "robots_ignored")).toBe(
    true,
  );
});

test("two crawls of one program keep a host's delay together", async () => {
  await using site = serveCrawlSite(pages(2, 0));
  await using one = await crawlPlace(app);
  await using two = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${site.origin}/`], hostDelayMs: DELAY_MS });
  const startedAt = performance.now();
  await Promise.all([one.crawl(plan), two.crawl(plan)]);
  expect(site.visits.length).toBeGreaterThanOrEqual(7);
  expectSpaced(site.visits, DELAY_MS, startedAt);
});

test("two crawls of one program have one request out to a host that has a delay", async () => {
  await using site = serveCrawlSite(pages(3, 300));
  await using one = await crawlPlace(app);
  await using two = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${site.origin}/`], hostDelayMs: 20 });
  await Promise.all([one.crawl(plan), two.crawl(plan)]);
  expect(site.peak()).toBe(1);
});

test("an adaptive delay counts from the end of an answer", async () => {
  const ANSWER_MS = 300;
  const ended: number[] = [];
  const route = (links: string[]) => async () => {
    await Bun.sleep(ANSWER_MS);
    ended.push(performance.now());
    return html(page("Slow", links));
  };
  const names = ["/1", "/2", "/3", "/4"];
  await using site = serveCrawlSite({
    "/": route(names),
    ...Object.fromEntries(names.map((name) => [name, route([])])),
  });
  await crawlSite(app, site, { obeysRobots: false, hasAdaptiveDelay: true, concurrency: 4 });
  const rests = site.visits.slice(1).map(({ at }, index) => at - (ended[index] ?? 0));
  // Half way to the latency with each answer; the site's clock and the crawl's may differ by a little.
  for (const [index, rest] of rests.entries())
    expect(rest).toBeGreaterThan(ANSWER_MS * (1 - 2 ** -(index + 1)) - 10);
  expect(rests.length).toBe(4);
});

test("an adaptive delay follows a host's slowness", async () => {
  await using site = serveCrawlSite(pages(4, 300));
  await crawlSite(app, site, { hasAdaptiveDelay: true, concurrency: 16 });
  expect(site.peak()).toBeLessThan(4);
});
