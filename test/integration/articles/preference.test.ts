import { describe, expect, test } from "bun:test";
import {
  articleFromUrl,
  createArticleCache,
  createErrorPages,
  type FetcherPreference,
  type Fetchers,
  MarkdownAlternates,
  serveArticle,
} from "../../../src/articles/index.ts";
import type { ArticleServiceParts } from "../../../src/articles/service.ts";
import { createLog } from "../../../src/base/log.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { extractBody } from "../../../src/extraction/index.ts";
import type { Fetcher, FetchOptions } from "../../../src/fetching/index.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveLocal } from "../../support/local.ts";
import { failureOf, testFetcher } from "../../support/test-fetcher.ts";

const FILLED = `<html><body><article><h1>Tides</h1>${"<p>The sea rises twice a day, and falls twice.</p>".repeat(20)}</article></body></html>`;
const SHELL = `<html><body><div id="root"></div><script src="/app.js"></script></body></html>`;
const SCRIPT_REDIRECT = `<title>Moved</title><p>You are being moved to another page.</p><script>location.href = "/page"</script>`;
const GONE_WITH_TEXT = FILLED.replace("<h1>Tides", "<h1>Lost tides");

const GONE_WITHOUT_TEXT = `<main><p></p></main>${"<!-- -->".repeat(100)}`;

const requests: string[] = [];
const server = forAllTests(
  serveLocal((request) => {
    const { pathname } = new URL(request.url);
    const isBrowser = request.headers.get("user-agent") === "test browser";
    requests.push(`${isBrowser ? "browser" : "http"} ${pathname}`);
    const html = (body: string, status = 200): Response =>
      new Response(body, { status, headers: { "content-type": "text/html" } });
    if (pathname === "/script-redirect") return html(isBrowser ? FILLED : SCRIPT_REDIRECT);
    if (pathname === "/shell") return html(isBrowser ? FILLED : SHELL);
    if (pathname === "/slow-shell") return Bun.sleep(isBrowser ? 30_000 : 400).then(() => html(SHELL));
    if (pathname === "/shell-for-all") return html(SHELL);
    if (pathname === "/gone") return html(isBrowser ? FILLED : GONE_WITH_TEXT, isBrowser ? 200 : 404);
    if (pathname === "/gone-shell") return html(isBrowser ? FILLED : SHELL, isBrowser ? 200 : 404);
    if (pathname === "/gone-for-all") return html("<p>Nothing here.</p>", 404);
    if (pathname.startsWith("/no-such-page-")) return html("", 404);
    if (pathname === "/lost-for-all") return html(GONE_WITHOUT_TEXT, 404);
    return html(FILLED);
  }),
);

// A second HTTP fetcher takes the browser's place: the site answers it with what a browser would see.
const http = forAllTests(testFetcher({}));
const plain = testFetcher({ userAgent: "test browser" });
const browser: Fetcher = forAllTests({
  fetch: async (url, options) => ({ ...(await plain.fetch(url, options)), fetchedBy: "browser" }),
  [Symbol.asyncDispose]: () => plain[Symbol.asyncDispose](),
});

async function extract(
  path: string,
  preference: FetcherPreference,
  fetchers: Fetchers = { http, browser },
  fetch: FetchOptions = {},
) {
  requests.length = 0;
  const request = {
    url: `${server.url.origin}${path}`,
    preference,
    options: { ...DEFAULT_EXTRACTION, renderings: [] },
    fetch,
  };
  const { fetcher, warnings } = await articleFromUrl(request, {
    fetchers,
    extractor: { extract: extractBody },
  });
  return { fetcher, warnings, requests: requests.map((line) => line.split(" ")[0]) };
}

