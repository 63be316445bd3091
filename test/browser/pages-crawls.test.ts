import { describe, expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOver, startExtractor, submitJob, untilJob } from "../support/extractor-server.ts";
import { type Route, startFaultySite } from "../support/faulty-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { freePort } from "../support/local.ts";
import { MILL_ROUTES } from "../support/mill-site.ts";
import {
  accessibilityFaults,
  openPageBrowser,
  scrollsSideways,
  submitCrawl,
  type VisitOptions,
} from "../support/page-browser.ts";

// One page waits until a test has seen the crawl on its way; each such test begins with a gate of its own.
let held = Promise.withResolvers<void>();
const routes = {
  ...MILL_ROUTES,
  "/held": async (visit: Parameters<Route>[0]) => {
    await held.promise;
    await MILL_ROUTES["/one"]?.(visit);
  },
};

const browser = forAllTests(await openPageBrowser());
const site = forAllTests(await startFaultySite({ routes }));
const server = forAllTests(await startExtractor());

const visit = (path: string | null = "/", options: Partial<VisitOptions> = {}) =>
  browser.visit({ origin: server.url, path, ...options });

describe("the page of serve extractor, for crawls", () => {
  test("submits one, shows how far it is, and the reasons of what failed and was skipped", async () => {
    await using page = await visit("/#crawls");
    await submitCrawl(page, { seeds: `${site.origin}/\n${site.origin}/held`, output_dir: "reasons" });
    await page.locator("progress[max]").waitFor();
    const during = await page.locator(".facts dd").first().textContent();
    expect(during).toMatch(/^\d+ of \d+$/);
    held.resolve();
    await page.getByRole("button", { name: "Manifest" }).waitFor();
    await page.waitForFunction(() => document.querySelectorAll(".reasons button").length === 6);
    const reasons = await page.locator(".reasons button").allTextContents();
    expect(reasons.sort()).toEqual([
      "1 failed: no article on the page no_content",
      "1 failed: the site returned an error http_status",
      "1 skipped: a file, not a page content_type",
      "1 skipped: robots.txt forbids it robots",
      "All 2 failed",
      "All 2 skipped",
    ]);
    const shown = page.locator(".pages li");
    // One host has nothing to be compared with.
    expect(await page.getByText("By host").isVisible()).toBe(false);
    const all = page.getByRole("button", { name: "All 2 failed" });
    await all.click();
    await page.getByText("2 pages", { exact: true }).waitFor();
    expect(await shown.locator(".tag").allTextContents()).toEqual(["failed", "failed"]);
    expect(await all.getAttribute("aria-pressed")).toBe("true");
    await page.getByRole("button", { name: "the site returned an error" }).click();
    await page.getByText("1 page", { exact: true }).waitFor();
    expect(await all.getAttribute("aria-pressed")).toBe("false");
    expect(await shown.allTextContents()).toHaveLength(1);
    expect(await shown.textContent()).toContain("500");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Manifest" }).click();
    expect((await download).suggestedFilename()).toBe("manifest.json");
    await page.getByRole("link", { name: "All crawls" }).click();
    await page.locator(".jobs li").getByText("completed").first().waitFor();
    expect(page.outside).toEqual([]);
  });

  test("lists a hundred thousand pages as it lists twenty, and saves them", async () => {
    const id = await submitJob(server, { seeds: [`${site.origin}/one`], output_dir: "many", max_depth: 0 });
    await untilJob(server, id, isOver);
    const path = join(server.directory, "many", "manifest.json");
    const manifest = readFileSync(path, "utf8");
    const [line = ""] = manifest.split("\n").filter((one) => one.startsWith('    {"url":'));
    const lines = Array.from({ length: 100_000 }, (_, index) =>
      line.replace('/one"', `/page-${index}"`).replace(/"title":"[^"]*"/, `"title":"Page ${index}"`),
    );
    writeFileSync(path, manifest.replace(line, lines.join(",\n")));
    await using page = await visit(`/#crawl=${id}`);
    await page.getByText("100,000 pages", { exact: true }).waitFor();
    await page.getByText("Page 3", { exact: true }).waitFor();
    for (const [share, number] of [
      [0.5, 50_000],
      [1, 99_999],
      [0, 0],
    ] as const) {
      await page.locator(".page-window").evaluate((element, part) => {
        element.scrollTop = part * element.scrollHeight;
      }, share);
      await page.getByText(`Page ${number}`, { exact: true }).waitFor();
      expect(await page.locator(".page-window li").count()).toBeLessThan(40);
    }
    // By keyboard: each page is a link, and the list goes on below its edge.
    for (let number = 0; number < 25; number++) {
      const link = page.getByRole("link", { name: `Page ${number}`, exact: true });
      if (number === 0) await link.focus();
      else await page.keyboard.press("Tab");
      await page.waitForFunction((name) => document.activeElement?.textContent === name, `Page ${number}`);
      await page.getByRole("link", { name: `Page ${number + 1}`, exact: true }).waitFor();
    }
    const opened = page.context().waitForEvent("page");
    await page.keyboard.press("Enter");
    expect(new URL((await opened).url()).pathname).toBe("/page-24");
    await (await opened).close();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "llms.txt" }).click();
    expect((await saved).suggestedFilename()).toBe("llms.txt");
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test("has room for its speed from the beginning, and draws it there", async () => {
    await using page = await visit("/#crawls");
    await page.getByText("More options").click();
    const fields = { output_dir: "measured", rate_limit_delay: "0.7", max_pages: "7" };
    await submitCrawl(page, { seeds: `${site.origin}/one`, ...fields });
    const link = page.locator(".pages li a").first();
    await link.waitFor();
    const topOf = (selector: string) =>
      page.locator(selector).evaluate((element) => element.getBoundingClientRect().top);
    const before = await topOf(".outcomes");
    // What a person holds stays the same element while pages come.
    await link.evaluate((element) => element.focus());
    await page.locator(".speed .told", { hasText: "extracted" }).waitFor();
    expect(await topOf(".outcomes")).toBe(before);
    await page.locator(".pages li a").nth(3).waitFor();
    expect(await page.evaluate(() => document.activeElement?.isConnected)).toBe(true);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("One");
    expect(await page.getByRole("img", { name: "Pages per second over time" }).isVisible()).toBe(true);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.locator(".job-head .tag", { hasText: "cancelled" }).waitFor();
    held.resolve();
  });

  test.each([360, 1280])("keeps large numbers in one line at %d pixels", async (width) => {
    const id = await submitJob(server, {
      seeds: [`${site.origin}/one`],
      output_dir: `w${width}`,
      max_depth: 0,
    });
    await untilJob(server, id, isOver);
    await using page = await visit(null, { width });
    await page.route(`${server.url}/crawl/${id}`, async (route) => {
      const job = await (await server.get(`/crawl/${id}`)).json();
      const numbers = { progress: 912_345, total: 1_000_000, successful: 912_000, failed: 345 };
      await route.fulfill({ json: { ...job, ...numbers, status: "running", completed_at: null } });
    });
    await page.route(`${server.url}/crawl/${id}/events`, () => {});
    await page.goto(`${server.url}/#crawl=${id}`);
    await page.locator(".facts dd", { hasText: "912,345 of 1,000,000" }).waitFor();
    const heights = await page.locator(".facts dd").evaluateAll((all) => all.map((one) => one.clientHeight));
    expect(new Set(heights).size).toBe(1);
    expect(await scrollsSideways(page)).toBe(false);
  });

  test("are listed in rows that a slow click and the focus hold on to while they change", async () => {
    const body = { seeds: [`${site.origin}/one`], output_dir: "slow-click", rate_limit_delay: 0.7 };
    const id = await submitJob(server, body);
    await using page = await visit("/#crawls");
    const row = page.locator(".jobs li", { has: page.locator(`a[href="#crawl=${id}"]`) });
    await row.locator("progress").waitFor();
    await row.locator("a").hover();
    await page.mouse.down();
    const before = await row.locator(".number").textContent();
    await page.waitForFunction(
      ([job, text]) => {
        const link = document.querySelector(`a[href="#crawl=${job}"]`);
        return link?.parentElement?.querySelector(".number")?.textContent !== text;
      },
      [id, before] as const,
    );
    expect(await page.evaluate(() => document.activeElement?.getAttribute("href"))).toBe(`#crawl=${id}`);
    await page.mouse.up();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.locator(".job-head .tag", { hasText: "cancelled" }).waitFor();
    // The server lists no more than the latest hundred.
    const { jobs } = (await (await server.get("/crawl")).json()) as { jobs: readonly object[] };
    const many = Array.from({ length: 100 }, (_, number) => ({ ...jobs[0], job_id: `made-up-${number}` }));
    await page.route(`${server.url}/crawl`, (route) =>
      route.fulfill({ json: { jobs: many, queued: 0, running: 0 } }),
    );
    await page.getByRole("link", { name: "All crawls" }).click();
    await page.getByText("The latest 100 crawls").waitFor();
    expect(await page.locator(".jobs li").count()).toBe(100);
  });

  test("does not show one as done of which every page has failed", async () => {
    await submitJob(server, { seeds: ["http://127.0.0.1:1/"], output_dir: "lost" });
    await using page = await visit("/#crawls");
    await page.locator(".jobs li .bad").getByText("nothing fetched").waitFor();
  });

  test("cancels one", async () => {
    await using page = await visit("/#crawls");
    await page.getByText("More options").click();
    held = Promise.withResolvers();
    const seeds = `${site.origin}/one\n${site.origin}/held`;
    await submitCrawl(page, { seeds, output_dir: "called-off", rate_limit_delay: "1" });
    await page.locator(".pages li").first().waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.locator(".job-head .tag", { hasText: "cancelled" }).waitFor();
    held.resolve();
    expect(await page.locator(".job").getByRole("button", { name: "Cancel" }).count()).toBe(0);
  });

  test("says beside its field what is wrong with a request", async () => {
    await using page = await visit("/#crawls", { expected: /status of 422/ });
    await submitCrawl(page, { seeds: `${site.origin}/`, output_dir: "wrong", max_pages: "0" });
    await page.locator("#crawl-max_pages-error", { hasText: /^Max pages: / }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("crawl-max_pages");
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test("says what is missing by the labels of the fields, and what is no address", async () => {
    await using page = await visit("/#crawls");
    await submitCrawl(page, {});
    await page.locator("#crawl-seeds-error", { hasText: "Start URLs: it is missing" }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("crawl-seeds");
    expect(await accessibilityFaults(page)).toEqual([]);
    await submitCrawl(page, { seeds: "example.org\nno address" });
    await page.locator("#crawl-seeds-error", { hasText: "Start URLs: “no address” is not a URL." }).waitFor();
  });

  test("shows what the server takes for fields that are left empty", async () => {
    await using page = await visit("/#crawls");
    const { components } = await (await fetch(`${server.url}/openapi.json`)).json();
    const { max_pages, max_depth, concurrency, rate_limit_delay } =
      components.schemas.CrawlRequest.properties;
    for (const [name, field] of Object.entries({ max_pages, max_depth, concurrency, rate_limit_delay }))
      await page.locator(`#crawl-${name}[placeholder="${field.default}"]`).waitFor({ state: "attached" });
  });

  test("takes addresses without their scheme, as the form for one page does", async () => {
    await using page = await visit("/#crawls");
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await submitCrawl(page, { seeds: ` 127.0.0.1:9/one\n\n${site.origin}/broken`, max_depth: "0" });
    const body = (await sent).postDataJSON();
    expect(body).toMatchObject({ seeds: ["http://127.0.0.1:9/one", `${site.origin}/broken`] });
    expect(body).not.toHaveProperty("output_dir");
    await page.getByRole("button", { name: "Manifest" }).waitFor();
  });

  test("loses sight of one when the server ends, and takes it up when the server is back", async () => {
    const port = freePort();
    const first = await startExtractor({ port });
    const { directory } = first;
    // It goes last: the page still asks for files of the job.
    using _files = { [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
    held = Promise.withResolvers();
    await using page = await browser.visit({ origin: first.url, path: "/#crawls", expected: /ERR_/ });
    await page.getByText("More options").click();
    await submitCrawl(page, {
      seeds: `${site.origin}/\n${site.origin}/held`,
      output_dir: "out",
      rate_limit_delay: "1",
      max_pages: "10",
    });
    await page.locator(".pages li").first().waitFor();
    first.signal("SIGKILL");
    await first.exited;
    held.resolve();
    await page.getByText("The connection was lost").waitFor();
    await using second = await startExtractor({ directory, port });
    await page.getByRole("button", { name: "Manifest" }).waitFor();
    expect(await page.getByText("The connection was lost").count()).toBe(0);
    expect(second.url).toBe(first.url);
  });

  test("counts each page once when it has to begin again", async () => {
    const port = freePort();
    const first = await startExtractor({ port });
    const { directory } = first;
    // It goes last: the page still asks for files of the job.
    using _files = { [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
    held = Promise.withResolvers();
    await using page = await browser.visit({
      origin: first.url,
      path: "/#crawls",
      expected: /ERR_|status of 401/,
    });
    await page.getByText("More options").click();
    const fields = { output_dir: "out", rate_limit_delay: "1", max_pages: "8" };
    await submitCrawl(page, { seeds: `${site.origin}/\n${site.origin}/held`, ...fields });
    await page.locator(".pages li").nth(1).waitFor();
    first.signal("SIGKILL");
    await first.exited;
    held.resolve();
    const key = { ARTICLE_EXTRACTOR_API_KEY: "k3y", ARTICLE_EXTRACTOR_OUTPUT_ROOT: directory };
    await using _ = await startExtractor({
      directory,
      port,
      env: { ...key, ARTICLE_EXTRACTOR_EGRESS: "open" },
    });
    await page.getByRole("button", { name: "Not now" }).click();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByLabel("API key", { exact: true }).fill("k3y");
    await page.keyboard.press("Enter");
    await page.locator(".page-window li a").nth(7).waitFor();
    const listed = await page.locator(".pages .what > span:last-child:visible").allTextContents();
    expect(listed.length).toBeGreaterThanOrEqual(8);
    expect(new Set(listed).size).toBe(listed.length);
  });
});
