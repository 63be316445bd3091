import { expect, test } from "bun:test";
import { extractBody } from "../../../src/extraction/index.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";
import { encodeQuery } from "../../../src/urls/index.ts";
import { pageUrl } from "../../support/test-fetcher.ts";

test.each([
  ["windows-1251", "/п?тег=мир#я", "/п?%F2%E5%E3=%EC%E8%F0#я"],
  ["iso-8859-2", "?q=łódź&a=%C5", "?q=%B3%F3d%BC&a=%C5"],
  ["windows-1252", "?q=мы", "?q=%26%231084%3B%26%231099%3B"],
  ["shift_jis", "?q=日本", "?q=%93%FA%96%7B"],
  ["gbk", "?q=中文", "?q=%D6%D0%CE%C4"],
  ["euc-kr", "?q=한국", "?q=%C7%D1%B1%B9"],
  ["big5", "?q=中文", "?q=%A4%A4%A4%E5"],
  // As Chromium writes them: the bytes of JIS X 0208 stand as they are where a query may hold them.
  ["iso-2022-jp", "/日?q=日本&a=b#本", "/日?q=%1B$BF|K\\%1B(B&a=b#本"],
  ["iso-2022-jp", "?q=あｱ", "?q=%1B$B$%22%%22%1B(B"],
  ["iso-2022-jp", "?q=\u00A5a~", "?q=%1B(J\\a%1B(B~"],
  ["iso-2022-jp", "?q=あ\u{1F600}", "?q=%1B$B$%22%1B(B%26%23128512%3B"],
  ["iso-2022-kr", "?q=한", "?q=한"],
  ["utf-8", "?q=мир", "?q=мир"],
  ["utf-16le", "?q=мир", "?q=мир"],
])("in %s the query of %s is that of %s", (encoding, href, expected) => {
  expect(encodeQuery(href, encoding)).toBe(expected);
});

test("links of a page have their queries in its encoding, and their paths in UTF-8", async () => {
  const { links, article } = await extractBody({
    kind: "html",
    body: '<article><p>Слово о том, <a href="/п?т=м">что далее</a> будет в этом тексте.</p></article>',
    url: pageUrl("https://h.test/"),
    options: { ...DEFAULT_EXTRACTION, renderings: ["markdown", "content"] },
    encoding: "windows-1251",
  });
  expect(links.map(({ url }) => url) as string[]).toEqual(["https://h.test/%D0%BF?%F2=%EC"]);
  for (const output of [article?.markdown, article?.content])
    expect(output).toContain("https://h.test/%D0%BF?%F2=%EC");
});

const OF_DATA = `${"Слово о том, что далее будет в этом тексте. ".repeat(20)}<a href='/п?т=м'>что далее</a>`;
test.each([
  [
    "recovered from data",
    "article-extractor",
    `<script type="application/ld+json">${JSON.stringify({ "@type": "Article", articleBody: `<p>${OF_DATA}</p>` })}</script><p>Слово.</p>`,
  ],
  ["found by the other engine", "readability", `<article><p>${OF_DATA}</p></article>`],
] as const)("links %s have their queries in the encoding of the page", async (_, engine, body) => {
  const { article } = await extractBody({
    kind: "html",
    body,
    url: pageUrl("https://h.test/"),
    options: { ...DEFAULT_EXTRACTION, engine, renderings: ["markdown", "content", "links"] },
    encoding: "windows-1251",
  });
  expect(article?.links?.map(({ url }) => url)).toEqual(["https://h.test/%D0%BF?%F2=%EC"]);
  for (const output of [article?.markdown, article?.content])
    expect(output).toContain("https://h.test/%D0%BF?%F2=%EC");
});
