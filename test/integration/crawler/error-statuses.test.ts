import { expect, test } from "bun:test";
import { html, page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlOnce, crawlPlan, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());

const STATUSES = [400, 401, 402, 403, 404, 405, 406, 409, 410, 418, 451, 500, 501, 502, 505, 511, 599];

test("pages that only say that they are missing fail, are asked about in the site's pace, and leave nothing else behind", async () => {
  const missing = page("Nobody is here").padEnd(900);
  const notice = page("Seite nicht gefunden")
    .replaceAll(/is about the gate[^.]*\./g, "")
    .padEnd(900);
  const paths = ["/a", "/b", "/c", "/notice"];
  const other = (path: string) => () => html(page(`Tides of ${path}`).padEnd(900), { status: 404 });
  await using site = serveCrawlSite({
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /closed"),
    "/": page("Home", [...paths, "/real", "/closed"]),
    "/notice": () => html(notice, { status: 404 }),
    "/real": other("/real"),
    ...Object.fromEntries(["/a", "/b", "/c"].map((path) => [path, () => html(missing, { status: 410 })])),
    "*": () => html(missing, { status: 404 }),
  });
  const plan = crawlPlan({ seeds: [`${site.origin}/`], hostDelayMs: 150, concurrency: 4 });
  const { manifest, outcomeOf } = await crawlOnce(app, plan);
  expect<unknown>(
    [...paths, "/real"].map((path) => outcomeOf(path)?.error?.code ?? outcomeOf(path)?.status),
  ).toEqual([...paths.map(() => "http_status"), "success"]);
  const invented = site.visits.filter(({ path }) => path.includes("no-such-page-"));
  expect(invented).toHaveLength(1);
  expect(manifest?.results.some(({ url }) => url.includes("no-such-page-"))).toBe(false);
  const times = site.visits.map(({ at }) => at).sort((a, b) => a - b);
  // One request may be late on a busy machine; one without its turn would make the whole shorter by a delay.
  const spanMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  expect(spanMs).toBeGreaterThan((times.length - 1) * 150 - 100);
});

test("a crawl that fails on every error status stores no page that came with one", async () => {
  await using site = serveCrawlSite({
    "/": page("Home", ["/a"]),
    "/a": () => html(page("Leaf").padEnd(900), { status: 404 }),
  });
  const base = crawlPlan({ seeds: [`${site.origin}/`] });
  const read = async (failsOnHttpError: boolean) => {
    const { outcomeOf } = await crawlOnce(app, {
      ...base,
      extraction: { ...base.extraction, failsOnHttpError },
    });
    const outcome = outcomeOf("/a");
    return [outcome?.status, outcome?.error?.code ?? null, outcome?.httpStatus];
  };
  expect<unknown>(await read(false)).toEqual(["success", null, 404]);
  expect<unknown>(await read(true)).toEqual(["failed", "http_status", 404]);
});

const words = (tag: string): string => `<${tag}>${"The gate opens at low water. ".repeat(3)}</${tag}>`;
/** Filled with a comment, which is no content but counts as size, to so many bytes. */
const sized = (html: string, bytes: number): string => `${html}<!--${"x".repeat(bytes - html.length - 7)}-->`;

/** Bodies with their type, and whether the rule of transient 404s takes them for pages. */
const BODIES: Readonly<Record<string, readonly [body: string, type: string, isPage: boolean]>> = {
  nothing: ["", "text/html", false],
  "a page": [page("Found all the same").padEnd(900), "text/html; charset=utf-8", true],
  "500 bytes": [sized(words("article"), 500), "text/html", false],
  "501 bytes": [sized(words("article"), 501), "text/html", true],
  "501 bytes of main": [sized(words("main"), 501), "text/html", true],
  "501 bytes of p": [sized(words("p"), 501), "text/html", true],
  "501 bytes without any of the three": [sized(words("div"), 501), "text/html", false],
  "501 bytes of picture": [sized(words("picture"), 501), "text/html", false],
  "501 bytes without words": [sized("<article></article>", 501), "text/html", false],
  "plain text": ["The gate opens at low water. ".repeat(30), "text/plain", false],
  "another type": [`{"message":"${"<p>".repeat(300)}"}`, "application/json", false],
};

test("an HTTP error is never a success, but for a 404 or 410 whose body is a page, which is named", async () => {
  const cases = STATUSES.flatMap((status) =>
    Object.entries(BODIES).map(([name, [body, type, isPage]], index) => ({
      path: `/${status}/${index}`,
      name: `${status} with ${name}`,
      status,
      isPage: isPage && (status === 404 || status === 410),
      answer: () => new Response(body, { status, headers: { "content-type": type } }),
    })),
  );
  await using site = serveCrawlSite(Object.fromEntries(cases.map(({ path, answer }) => [path, answer])));
  const { manifest } = await crawlOnce(
    app,
    crawlPlan({ seeds: cases.map(({ path }) => site.origin + path), followsLinks: false, concurrency: 16 }),
    { network: { retries: 0 } },
  );
  const seen = new Map(manifest?.results.map((entry) => [new URL(entry.url).pathname, entry]));
  for (const { path, name, status, isPage } of cases) {
    const entry = seen.get(path);
    expect([
      name,
      entry?.status,
      entry?.error?.code ?? null,
      entry?.http_status,
      entry?.transient_404,
    ]).toEqual(
      isPage ? [name, "success", null, status, true] : [name, "failed", "http_status", status, false],
    );
  }
});
