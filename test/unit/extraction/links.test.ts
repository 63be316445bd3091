import { describe, expect, test } from "bun:test";
import { parsePageUrl } from "../../../src/urls/index.ts";
import { extract, PAGE_URL, type PageCase, pageUrl, pageWith } from "../../support/extraction.ts";

const linksOf = async (html: string, page: PageCase = {}) => (await extract(html, page)).links;
const urlsOf = async (html: string, page: PageCase = {}): Promise<string[]> =>
  (await linksOf(html, page)).map((link) => link.url);

describe("the links of a page", () => {
  test("are absolute and canonical, in page order, also outside of the article", async () => {
    const html = `<nav><a href="/home">Home</a></nav>${pageWith(`<a href="next?b=2&amp;a=1&amp;utm_source=x">Next</a>`)}<a href="//Other.test:443/x/../y">Y</a>`;
    expect(await urlsOf(html)).toEqual([
      "https://site.test/home",
      "https://site.test/dir/next?b=2&a=1",
      "https://other.test/y",
    ]);
  });

  test("are there when the page holds no article", async () => {
    const { article, links } = await extract(`<a href="/only"></a>`);
    expect(article).toBeNull();
    expect(links).toEqual([{ url: pageUrl("https://site.test/only"), text: "", isNofollow: false }]);
  });

  test("are the canonical URLs of what the page wrote, in whatever pieces", async () => {
    const starts = [
      "",
      "/",
      "//",
      "https://other.test",
      "http://a-b.Other.test/",
      "https://1.2.3.4/",
      "https:/",
      "?",
    ];
    const hosts = [
      "https://x--y.test/",
      "https://a.b.c.test./",
      "https://u@other.test/",
      "https://other.test:80/",
      "https://a..test/",
    ];
    const paths = [
      "a",
      "/b/",
      "/./c",
      "/../d",
      ".well",
      "a.b",
      "/%2e%2e/e",
      "%41",
      "a b",
      "ä",
      "a|b",
      "a\\b",
      "a;p=1,2:3",
      "//",
      "?q=1",
      "~+-_",
      "/.",
    ];
    const ends = ["", "/f", ".html", "?utm_source=x&b=c", "#g"];
    const hrefs = [...starts, ...hosts].flatMap((start) =>
      paths.flatMap((path) => ends.map((end) => start + path + end)),
    );
    const urls = hrefs.map((href) => parsePageUrl(href, pageUrl(PAGE_URL)));
    const html = hrefs.map((href) => `<a href="${href.replaceAll("&", "&amp;")}">x</a>`).join("");
    expect(await urlsOf(html)).toEqual([...new Set(urls.filter((url) => url !== null))]);
  });

  test("leave out places on the same page", async () => {
    expect(await urlsOf(`<a href="#top">a</a><a href=" #mid">b</a><a href="/p#part">c</a>`)).toEqual([
      "https://site.test/p",
    ]);
  });

  test("leave out what is no web page", async () => {
    const hrefs = [
      "javascript:void(0)",
      " JavaScript:x",
      "java&#10;script:x",
      "data:text/html,x",
      "mailto:a@b.test",
      "tel:1",
      "blob:https://site.test/1",
      "file:///etc/passwd",
      "http://",
      "https://[bad",
    ];
    expect(await urlsOf(hrefs.map((href) => `<a href="${href}">x</a>`).join(""))).toEqual([]);
  });

  test("name each target once, with the first anchor's text", async () => {
    const links = await linksOf(
      `<a href="/p">First</a><a href="/p#x">Second</a><a href="/p?utm_medium=m">Third</a>`,
    );
    expect(links).toEqual([{ url: pageUrl("https://site.test/p"), text: "First", isNofollow: false }]);
  });

  test("are nofollow when every anchor to the target is", async () => {
    const html = `<a rel="external NOFOLLOW" href="/a">a</a><a href="/a">a</a>
      <a href="/b">b</a><a rel="nofollow" href="/b">b</a><a rel="nofollow" href="/c">c</a><a rel="nofollower" href="/d">d</a>`;
    expect((await linksOf(html)).map((link) => [link.url.slice(-1), link.isNofollow])).toEqual([
      ["a", false],
      ["b", false],
      ["c", true],
      ["d", false],
    ]);
  });

  test("have one visible line of text, of at most 200 characters", async () => {
    const links = await linksOf(
      `<a href="/p"> Read\n <b>more</b>\u200b\u{e0041} </a><a href="/q">${"x".repeat(199)}🙂</a>`,
    );
    expect(links.map((link) => link.text)).toEqual(["Read more", "x".repeat(199)]);
  });

  test("are found in any case of tags and attributes", async () => {
    const html = `<BASE HREF="/b/"><A HREF="p" REL="NOFOLLOW">p</A><META NAME="ROBOTS" CONTENT="NOINDEX"><LINK REL="CANONICAL" HREF="c">`;
    expect(await extract(html)).toMatchObject({
      links: [{ url: pageUrl("https://site.test/b/p"), text: "p", isNofollow: true }],
      robots: { noindex: true, nofollow: false },
      canonical: pageUrl("https://site.test/b/c"),
    });
  });

  test("include the areas of image maps", async () => {
    expect(await urlsOf(`<map><area href="/north"></map>`)).toEqual(["https://site.test/north"]);
  });

  test("are only the absolute ones where the page has no address", async () => {
    expect(await urlsOf(`<a href="/p">p</a><a href="https://o.test/q">q</a>`, { url: null })).toEqual([
      "https://o.test/q",
    ]);
  });
});

