import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { attributesOf } from "../../../src/search/attributes.ts";
import { parseFilter, type SearchSettings, type SourceDocument } from "../../../src/search/index.ts";
import { countIn } from "../../../src/search/searcher.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";
import { compileGlob, docsUrl } from "../../../src/urls/index.ts";
import { OPTIONS, searchIn } from "../../support/search/searching.ts";
import { openFixture, page } from "../../support/search/segment-fixture.ts";

const word = fc.constantFrom("mill", "river", "gate", "weir", "changelog", "2.1");
const text = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(" "));
const folder = fc.constantFrom("ja", "de", "v1", "v2.1", "latest", "blog", "api", "guide", "releases", "a");
const documents = fc.uniqueArray(
  fc.record({
    url: fc
      .tuple(fc.array(folder, { maxLength: 3 }), fc.nat(4))
      .map(([path, name]) => docsUrl("site", [...path, `p${name}.md`].join("/"))),
    title: text,
    markdown: text,
  }),
  { minLength: 1, maxLength: 30, selector: ({ url }) => url },
);

/** Filters of one name each, with what they mean in the plainest words. */
const FILTERS: readonly (readonly [string, (document: SourceDocument) => boolean])[] = [
  ["kind:blog", (one) => attributesOf(one).kind === "blog"],
  ["kind:reference,guide", (one) => ["reference", "guide"].includes(attributesOf(one).kind)],
  ["language:ja", (one) => attributesOf(one).language === "ja"],
  ["version:2", (one) => attributesOf(one).version === "2.1"],
  ["version:v2.1,1", (one) => ["2.1", "1"].includes(attributesOf(one).version)],
  ["path:guide/", (one) => one.url.startsWith("docs://site/guide/")],
  ["path:**/api/*", (one) => /\/api\/[^/]*$/.test(one.url)],
  ["path:docs://site/blog", (one) => one.url.startsWith("docs://site/blog")],
];

const shown = (hits: readonly { url: string; score: number }[]) => hits.map(({ url, score }) => [url, score]);

describe("a filtered search", () => {
  test("finds what the search without it finds and the filter means, in its order, with its scores", async () => {
    await fc.assert(
      fc.asyncProperty(documents, text, fc.subarray([...FILTERS]), async (all, query, chosen) => {
        await using index = await openFixture(all);
        const byUrl = new Map(all.map((one) => [String(one.url), one]));
        const means = (url: string) => {
          const names = Map.groupBy(chosen, ([filter]) => filter.split(":")[0]);
          return [...names.values()].every((one) => one.some(([, isMet]) => isMet(byUrl.get(url)!)));
        };
        const filter = parseFilter(chosen.map(([one]) => one).join(" "));
        // A value that no document has is an error, which has a test of its own.
        const found = searchIn(index.segment, query, { options: { size: 100, filter } });
        const wanted = searchIn(index.segment, query, { options: { size: 100 } });
        expect(shown(found)).toEqual(shown(wanted.filter(({ url }) => means(url))));
      }),
      { numRuns: 60 },
    );
  });

  test("counts what it finds, and for each name what the others allow", async () => {
    await fc.assert(
      fc.asyncProperty(documents, text, async (all, query) => {
        await using index = await openFixture(all);
        const options = { ...OPTIONS, size: 100 };
        const parts = { reader: index.segment, settings: DEFAULT_SEARCH };
        const search = (filter: string) =>
          searchIn(index.segment, query, { options: { size: 100, filter: parseFilter(filter) } });
        for (const filter of ["", "kind:guide", "kind:blog language:ja"]) {
          const counts = countIn(parts, query, { ...options, filter: parseFilter(filter) }, null);
          expect([counts.total, counts.isExact]).toEqual([search(filter).length, true]);
          const others = filter.replace(/kind:\w+/, "");
          for (const kind of ["guide", "reference", "blog", "changelog"])
            expect([kind, counts.values.kind.get(kind) ?? 0]).toEqual([
              kind,
              search(`${others} kind:${kind}`).length,
            ]);
        }
      }),
      { numRuns: 25 },
    );
  });

  test("finds a document that stands far behind others", async () => {
    const all = Array.from({ length: 3000 }, (_, number) =>
      page(`${number % 1000 === 7 ? "api" : "guide"}/${number}`, "Mill", `mill ${"x ".repeat(number % 50)}`),
    );
    await using index = await openFixture(all);
    const filter = parseFilter("kind:reference");
    expect(searchIn(index.segment, "mill", { options: { filter } }).map(({ url }) => url)).toEqual([
      docsUrl("site", "api/1007"),
      docsUrl("site", "api/2007"),
      docsUrl("site", "api/7"),
    ]);
  });

  test("of a quoted phrase meets both", async () => {
    await using index = await openFixture([
      page("api/a", "A", "water mill"),
      page("api/b", "B", "mill water"),
      page("guide/c", "C", "water mill"),
    ]);
    const options = { filter: parseFilter("kind:reference") };
    expect(searchIn(index.segment, '"water mill"', { options }).map(({ url }) => url)).toEqual([
      docsUrl("site", "api/a"),
    ]);
  });
});

