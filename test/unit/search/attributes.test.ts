import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { attributesOf, NO_FILTER } from "../../../src/search/attributes.ts";
import { parseFilter, type SourceDocument } from "../../../src/search/index.ts";
import { compileGlob } from "../../../src/urls/index.ts";

const document = (path: string, title = "", declared: SourceDocument["declared"] = {}): SourceDocument => ({
  // An address in the forms that documents have.
  url: (path.includes("://") ? path : `docs://site/${path}`) as SourceDocument["url"],
  title,
  markdown: "",
  declared,
});

describe("the attributes of a document", () => {
  test.each([
    ["guide/start.md", "Getting started", "guide"],
    ["README.md", "", "guide"],
    ["history.html", "A Brief History", "guide"],
    ["how-to-create-a-release-build.md", "How to: Create a Release Build", "guide"],
    ["Microsoft.PowerShell.Archive/Compress-Archive.md", "Compress-Archive", "guide"],
    ["api/client.md", "Client", "reference"],
    ["docs/reference/index.html", "", "reference"],
    ["reference.md", "", "reference"],
    ["CHANGELOG.md", "", "changelog"],
    ["pkg/changelog.md", "", "changelog"],
    ["CHANGES.rst", "", "changelog"],
    ["releases/4.2.txt", "Django 4.2 release notes", "changelog"],
    ["release-15-1.html", "E.20. Release 15.1", "changelog"],
    ["notes.md", "Release notes", "changelog"],
    ["overview.md", "What's new in 4.2", "changelog"],
    ["overview.md", "What\u2019s New for users", "changelog"],
    ["blog/vite5.md", "Vite 5.0 is out!", "blog"],
    ["x/announcing-2.html", "", "blog"],
    ["x.md", "Announcing 2.0", "blog"],
    ["_posts/2024-03-01-hello.md", "", "blog"],
    ["https://example.org/2023/04/hello/", "Hello", "blog"],
    ["archive/guide.md", "", "archive"],
    ["archive.md", "git archive", "guide"],
  ])("%s %p is of the kind %s", (path, title, kind) => {
    expect(attributesOf(document(path, title)).kind).toBe(kind as "guide");
  });

  test.each([
    ["https://docs.example.org/en/4.2/intro/", "4.2", "en"],
    ["https://example.org/docs/15/app.html", "15", ""],
    ["v2/a.md", "2", ""],
    ["docs/v1.10.3/a.md", "1.10.3", ""],
    ["version-3.x/a.md", "3.x", ""],
    ["latest/a.md", "latest", ""],
    ["ja/guide/a.md", "", "ja"],
    ["pt_BR/guide/a.md", "", "pt-br"],
    ["zh-Hans/a.md", "", "zh-hans"],
    ["guide/deep/down/cs/a.md", "", ""],
    ["chapters/1/a.md", "", ""],
    ["2023/a.md", "", ""],
    ["man/1/ls.html", "", ""],
    ["4.2.md", "", ""],
    ["en", "", ""],
  ])("%s is of version %p in language %p", (path, version, language) => {
    expect(attributesOf(document(path))).toMatchObject({ version, language });
  });

  test("are what the document says, where it says it", () => {
    const said = attributesOf(document("ja/a.md", "", { language: "de_AT", date: "2024-02-29T10:00:00Z" }));
    expect(said).toMatchObject({ language: "de-at", date: 19_782 });
    expect(attributesOf(document("blog/2024-02-29-x.md")).date).toBe(19_782);
    expect(attributesOf(document("https://a.example/2024/02/29/x")).date).toBe(19_782);
    for (const date of ["", "yesterday", "1969-01-01", "2024-13-40", "x".repeat(5000)])
      expect(attributesOf(document("a.md", "", { date })).date).toBe(0);
  });

  test("name one page alike in every version and language", () => {
    const pages = [
      "docs/a.md",
      "v2/docs/a.md",
      "docs/v1/a.md",
      "ja/docs/a.md",
      "versioned_docs/version-1.0/a.md",
    ];
    expect(new Set(pages.map((path) => attributesOf(document(path)).page)).size).toBe(1);
    expect(attributesOf(document("docs/b.md")).page).not.toBe(attributesOf(document("docs/a.md")).page);
  });

  test("are found for any address and title", () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.string(), fc.string(), (url, title, date) => {
        const found = attributesOf(document(url, title, { date, language: date }));
        expect(found.date).toBeWithin(0, 0x10000);
        expect(found.page).toBeWithin(0, 2 ** 32);
      }),
    );
  });
});