describe("the refresh of a page", () => {
  test.each([
    ["0;url=next", "https://site.test/dir/next"],
    [" 5 ; URL = '/next' ", "https://site.test/next"],
    ["0,url=/next", "https://site.test/next"],
    ["1.5;/next", "https://site.test/next"],
    [".5 url=/next", "https://site.test/next"],
    ['0; url="/a b\'c" d', "https://site.test/a%20b'c"],
    ["0;url=/n?a=1&amp;b=2#part", "https://site.test/n?a=1&b=2"],
    ["0;url=https://other.test/", "https://other.test/"],
    ["0;url='/unclosed", "https://site.test/unclosed"],
    ["6;url=/next", null],
    ["url=/next", null],
    ["0", null],
    ["0;", null],
    ["0;url=", null],
    ["0x;url=/next", null],
    ["-1;url=/next", null],
    ["0;url=javascript:alert(1)", null],
    ["0;url=#top", null],
    ["", null],
  ])("is read from %j", async (content, url) => {
    const head = `<meta http-equiv="REFRESH" content="${content.replaceAll('"', "&quot;")}">`;
    expect((await extract(head + pageWith("<p>x</p>"))).refresh).toBe(url as never);
  });

  test("is that of the first one, against the base, and none of a template", async () => {
    const refresh = (url: string): string => `<meta http-equiv=refresh content="0;url=${url}">`;
    const html = `<base href="/b/"><template>${refresh("t")}</template><noscript>${refresh("n")}</noscript>${refresh("m")}`;
    const { refresh: scripted, noscriptRefresh } = await extract(html);
    expect([scripted, noscriptRefresh]).toEqual(["https://site.test/b/m", "https://site.test/b/n"] as never);
  });
});

describe("the base of relative references", () => {
  test("is the first usable base element", async () => {
    const html = pageWith(
      `<a href="p">p</a><img src="i.png">`,
      `<base target="_top"><base href="/other/"><base href="/third/">`,
    );
    const { article, links } = await extract(html);
    expect(links.map((link) => link.url)).toEqual([pageUrl("https://site.test/other/p")]);
    expect(article?.content).toContain(`src="https://site.test/other/i.png"`);
  });

  test("can be all the address that a page has", async () => {
    expect(await urlsOf(`<base href="https://b.test/x/"><a href="p">p</a>`, { url: null })).toEqual([
      "https://b.test/x/p",
    ]);
  });

  for (const base of ["javascript:alert(1)", "data:text/html,x", "https://[bad", ""]) {
    test(`is the page's address when the base element says ${JSON.stringify(base)}`, async () => {
      expect(await urlsOf(`<base href="${base}"><a href="p">p</a>`)).toEqual(["https://site.test/dir/p"]);
    });
  }
});

describe("what the page tells robots", () => {
  const cases: readonly (readonly [html: string, noindex: boolean, nofollow: boolean])[] = [
    ["", false, false],
    [`<meta name="robots" content="noindex">`, true, false],
    [`<meta name="ROBOTS" content="Index, NoFollow">`, false, true],
    [`<meta name="robots" content="none">`, true, true],
    [`<meta name="robots" content="noindex"><meta name="robots" content="nofollow">`, true, true],
    [`<meta name="robots" content="max-snippet:-1, noarchive">`, false, false],
    [`<meta name="otherbot" content="noindex">`, false, false],
    [`<meta name="robots">`, false, false],
  ];
  for (const [html, noindex, nofollow] of cases) {
    test(`is noindex ${noindex}, nofollow ${nofollow} for ${html || "no directive"}`, async () => {
      expect((await extract(`<head>${html}</head><p>x</p>`)).robots).toEqual({ noindex, nofollow });
    });
  }
});

describe("the canonical URL", () => {
  const canonicalOf = async (head: string, page: PageCase = {}) =>
    (await extract(`<head>${head}</head><p>x</p>`, page)).canonical;

  test("is absolute and canonical", async () => {
    expect(await canonicalOf(`<link rel="alternate Canonical" href="../c?utm_source=x#y">`)).toBe(
      pageUrl("https://site.test/c"),
    );
  });

  test("is null when absent or no web address", async () => {
    expect(await canonicalOf("")).toBeNull();
    expect(await canonicalOf(`<link rel="canonical" href=" ">`)).toBeNull();
    expect(await canonicalOf(`<link rel="canonical" href="javascript:x">`)).toBeNull();
    expect(await canonicalOf(`<link rel="canonical" href="/c">`, { url: null })).toBeNull();
  });
});