describe("pages of hits", () => {
  const all = Array.from({ length: 700 }, (_, number) => {
    const words = `${"mill ".repeat(1 + (number % 7))}${"x ".repeat(number % 31)}`;
    return page(`${number % 5 === 0 ? "blog" : "guide"}/${number}`, number % 3 ? "Mill" : "Other", words);
  });

  test("one after another are one long list, whatever their sizes, and its scores never rise", async () => {
    await using index = await openFixture(all);
    const whole = searchIn(index.segment, "mill x", { options: { size: 700 } });
    expect(new Set(whole.map(({ url }) => url)).size).toBe(700);
    for (const [place, { score }] of whole.entries())
      expect(score).toBeLessThanOrEqual(whole[place - 1]?.score ?? Number.POSITIVE_INFINITY);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 9 }), (sizes) => {
        let offset = 0;
        for (const size of sizes) {
          const hits = searchIn(index.segment, "mill x", { options: { size, offset } });
          expect(shown(hits)).toEqual(shown(whole.slice(offset, offset + size)));
          offset += size;
        }
      }),
      { numRuns: 8 },
    );
  });

  test("beyond the end are empty", async () => {
    await using index = await openFixture(all.slice(0, 3));
    for (const offset of [3, 4, 900])
      expect(searchIn(index.segment, "mill", { options: { offset } })).toEqual([]);
    expect(searchIn(index.segment, "mill", { options: { offset: 2 } })).toHaveLength(1);
  });
});

