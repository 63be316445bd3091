import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { startExtractor } from "../support/extractor-server.ts";
import { outputOf } from "../support/local.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";

const ROOT = join(import.meta.dir, "../..");
const PYTHON = join(ROOT, "build/mcp-clients/venv-firecrawl/bin/python");
const hasPip =
  Bun.which("python3") !== null && Bun.spawnSync(["python3", "-c", "import venv, ensurepip"]).exitCode === 0;

/** What a program does that has changed its base URL; it prints what it got as JSON. */
const PROGRAM = `
import asyncio, json, sys
from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.utils.error_handler import FirecrawlError
from langchain_firecrawl import FirecrawlLoader

base, key, site = sys.argv[1:]
client = Firecrawl(api_key=key, api_url=base)
page = client.scrape(site + "/p/1", formats=["markdown", "links"], only_main_content=True, timeout=20000)
links = client.map(site + "/", limit=3)
job = client.crawl(site + "/", limit=5, sitemap="skip", include_paths=["/p/[^/]+$"], poll_interval=1)
errors = client.get_crawl_errors(job.id)
cancelled = client.cancel_crawl(client.start_crawl(site + "/", limit=5).id)

async def other():
    page = await AsyncFirecrawl(api_key=key, api_url=base).scrape(site + "/p/2")
    return page.metadata.title

def refused(work):
    try:
        work()
    except FirecrawlError as error:
        return [type(error).__name__, str(error)]

def loaded(mode, **params):
    loader = FirecrawlLoader(site + "/p/1", api_key=key, api_url=base, mode=mode, params=params)
    return [[document.page_content[:8], document.metadata.get("title")] for document in loader.load()]

print(json.dumps({
    "loaded": [loaded("scrape"), loaded("crawl", limit=3, crawl_entire_domain=True)[0], len(loaded("map", limit=4))],
    "page": [page.metadata.title, page.metadata.status_code, page.markdown[:8], len(page.links)],
    "map": [link.url.replace(site, "") for link in links.links],
    "crawl": [job.status, job.completed, sorted(one.metadata.source_url.replace(site, "") for one in job.data)],
    "errors": [len(errors.errors), len(errors.robots_blocked)],
    "cancelled": cancelled,
    "other": asyncio.run(other()),
    "mobile": refused(lambda: client.scrape(site + "/p/1", mobile=True)),
    "key": refused(lambda: Firecrawl(api_key="wrong", api_url=base).scrape(site + "/p/1"))[0],
}))
`;

describe.skipIf(!hasPip)("Firecrawl's client for Python", () => {
  test("and LangChain's loader scrape, map and crawl with another base URL", async () => {
    const install = Bun.spawn(["sh", join(ROOT, "scripts/mcp-clients.sh"), "firecrawl"], {
      stdout: "pipe",
      stderr: "pipe",
    });
    expect([await install.exited, (await outputOf(install)).stderr]).toEqual([0, expect.any(String)]);
    await using site = serveNumberedSite({ pages: 20 });
    const key = "k".repeat(32);
    await using server = await startExtractor({
      env: { ARTICLE_EXTRACTOR_API_KEY: key, ARTICLE_EXTRACTOR_EGRESS: "open" },
    });
    const child = Bun.spawn([PYTHON, "-c", PROGRAM, `${server.url}/firecrawl`, key, site.origin], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const { stdout: out, stderr: err } = await outputOf(child);
    expect([await child.exited, err]).toEqual([0, expect.any(String)]);
    expect(JSON.parse(out)).toEqual({
      loaded: [[["# Page 1", "Page 1"]], ["# Page 1", "Page 1"], 4],
      page: ["Page 1", 200, "# Page 1", 10 - 1],
      map: ["/", "/p/1", "/p/2"],
      crawl: ["completed", 5, ["/", "/p/1", "/p/2", "/p/3", "/p/4"]],
      errors: [0, 0],
      cancelled: true,
      other: "Page 2",
      mobile: ["FirecrawlError", expect.stringContaining("mobile: must be false: nothing else is supported")],
      key: "UnauthorizedError",
    });
  }, 300_000);
});
