import { expect, test } from "bun:test";
import { articleFromUrl } from "../../../src/articles/index.ts";
import { extractBody } from "../../../src/extraction/index.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";
import { type CrawlRoute, page, serveCrawlSite } from "../../support/crawl-site.ts";
import { failureOf, testFetcher } from "../../support/test-fetcher.ts";

const frameset = (sources: readonly string[], title = "Manual"): string =>
  `<html><head><title>${title}</title></head><frameset cols="*">${sources
    .map((source) => `<frame src="${source}">`)
    .join("")}</frameset></html>`;

async function read(routes: Readonly<Record<string, CrawlRoute>>) {
  const site = serveCrawlSite(routes);
  await using http = testFetcher({ limits: { tries: 1 } });
  const options = { ...DEFAULT_EXTRACTION, minWordCount: 5, renderings: ["markdown", "anchors"] as const };
  const request = { url: `${site.origin}/`, preference: "http_only" as const, options, fetch: {} };
  const fetched = articleFromUrl(request, {
    fetchers: { http, browser: null },
    extractor: { extract: extractBody },
  });
  fetched.catch(() => {}).finally(() => site[Symbol.asyncDispose]());
  return { site, fetched };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `part${n + 1}.html`);
const pagesOf = (sources: readonly string[]): Record<string, string> =>
  Object.fromEntries(sources.map((source) => [`/${source}`, page(source.replace(".html", ""))]));

test.each([2, 8])(
  "a page of %d frames is their content in order, under the title of the page",
  async (count) => {
    const { site, fetched } = await read({ "/": frameset(names(count)), ...pagesOf(names(count)) });
    const { article, warnings, finalUrl } = await fetched;
    expect<unknown>([article.title, finalUrl, warnings]).toEqual(["Manual", `${site.origin}/`, []]);
    expect([...(article.markdown ?? "").matchAll(/^# (.*)$/gm)].map(([, title]) => title)).toEqual(
      names(count).map((name) => name.replace(".html", "")),
    );
    expect(article.wordCount).toBeGreaterThan(count * 50);
  },
);

test("of nine frames the first eight are read, and the ninth is named", async () => {
  const { site, fetched } = await read({ "/": frameset(names(9)), ...pagesOf(names(9)) });
  const { warnings } = await fetched;
  expect(warnings).toEqual([`The frame ${site.origin}/part9.html was not read: it is beyond the first 8`]);
  expect(site.count("/part9.html")).toBe(0);
});

test("a frame of another origin is named and not requested, also behind a redirect", async () => {
  await using other = serveCrawlSite({ "*": page("Elsewhere") });
  const sources = [`${other.origin}/a.html`, "moved.html", "part1.html"];
  const { site, fetched } = await read({
    "/": frameset(sources),
    "/moved.html": () => Response.redirect(`${other.origin}/b.html`),
    ...pagesOf(["part1.html"]),
  });
  const { article, warnings } = await fetched;
  expect(warnings).toEqual([
    `The frame ${other.origin}/a.html was not read: it is of another origin`,
    `The frame ${site.origin}/moved.html was not read: ${site.origin}/moved.html is answered by ${other.origin}`,
  ]);
  expect(article.text).toContain("part1 is about the gate");
  expect(other.visits).toEqual([]);
});

test("a frame that fails is named, and the others are the page", async () => {
  const { site, fetched } = await read({
    "/": frameset(["lost.html", "part1.html"]),
    ...pagesOf(["part1.html"]),
  });
  const { article, warnings } = await fetched;
  expect(warnings).toEqual([`The frame ${site.origin}/lost.html was not read: it answered HTTP 404`]);
  expect(article.text).toContain("part1 is about the gate");
});

test("when all frames fail, the failure names them", async () => {
  const { site, fetched } = await read({ "/": frameset(["lost.html", "gone.html"]) });
  const failure = await failureOf(fetched);
  expect(failure?.toRecord()).toEqual({
    code: "no_content",
    message: `${site.origin}/ is a frameset: the content is in its frames, ${site.origin}/lost.html ${site.origin}/gone.html`,
  });
});

test("frames are read one level deep: nested framesets of one page are, a frame that is a frameset is named", async () => {
  const { site, fetched } = await read({
    "/": `<title>Manual</title><frameset rows="*,*"><frame src="part1.html"><frameset cols="*,*"><frame src="part2.html"><frame src="inner.html"></frameset></frameset>`,
    "/inner.html": frameset(["/part3.html", "/"], "Inner"),
    ...pagesOf(names(3)),
  });
  const { article, warnings } = await fetched;
  expect(article.text).toContain("part2 is about the gate");
  expect(warnings).toEqual([`The frame ${site.origin}/inner.html was not read: it is a frameset itself`]);
  expect([site.count("/part3.html"), site.count("/")]).toEqual([0, 1]);
});

test("anchors lead to the blocks of their frames", async () => {
  const { fetched } = await read({
    "/": frameset(["part1.html", "part2.html"]),
    ...pagesOf(["part1.html"]),
    "/part2.html": `<article><h1 id="top">Second</h1><p>${"The sea rises twice a day. ".repeat(10)}</p><h2 id="low">Low water</h2><p>${"The sea falls twice a day. ".repeat(10)}</p></article>`,
  });
  const { markdown, anchors } = (await fetched).article;
  const lineAt = (id: string) =>
    markdown?.slice(anchors?.find((anchor) => anchor.id === id)?.start).split("\n")[0];
  expect([lineAt("top"), lineAt("low")]).toEqual(["# Second", "## Low water"]);
});
