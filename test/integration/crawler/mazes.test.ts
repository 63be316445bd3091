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
  test(`a maze of ${name} ends within 60 pages`, async () => {
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
    expect(count).toBeLessThanOrEqual(60);
    expect(count).toBeGreaterThan(1);
    const { total_pages, successful = 0, failed = 0, skipped = 0 } = result.manifest ?? {};
    expect(successful + failed + skipped).toBe(total_pages ?? -1);
  });
}

/** Traps without an end; each page leads to more of its kind, and the first of them stands on the home page. */
const TRAPS: Readonly<Record<string, (at: number) => string>> = {
  calendar: (at) => `/calendar/${2020 + Math.floor(at / 12)}/${(at % 12) + 1}/`,
  day: (at) => `/agenda?day=${new Date(at * 86_400_000).toISOString().slice(0, 10)}`,
  pager: (at) => `/list?page=${at}`,
  loop: (at) => `/docs${"/next/docs".repeat(at % 90)}/`,
  query: (at) => `/find?${Array.from({ length: (at % 90) + 1 }, (_, n) => `f${n}=on`).join("&")}`,
};
const TRAP_PAGES = 10_000 / Object.keys(TRAPS).length;
const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);
/** Slugs of real pages, as sites write them; words of calendars among them. */
const SLUGS: readonly ((at: number) => string)[] = [
  (at) => `/2021/05/independence-day-speech-${at}/`,
  (at) => `/events/2019/02/month-${at}`,
  (at) => `/agenda/2016-03-14/date-${at}`,
  (at) => `/calendar/day/${2000 + (at % 20)}/1/${at}`,
  (at) => `/news?date=2018-01-${10 + (at % 20)}&id=${at}`,
];
const WORDS = "harbour ledger quiet mason lantern ferry orchard copper weaver meadow signal anchor".split(
  " ",
);

test.each([1, 2, 3])(
  "of 200 pages among 10 000 of traps none is lost, and each trap ends (%i)",
  async (seed) => {
    let state = seed;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((state / 2 ** 31) * below);
    };
    const real = Array.from({ length: 200 }, (_, at) =>
      (SLUGS[random(SLUGS.length)] as (typeof SLUGS)[0])(at),
    );
    const asked: Record<string, number> = {};
    const trapPage = (kind: string, at: number): string => {
      asked[kind] = (asked[kind] ?? 0) + 1;
      const next = Array.from(
        { length: 1 + random(8) },
        (_, n) => TRAPS[kind]?.((at + n + 1) % TRAP_PAGES) ?? "",
      );
      const title = kind === "calendar" || kind === "day" ? `${MONTHS[at % 12]} ${2020 + (at % 50)}` : kind;
      return page(title, next);
    };
    const routes: Record<string, () => Response> = {};
    for (const [kind, pathOf] of Object.entries(TRAPS))
      for (let at = 0; at < TRAP_PAGES; at++) routes[pathOf(at)] = () => html(trapPage(kind, at));
    for (const [at, path] of real.entries()) {
      const words = Array.from({ length: 30 }, () => WORDS[random(WORDS.length)]).join(" ");
      const links = [2 * at + 1, 2 * at + 2].flatMap((child) => real[child] ?? []);
      const trap = Object.values(TRAPS)[random(5)]?.(random(TRAP_PAGES)) ?? "";
      routes[path] = () => html(page(`About the ${words}`, [trap, ...links]));
    }
    const first = Object.values(TRAPS).map((pathOf) => pathOf(0));
    await using site = serveCrawlSite({ "/": page("Home", [...first, real[0] ?? ""]), ...routes });
    const { outcomes } = await crawlSite(app, site, { maxDepth: 100, maxPages: 5000 });
    const stored = new Set(outcomes.filter(({ status }) => status === "success").map(({ url }) => url));
    expect(real.filter((path) => !stored.has(`${site.origin}${path}` as never))).toEqual([]);
    for (const kind of Object.keys(TRAPS))
      expect([kind, (asked[kind] ?? 0) <= 60, asked[kind]]).toEqual([kind, true, asked[kind]]);
  },
);

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
