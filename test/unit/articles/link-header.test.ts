import { expect, test } from "bun:test";
import { canonicalOfHeader } from "../../../src/articles/link-header.ts";
import { pageUrl } from "../../support/test-fetcher.ts";

const BASE = pageUrl("https://h.test/a/b");

test.each([
  ['<https://h.test/page>; rel="canonical"', "https://h.test/page"],
  ["</page>; rel=canonical", "https://h.test/page"],
  ["<page> ; REL = Canonical", "https://h.test/a/page"],
  [
    '</style.css>; rel=preload; as=style, </page?a=1,2;3>; title="x, y; z"; rel="canonical"',
    "https://h.test/page?a=1,2;3",
  ],
  ['</page>; rel="shortlink canonical"', "https://h.test/page"],
  ["<HTTPS://H.test:443/page#part>; rel=canonical", "https://h.test/page"],
  ["</one>; rel=canonical, </two>; rel=canonical", "https://h.test/one"],
])("Link: %s names its canonical URL", (header, url) => {
  expect(canonicalOfHeader(header, BASE)).toBe(pageUrl(url));
});

test.each([
  undefined,
  "",
  "</page>",
  "</page>; rel=next",
  '</page>; rel="non-canonical"',
  "</page>; rel=canonical-not",
  '</page>; title="; rel=canonical"',
  '</page>; rel=canonical; anchor="/other"',
  "<>; rel=canonical",
  "<mailto:me@h.test>; rel=canonical",
  "/page; rel=canonical",
  `</${"x".repeat(9000)}>; rel=canonical`,
])("Link: %p names none", (header) => {
  expect(canonicalOfHeader(header, BASE)).toBeNull();
});

test("a long header is read to its limit, in no time that grows faster than it", () => {
  for (const header of [`<a>${"; a = ".repeat(100_000)}`, "<a".repeat(100_000), "<a>;".repeat(100_000)])
    expect(canonicalOfHeader(header, BASE)).toBeNull();
});
