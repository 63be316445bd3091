import { expect, test } from "bun:test";
import { sentAt } from "../../../src/crawler/index.ts";
import { withRobotsHeader } from "../../../src/crawler/visit.ts";

test.each([
  ["noindex", true, false],
  ["noindex, nofollow", true, true],
  ["none", true, true],
  ["all", false, false],
  ["otherbot: noindex, nofollow", false, false],
  ["otherbot: noindex, article-extractor: nofollow", false, true],
  ["unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", true, false],
  ["max-snippet: 20, nofollow", false, true],
])("X-Robots-Tag %p", (header, noindex, nofollow) => {
  expect(withRobotsHeader({ noindex: false, nofollow: false }, header)).toEqual({ noindex, nofollow });
});

test("the header adds to the page's own directives and takes none away", () => {
  expect(withRobotsHeader({ noindex: true, nofollow: false }, "nofollow")).toEqual({
    noindex: true,
    nofollow: true,
  });
});

test.each([
  [1000, 1000],
  [1040, 1040],
  [1250, 1250],
  [9000, 1250],
  // A clock that was set back.
  [10, 1000],
])("a request that began at 1000 and was answered at %p counts from %p", (endedAt, countedFrom) => {
  expect(sentAt(1000, endedAt)).toBe(countedFrom);
});
