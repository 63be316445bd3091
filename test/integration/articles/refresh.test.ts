import { beforeEach, describe, expect, test } from "bun:test";
import { articleFromUrl } from "../../../src/articles/index.ts";
import { extractBody } from "../../../src/extraction/index.ts";
import type { FetchOptions } from "../../../src/fetching/index.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";
import { type FaultySite, type Route, reply, startFaultySite } from "../../support/faulty-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { failureOf, type TestFetcherOptions, testFetcher } from "../../support/test-fetcher.ts";

const WORDS = `<article><h1>Tides</h1>${"<p>The sea rises twice a day, and falls twice.</p>".repeat(20)}</article>`;
const SHORT = "<article><h1>Tides</h1><p>The sea rises twice a day, and falls twice.</p></article>";
const leadingTo = (target: string, seconds = 0, body = "<p>You are being moved."): string =>
  `<meta http-equiv="refresh" content="${seconds}; url=${target}">${body}`;
const html =
  (body: string, headers: Readonly<Record<string, string>> = {}, status = 200): Route =>
  ({ socket }) =>
    reply(socket, { body, headers, status });

const routes: Record<string, Route> = {
  "/tides": html(WORDS, { etag: '"t1"' }),
  "/moved": html(leadingTo("/tides", 5)),
  "/moved-by-noscript": html(`<noscript>${leadingTo("/tides")}</noscript>`),
  "/moved-by-header": html("<p>You are being moved.", { refresh: "2; url=/tides" }),
  "/read-here": html(leadingTo("/nowhere", 0, WORDS)),
  "/read-here-by-header": html(WORDS, { refresh: "0; url=/nowhere" }),
  "/read-here-by-noscript": html(`<noscript>${leadingTo("/nowhere")}</noscript>${WORDS}`),
  "/shell": html(
    `<noscript>${leadingTo("/enable-scripts", 0, "")}</noscript><div id="root"></div><script src="/a.js"></script>`,
  ),
  "/moved-twice": html(leadingTo("/moved")),
  "/moved-to-redirect": html(leadingTo("/redirect?to=%2Ftides")),
  "/waits": html(leadingTo("/nowhere", 6, WORDS)),
  "/reloads": html(leadingTo("/reloads", 1, WORDS)),
  "/in-template": html(`<template>${leadingTo("/nowhere")}</template>${WORDS}`),
  "/in-comment": html(`<!-- ${leadingTo("/nowhere")} -->${WORDS}`),
  "/to-script": html(leadingTo("javascript:alert(1)", 0, WORDS)),
  "/lost": html(leadingTo("/tides", 0, "<p>Not here."), {}, 404),
  "/round": html(leadingTo("/round/2", 0, SHORT)),
  "/round/2": html(leadingTo("/round", 0, SHORT)),
  "/to-file": html(leadingTo("/type?value=application/zip", 3, SHORT)),
  "/to-nowhere": html(leadingTo("/status/404", 0, SHORT)),
  "/to-reset": html(leadingTo("/reset", 0, SHORT)),
  "/to-metadata": html(leadingTo("http://169.254.169.254/latest", 0, SHORT)),
  "/to-large": html(leadingTo("/bytes?n=5000000")),
  "/to-slow": html(leadingTo("/slow-headers?ms=20000")),
  "/sets-cookie": html(leadingTo("/tides"), { "set-cookie": "seen=1; Path=/" }),
};
const site: FaultySite = forAllTests(await startFaultySite({ routes }));
// The other site leads back: once a request has left its origin, it carries no secrets any more.
const there = forAllTests(
  await startFaultySite({ routes: { "/back": html(leadingTo(`${site.origin}/tides`)) } }),
);
routes["/away-and-back"] = html(leadingTo(`${there.origin}/back`));

let before = 0;
beforeEach(() => {
  before = site.requests.length;
});

async function read(path: string, options: TestFetcherOptions = {}, fetch: FetchOptions = {}) {
  await using http = testFetcher({ ...options, limits: { tries: 1, ...options.limits } });
  const request = {
    url: `${site.origin}${path}`,
    preference: "http_only" as const,
    options: { ...DEFAULT_EXTRACTION, renderings: [] },
    fetch,
  };
  return articleFromUrl(request, { fetchers: { http, browser: null }, extractor: { extract: extractBody } });
}
const asked = (): string[] => site.requests.slice(before).map(({ target }) => target);

