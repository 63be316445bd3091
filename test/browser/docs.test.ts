import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { htmlPath, readPages } from "../../scripts/docs/pages.ts";
import { writeSite } from "../../scripts/docs.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import {
  accessibilityFaults,
  firefoxPath,
  openPageBrowser,
  scrollsSideways,
  type Tab,
} from "../support/page-browser.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const out = forAllTests(temporaryDirectory()).path;
const pages = await readPages(join(import.meta.dir, "../../docs"), null);
await writeSite(pages, out, "/manual/");

/** A server of plain files that has the site below a path, and its page for unknown addresses. */
const server = serveLocal(async (request) => {
  const path = new URL(request.url).pathname.replace(/^\/manual\//, "/").replace(/\/$/, "/index.html");
  const file = Bun.file(join(out, path));
  if (await file.exists()) return new Response(file);
  return new Response(await Bun.file(join(out, "404.html")).text(), {
    status: 404,
    headers: { "content-type": "text/html" },
  });
});
forAllTests({ [Symbol.asyncDispose]: () => server.stop(true) });
const browser = forAllTests(await openPageBrowser());
const origin = server.url.origin;
const SITE = `${origin}/manual/`;

async function search(page: Tab, query: string): Promise<void> {
  await page.keyboard.press("/");
  await page.fill("#query", query);
  await page.locator("#hits a, #hits p").first().waitFor();
}

describe("the site of the documentation", () => {
  test.each([
    [360, false],
    [360, true],
    [1280, false],
    [1280, true],
  ])("reads well %i px wide (dark: %p)", async (width, isDark) => {
    await using page = await browser.visit({ origin, width, isDark });
    // The page that leads to the others, the one with the widest tables, and the longest.
    for (const path of ["index.html", "comparison.html", "api.html"]) {
      await page.goto(SITE + path);
      expect(await scrollsSideways(page)).toBe(false);
      expect(await accessibilityFaults(page)).toEqual([]);
      await search(page, "resume a crawl");
      expect(await scrollsSideways(page)).toBe(false);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    expect(page.outside).toEqual([]);
  });

  test("finds the pages that answer", async () => {
    const answers = {
      "what does exit code 3 mean": "how-to/ci.html",
      "--user-interaction-timeout": "reference.html",
      ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "how-to/reverse-proxy.html",
      "manifest.json fields": "crawl.html",
      "postgres bakcup": "scale-out.html",
      "site blocks me 403": "troubleshooting.html",
      "certificate self-signed": "troubleshooting.html",
      "how do I use it with Cursor?": "how-to/mcp.html",
      "trafilatura favor_recall": "migration.html",
      "nightly crawl with cron": "how-to/cron.html",
      captcha: "refusals.html",
      rate_limit_delay: "api.html",
      "resume a crawl": "how-to/crawl.html",
      "feed embeddings": "how-to/rag.html",
      "behind a login": "how-to/login.html",
      "--deny-prefix": "crawl.html",
    };
    await using page = await browser.visit({ origin, path: "/manual/" });
    const missed: string[] = [];
    for (const [query, answer] of Object.entries(answers)) {
      await page.fill("#query", "");
      await search(page, query);
      const links = await page
        .locator("#hits a")
        .evaluateAll((all) => all.map((one) => one.getAttribute("href")));
      const first = links.slice(0, 3).map((address) => address?.replace(/#.*/, ""));
      if (!first.includes(answer)) missed.push(`${query}: ${first.join(", ")}`);
    }
    expect(missed).toEqual([]);
  });

  test("is searched with the keyboard alone, and a hit opens at its section", async () => {
    await using page = await browser.visit({ origin, path: "/manual/" });
    await search(page, "sitemap index nested");
    await page.keyboard.press("Tab");
    const address = await page.evaluate(() => document.activeElement?.getAttribute("href"));
    await page.keyboard.press("Enter");
    await page.waitForURL(`${SITE}${address}`);
    const anchor = new URL(page.url()).hash.slice(1);
    const section = page.locator(`[id="${anchor}"]`);
    expect(await section.evaluate(({ tagName }) => tagName)).toMatch(/^H\d$/);
    const bar = await page.locator(".top").boundingBox();
    expect((await section.boundingBox())?.y).toBeGreaterThanOrEqual(bar?.height ?? 0);
    // Whoever searches again is still there afterwards.
    const before = await page.evaluate(() => scrollY);
    expect(before).toBeGreaterThan(0);
    await page.keyboard.press("/");
    expect(await page.evaluate(() => [document.activeElement?.id, scrollY])).toEqual(["query", before]);
    await search(page, "zzzzqqq");
    expect(await page.locator("#hits").textContent()).toContain("Nothing was found for “zzzzqqq”");
    await page.keyboard.press("Escape");
    expect(await page.locator("#hits").textContent()).toBe("");
  });

  test("works from the disk", async () => {
    await using page = await browser.visit({
      origin: "file://",
      path: `${out}/index.html`,
      expected: /axe|preload|docs\.css/,
    });
    await search(page, "egress policy");
    await page.locator("#hits a").first().click();
    await page.waitForURL(/\.html/);
    expect(await page.locator("article h1").count()).toBe(1);
  });

  test.skipIf(firefoxPath() === null)("is searched in Firefox, too", async () => {
    await using firefox = await openPageBrowser({ engine: "firefox" });
    await using page = await firefox.visit({ origin, path: "/manual/" });
    await search(page, "egress policy");
    await page.locator("#hits a").first().click();
    await page.waitForURL(/\.html/);
    expect(await scrollsSideways(page)).toBe(false);
    expect(page.outside).toEqual([]);
  });

  test("leads from an unknown address to its pages, also from a deep one", async () => {
    await using page = await browser.visit({ origin, path: "/manual/a/b/c.html", expected: /404/ });
    await search(page, "robots.txt");
    await page.locator("#hits a").first().click();
    await page.waitForURL(new RegExp(`^${SITE}[\\w/-]+\\.html`));
    expect(page.outside).toEqual([]);
  });

  test("is whole without scripts", async () => {
    await using page = await browser.visit({ origin, expected: /ERR_FAILED/ });
    await page.route("**/docs.js", (route) => route.abort());
    await page.goto(`${SITE}${htmlPath(pages[1]!.path)}`);
    expect(await page.locator("search").isHidden()).toBe(true);
    expect(await page.locator("#contents a").count()).toBe(pages.length);
  });
});