describe("the standing of a page", () => {
  const settings = (preferences: Partial<SearchSettings["preferences"]>) => ({
    settings: { preferences: { boost: [], deboost: [], ...preferences } },
  });

  /** The paths of what a query finds. */
  const paths = async (
    all: readonly SourceDocument[],
    query: string,
    variation: Parameters<typeof searchIn>[2] = {},
  ) => {
    await using index = await openFixture(all);
    return searchIn(index.segment, query, variation).map(({ url }) => url.slice("docs://site/".length));
  };

  const bundlers = [
    page(
      "blog/announcing-3.md",
      "Announcing 3: rollup and esbuild",
      "Rollup is esbuild now: rollup and esbuild, both.",
    ),
    page(
      "blog/announcing-4.md",
      "Announcing 4: rollup and esbuild",
      "Rollup is esbuild now: rollup and esbuild, both.",
    ),
    page("guide/why.md", "Why esbuild or rollup", "We use rollup and esbuild: why, and when."),
    page("CHANGELOG.md", "Changelog", "esbuild and rollup updated, esbuild again, rollup 4.2"),
    page("archive/why.md", "Why esbuild and rollup", "We use rollup and esbuild, rollup or esbuild."),
  ];

  test("puts guides before announcements, release notes and archives that say more of the words", async () => {
    expect((await paths(bundlers, "rollup vs esbuild"))[0]).toBe("guide/why.md");
  });

  test.each([
    ["changelog 4.2", "CHANGELOG.md"],
    ["rollup release notes", "CHANGELOG.md"],
    ["what's new in esbuild", "CHANGELOG.md"],
    ["esbuild blog", "blog/announcing-3.md"],
    ["announcement rollup", "blog/announcing-3.md"],
  ])("is turned round by a query that asks for them: %s", async (query, first) => {
    expect((await paths(bundlers, query))[0]).toBe(first);
  });

  test("is not turned round by how one is written", async () => {
    const all = [
      page("guide/blog.md", "A blog", "Add a blog to the site with the plugin."),
      page("blog/hello.md", "Hello", "A blog: how we add a blog to the site with the plugin."),
    ];
    expect((await paths(all, "how to add a blog to the site"))[0]).toBe("guide/blog.md");
  });

  test("puts the newest version of a page before older ones, unless one is asked for", async () => {
    const all = ["1.2", "1.10", "2.0"].map((version) => page(`${version}/mill.md`, "Mill", "The mill."));
    expect((await paths(all, "the mill"))[0]).toBe("2.0/mill.md");
    expect((await paths(all.slice(0, 2), "the mill"))[0]).toBe("1.10/mill.md");
    expect((await paths([...all, page("latest/mill.md", "Mill", "The mill.")], "the mill"))[0]).toBe(
      "latest/mill.md",
    );
    const asked = await paths(all, "the mill 1.2");
    expect(asked[0]).toBe("1.2/mill.md");
    // A page that newer versions do not have is no worse than others.
    const alone = [page("1.2/mill.md", "Mill", "The mill."), page("2.0/weir.md", "Weir", "The weir mill.")];
    expect((await paths(alone, "mill"))[0]).toBe("1.2/mill.md");
  });

  test("puts translations behind the page, but not for words of their script", async () => {
    const all = [
      page("de/mill.md", "Mill", "The mill turns."),
      page("ja/mill.md", "Mill", "The mill \u6c34\u8eca turns."),
      page("mill.md", "Mill", "The mill turns for the river, where \u6c34\u8eca is a word."),
    ];
    expect((await paths(all, "mill"))[0]).toBe("mill.md");
    expect((await paths(all, "\u6c34\u8eca mill"))[0]).toBe("ja/mill.md");
    // Of languages alone the most frequent one is the collection's own.
    const foreign = ["de/a.md", "de/mill.md", "fr/mill.md"].map((path) => page(path, "Mill", "The mill."));
    expect((await paths(foreign, "mill")).at(-1)).toBe("fr/mill.md");
  });

  test("puts newer announcements first", async () => {
    const all = ["2020-01-01", "2024-01-01", "2022-01-01"].map((date) =>
      page(`blog/${date}-m.md`, "M", "mill"),
    );
    expect(await paths(all, "mill")).toEqual(
      ["2024", "2022", "2020"].map((year) => `blog/${year}-01-01-m.md`),
    );
  });

  test("follows the settings of a tenant, which count more than what is learned", async () => {
    const all = ["a/x.md", "b/x.md", "blog/x.md"].map((path) => page(path, "Mill", "mill"));
    const ask = async (preferences: Partial<SearchSettings["preferences"]>) =>
      await paths(all, "mill", settings(preferences));
    expect(await ask({})).toEqual(["a/x.md", "b/x.md", "blog/x.md"]);
    expect((await ask({ boost: ["b/**"] }))[0]).toBe("b/x.md");
    expect((await ask({ boost: ["blog"] }))[0]).toBe("blog/x.md");
    expect(await ask({ deboost: ["a/"] })).toEqual(["b/x.md", "blog/x.md", "a/x.md"]);
    // A page in both lists is boosted.
    expect((await ask({ boost: ["b/*"], deboost: ["**"] }))[0]).toBe("b/x.md");
  });

  test("is part of an explained score", async () => {
    await using index = await openFixture(bundlers);
    const explained = searchIn(index.segment, "rollup vs esbuild", { options: { explain: true } });
    for (const { score, explanation } of explained) {
      const { terms, ...parts } = explanation!;
      const first = terms.flatMap(({ fields }) => Object.values(fields));
      expect([...first, ...Object.values(parts)].reduce((sum, part) => sum + part, 0)).toBeCloseTo(score, 9);
    }
    expect(explained.some(({ explanation }) => explanation!.standing < 0)).toBe(true);
  });
});

test("a hostile glob takes time in proportion to its length and the path's", () => {
  const steps = (pattern: string, path: string): number => {
    const start = process.cpuUsage();
    const isMet = compileGlob(pattern);
    for (let turn = 0; turn < 20; turn++) isMet(path);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  for (const pattern of [
    "*a".repeat(99),
    "**/".repeat(66),
    "**a".repeat(66),
    "?*".repeat(100),
    "/**/*a".repeat(33),
  ]) {
    steps(pattern, `/${"a".repeat(2000)}`);
    const long = steps(pattern, `/${"a".repeat(16_000)}`);
    expect({ pattern, isLinear: long < 1500 }).toEqual({ pattern, isLinear: true });
  }
});
