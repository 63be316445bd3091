import { expect, test } from "bun:test";
import { join } from "node:path";
import type { CrawlRequest } from "../../../src/crawler/plan.ts";
import { page, serveCrawlSite } from "../../support/crawl-site.ts";
import { crawlPlace, crawlPlan, crawlSite, openTestApp } from "../../support/crawling.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

const app = forAllTests(openTestApp());

/** Another value than `crawlPlan` gives, for each field that somebody sets. */
const otherValues = (origin: string): Partial<CrawlRequest> => ({
  seeds: [`${origin}/other`],
  sitemaps: [`${origin}/list.txt`],
  allowPrefixes: [`${origin}/`],
  denyPrefixes: [`${origin}/denied`],
  includeUrls: ["/docs/**"],
  oneLanguage: "en",
  oneVersion: "latest",
  since: "2026-01-31",
  excludeUrls: ["*.pdf"],
  maxPages: 7,
  maxDepth: 3,
  concurrency: 2,
  hostDelayMs: 5,
  hasAdaptiveDelay: true,
  followsLinks: false,
  obeysRobots: false,
  respectsMetaRobots: true,
  discoversSitemaps: true,
  readsDocuments: true,
  savesPictures: true,
  trustsLastModified: true,
  preference: "http",
});

test("the manifest's config tells two plans apart whichever field they differ in", async () => {
  await using site = serveCrawlSite({ "/": page("Home"), "/other": page("Other") });
  const configOf = async (changes: Partial<CrawlRequest>): Promise<string> => {
    const { manifest } = await crawlSite(app, site, { ...changes });
    return JSON.stringify({ ...manifest?.config, output_dir: null });
  };
  const { extraction, ...base } = crawlPlan({ seeds: [`${site.origin}/`] });
  const others = otherValues(site.origin);
  const usual = await configOf({});
  for (const name of Object.keys(base)) {
    const value = others[name as keyof CrawlRequest]; // a name out of the plan
    if (value === undefined) throw new Error(`name another value of the plan's field ${name}`);
    expect([name, await configOf({ [name]: value })]).not.toEqual([name, usual]);
  }
  const changes = {
    minWordCount: 9,
    favor: "recall" as const,
    engine: "readability" as const,
    includeImages: false,
    includeCode: false,
    select: "p",
    exclude: ["b"],
    takesNativeMarkdown: false,
    keepsBlocked: true,
    failsOnHttpError: true,
  };
  expect([...Object.keys(changes), "renderings"].sort()).toEqual(Object.keys(extraction).sort());
  for (const [name, value] of Object.entries(changes))
    expect([name, await configOf({ extraction: { ...extraction, [name]: value } })]).not.toEqual([
      name,
      usual,
    ]);
});

test("config has the directory, and of secrets nothing", async () => {
  await using site = serveCrawlSite({ "/": page("Home") });
  await using place = await crawlPlace(app);
  const { manifest } = await place.crawl(crawlPlan({ seeds: [`${site.origin}/`] }), {
    authorizations: new Map([[site.origin, "Basic c2VjcmV0"]]),
    isFresh: true,
    network: { headers: [["X-Token", "s3cret"]], storageState: join(place.path, "state.json") },
  });
  expect(manifest?.config).toMatchObject({
    output_dir: place.path,
    fresh: true,
    network: { header_names: ["x-token"], storage_state: join(place.path, "state.json") },
  });
  expect(JSON.stringify(manifest)).not.toContain("c2VjcmV0");
  expect(JSON.stringify(manifest)).not.toContain("s3cret");
});
