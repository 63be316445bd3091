import { describe, expect, test } from "bun:test";
import { gunzipSync } from "bun";
import { startExtractor } from "../support/extractor-server.ts";
import { startFaultySite } from "../support/faulty-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { MILL_ROUTES } from "../support/mill-site.ts";
import {
  accessibilityFaults,
  openPageBrowser,
  scrollsSideways,
  submitCrawl,
  type Tab,
  type VisitOptions,
} from "../support/page-browser.ts";

const browser = forAllTests(await openPageBrowser());
const site = forAllTests(await startFaultySite({ routes: MILL_ROUTES }));
const server = forAllTests(await startExtractor());

const visit = (path: string | null = "/", options: Partial<VisitOptions> = {}) =>
  browser.visit({ origin: server.url, path, ...options });

async function extract(page: Tab, url: string): Promise<void> {
  await page.fill("#url", url);
  await page.keyboard.press("Enter");
}

describe("the page of serve extractor, for an article", () => {
  test("shows it as a reader would, beside its Markdown, JSON and metadata", async () => {
    await using page = await visit();
    await extract(page, `${site.origin}/one`);
    await page.getByRole("heading", { name: "One", level: 2 }).waitFor();
    expect(await page.locator(".reader .prose p").count()).toBeGreaterThan(4);
    expect(await page.locator(".reader .about").textContent()).toContain("Ada Miller");
    // Wide enough for both: the article stays while its other forms are looked at.
    await page.getByRole("tab", { name: "Blocks" }).press("ArrowRight");
    expect(await page.locator("#panel-markdown .written").textContent()).toStartWith("# One");
    await page.getByRole("tab", { name: "Markdown" }).press("ArrowRight");
    const json = (await page.locator("#panel-json .written").textContent()) ?? "";
    for (const part of ['"title": "One"', '"byline": "Ada Miller"', '"success": true'])
      expect(json).toContain(part);
    await page.getByRole("tab", { name: "JSON" }).press("ArrowRight");
    expect(await page.locator("#panel-metadata").textContent()).toContain("plain HTTP");
    expect(await page.locator(".reader").isVisible()).toBe(true);
    const download = page.waitForEvent("download");
    await page.getByRole("tab", { name: "Metadata" }).press("Home");
    await page.keyboard.press("ArrowRight");
    await page.locator("#panel-markdown").getByRole("button", { name: "Save" }).click();
    expect((await download).suggestedFilename()).toBe("one.md");
    expect(page.outside).toEqual([]);
  });

  test("lets nothing of a hostile page act, and asks nobody else for anything", async () => {
    await using page = await visit();
    await extract(page, `${site.origin}/hostile`);
    await page.getByRole("heading", { name: "Traps" }).click();
    for (const name of ["Blocks", "Markdown", "JSON", "Metadata"])
      await page.getByRole("tab", { name }).click();
    const found = await page.evaluate(() => ({
      elements: document.querySelectorAll(
        "main :is(script, iframe, img, object, embed, style, svg:not(.map))",
      ).length,
      // The panels themselves are of this page, and as high as the window lets them be.
      handlers: [...document.querySelectorAll("main :not(.panel)")].filter((one) =>
        one.getAttributeNames().some((name) => name.startsWith("on") || name === "style"),
      ).length,
      schemes: [...document.querySelectorAll("main a")].filter(
        (one) => !/^https?:/.test((one as HTMLAnchorElement).href),
      ).length,
      text: document.querySelector(".reader")?.textContent?.includes("<script>alert(5)</script>"),
      title: document.title,
    }));
    expect(found).toEqual({
      elements: 0,
      handlers: 0,
      schemes: 0,
      text: true,
      title: "Hostile – Article extractor",
    });
    expect(page.outside).toEqual([]);
  });

  test("shows a huge page in portions", async () => {
    await using page = await visit();
    await extract(page, `${site.origin}/huge`);
    await page.getByRole("heading", { name: "Huge", level: 2 }).waitFor();
    expect(await page.locator(".reader *").count()).toBeLessThan(15_000);
    expect(await page.locator(".reader").textContent()).toMatch(/… \d+ more items/);
  });

  test("stops when it is asked to", async () => {
    await using page = await visit();
    await extract(page, `${site.origin}/slow-headers?ms=100000`);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator("#progress").waitFor({ state: "hidden" });
    expect(await page.locator(".message").count()).toBe(0);
  });
});

