import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { type DocsSite, proseOf } from "../../support/docs-site.ts";
import { documentsOf, runSync } from "../../support/git-tenant.ts";
import { serveLocal } from "../../support/local.ts";
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

describe("Markdown forms of pages", () => {
  test("are taken where llms.txt names them", async () => {
    site.fill(5);
    site.pages.set("/docs/p1.md", {
      body: `# Page 1 in Markdown\n\n${proseOf("md")}`,
      type: "text/markdown",
    });
    site.pages.set("/llms.txt", {
      body: "# Site\n\n- [One](/docs/p1.md): the page\n- [Other](https://elsewhere.example/x.md)\n",
      type: "text/plain",
    });
    const web = bySitemap();
    await runSync(web.source);
    const documents = await documentsOf(web.source);
    expect(documents.get(`${site.origin}/docs/p1`)?.title).toBe("Page 1 in Markdown");
    expect(documents.size).toBe(5);
  });

  test("are found by asking for page.md, and not asked for where there are none", async () => {
    site.fill(20);
    const web = bySitemap();
    await runSync(web.source);
    // After three misses no more is asked for, but other pages are under way by then.
    const asked = site.requests.filter(({ path }) => path.endsWith(".md")).length;
    expect(asked).toBeGreaterThanOrEqual(3);
    expect(asked).toBeLessThan(10);
    for (const path of [...site.pages.keys()])
      site.pages.set(`${path}.md`, {
        body: `# ${path} in Markdown\n\n${proseOf(path)}`,
        type: "text/markdown",
      });
    await rm(bench.rootDir, { recursive: true });
    await runSync(bySitemap().source);
    expect((await titlesOf(web)).every((title) => title.endsWith("in Markdown"))).toBe(true);
  });

  test("are taken when the server chooses them by the Accept header", async () => {
    site.fill(1);
    site.intercept = ({ url, headers }) =>
      url.endsWith("/docs/p0") && headers.get("accept")?.startsWith("text/markdown")
        ? new Response(`# Chosen\n\n${proseOf("chosen")}`, { headers: { "content-type": "text/markdown" } })
        : null;
    const web = bySitemap();
    await runSync(web.source);
    expect(await titlesOf(web)).toEqual(["Chosen"]);
  });

  test("of llms.txt are pages to crawl where links are followed", async () => {
    site.write("/docs/", "Start");
    site.write("/docs/hidden", "Hidden");
    site.pages.set("/llms.txt", { body: "- [Hidden](/docs/hidden.md)", type: "text/plain" });
    const web = open({ docs_entry_url: `${site.origin}/docs/`, enable_crawler: true });
    await runSync(web.source);
    expect(await titlesOf(web)).toEqual(["Hidden", "Start"]);
  });

  test("of llms.txt above the folder are pages to crawl as well", async () => {
    site.write("/docs/guide/", "Start");
    site.write("/docs/guide/hidden", "Hidden");
    site.pages.set("/docs/llms.txt", { body: "- [Hidden](guide/hidden.md)", type: "text/plain" });
    const web = open({ docs_entry_url: `${site.origin}/docs/guide/`, enable_crawler: true });
    await runSync(web.source);
    expect(await titlesOf(web)).toEqual(["Hidden", "Start"]);
  });

  test("are the pages where llms.txt of a folder names them and there are no others", async () => {
    site.write("/docs/", "Start");
    for (const name of ["mast_(old)", "oar%20blade"])
      site.pages.set(`/docs/${name}.md`, { body: `# ${name}\n\n${proseOf(name)}`, type: "text/markdown" });
    site.pages.set("/docs/llms.txt", {
      body: "- [Mast (old)](mast_(old).md)\n- [Oar](</docs/oar blade.md>)",
      type: "text/plain",
    });
    const web = open({ docs_entry_url: `${site.origin}/docs/`, enable_crawler: true });
    await runSync(web.source);
    expect(await titlesOf(web)).toEqual(["Start", "mast_(old)", "oar%20blade"]);
  });
});

describe("a sync", () => {
  test("counts the pages that robots.txt forbids, and names it where it forbids all", async () => {
    site.fill(3);
    site.pages.set("/robots.txt", { body: "User-agent: *\nDisallow: /docs/p1", type: "text/plain" });
    expect(await runSync(bySitemap().source)).toMatchObject({ notes: ["robots.txt forbids 1 of 3 pages"] });
    site.pages.set("/robots.txt", { body: "User-agent: *\nDisallow: /docs/", type: "text/plain" });
    const other = open({ docs_entry_url: `${site.origin}/docs/p0` });
    await expect(runSync(other.source)).rejects.toThrow("robots.txt forbids 1");
  });

  test("takes /b.html with the text of /b for the same document", async () => {
    site.fill(2);
    site.pages.set("/docs/p1.html", site.pages.get("/docs/p1")!);
    site.write("/docs/p0.html", "Another");
    const web = open({
      docs_entry_url: ["/docs/p0", "/docs/p1", "/docs/p0.html", "/docs/p1.html"]
        .map((path) => site.origin + path)
        .join(","),
    });
    for (const _ of ["first", "second"]) {
      await runSync(web.source);
      const paths = [...(await documentsOf(web.source)).keys()].map((url) => new URL(url).pathname);
      expect(paths.toSorted()).toEqual(["/docs/p0", "/docs/p0.html", "/docs/p1"]);
    }
  });
});

describe("the fallback extractor", () => {
  const asked: { readonly url: string; readonly authorization: string | null }[] = [];
  let answer: (url: string) => Response;
  let remote: ReturnType<typeof Bun.serve>;
  beforeEach(() => {
    asked.length = 0;
    answer = (url) =>
      Response.json({
        title: "Rescued",
        markdown: `# Rescued\n\nText of ${new URL(url).pathname}. ${proseOf(url)}`,
      });
    remote = serveLocal(async (request) => {
      const { url = "" } = (await request.json()) as { url?: string };
      asked.push({ url, authorization: request.headers.get("authorization") });
      return url === "" ? new Response("no", { status: 422 }) : answer(url);
    });
    site.fill(3);
    site.pages.set("/docs/p1", { body: "<html><body></body></html>" });
  });
  afterEach(() => remote.stop(true));

  const withFallback = (fields: Record<string, unknown> = {}, environment: Record<string, string> = {}) =>
    open(
      { docs_sitemap_url: site.sitemap },
      {
        infrastructure: {
          article_extractor_fallback: { enabled: true, endpoint: `${remote.url.origin}/extract`, ...fields },
        },
        environment,
      },
    );

  test("may answer HTML, and no page at all", async () => {
    answer = () => Response.json({ title: "By HTML", content: `<p>${proseOf("html")}</p>` });
    const web = withFallback();
    await runSync(web.source);
    expect(await titlesOf(web)).toContain("By HTML");
    answer = () => Response.json({ title: null, markdown: null });
    expect(await runSync(web.source)).toMatchObject({ failed: 1, removed: 0 });
  });

  test("is not asked about a page that is gone, nor when it is off", async () => {
    site.pages.delete("/docs/p1");
    site.listed = ["/docs/p0", "/docs/p1", "/docs/p2"];
    expect(await runSync(withFallback().source)).toMatchObject({ fetched: 2, failed: 1 });
    await runSync(withFallback({ enabled: false }).source);
    expect(asked).toEqual([]);
  });
});
