import { describe, expect, test } from "bun:test";
import { looksLooped, Traps, withoutSession } from "../../../src/crawler/scope.ts";
import { pageUrl } from "../../support/test-fetcher.ts";

test.each([
  ["a long URL", `https://h.test/${"x".repeat(2000)}`],
  ["a repeated segment", "https://h.test/a/a/a"],
  ["a repeated pair", "https://h.test/en/docs/en/docs/en/docs/x"],
  ["a repeated triple at the end", "https://h.test/p/a/b/c/a/b/c/a/b/c"],
  ["a segment that comes again and again", "https://h.test/x/1/x/2/x/3/x/4/x"],
  ["a very deep path", `https://h.test/${Array.from({ length: 40 }, (_, index) => `s${index}`).join("/")}`],
  ["many parameters", `https://h.test/?${Array.from({ length: 20 }, (_, index) => `p${index}=1`).join("&")}`],
  ["a parameter that is added again and again", "https://h.test/?f=1&f=2&f=3&f=4"],
])("%s looks like a loop", (_, url) => {
  expect(looksLooped(pageUrl(url))).toBe(true);
});

test.each([
  "https://h.test/",
  "https://h.test/a/b/a/b",
  "https://h.test/2026/11/21/11",
  "https://h.test/1/1/1",
  "https://h.test/2009/05/a-post-of-then",
  "https://h.test/calendar/2026/12",
  "https://h.test/calendar/2091/12",
  "https://h.test/2021/05/independence-day-speech/",
  "https://h.test/events?date=2027-03-01",
  "https://h.test/viewtopic.php?t=204512&start=20",
  "https://h.test/search?q=1&category=2050",
  "https://h.test/list?color=red&color=blue&size=1&page=3",
  "https://h.test/docs/v2/api/users/list.html",
])("%s does not", (url) => {
  expect(looksLooped(pageUrl(url))).toBe(false);
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
])("%s looks like a loop", (_, url) => {
  expect(looksLooped(pageUrl(url))).toBe(true);
});

test.each([
  "https://h.test/a//b",
  "https://h.test/web/2020/https://other.test//a",
  "https://h.test/?a=1&amp;b=2&amp;c=3",
  "https://h.test/100%25-cotton",
  "https://h.test/champs/amp;x",
])("%s does not look like a loop", (url) => {
  expect(looksLooped(pageUrl(url))).toBe(false);
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

const noted = (paths: readonly string[], textOf: (path: string, at: number) => string): Traps => {
  const traps = new Traps();
  for (const [at, path] of paths.entries()) {
    // Each leads to another of its kind.
    const next = paths[(at + 1) % paths.length]!;
    const links = [{ url: pageUrl(`https://h.test${next}`), text: "", isNofollow: false }];
    traps.note(pageUrl(`https://h.test${path}`), textOf(path, at), links);
  }
  return traps;
};

/** Whether a link to `path`, found on `parent`, leads into a trap. */
const isTrap = (traps: Traps, path: string, parent: string): boolean =>
  traps.isTrap(pageUrl(`https://h.test${path}`), pageUrl(`https://h.test${parent}`));

const several = (count: number, make: (at: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => make(at));

describe("pages of one template without text of their own", () => {
  test.each([
    ["something random in the path", () => `/${uuid()}/a`],
    ["something random that has a date in it", (at: number) => `/${at}8a3f21c-2025-4d9a-b983-d39adbd93f89/a`],
    ["something random as a parameter", () => `/a?key=${uuid()}`],
    ["a session's number", () => `/a?session=${Math.floor(Math.random() * 1e9) + 1}`],
    ["a number of a page", (at: number) => `/list?page=${at}`],
    ["a number in the path", (at: number) => `/list/${at}`],
  ])("with %s are a trap to the links of such pages", (_, path) => {
    const paths = several(7, path);
    const traps = noted(paths, () => "One and the same text");
    expect(isTrap(traps, path(99), paths[6] ?? "")).toBe(true);
    expect(isTrap(traps, path(99), "/")).toBe(false);
    expect(isTrap(traps, "/else/where?page=1", paths[6] ?? "")).toBe(false);
    expect(traps.takeWarnings()).toEqual([expect.stringContaining("had no text of their own")]);
  });

  test("are no trap where they lead to no others of their kind", () => {
    const traps = new Traps();
    const leaves = several(60, (at) => `/list/${at}`);
    for (const leaf of leaves)
      traps.note(pageUrl(`https://h.test${leaf}`), "The same", [
        { url: pageUrl("https://h.test/"), text: "Home", isNofollow: false },
        { url: pageUrl(`https://h.test${leaf}`), text: "This page", isNofollow: false },
      ]);
    expect(isTrap(traps, "/list/99", "/")).toBe(false);
    expect(traps.takeWarnings()).toEqual([]);
  });

  test("are a trap to every link after thirty of them", () => {
    const traps = noted(
      several(31, (at) => `/list?page=${at}`),
      () => "The same",
    );
    expect(isTrap(traps, "/list?page=99", "/")).toBe(true);
  });

  test("are known in calendars, whose pages differ by their dates", () => {
    const months = several(40, (at) => `/cal/${2020 + Math.floor(at / 12)}/${(at % 12) + 1}`);
    const names = ["January", "February", "March", "April", "May", "June", "July"];
    const traps = noted(months, (path, at) => `Calendar ${names[at % 7]} ${path} 1 2 3 4 5 30 31 no events`);
    expect(isTrap(traps, "/cal/2031/5", months[39] ?? "")).toBe(true);
  });
});

test("copies of one page with the same relative links lead to no more copies", () => {
  const traps = new Traps();
  const words = ["tickets", "photos", "press"];
  const copies = several(6, (at) => `/event/${words.slice(0, at % 3).join("/")}${"x".repeat(at)}/`);
  for (const copy of copies) {
    const links = words.map((word) => ({
      url: pageUrl(`https://h.test${copy}${word}/`),
      text: word,
      isNofollow: false,
    }));
    traps.note(pageUrl(`https://h.test${copy}`), "One text", links);
  }
  expect(isTrap(traps, `${copies[5]}photos/`, copies[5] ?? "")).toBe(true);
  expect(isTrap(traps, `${copies[4]}photos/`, copies[4] ?? "")).toBe(false);
  expect(isTrap(traps, "/imprint", copies[5] ?? "")).toBe(false);
});

test("pages that have text of their own are no trap, whatever their address", () => {
  const paths = [...several(50, (at) => `/events/2021/05/${at}`), ...several(50, (at) => `/list?page=${at}`)];
  const word = (at: number) => String.fromCharCode(97 + (at % 26), 97 + Math.floor(at / 26));
  const traps = noted(paths, (_, at) => `Event ${word(at)} at the harbour`);
  expect(isTrap(traps, "/events/2021/05/99", paths[40] ?? "")).toBe(false);
  expect(isTrap(traps, "/list?page=99", paths[99] ?? "")).toBe(false);
});
