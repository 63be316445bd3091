import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { html, page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlOnce, crawlPlan, crawlSite, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveLocal } from "../../support/local.ts";

const app = forAllTests(openTestApp());

/** Each answer leads to addresses that are new: of a number that counts requests, or of what is random. */
type Links = (
  path: string,
  token: { readonly uuid: string; readonly md5: string; readonly count: number },
) => string[];

const MAZES: Readonly<Record<string, Links>> = {
  "a slash more at the end": (path) => [`{origin}${path}/`],
  "a slash more at the start": (path) => [`{origin}/${path}`],
  "slashes and a name": (path) => [`{origin}${path}//a`, `{origin}${path}/b`],
  "an ampersand escaped again": (path) => [`${path}${path.includes("?") ? "" : "?a=1"}&amp;amp;b=2`],
  "escaped ampersands, more and more": (path) => [`${path}${path.includes("?") ? "" : "?a=1"}&amp;amp;`],
  "an escape of the escape": (path) => [`/x%2520${path.slice(1).replaceAll("%", "%25")}`],
  jsessionid: (_, { md5 }) => [`/a;jsessionid=${md5}`, `/b;jsessionid=${md5}?x=1`],
  PHPSESSID: (_, { md5 }) => [`/a?PHPSESSID=${md5}`, `/b?PHPSESSID=${md5}&amp;x=1`],
  "a counter as PHPSESSID": (_, { count }) => [`/a?PHPSESSID=${count}`],
  sid: (_, { md5 }) => [`/a?sid=${md5}`, `/b?sid=${md5}`],
  "a short sid": (_, { uuid }) => [`/a?sid=${uuid.slice(0, 8)}1a`, `/b?sid=${uuid.slice(0, 8)}1a`],
  "a counter as sid": (_, { count }) => [`/a?sid=${count}`, `/b?sid=${count}`],
  "session, as a uuid": (_, { uuid }) => [`/a?session=${uuid}`, `/b?session=${uuid}`],
  "an id first in the path": (_, { uuid }) => [`/${uuid}/a`, `/${uuid}/b`, `/${uuid}/c`],
  "a session in the path": (_, { md5 }) => [`/s/${md5}/a`, `/s/${md5}/b`, `/s/${md5}/c`],
  "a cookieless session": (_, { md5 }) => [`/(S(${md5.slice(0, 24)}))/a.aspx`],
};

for (const [name, linksOf] of Object.entries(MAZES)) {
  test(`a maze of ${name} ends within 16 pages`, async () => {
    let count = 0;
    await using maze = (() => {
      const server = serveLocal((request) => {
        const url = new URL(request.url);
        if (url.pathname === "/robots.txt") return new Response(null, { status: 404 });
        count++;
        const uuid = crypto.randomUUID();
        const md5 = createHash("md5").update(uuid).digest("hex");
        const links = linksOf(url.pathname + url.search, { uuid, md5, count });
        return html(
          page(
            `The gate of ${url.pathname}`,
            links.map((link) => link.replaceAll("{origin}", url.origin)),
          ),
        );
      });
      return { origin: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
    })();
    const plan = crawlPlan({ seeds: [`${maze.origin}/`], maxDepth: 100, maxPages: 200 });
    const result = await crawlOnce(app, plan);
    expect(result.summary.state).toBe("completed");
    expect(count).toBeLessThanOrEqual(16);
    expect(count).toBeGreaterThan(1);
    const { total_pages, successful = 0, failed = 0, skipped = 0 } = result.manifest ?? {};
    expect(successful + failed + skipped).toBe(total_pages ?? -1);
  });
}

test("pages under random names and pages that differ by a number alone are all crawled", async () => {
  const names = Array.from({ length: 30 }, (_, at) => createHash("sha1").update(`${at}`).digest("hex"));
  const numbers = names.map((_, at) => `/item/${at}`);
  await using site = serveCrawlSite({
    "/": page("Home", [...names.map((name) => `/commit/${name}`), ...numbers]),
    ...Object.fromEntries(names.map((name, at) => [`/commit/${name}`, page(`Commit ${at}`)])),
    ...Object.fromEntries(numbers.map((path) => [path, page("An item")])),
  });
  const { manifest } = await crawlSite(app, site);
  expect(manifest).toMatchObject({ successful: 61, skipped: 0, skipped_links: {} });
});
