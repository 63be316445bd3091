import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compilePathRules, DEFAULT_EXCLUDED } from "../../../../src/search/index.ts";

const refusalOf = (
  path: string,
  { include = [], exclude = [] }: { readonly include?: string[]; readonly exclude?: string[] } = {},
) => {
  const filter = compilePathRules({ include, exclude });
  const names = path.replace(/\/$/, "").split("/");
  for (let length = 1; length < names.length; length++) {
    const folder = names.slice(0, length).join("/");
    const reason = filter.refuse(folder, true);
    if (reason !== null) return `${folder}/ ${reason}`;
  }
  return filter.refuse(names.join("/"), path.endsWith("/"));
};

describe("the patterns of a tenant", () => {
  test.each([
    ["drafts/", "drafts/a.md", "drafts/ excluded"],
    ["drafts/", "docs/drafts/a.md", "docs/drafts/ excluded"],
    ["drafts/", "docs/drafts", null],
    ["drafts", "docs/drafts", "excluded"],
    ["/drafts", "docs/drafts", null],
    ["/drafts", "drafts", "excluded"],
    ["*.draft.md", "docs/a.draft.md", "excluded"],
    ["docs/*.md", "docs/a.md", "excluded"],
    ["docs/*.md", "docs/deep/a.md", null],
    ["docs/**/*.md", "docs/deep/er/a.md", "excluded"],
    ["docs/**", "docs/a.md", "excluded"],
    ["{old,older}/", "older/a.md", "older/ excluded"],
    ["v[0-9]/", "v2/a.md", "v2/ excluded"],
    ["Drafts/", "drafts/a.md", null],
    ["my drafts/", "my drafts/a.md", "my drafts/ excluded"],
    ["Entwürfe/", "Entw\u0075\u0308rfe/a.md", "Entw\u0075\u0308rfe/ excluded"],
    ["草稿/", "docs/草稿/a.md", "docs/草稿/ excluded"],
    ["\\*.md", "*.md", "excluded"],
  ])("exclude %p: %p is %p", (pattern, path, expected) => {
    expect(refusalOf(path, { exclude: [pattern] })).toBe(expected);
  });

  test.each([
    [["docs/"], "docs/deep/a.md", null],
    [["docs"], "docs/deep/a.md", null],
    [["docs/**"], "docs/deep/a.md", null],
    [["docs/"], "guides/a.md", "not_included"],
    [["*.md"], "docs/a.md", null],
    [["*.md"], "docs/a.rst", "not_included"],
    [["guides/", "README.md"], "README.md", null],
    [[], "any/where.md", null],
  ])("include %p: %p is %p", (include, path, expected) => {
    expect(refusalOf(path, { include })).toBe(expected);
  });

  test("leave out the first folder that is excluded, and a later ! takes back", () => {
    expect(refusalOf("vendor/a/b.md")).toBe("vendor/ excluded");
    expect(refusalOf("vendor/a/b.md", { exclude: ["!vendor/"] })).toBeNull();
    expect(refusalOf("a.tmp.md", { exclude: ["*.md", "!*.tmp.md"] })).toBeNull();
    expect(refusalOf("a.tmp.md", { exclude: ["!*.tmp.md", "*.md"] })).toBe("excluded");
    expect(refusalOf("drafts/a.md", { include: ["drafts/"], exclude: ["drafts/"] })).toBe("drafts/ excluded");
  });

  test("begin with those that suit every folder", () => {
    for (const pattern of DEFAULT_EXCLUDED) {
      expect(refusalOf(`docs/${pattern}a.md`)).toBe(`docs/${pattern} excluded`);
      expect(refusalOf(pattern.replace(/\/$/, ""))).toBeNull();
    }
    expect(compilePathRules(null).refuse("node_modules", true)).toBeNull();
  });

  test("never take in names that begin with a dot", () => {
    const all = { include: ["**", ".*"], exclude: ["!.*", "!.github/"] };
    expect(refusalOf(".github/a.md", all)).toBe(".github/ hidden");
    expect(refusalOf("docs/.a.md", all)).toBe("hidden");
    expect(compilePathRules(null).refuse(".git", true)).toBe("hidden");
  });

  test("match as the definition says", () => {
    const name = fc.stringMatching(/^[ab]{1,4}$/);
    const globName = fc.oneof(fc.constant("**"), fc.stringMatching(/^\*?(?:[ab?]\*?){1,4}$/));
    fc.assert(
      fc.property(
        fc.array(globName, { minLength: 2, maxLength: 5 }),
        fc.array(name, { minLength: 1, maxLength: 5 }),
        (pattern, path) => {
          const filter = compilePathRules({ include: [], exclude: [pattern.join("/")] });
          const isExcluded = filter.refuse(path.join("/"), false) === "excluded";
          expect(isExcluded).toBe(matches(pattern, path));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("take time linear in the path, however they are written", () => {
    const patterns = [
      "**/**/**/*a*a*a*a*b",
      `${"**/a/".repeat(40)}b`,
      `${"{a,aa}".repeat(40)}b`,
      `${"{*a,*b}".repeat(20)}c`,
      `${"[a-z]*".repeat(60)}B`,
      `${"?*".repeat(100)}B`,
    ];
    const costOf = (size: number): number => {
      const filter = compilePathRules({ include: [], exclude: patterns });
      const path = `${"a/".repeat(size / 4)}${"ab".repeat(size / 4)}`;
      const before = process.cpuUsage();
      for (let round = 0; round < 50; round++) filter.refuse(path, false);
      return process.cpuUsage(before).user / 1000;
    };
    costOf(1000);
    expect(costOf(64_000)).toBeLessThan(Math.max(40, costOf(8_000)) * 40);
  });
});

/** Names against the names of a pattern, where `**` stands for any number of names, but not for none at the end. */
function matches(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return path.length === 0;
  if (first === "**")
    return (rest.length === 0 && path.length > 0) || path.some((_, at) => matches(rest, path.slice(at)));
  if (path.length === 0) return false;
  const source = [...first].map((sign) => (sign === "*" ? ".*" : sign === "?" ? "." : sign)).join("");
  return new RegExp(`^${source}$`).test(path[0] ?? "") && matches(rest, path.slice(1));
}