describe("the page of serve extractor, by its location", () => {
  test("keeps the page for reloads, Back and the way over the crawls", async () => {
    await using page = await visit();
    const heading = (name: string) => page.getByRole("heading", { name, level: 2, exact: true });
    await extract(page, `${site.origin}/one`);
    await heading("One").waitFor();
    expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("url")).toBe(`${site.origin}/one`);
    await page.reload();
    await heading("One").waitFor();
    await extract(page, `${site.origin}/`);
    await heading("The whole mill").waitFor();
    await page.getByRole("link", { name: "Crawls" }).click();
    await page.getByRole("link", { name: "Extract" }).click();
    await heading("The whole mill").waitFor();
    await page.reload();
    await heading("The whole mill").waitFor();
    for (let step = 0; step < 3; step++) await page.goBack();
    await heading("One").waitFor();
    expect(await page.inputValue("#url")).toBe(`${site.origin}/one`);
    await page.goBack();
    await page.locator("#intro").waitFor();
    expect(await page.locator("#result").isVisible()).toBe(false);
    expect([await page.inputValue("#url"), await page.title()]).toEqual(["", "Article extractor"]);
  });

  test("fetches a page that a link names when the reader says so, and not before", async () => {
    await using page = await visit(null);
    const posts: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") posts.push(request.url());
    });
    await page.goto(`${server.url}/#${new URLSearchParams({ url: `${site.origin}/one` })}`);
    await page.getByText("Press Extract to fetch this page.").waitFor();
    expect(await page.inputValue("#url")).toBe(`${site.origin}/one`);
    expect(posts).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "One", level: 2 }).waitFor();
    expect(posts).toHaveLength(1);
  });
});

