import { expect, test } from "bun:test";
import { isTrap } from "../../../src/crawler/traps.ts";
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