describe("a page that refreshes to another", () => {
  test.each(["/moved", "/moved-by-noscript", "/moved-by-header"])(
    "%s is followed, and says so",
    async (path) => {
      const { url, finalUrl, article, warnings } = await read(path);
      expect([url, finalUrl]).toEqual([`${site.origin}${path}`, `${site.origin}/tides`] as never);
      expect(article.text).toContain("The sea rises twice a day");
      expect(warnings).toEqual([`Read from ${site.origin}/tides, to which ${site.origin}${path} refreshes`]);
    },
  );

  test("is left to the browser where it stands in noscript and a browser is asked", async () => {
    await using http = testFetcher({ limits: { tries: 1 } });
    const options = { ...DEFAULT_EXTRACTION, renderings: [] };
    const request = { url: `${site.origin}/shell`, preference: "http" as const, options, fetch: {} };
    const parts = { fetchers: { http, browser: http }, extractor: { extract: extractBody } };
    expect((await failureOf(articleFromUrl(request, parts)))?.code).toBe("no_content");
    expect(asked()).not.toContain("/enable-scripts");
  });

  test("is followed over several refreshes and redirects", async () => {
    expect((await read("/moved-twice")).finalUrl).toBe(`${site.origin}/tides` as never);
    expect((await read("/moved-to-redirect")).finalUrl).toBe(`${site.origin}/tides` as never);
  });

  test.each([
    "/read-here",
    "/read-here-by-header",
    "/read-here-by-noscript",
    "/waits",
    "/reloads",
    "/in-template",
    "/in-comment",
    "/to-script",
  ])("%s is read as it is", async (path) => {
    const { finalUrl, warnings } = await read(path);
    expect([finalUrl, warnings]).toEqual([`${site.origin}${path}`, []] as never);
    expect(asked()).toEqual([path]);
  });

  test("ends after three refreshes in a loop, and says so", async () => {
    const { warnings, article } = await read("/round");
    expect(asked()).toEqual(["/round", "/round/2", "/round", "/round/2"]);
    expect(article.text).toContain("The sea rises");
    expect(warnings.at(-1)).toBe(
      `The page refreshes to ${site.origin}/round, which is one refresh too many to follow`,
    );
  });

  test("stays when it leads to a file, as a browser does", async () => {
    const { finalUrl, warnings } = await read("/to-file");
    expect(finalUrl).toBe(`${site.origin}/to-file` as never);
    expect(warnings).toEqual([
      "Content below minimum word count (9 < 150)",
      `The page refreshes to ${site.origin}/type?value=application/zip, which is not a page`,
    ]);
  });

  test.each([
    ["/to-nowhere", "http_status"],
    ["/to-reset", "network"],
    ["/to-metadata", "egress_refused"],
    ["/to-large", "too_large"],
    ["/to-slow", "timeout"],
    ["/lost", "http_status"],
  ])("%s fails as %s", async (path, code) => {
    const limits = { pageBytes: 1_000_000, requestTimeoutMs: code === "timeout" ? 1_000 : 60_000 };
    expect((await failureOf(read(path, { limits })))?.code).toBe(code as never);
  });

  test("shares one deadline with its target", async () => {
    const failure = await failureOf(read("/to-slow", { limits: { deadlineMs: 5_000 } }));
    const [, limitMs] = /its deadline of (\d+) ms/.exec(failure?.message ?? "") ?? [];
    expect(Number(limitMs)).toBeLessThan(5_000);
  });

  test("sends its cookies along, but secrets only to the first origin", async () => {
    const options = { headers: { authorization: "Bearer t0ken" } };
    await read("/sets-cookie", options);
    expect(site.requests.at(-1)?.headers).toMatchObject({ cookie: "seen=1", authorization: "Bearer t0ken" });
    await read("/away-and-back", options, { authorization: "Basic c2VjcmV0" });
    expect(there.requests.at(-1)?.headers.authorization).toBeUndefined();
    expect([asked().at(-1), site.requests.at(-1)?.headers.authorization]).toEqual(["/tides", undefined]);
  });

  test("waits for its turn before each request", async () => {
    const hosts: string[] = [];
    await read("/moved-twice", {}, { beforeRequest: async (url) => void hosts.push(url.pathname) });
    expect(hosts).toEqual(["/moved-twice", "/moved", "/tides"]);
  });
});
