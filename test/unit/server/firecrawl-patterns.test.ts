import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { globsOf } from "../../../src/server/api/firecrawl/patterns.ts";
import { compileUrlGlobs, type PageUrl } from "../../../src/urls/index.ts";

const matches = (globs: readonly string[], path: string): boolean =>
  compileUrlGlobs(globs)(`https://example.org${path}` as PageUrl); // of such paths

describe("regular expressions as globs", () => {
  const part = fc.constantFrom(
    ...[
      "/",
      "a",
      "b",
      "ab",
      ".*",
      ".+",
      ".",
      "[^/]+",
      "[^/]*",
      "(a|b/)",
      "(?:/a|b)?",
      "a?",
      "/?",
      "\\.",
      "-",
    ],
  );
  const expression = fc
    .tuple(fc.boolean(), fc.array(part, { minLength: 1, maxLength: 5 }), fc.boolean())
    .map(
      ([isFromStart, parts, isToEnd]) => `${isFromStart ? "^" : ""}${parts.join("")}${isToEnd ? "$" : ""}`,
    );
  const path = fc
    .array(fc.constantFrom("/", "a", "b", ".", "-", "c"), { maxLength: 8 })
    .map((parts) => `/${parts.join("")}`);

  test("match the paths that the expression matches", () => {
    let tried = 0;
    fc.assert(
      fc.property(expression, fc.array(path, { minLength: 8, maxLength: 8 }), (written, paths) => {
        const globs = globsOf(written);
        if (!globs) return;
        tried++;
        const isMatch = new RegExp(written);
        for (const one of paths) expect([one, matches(globs, one)]).toEqual([one, isMatch.test(one)]);
      }),
      { numRuns: 3000 },
    );
    expect(tried).toBeGreaterThan(1500);
  });

  test("match a path whatever its query", () => {
    const globs = globsOf("^/blog/[^/]+$") ?? [];
    expect(matches(globs, "/blog/a?page=2&next=/b/c")).toBe(true);
    expect(matches(globs, "/blog/a/b?page=2")).toBe(false);
  });

  test.each(["blog/*", "/blog/.*", ".*\\.pdf$", "/(en|de)/docs/.*", "^/a\\*b$", "v\\-1"])(
    "know %s",
    (written) => {
      expect(globsOf(written)).not.toBeNull();
    },
  );

  test.each([
    ...["", "(a+)+$", "\\d+", "[a-z]", "a{2}", "(?=a)", "a|b", "a+", "x*y", "(", "\\", "^blog", "^$"],
    ".*a.*a.*a.*a.*a",
    "(a|b)(a|b)(a|b)(a|b)(a|b)",
    "a".repeat(101),
  ])("leave %j alone", (written) => {
    expect(globsOf(written)).toBeNull();
  });
});
