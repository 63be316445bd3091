import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { DEFAULT_NETWORK } from "../../src/app/index.ts";
import { RenderingHistory } from "../../src/articles/index.ts";
import type { FetchedPage } from "../../src/fetching/index.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { openTestHost, testBrowserFetcher, testMachine } from "../support/browser-fetcher.ts";
import { type CrawlResult, crawlPlace, crawlPlan, openTestApp } from "../support/crawling.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { type LearnedSite, SCRIPTED, type Scripted, serveLearnedSite } from "../support/learned-site.ts";
import { pageUrl } from "../support/test-fetcher.ts";

setDefaultTimeout(300_000);
const app = forAllTests(openTestApp(testMachine()));

/** A crawl where nobody has asked for the browser, and the text of each page by its path. */
async function crawl({ origin }: LearnedSite, changes: Parameters<typeof crawlPlan>[0] = {}) {
  await using place = await crawlPlace(app);
  const plan = crawlPlan({ seeds: [`${origin}/`], preference: "learned", ...changes });
  const run = await place.crawl(plan, { isFresh: true });
  const texts = new Map<string, string>();
  for (const { url, filePath } of run.allOutcomes)
    if (filePath !== null)
      texts.set(new URL(url).pathname, await Bun.file(join(place.path, filePath)).text());
  return { run, texts };
}

const renderedOf = (run: CrawlResult): number[] =>
  run.allOutcomes
    .filter(({ fetcher }) => fetcher === "browser")
    .map(({ url }) => Number(new URL(url).pathname.slice(2)))
    .sort((a, b) => a - b);

function expectEveryWord(site: LearnedSite, texts: ReadonlyMap<string, string>, pages: number): void {
  for (let n = 1; n <= pages; n++)
    for (const word of site.wordsOf(n)) expect(`${n}: ${texts.get(`/p${n}`)}`).toContain(word);
}

/** Pages in the order in which a crawl asks for them. */
const pagesOf = ({ asked }: LearnedSite): string[] => asked.filter((path) => /^\/(?:p\d+)?$/.test(path));

test("a site whose scripts change nothing is rendered eight times, then every twentieth time, and asked once", async () => {
  await using site = serveLearnedSite({ pages: 70, scripted: new Map() });
  const { run, texts } = await crawl(site, { concurrency: 1 });
  expect(run.summary.progress).toMatchObject({ successful: 71, failed: 0 });
  expectEveryWord(site, texts, 70);
  const rendered = renderedOf(run).length;
  expect(rendered).toBeGreaterThanOrEqual(11);
  expect(rendered).toBeLessThanOrEqual(16);
  expect(run.allOutcomes.filter(({ fetcher }) => fetcher === "http")).toHaveLength(71 - rendered);
  expect(pagesOf(site).sort()).toEqual([...new Set(pagesOf(site))].sort());
});

test("no icon, image, font or film is fetched", async () => {
  await using site = serveLearnedSite({ pages: 12, scripted: new Map() });
  await crawl(site);
  const others = new Set(site.asked.filter((path) => !/^\/(?:p\d+)?$/.test(path)));
  expect([...others].sort()).toEqual(["/robots.txt", "/site.css", "/site.js"]);
});

test("pages whose content comes by scripts lose no word, wherever they are", async () => {
  const pages = 60;
  const scripted = fc.uniqueArray(
    fc.tuple(fc.integer({ min: 1, max: pages }), fc.constantFrom(...SCRIPTED)),
    { selector: ([n]) => n, minLength: 5, maxLength: 5 },
  );
  const run = async (some: readonly (readonly [number, Scripted])[], concurrency: number): Promise<void> => {
    await using site = serveLearnedSite({ pages, scripted: new Map(some) });
    const { texts, run } = await crawl(site, { concurrency });
    expectEveryWord(site, texts, pages);
    expect(renderedOf(run).length).toBeLessThan(pages);
    expect(pagesOf(site)).toHaveLength(pages + 1);
  };
  await fc.assert(fc.asyncProperty(scripted, fc.constantFrom(1, 4, 16), run), {
    numRuns: 3,
    endOnFailure: true,
  });
});

test("at a difference the pages since the last comparison are rendered, and all that follow", async () => {
  await using site = serveLearnedSite({ pages: 50, scripted: new Map(), changesFrom: 29 });
  const { run, texts } = await crawl(site, { concurrency: 1 });
  expectEveryWord(site, texts, 50);
  // The index and seven pages are compared first; the twentieth after them is the same, and releases those before it.
  expect(renderedOf(run).filter((n) => n >= 29)).toHaveLength(22);
  expect(pagesOf(site)).toHaveLength(51);
});

test("the pages of a list are learned from too, in their order", async () => {
  await using site = serveLearnedSite({ pages: 40, scripted: new Map([[17, "container"]]) });
  await using session = app.openSession(DEFAULT_NETWORK);
  const renderingHistory = new RenderingHistory();
  const options = { ...DEFAULT_EXTRACTION, minWordCount: 1, renderings: [] };
  const signal = new AbortController().signal;
  const pages = Array.from({ length: 40 }, (_, at) => `${site.origin}/p${at + 1}`);
  const read = (url: string) =>
    session.fromUrl({ url, authorization: null, options, signal, renderingHistory });
  const articles = await Promise.all(pages.map(read));
  expect(articles.map(({ url }) => url)).toEqual(pages);
  expect(articles[16]?.article.text).toContain("Fetched is part");
  expect(articles.filter(({ fetcher }) => fetcher === "http").length).toBeGreaterThan(20);
  expect(pagesOf(site)).toHaveLength(40);
});

test("whoever asks for the browser gets every page from it", async () => {
  await using site = serveLearnedSite({ pages: 12, scripted: new Map() });
  const { run } = await crawl(site, { preference: "browser" });
  expect(renderedOf(run)).toHaveLength(13);
});

test("documents that a tab shows one after another know nothing of each other, and none is requested", async () => {
  await using site = serveLearnedSite({ pages: 1, scripted: new Map() });
  await using host = openTestHost();
  await using browser = testBrowserFetcher({ host });
  const script = `document.body.append([window.name, sessionStorage.seen, window.seen].join("|"));
    window.name = sessionStorage.seen = window.seen = "seen before"; setInterval(() => {}, 10);`;
  for (let n = 0; n < 3; n++) {
    const url = pageUrl(`${site.origin}/given/${n}`);
    const received: FetchedPage = {
      url,
      finalUrl: url,
      redirects: [],
      status: 200,
      contentType: "text/html",
      html: `<!doctype html><p>Words of ${n}: </p><script>${script}</script>`,
      encoding: "utf-8",
      headers: {},
      fetchedBy: "http",
      warnings: [],
      bodyBytes: 100,
      tries: 1,
      durationMs: 1,
    };
    const { html, finalUrl } = await browser.fetch(url, { received });
    expect(finalUrl).toBe(url);
    expect(html).toContain("||");
    expect(html.replace(script, "")).not.toContain("seen before");
  }
  expect(site.asked).toEqual([]);
});