describe("globs", () => {
  test.each([
    ["guide/", "/guide/a.md", true],
    ["/guide", "/guides.md", true],
    ["guide", "/my/guide.md", false],
    ["guide/*", "/guide/a.md", true],
    ["guide/*", "/guide/b/a.md", false],
    ["guide/**", "/guide/b/a.md", true],
    ["guide/**/a.md", "/guide/a.md", true],
    ["guide/**/a.md", "/guide/b/c/a.md", true],
    ["guide/**/a.md", "/guide/b/ca.md", false],
    ["**/a.md", "/a.md", true],
    ["**", "/", true],
    ["*.md", "/deep/down/a.md", true],
    ["*.md", "/deep/down/a.html", false],
    ["a?c", "/x/abc", true],
    ["a?c", "/x/a/c", false],
    ["*", "/a", true],
    ["docs://site/*/a", "docs://site/x/a", true],
    ["[ab]*", "/x/b", true],
    ["guide/*.{md,html}", "/guide/a.html", true],
    ["guide/{a,b}.md", "/guide/b.md", true],
    ["guide/{a,b}.md", "/guide/c.md", false],
    ["chapter[12].md", "/guide/chapter2.md", true],
    ["!guide/*", "/other/a", false],
  ])("%p on %p is %p", (pattern, path, isMet) => {
    expect(compileGlob(pattern)(path)).toBe(isMet);
  });

  test("mean what the same regular expression means", () => {
    const part = fc.constantFrom("a", "b", "*", "?", "a*b", "**");
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join("/")}`),
        fc.array(fc.constantFrom("a", "b", "ab", "abb"), { minLength: 1, maxLength: 5 }),
        (pattern, names) => {
          if (!/[*?]/.test(pattern)) return;
          const path = `/${names.join("/")}`;
          const source = pattern
            .split("/")
            .slice(1)
            .map((name, place, all) => {
              if (name === "**") return place + 1 === all.length ? "(?:/[^/]*)+" : "(?:/[^/]*)*";
              return `/${name.replace(/[*]/g, "[^/]*").replace(/[?]/g, "[^/]")}`;
            })
            .join("");
          expect({ pattern, path, isMet: compileGlob(pattern)(path) }).toEqual({
            pattern,
            path,
            isMet: new RegExp(`^${source}$`).test(path),
          });
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe("a filter", () => {
  test("is names with values, in any order, more than once, with quotes", () => {
    expect(parseFilter("")).toEqual(NO_FILTER);
    expect(parseFilter('  kind:guide,reference PATH:"my docs/",b\tkind:blog ')).toEqual({
      ...NO_FILTER,
      kind: ["guide", "reference", "blog"],
      path: ["my docs/", "b"],
    });
    expect(parseFilter('path:"a,b"c,d group:web version:4.2 language:ja').path).toEqual(["a,bc", "d"]);
  });

  test.each([
    ["knd:guide", '"knd" is none of kind, path, version, language, group; did you mean kind?'],
    ["guide", '"guide" has no name; write filters as name:value'],
    [":guide", '"" is none of'],
    ["kind:", "kind has no value"],
    ["kind:,", "kind has no value"],
    ["kind:guid", "kind:guid is none of guide, reference, changelog, blog, archive; did you mean guide?"],
    ['path:"a', "a quote is not closed"],
    [`path:${"a".repeat(201)}`, "a path has at most 200 characters"],
    [`version:${"1,".repeat(33)}`, "version has more than 32 values"],
    ["x".repeat(1001), "a filter has at most 1000 characters"],
  ])("%p is refused: %s", (text, reason) => {
    expect(() => parseFilter(text)).toThrow(`filter: ${reason}`);
  });
});
