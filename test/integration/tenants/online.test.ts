import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { blockedAnswer } from "../../support/blocked-site.ts";
import { type DocsSite, htmlPage, proseOf } from "../../support/docs-site.ts";
import { documentsOf, runSync } from "../../support/git-tenant.ts";
import { openWebBench, titlesOf, type WebBench } from "../../support/web-bench.ts";
import type { WebTenant } from "../../support/web-tenant.ts";

let bench: WebBench;
let site: DocsSite;
beforeEach(async () => {
  bench = await openWebBench();
  site = bench.site;
});
afterEach(() => bench[Symbol.asyncDispose]());
const open: WebBench["open"] = (tenant, more) => bench.open(tenant, more);
const bySitemap = (): WebTenant => bench.bySitemap();
const login = htmlPage(
  "Sign in",
  "Please sign in with your account to read the documentation of this product. Forgot the password?",
);

describe("a sync of a website", () => {
  test("takes the pages of its sitemap", async () => {
    site.fill(5);
    const web = bySitemap();
    expect(await runSync(web.source)).toEqual({ fetched: 5, unchanged: 0, removed: 0, failed: 0 });
    expect(await titlesOf(web)).toEqual(["Page 0", "Page 1", "Page 2", "Page 3", "Page 4"]);
    const texts = [...(await documentsOf(web.source)).values()].map(({ markdown }) => markdown);
    expect(texts.map((text) => text.slice(0, 9)).sort()).toEqual(texts.map((_, at) => `# Page ${at}\n`));
  });

  test("does not log its own question for a page that cannot exist as a fault", async () => {
    site.fill(2);
    site.listed = ["/docs/p0", "/docs/p1", "/docs/gone"];
    const web = bySitemap();
    await runSync(web.source);
    const lines = web.logText().split("\n");
    const asked = lines.filter((line) => line.includes("no-such-page"));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((line) => /page failed|WARNING|ERROR/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.includes("page failed"))).toHaveLength(1);
  });

  test("follows links within its prefixes, and not beyond the pages it may take", async () => {
    site.write("/docs/", "Start", ["/docs/a", "/docs/private/b", "/blog/c"]);
    site.write("/docs/a", "A", ["/docs/d"]);
    site.write("/docs/d", "D");
    site.write("/docs/private/b", "B");
    site.write("/blog/c", "C");
    const tenant = {
      docs_entry_url: `${site.origin}/docs/`,
      enable_crawler: true,
      url_whitelist_prefixes: `${site.origin}/docs/`,
      url_blacklist_prefixes: `${site.origin}/docs/private/`,
    };
    const web = open(tenant);
    await runSync(web.source);
    expect(await titlesOf(web)).toEqual(["A", "D", "Start"]);
    await rm(bench.rootDir, { recursive: true });
    const capped = open({ ...tenant, max_crawl_pages: 2 });
    await runSync(capped.source);
    expect(await titlesOf(capped)).toEqual(["A", "Start"]);
  });

  test("says how many known pages its limit left, in its counts and its log", async () => {
    site.write("/docs/", "Start", ["/docs/a", "/docs/b", "/docs/c", "/docs/d", "/docs/d"]);
    for (const name of ["a", "b", "c", "d"]) site.write(`/docs/${name}`, name.toUpperCase());
    const tenant = { docs_entry_url: `${site.origin}/docs/`, enable_crawler: true };
    const capped = open({ ...tenant, max_crawl_pages: 2 });
    expect(await runSync(capped.source)).toEqual({
      fetched: 2,
      unchanged: 0,
      removed: 0,
      failed: 0,
      left: 3,
    });
    expect(capped.logText()).toContain("max_crawl_pages (2) left 3 known pages unfetched");
    const exact = open({ ...tenant, max_crawl_pages: 5 });
    expect(await runSync(exact.source)).toEqual({ fetched: 3, unchanged: 2, removed: 0, failed: 0 });
    expect(exact.logText()).not.toContain("max_crawl_pages");
  });

  test("without any page says by what they are blocked", async () => {
    site.fill(2);
    site.intercept = ({ url }) =>
      /sitemap|robots/.test(url) ? null : blockedAnswer("a check that counts in the browser");
    const thrown = await runSync(bySitemap().source).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: "blocked", block: { kind: "challenge" } });
  });

  test("counts the pages of a sitemap that its limit left", async () => {
    site.fill(6);
    const capped = open({ docs_sitemap_url: site.sitemap, max_crawl_pages: 4 });
    expect(await runSync(capped.source)).toMatchObject({ fetched: 4, left: 2 });
    expect(await runSync(open({ docs_sitemap_url: site.sitemap }).source)).not.toHaveProperty("left");
  });

  test("goes on where the pages it may take are more than before, and begins anew for other addresses", async () => {
    site.write("/docs/", "Start", ["/docs/a", "/docs/b"]);
    site.write("/docs/a", "A");
    site.write("/docs/b", "B", ["/docs/c"]);
    site.write("/docs/c", "C");
    const tenant = { docs_entry_url: `${site.origin}/docs/`, enable_crawler: true };
    await runSync(open({ ...tenant, max_crawl_pages: 2 }).source);
    site.requests.length = 0;
    const larger = open({ ...tenant, max_crawl_pages: 50 });
    expect(await runSync(larger.source)).toEqual({ fetched: 2, unchanged: 2, removed: 0, failed: 0 });
    expect(await titlesOf(larger)).toEqual(["A", "B", "C", "Start"]);
    const asked = site.requests.map(({ path }) => path).filter((path) => path.startsWith("/docs/"));
    expect(asked.filter((path) => !path.includes("no-such-page"))).toEqual(["/docs/b", "/docs/c"]);
    const fewer = open({ ...tenant, max_crawl_pages: 50, url_blacklist_prefixes: `${site.origin}/docs/c` });
    expect(await runSync(fewer.source)).toMatchObject({ removed: 1, failed: 0 });
    expect(await titlesOf(fewer)).toEqual(["A", "B", "Start"]);
  });

  test("takes only the entry pages without a crawler", async () => {
    site.write("/docs/", "Start", ["/docs/a"]);
    site.write("/docs/a", "A");
    const web = open({ docs_entry_url: `${site.origin}/docs/` });
    await runSync(web.source);
    expect(await titlesOf(web)).toEqual(["Start"]);
  });

  test("asks again only for what may have changed: ETag", async () => {
    site.fill(6);
    const web = bySitemap();
    await runSync(web.source);
    site.requests.length = 0;
    site.write("/docs/p3", "Page 3, changed");
    expect(await runSync(web.source)).toEqual({ fetched: 1, unchanged: 5, removed: 0, failed: 0 });
    const statuses = site.requests
      .filter(({ path }) => /^\/docs\/p\d$/.test(path))
      .map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 304, 304, 304, 304, 304]);
    expect(await titlesOf(web)).toContain("Page 3, changed");
  });

  test("asks for nothing whose date in the sitemap is that of the last time, and for everything once a week", async () => {
    site.fill(6);
    for (const path of site.pages.keys()) site.lastModified.set(path, "2026-01-01");
    let now = Date.UTC(2026, 5, 1);
    const web = open({ docs_sitemap_url: site.sitemap }, { now: () => now });
    await runSync(web.source);
    site.takeRequests();
    site.write("/docs/p3", "Page 3, changed");
    site.lastModified.set("/docs/p3", "2026-02-01");
    site.write("/docs/p4", "Page 4, changed in silence");
    expect(await runSync(web.source)).toMatchObject({ fetched: 1, unchanged: 5 });
    expect(site.takeRequests()).toEqual(["/docs/p3"]);
    now += 8 * 24 * 60 * 60 * 1000;
    expect(await runSync(web.source)).toMatchObject({ fetched: 1, unchanged: 5 });
    expect(await titlesOf(web)).toContain("Page 4, changed in silence");
  });

  test("does not write a page whose text is the same, without any validator", async () => {
    site.hasEtags = false;
    site.fill(3);
    const web = bySitemap();
    await runSync(web.source);
    const before = await Bun.file(
      join(bench.rootDir, (await readdir(bench.rootDir)).find((name) => name.endsWith("p1.md")) ?? ""),
    ).text();
    for (const [path, { body }] of site.pages)
      site.pages.set(path, { body: body.replace("<nav>", "<nav>Other surroundings") });
    expect(await runSync(web.source)).toEqual({ fetched: 0, unchanged: 3, removed: 0, failed: 0 });
    const after = await Bun.file(
      join(bench.rootDir, (await readdir(bench.rootDir)).find((name) => name.endsWith("p1.md")) ?? ""),
    ).text();
    expect(after).toBe(before);
  });

  test("removes a page that is gone for two syncs, and not for one", async () => {
    site.fill(8);
    const web = bySitemap();
    await runSync(web.source);
    const gone = site.pages.get("/docs/p3");
    site.pages.delete("/docs/p3");
    expect(await runSync(web.source)).toMatchObject({ removed: 0 });
    expect(await titlesOf(web)).toContain("Page 3");
    if (gone) site.pages.set("/docs/p3", gone);
    expect(await runSync(web.source)).toMatchObject({ removed: 0 });
    site.pages.delete("/docs/p3");
    expect(await runSync(web.source)).toMatchObject({ removed: 0 });
    expect(await runSync(web.source)).toMatchObject({ removed: 1 });
    expect(await titlesOf(web)).not.toContain("Page 3");
    expect((await readdir(bench.rootDir)).some((name) => name.endsWith("p3.md"))).toBe(false);
  });

  test("takes the new address of a page that moved", async () => {
    site.fill(4);
    const web = bySitemap();
    await runSync(web.source);
    const moved = site.pages.get("/docs/p2");
    if (moved) site.pages.set("/docs/moved", moved);
    site.pages.set("/docs/p2", { body: "", status: 301, headers: { location: "/docs/moved" } });
    await runSync(web.source);
    await runSync(web.source);
    expect(
      [...(await documentsOf(web.source)).keys()].map((url) => url.slice(site.origin.length)).sort(),
    ).toEqual(["/docs/moved", "/docs/p0", "/docs/p1", "/docs/p3"]);
  });

  test("drops what the settings do not want any more", async () => {
    site.fill(4);
    await runSync(bySitemap().source);
    const narrowed = open({
      docs_sitemap_url: site.sitemap,
      url_blacklist_prefixes: `${site.origin}/docs/p1`,
    });
    expect(await runSync(narrowed.source)).toMatchObject({ fetched: 0, unchanged: 3, removed: 1 });
  });

  test("obeys robots.txt", async () => {
    site.fill(3);
    site.pages.set("/robots.txt", { body: "User-agent: *\nDisallow: /docs/p1\n", type: "text/plain" });
    const web = bySitemap();
    await runSync(web.source);
    expect(await titlesOf(web)).toEqual(["Page 0", "Page 2"]);
  });

  test("goes on where it was cancelled", async () => {
    site.fill(80);
    const web = bySitemap();
    const calling = new AbortController();
    let seen = 0;
    site.intercept = () => {
      if (++seen === 45) calling.abort();
      return null;
    };
    await expect(runSync(web.source, calling.signal)).rejects.toMatchObject({ code: "cancelled" });
    site.intercept = null;
    const asked = new Set(site.takeRequests());
    await runSync(web.source);
    const again = site.takeRequests().filter((path) => asked.has(path));
    expect(again.length).toBeLessThanOrEqual(15);
    expect((await documentsOf(web.source)).size).toBe(80);
  });
});