describe("the page of serve extractor, when an article is not to be had", () => {
  test.each([
    ["", "Paste the address of a page."],
    ["no address", "is not a URL"],
    ["ftp://site.example/", "Only http and https pages"],
  ])("says so beside the field for %p", async (written, message) => {
    await using page = await visit();
    await extract(page, written);
    expect(await page.locator("#url-error").textContent()).toContain(message);
    expect(await page.getAttribute("#url", "aria-invalid")).toBe("true");
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test.each([
    ["/broken", "The page could not be fetched", "500"],
    ["/empty", "No article was found", "no words"],
    ["/picture", "This is not a text page", "image/png"],
  ])("says why for %s", async (path, title, detail) => {
    await using page = await visit("/", { expected: /status of (502|422)/ });
    await extract(page, `${site.origin}${path}`);
    const message = page.getByRole("alert");
    await message.waitFor();
    const text = (await message.textContent()) ?? "";
    expect(text).toContain(title);
    expect(text.toLowerCase()).toContain(detail);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test.each(["", "no address"])("leaves nothing of an earlier page's error behind %p", async (written) => {
    await using page = await visit("/", { expected: /status of 502/ });
    await extract(page, `${site.origin}/broken`);
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await extract(page, written);
    await page.locator("#url-error").waitFor();
    expect(await page.locator(".message").count()).toBe(0);
  });

  test("says that the server is busy, and tries again when it is asked to", async () => {
    await using busy = await startExtractor({ env: { ARTICLE_EXTRACTOR_MAX_CONCURRENT_REQUESTS: "1" } });
    await using page = await browser.visit({ origin: busy.url, path: "/", expected: /status of 429/ });
    const leaves = new AbortController();
    const slow = fetch(`${busy.url}/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ url: `${site.origin}/slow-headers?ms=100000` }),
      signal: leaves.signal,
    }).catch(() => null);
    // Until the slow one has the only place.
    for (let status = 422; status !== 429; ) status = (await busy.post("/", {})).status;
    await extract(page, `${site.origin}/one`);
    await page.getByText("Try again in 1 s").waitFor();
    leaves.abort();
    await slow;
    for (let status = 429; status === 429; ) status = (await busy.post("/", {})).status;
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "One", level: 2 }).waitFor();
  });

  test("asks for the API key and goes on with it", async () => {
    await using guarded = await startExtractor({
      env: { ARTICLE_EXTRACTOR_API_KEY: "correct-key", ARTICLE_EXTRACTOR_OUTPUT_ROOT: server.directory },
    });
    await using page = await browser.visit({
      origin: guarded.url,
      path: "/",
      expected: /status of (401|403)/,
    });
    await extract(page, `${site.origin}/one`);
    await page.getByLabel("API key", { exact: true }).fill("correct-key");
    await page.keyboard.press("Enter");
    // With a key set, a server fetches nothing from loopback: its refusal shows that the key was taken.
    await page.getByRole("alert").getByText("This address is not allowed").waitFor();
    expect(await page.evaluate(() => [localStorage.length, Object.values(sessionStorage)])).toEqual([
      0,
      ["correct-key"],
    ]);
  });

  test("says that the server is gone", async () => {
    const own = await startExtractor();
    await using page = await browser.visit({
      origin: own.url,
      path: "/",
      expected: /ERR_(?:CONNECTION_|EMPTY_RESPONSE)/,
    });
    await own[Symbol.asyncDispose]();
    await extract(page, `${site.origin}/one`);
    await page.getByText("The server does not answer").waitFor();
  });
});

describe("the page of serve extractor, for everyone", () => {
  test.each([false, true])("has no serious fault of accessibility (dark: %p)", async (isDark) => {
    await using page = await visit("/", { isDark });
    await page.getByText("Options").click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await extract(page, `${site.origin}/hostile`);
    await page.getByRole("heading", { name: "Traps" }).waitFor();
    for (const name of ["Blocks", "Markdown", "JSON", "Metadata"]) {
      await page.getByRole("tab", { name }).click();
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    await page.goto(`${server.url}/#crawls`);
    await submitCrawl(page, { seeds: `${site.origin}/`, output_dir: `dark-${isDark}` });
    await page.locator(".reasons button").first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Manifest" }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "All crawls" }).click();
    await page.locator(".jobs li").first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test("fits a screen of 360 pixels, where the article is a tab like the others", async () => {
    await using page = await visit("/", { width: 360 });
    await extract(page, `${site.origin}/hostile`);
    for (const name of ["Article", "Blocks", "Markdown", "JSON", "Metadata"]) {
      await page.getByRole("tab", { name }).click();
      expect(await page.locator("[role=tabpanel]:visible").count()).toBe(1);
      expect(await scrollsSideways(page)).toBe(false);
    }
    const bar = page.getByRole("tablist", { name: "Article formats" });
    expect(await bar.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    await page.goto(`${server.url}/#crawls`);
    await submitCrawl(page, { seeds: `${site.origin}/one`, output_dir: "narrow", max_depth: "0" });
    await page.getByRole("button", { name: "Manifest" }).waitFor();
    expect(await scrollsSideways(page)).toBe(false);
  });

  test("works below a base path", async () => {
    await using own = await startExtractor({ env: { ARTICLE_EXTRACTOR_BASE_PATH: "/tools/reader" } });
    await using page = await browser.visit({ origin: own.url, path: "/tools/reader" });
    await extract(page, `${site.origin}/one`);
    await page.getByRole("heading", { name: "One", level: 2 }).waitFor();
    await page.goto(`${own.url}/tools/reader/#crawls`);
    await submitCrawl(page, { seeds: `${site.origin}/one`, output_dir: "based", max_depth: "0" });
    await page.getByRole("button", { name: "Manifest" }).waitFor();
    expect(page.outside).toEqual([]);
  });

  test("is the page for browsers alone: programs get JSON, and files are kept by browsers", async () => {
    const about = await server.get("/", { headers: { accept: "*/*" } });
    expect([about.headers.get("content-type"), about.headers.get("vary")]).toEqual([
      "application/json;charset=utf-8",
      "Accept",
    ]);
    const page = await server.get("/", { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
    expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
    const etag = page.headers.get("etag") ?? "";
    expect((await server.get("/", { headers: { accept: "text/html", "if-none-match": etag } })).status).toBe(
      304,
    );
    const [, path] = /src="([^"]+)"/.exec(await page.text()) ?? [];
    const script = await server.get(`/${path}`);
    expect([script.status, script.headers.get("cache-control")]).toEqual([
      200,
      "public, max-age=31536000, immutable",
    ]);
  });

  test.each([
    ["gzip, deflate, br", true],
    ["BR, GZIP;q=0.5", true],
    ["gzip;q=0", false],
    ["identity", false],
    ["gzipped, *;q=", false],
  ])("its files are compressed for clients that take gzip: %p", async (taken, isCompressed) => {
    const headers = { accept: "text/html", "accept-encoding": taken };
    const html = await (await server.get("/", { headers })).text();
    const [, script] = /src="([^"]+)"/.exec(html) ?? [];
    for (const path of ["/", `/${script}`]) {
      const whole = await (await server.get(path, { headers })).text();
      const response = await fetch(`${server.url}${path}`, { headers, decompress: false });
      expect(response.headers.get("vary")).toContain("Accept-Encoding");
      expect(response.headers.get("content-encoding")).toBe(isCompressed ? "gzip" : null);
      const sent = await response.bytes();
      expect(new TextDecoder().decode(isCompressed ? gunzipSync(sent) : sent)).toBe(whole);
    }
  });

  test("has the part that the address names in its first picture, before any script", async () => {
    await using page = await visit(null, { expected: /ERR_FAILED/ });
    await page.route("**/assets/*", (route) => route.abort());
    for (const [fragment, part] of [
      ["", "extract"],
      ["#", "extract"],
      ["#extract", "extract"],
      ["#url=https%3A%2F%2Fa.example%2F%23crawls", "extract"],
      ["#crawlspace", "extract"],
      ["#crawls", "crawls"],
      ["#crawl=7", "crawls"],
    ] as const) {
      await page.goto("about:blank");
      await page.goto(`${server.url}/${fragment}`);
      const shown = page.locator("section:not([hidden])");
      expect(await shown.evaluateAll((all) => all.map(({ id }) => id))).toEqual([part]);
      expect(await page.locator("nav [aria-current]").getAttribute("id")).toBe(`to-${part}`);
    }
    expect(await page.evaluate(() => getComputedStyle(document.body).margin)).toBe("0px");
  });
});
