import { describe, expect, test } from "bun:test";
import { EchoedPages, isTrap, withoutSession } from "../../../src/crawler/scope.ts";
import { pageUrl } from "../../support/test-fetcher.ts";

const NOW = Date.UTC(2026, 10, 21);

test.each([
  ["a long URL", `https://h.test/${"x".repeat(2000)}`],
  ["a repeated segment", "https://h.test/a/a/a"],
  ["a repeated pair", "https://h.test/en/docs/en/docs/en/docs/x"],
  ["a repeated triple at the end", "https://h.test/p/a/b/c/a/b/c/a/b/c"],
  ["a segment that comes again and again", "https://h.test/x/1/x/2/x/3/x/4/x"],
  ["a very deep path", `https://h.test/${Array.from({ length: 40 }, (_, index) => `s${index}`).join("/")}`],
  ["many parameters", `https://h.test/?${Array.from({ length: 20 }, (_, index) => `p${index}=1`).join("&")}`],
  ["a parameter that is added again and again", "https://h.test/?f=1&f=2&f=3&f=4"],
  ["a calendar's far month", "https://h.test/calendar/2029/07"],
  ["a calendar's far past", "https://h.test/events?month=1970-01"],
  ["a calendar in the query", "https://h.test/index.php?view=month&year=1999&month=5"],
  ["any page of a far future", "https://h.test/archive/2091/01/"],
])("%s is a trap", (_, url) => {
  expect(isTrap(pageUrl(url), NOW)).toBe(true);
});

test.each([
  "https://h.test/",
  "https://h.test/a/b/a/b",
  "https://h.test/2026/11/21/11",
  "https://h.test/1/1/1",
  "https://h.test/2009/05/a-post-of-then",
  "https://h.test/calendar/2026/12",
  "https://h.test/events?date=2027-03-01",
  "https://h.test/viewtopic.php?t=204512&start=20",
  "https://h.test/search?q=1&category=2050",
  "https://h.test/list?color=red&color=blue&size=1&page=3",
  "https://h.test/docs/v2/api/users/list.html",
])("%s is none", (url) => {
  expect(isTrap(pageUrl(url), NOW)).toBe(false);
});

test.each([
  ["a run of slashes", "https://h.test/a///b"],
  ["slashes that are added one by one", "https://h.test/a//b//c"],
  ["slashes at the end", "https://h.test/a///"],
  ["slashes at the start", "https://h.test///a"],
  ["an ampersand escaped twice over", "https://h.test/?a=1&amp;amp;b=2"],
  ["an ampersand escaped in the path", "https://h.test/a&amp;&amp;"],
  ["escapes of escapes of an ampersand", "https://h.test/?a=1%26amp%3Bamp%3Bb=2"],
  ["escapes of escapes", "https://h.test/a%252520b"],
])("%s is a trap", (_, url) => {
  expect(isTrap(pageUrl(url), NOW)).toBe(true);
});

test.each([
  "https://h.test/a//b",
  "https://h.test/web/2020/https://other.test//a",
  "https://h.test/?a=1&amp;b=2&amp;c=3",
  "https://h.test/100%25-cotton",
  "https://h.test/champs/amp;x",
])("%s is no trap", (url) => {
  expect(isTrap(pageUrl(url), NOW)).toBe(false);
});

const MD5 = "0123456789abcdef0123456789abcdef";

test.each([
  ["https://h.test/a;jsessionid=AB12.node1", "https://h.test/a"],
  ["https://h.test/a;jsessionid=AB12/b;v=2?x=1", "https://h.test/a/b;v=2?x=1"],
  ["https://h.test/(S(lit3py55t21z5v55vlm25s55))/page.aspx", "https://h.test/page.aspx"],
  ["https://h.test/?PHPSESSID=abc&x=1", "https://h.test/?x=1"],
  ["https://h.test/list?x=1&JSESSIONID=1", "https://h.test/list?x=1"],
  [`https://h.test/viewtopic.php?t=3&sid=${MD5}`, "https://h.test/viewtopic.php?t=3"],
  // These may name a page.
  ["https://h.test/article?sid=204512", "https://h.test/article?sid=204512"],
  ["https://h.test/talk?session_id=42", "https://h.test/talk?session_id=42"],
  ["https://h.test/(s)/page?q=a;b=c", "https://h.test/(s)/page?q=a;b=c"],
])("%s is asked for as %s", (url, expected) => {
  expect(String(withoutSession(pageUrl(url)))).toBe(expected);
  expect(withoutSession(pageUrl(expected))).toBe(pageUrl(expected));
});

const uuid = () => crypto.randomUUID();

describe("pages that a site answers again and again", () => {
  test.each([
    ["in the path", () => `/${uuid()}/a`],
    ["as a parameter", () => `/a?key=${uuid()}`],
    ["as a number of a session", () => `/a?session=${Math.floor(Math.random() * 1e9) + 1}`],
  ])("with something else %s are known after three", (_, path) => {
    const echoes = new EchoedPages();
    for (let times = 0; times < 3; times++) {
      const url = pageUrl(`https://h.test${path()}`);
      expect(echoes.has(url)).toBe(false);
      echoes.note(url, `A text with [a link](${url}/next${times}) that says ${new URL(url).pathname}`);
    }
    expect(echoes.has(pageUrl(`https://h.test${path()}`))).toBe(true);
    expect(echoes.has(pageUrl(`https://h.test${path()}/other`))).toBe(false);
  });

  test("are pages of their own where one has another text, or the address is plain", () => {
    const echoes = new EchoedPages();
    for (let times = 0; times < 50; times++) {
      echoes.note(pageUrl(`https://h.test/commit/${uuid()}`), times === 1 ? "Another text" : "The same text");
      echoes.note(pageUrl(`https://h.test/page-${times}`), "The same text");
      echoes.note(pageUrl(`https://h.test/release20260101?page=${times}`), "The same text");
    }
    for (const path of [`/commit/${uuid()}`, "/page-99", "/release20260101?page=99"])
      expect(echoes.has(pageUrl(`https://h.test${path}`))).toBe(false);
  });
});