describe("the fetcher preference", () => {
  test("leaves the second fetcher the rest of the page's time", async () => {
    const failure = await failureOf(extract("/slow-shell", "http", { http, browser }, { deadlineMs: 5000 }));
    expect(requests).toEqual(["http /slow-shell", "browser /slow-shell"]);
    const [, limitMs] = /its deadline of (\d+) ms/.exec(failure?.message ?? "") ?? [];
    expect(Number(limitMs)).toBeLessThanOrEqual(4600);
  });

  test("asks the browser first when it is preferred", async () => {
    expect(await extract("/page", "browser")).toEqual({
      fetcher: "browser",
      warnings: [],
      requests: ["browser"],
    });
  });

  test("falls back to plain HTTP without a browser", async () => {
    const answer = await extract("/page", "browser", { http, browser: null });
    expect(answer).toEqual({ fetcher: "http", warnings: [], requests: ["http"] });
  });

  test("does not ask the browser when the plain answer has the page", async () => {
    expect((await extract("/page", "http")).requests).toEqual(["http"]);
  });

  test("asks the browser about an empty shell, and says so", async () => {
    expect(await extract("/shell", "http")).toEqual({
      fetcher: "browser",
      warnings: ["Fetched with the browser: the plain answer was an application's empty shell"],
      requests: ["http", "browser"],
    });
  });

  test("asks the browser about a script that goes to another page, and fails without a browser", async () => {
    expect(await extract("/script-redirect", "http")).toEqual({
      fetcher: "browser",
      warnings: ["Fetched with the browser: the plain answer was a script that leads to another page"],
      requests: ["http", "browser"],
    });
    await expect(extract("/script-redirect", "http", { http, browser: null })).rejects.toMatchObject({
      code: "no_content",
      message: `${server.url.origin}/script-redirect is a script that leads to another page, which a browser would run`,
    });
  });

  test("asks the browser about a 404, and says so", async () => {
    expect(await extract("/gone", "http")).toEqual({
      fetcher: "browser",
      warnings: ["Fetched with the browser: the plain answer was HTTP 404"],
      requests: ["http", "browser"],
    });
  });

  test("asks the browser about a shell behind a 404, but not about a dead link", async () => {
    expect((await extract("/gone-shell", "http")).requests).toEqual(["http", "browser"]);
    await expect(extract("/gone-for-all", "http")).rejects.toMatchObject({ code: "http_status" });
    expect(requests).toEqual(["http /gone-for-all"]);
  });

  test("never asks the browser when it is switched off", async () => {
    const answer = await extract("/gone", "http_only");
    // The second request is for an address that cannot exist.
    expect(answer.requests).toEqual(["http", "http"]);
    expect(answer.warnings).toEqual(["Extracted after HTTP 404 (SPA/client-rendered)"]);
    await expect(extract("/shell", "http_only")).rejects.toMatchObject({ code: "no_content" });
  });

  test("fails with the status when the browser gets it too", async () => {
    await expect(extract("/lost-for-all", "http")).rejects.toMatchObject({
      code: "http_status",
      message: `GET ${server.url.origin}/lost-for-all answered HTTP 404`,
    });
    expect(requests).toEqual(["http /lost-for-all", "browser /lost-for-all"]);
  });

  test("says of a shell that stays empty that a browser would fill it", async () => {
    const failure = extract("/shell-for-all", "http", { http, browser: null });
    await expect(failure).rejects.toMatchObject({
      code: "no_content",
      message: expect.stringContaining("empty shell, which a browser would fill"),
    });
  });

  test.each<FetcherPreference>(["http", "browser"])(
    "says of a shell that a browser left empty how to wait for content: %s first",
    async (preference) => {
      await expect(extract("/shell-for-all", preference)).rejects.toMatchObject({
        code: "no_content",
        message: `${server.url.origin}/shell-for-all is an application's empty shell: the browser found nothing in it either; where content comes late, --wait-for CSS waits for it`,
      });
    },
  );
});

describe("serveArticle", () => {
  function openService(hasDiagnostics: boolean) {
    const lines: Record<string, unknown>[] = [];
    const counted: string[] = [];
    const parts: ArticleServiceParts = {
      fetchers: { http, browser: null },
      extractor: { extract: extractBody },
      cache: createArticleCache({ maxSize: 10, maxBytes: 1_000_000 }),
      errorPages: createErrorPages(),
      markdownAlternates: new MarkdownAlternates(),
      log: createLog({ level: "info", format: "json", write: (line) => lines.push(JSON.parse(line)) }),
      metrics: createMetrics([
        ({ name, labels }) => counted.push([name, ...Object.values(labels)].join(".")),
      ]),
      shell: "cli",
      loads: new Set(),
      hasDiagnostics,
    };
    const ask = (path: string, cacheScope = "", authorization: string | null = null) => {
      const url = `${server.url.origin}${path}`;
      const options = { ...DEFAULT_EXTRACTION, renderings: [] };
      const request = {
        url,
        preference: "http_only",
        options,
        fetch: { authorization },
        cacheScope,
        requestId: "r1",
      } as const;
      return serveArticle(request, parts);
    };
    return { ask, lines, counted };
  }

  test("fetches a URL once while it is kept, and again for other network options", async () => {
    const { ask } = openService(false);
    requests.length = 0;
    await ask("/page");
    await ask("/page");
    expect(requests.length).toBe(1);
    await ask("/page", "another user agent");
    expect(requests.length).toBe(2);
  });

  test("never gives one person's page to another", async () => {
    const { ask } = openService(false);
    requests.length = 0;
    await ask("/page", "", "Basic YTpi");
    await ask("/page", "", "Basic Yzpk");
    await ask("/page");
    expect(requests.length).toBe(3);
  });

  test("counts successes, failures, fetches and the cache", async () => {
    const { ask, counted } = openService(false);
    await ask("/page");
    await ask("/page");
    await ask("/gone-for-all").catch(() => {});
    expect(counted.filter((name) => !name.includes("duration"))).toEqual([
      "fetches.http",
      "cache_lookups.miss",
      "article_requests.cli.success",
      "cache_lookups.hit",
      "article_requests.cli.success",
      "article_requests.cli.failure",
      "failures.http_status",
    ]);
    expect(counted.filter((name) => name === "article_request_duration.cli").length).toBe(3);
  });

  test("puts request id, cache, fetcher and timings on each line with diagnostics, and only then", async () => {
    const { ask, lines } = openService(true);
    await ask("/page");
    await ask("/page");
    await ask("/gone-for-all").catch(() => {});
    expect(lines.map(({ request_id }) => request_id)).toEqual(["r1", "r1", "r1"]);
    expect(lines.map(({ cache }) => cache)).toEqual(["miss", "hit", undefined]);
    expect(lines[0]).toMatchObject({ message: "extracted", fetcher: "http", fetch_ms: expect.any(Number) });
    expect(lines[2]).toMatchObject({ message: "extraction failed", level: "warning", code: "http_status" });
    const quiet = openService(false);
    await quiet.ask("/page");
    expect(Object.keys(quiet.lines[0] ?? {})).toEqual([
      "timestamp",
      "level",
      "message",
      "url",
      "status",
      "word_count",
    ]);
  });
});
