import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { html, page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlOnce, crawlPlace, crawlPlan, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());

const NAV = `<nav><ul>${Array.from({ length: 20 }, (_, index) => `<li><a href="/nav/${index}">Elsewhere ${index}</a></li>`).join("")}</ul></nav>`;
const FOOT = `<footer><p>© Weirside Works. Built with a generator of documentation.</p></footer>`;
const LINKS = `<ul><li><a href="/leaf">Closing a gate</a></li><li><a href="/other">Tides</a></li></ul>`;

/** The start of a chapter as generators of documentation write it: a heading, and what stands below it. */
const SHELLS: Readonly<Record<string, (heading: string, below: string) => string>> = {
  sphinx: (heading, below) =>
    `<div class="body" role="main"><section id="s"><h1>${heading}<a class="headerlink" href="#s">¶</a></h1>${below}</section></div>`,
  main: (heading, below) =>
    `<main><nav>${LINKS.replaceAll("/leaf", "/crumb")}</nav><h1>${heading}</h1>${below}</main>`,
  docbook: (heading, below) =>
    `<div class="chapter"><div class="titlepage"><div><div><h2 class="title">${heading}</h2></div></div></div><div class="toc">${below}</div></div>`,
  bare: (heading, below) => `<div id="content"><h1>${heading}</h1>${below}</div>`,
};

const documentOf = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${NAV}${body}${FOOT}</body></html>`;

describe("a page of a heading and links", () => {
  test.each(Object.entries(SHELLS))("is stored with a warning by a crawl (%s)", async (_, shell) => {
    await using site = serveCrawlSite({
      "/": page("Home", ["/chapter", "/toc", "/empty", "/wordless", "/app", "/gone"]),
      "/chapter": documentOf("Gates", shell("Gates", LINKS)),
      "/toc": documentOf("Weirs", shell("Weirs", `<div class="toc toctree-wrapper compound">${LINKS}</div>`)),
      "/empty": documentOf("Sluices", shell("Sluices", "")),
      "/wordless": documentOf("", "<div></div>"),
      "/app": `<html><head><title>App</title></head><body><h1>App</h1><div id="root"></div><script src="/a.js"></script></body></html>`,
      "/gone": () => html(documentOf("Gone gates", shell("Gone gates", "<p></p>")), { status: 404 }),
      "/leaf": page("Leaf"),
      "/other": page("Other"),
    });
    await using place = await crawlPlace(app);
    const { outcomeOf, summary } = await place.crawl(
      crawlPlan({
        seeds: [`${site.origin}/`],
        maxDepth: 2,
        denyPrefixes: [`${site.origin}/nav`, `${site.origin}/crumb`],
      }),
    );
    const shown = (path: string) => {
      const outcome = outcomeOf(path);
      return [outcome?.status, outcome?.error?.code ?? outcome?.warnings[0]];
    };
    // Where the links stand in a list of their own, they may be content without this.
    expect([shown("/chapter")[0], shown("/toc")]).toEqual([
      "success",
      [
        "success",
        expect.stringMatching(/^(?:The page holds a heading and links only|Content below minimum)/),
      ],
    ]);
    expect(["/empty", "/wordless", "/app", "/gone"].map(shown)).toEqual([
      ["failed", "no_content"],
      ["failed", "no_content"],
      ["failed", "no_content"],
      ["failed", "http_status"],
    ]);
    expect([shown("/leaf")[0], shown("/other")[0]]).toEqual(["success", "success"]);
    expect(summary.progress.failed).toBe(4);
    const written = await readFile(join(place.path, outcomeOf("/chapter")?.filePath ?? ""), "utf8");
    expect(written.split("---\n").at(-1)?.trim()).toBe(
      `# Gates\n\n- [Closing a gate](${site.origin}/leaf)\n- [Tides](${site.origin}/other)`,
    );
  });
});

describe("a copy of a page's source", () => {
  const COPIES = [
    "/_sources/a.rst.txt",
    "/docs/_sources/b.md.txt",
    "/_sources/deep/c.txt",
    "/_sources/d.ipynb.txt",
  ];
  const OTHERS = ["/_sources/", "/sources/a.rst.txt", "/notes.md.txt", "/q?from=/_sources/a.rst.txt"];
  const routes = {
    "/": page("Home", [...COPIES, ...OTHERS]),
    "*": () => html(page(`Some page ${Math.random()}`)),
  };

  const crawl = async (choose: (origin: string) => Parameters<typeof crawlPlan>[0]) => {
    await using site = serveCrawlSite({
      ...routes,
      "/map.xml": `<urlset><url><loc>{origin}${COPIES[1]}</loc></url></urlset>`,
    });
    const { summary, outcomeOf } = await crawlOnce(app, crawlPlan(choose(site.origin)));
    return {
      refused: summary.skippedLinks,
      asked: COPIES.filter((path) => site.count(path) > 0),
      others: OTHERS.filter((path) => outcomeOf(path)?.status === "success"),
    };
  };

  test("is not followed, and counted", async () => {
    expect(await crawl((origin) => ({ seeds: [`${origin}/`] }))).toEqual({
      refused: { source_copy: COPIES.length },
      asked: [],
      others: OTHERS,
    });
  });

  test("is crawled as a seed, as a sitemap's page, and where an allow prefix names its folder", async () => {
    const asSeed = await crawl((origin) => ({ seeds: [`${origin}/`, `${origin}${COPIES[0]}`] }));
    expect([asSeed.asked, asSeed.refused]).toEqual([[COPIES[0] ?? ""], { source_copy: COPIES.length }]);
    const inSitemap = await crawl((origin) => ({ seeds: [`${origin}/`], sitemaps: [`${origin}/map.xml`] }));
    expect(inSitemap.asked).toEqual([COPIES[1] ?? ""]);
    const allowed = await crawl((origin) => ({
      seeds: [`${origin}/`],
      allowPrefixes: [`${origin}/`, `${origin}/_sources/`],
    }));
    expect([allowed.asked, allowed.refused]).toEqual([
      COPIES.filter((path) => !path.startsWith("/docs")),
      { source_copy: 1 },
    ]);
  });
});