describe("a website in trouble keeps its documents", () => {
  const isWhole = async (web: WebTenant, count: number): Promise<void> => {
    expect((await documentsOf(web.source)).size).toBe(count);
  };
  let web: WebTenant;
  beforeEach(async () => {
    site.fill(12);
    web = bySitemap();
    await runSync(web.source);
  });

  test("when it is down", async () => {
    site.intercept = () => new Response("down", { status: 500 });
    for (let round = 0; round < 3; round++) await expect(runSync(web.source)).rejects.toThrow();
    await isWhole(web, 12);
  });

  test("when it goes down midway", async () => {
    let left = 6;
    site.intercept = () => (--left < 0 ? new Response("down", { status: 500 }) : null);
    for (let round = 0; round < 3; round++) {
      left = 6;
      await runSync(web.source).catch(() => {});
    }
    await isWhole(web, 12);
  });

  test("when its sitemap is broken, empty, or an HTML page", async () => {
    for (const body of [
      "<urlset><url><loc>http",
      "<html><body>Sign in</body></html>",
      '<?xml version="1.0"?><urlset/>',
      "",
    ]) {
      site.pages.set("/sitemap.xml", { body, type: "application/xml" });
      for (let round = 0; round < 3; round++) await runSync(web.source).catch(() => {});
      await isWhole(web, 12);
    }
  });

  test("when its sitemap lists only a few of its pages", async () => {
    site.listed = ["/docs/p0", "/docs/p1"];
    for (let round = 0; round < 3; round++) await runSync(web.source);
    await isWhole(web, 12);
    expect(web.logText()).toContain("not listed any more but still there");
  });

  test("when every page is a challenge, which is never indexed, not even of a new page", async () => {
    site.fill(13);
    site.intercept = ({ url }) =>
      /sitemap|robots/.test(url) ? null : blockedAnswer("a check that counts in the browser");
    for (let round = 0; round < 3; round++) await runSync(web.source).catch(() => {});
    expect(await titlesOf(web)).toHaveLength(12);
    expect(await titlesOf(web)).not.toContain("Making sure you're not a bot!");
    expect(web.logText()).toContain("shows a challenge instead of the page");
  });

  test("when every page is a login", async () => {
    site.intercept = ({ url }) =>
      /sitemap|robots/.test(url) ? null : new Response(login, { headers: { "content-type": "text/html" } });
    for (let round = 0; round < 3; round++) await runSync(web.source);
    await isWhole(web, 12);
    expect(await titlesOf(web)).not.toContain("Sign in");
    site.intercept = null;
    expect(await runSync(web.source)).toMatchObject({ removed: 0, failed: 0 });
  });

  test("when every page redirects to a login", async () => {
    site.intercept = ({ url }) => {
      const { pathname } = new URL(url);
      if (/sitemap|robots/.test(pathname)) return null;
      if (pathname === "/login") return new Response(login, { headers: { "content-type": "text/html" } });
      return new Response(null, { status: 302, headers: { location: "/login" } });
    };
    for (let round = 0; round < 3; round++) await runSync(web.source).catch(() => {});
    await isWhole(web, 12);
    expect(await titlesOf(web)).not.toContain("Sign in");
  });

  test("when one page is an error page with status 200, and takes a new one in its place", async () => {
    const error = (path: string) =>
      htmlPage("Oops", `We could not find ${path}. It may have moved, or the address has a mistake in it.`);
    site.pages.set("/docs/p5", { body: error("/docs/p5") });
    site.intercept = ({ url }) => {
      const { pathname } = new URL(url);
      return pathname.includes("no-such-page")
        ? new Response(error(pathname), { headers: { "content-type": "text/html" } })
        : null;
    };
    for (let round = 0; round < 3; round++)
      expect(await runSync(web.source)).toMatchObject({ removed: 0, failed: 1 });
    expect(await titlesOf(web)).toContain("Page 5");
    site.write("/docs/p5", "Page 5, back");
    expect(await runSync(web.source)).toMatchObject({ fetched: 1, failed: 0 });
    expect(await titlesOf(web)).toContain("Page 5, back");
  });

  test("but loses one whose error page has status 404 and many words", async () => {
    const body = htmlPage("Not here", proseOf("the error page", 150));
    site.pages.delete("/docs/p5");
    site.listed = [...site.pages.keys(), "/docs/p5"];
    site.intercept = ({ url }) =>
      /p5$|no-such-page/.test(url)
        ? new Response(body, { status: 404, headers: { "content-type": "text/html" } })
        : null;
    await runSync(web.source);
    expect(await titlesOf(web)).toContain("Page 5");
    expect(await runSync(web.source)).toMatchObject({ removed: 1 });
    expect(await titlesOf(web)).not.toContain("Not here");
  });

  test("and takes pages of one text under one name, as versions have", async () => {
    for (const version of ["v1", "v2", "v3", "v4"])
      site.pages.set(`/${version}/intro`, {
        body: htmlPage("Intro", "A short introduction that is the same for each of the versions."),
      });
    await runSync(web.source);
    await isWhole(web, 16);
  });

  test("and takes stubs that differ in the name of what they describe", async () => {
    for (const name of ["alpha", "beta", "gamma", "delta"])
      site.pages.set(`/api/${name}`, {
        body: htmlPage(`Class ${name}`, `The class ${name} has no members of its own.`),
      });
    await runSync(web.source);
    await isWhole(web, 16);
  });

  test("and takes the start page where every unknown address leads to it", async () => {
    site.pages.set("/", {
      body: htmlPage("Start", "Welcome to the documentation of the product, choose a chapter."),
    });
    site.intercept = ({ url }) =>
      url.includes("no-such-page") ? new Response(null, { status: 302, headers: { location: "/" } }) : null;
    await runSync(web.source);
    expect(await titlesOf(web)).toContain("Start");
  });

  test("and can be read by a program that lost what it remembered", async () => {
    await rm(join(bench.rootDir, ".article-extractor"), { recursive: true });
    await isWhole(web, 12);
    site.intercept = () => new Response("down", { status: 500 });
    await expect(runSync(web.source)).rejects.toThrow();
    await isWhole(web, 12);
  });

  test("and by one that reads no record of an earlier format", async () => {
    const path = join(bench.rootDir, ".article-extractor/website.json");
    const record: { version: number } = await Bun.file(path).json();
    const earlier = { ...record, version: record.version - 1, source: ["online", "other.example"] };
    await Bun.write(path, JSON.stringify(earlier));
    await isWhole(web, 12);
    await runSync(web.source);
    await isWhole(web, 12);
    expect(await Bun.file(path).json()).toMatchObject({ version: record.version });
  });
});

test("a sync whose documents cannot be written says so, and takes them over when they can", async () => {
  site.fill(20);
  const directory = join(bench.rootDir, "documents");
  const staged = join(bench.rootDir, ".article-extractor/staged");
  mkdirSync(directory);
  site.intercept = ({ url }) => {
    if (url.endsWith("/p19")) {
      rmSync(directory, { recursive: true });
      writeFileSync(directory, "in the way");
      // A file that is no page, as a crash of the machine leaves it.
      writeFileSync(join(staged, "0.md"), "");
    }
    return null;
  };
  const web = open({ docs_root_dir: directory, docs_sitemap_url: site.sitemap });
  await expect(runSync(web.source)).rejects.toMatchObject({ code: "unwritable_output" });
  site.intercept = null;
  await rm(directory);
  expect(await runSync(web.source)).toEqual({ fetched: 20, unchanged: 0, removed: 0, failed: 0 });
});
