import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { wordsIn } from "../../../src/base/text.ts";
import {
  type AnalyzerProfile,
  IndexGroup,
  type Language,
  parseFilter,
  SearchIndex,
  type SearchSettings,
  type SourceDocument,
} from "../../../src/search/index.ts";
import type { SearchOptions } from "../../../src/search/searcher.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { OPTIONS } from "../../support/search/searching.ts";
import { buildAnalysis, buildAt, page } from "../../support/search/segment-fixture.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

type Together = {
  readonly profiles?: readonly AnalyzerProfile[];
  readonly language?: Language;
  readonly settings?: SearchSettings;
  /** Settings of single indexes, by their places. */
  readonly own?: readonly SearchSettings[];
};

/** Builds an index of each list of documents, and searches them together. */
async function together<T>(
  lists: readonly (readonly SourceDocument[])[],
  use: (search: (query: string, more?: Partial<SearchOptions>) => readonly [string, number, number][]) => T,
  { profiles = [], language = "en", settings = DEFAULT_SEARCH, own = [] }: Together = {},
): Promise<T> {
  using directory = temporaryDirectory();
  const indexes: SearchIndex[] = [];
  for (const [place, documents] of lists.entries()) {
    const path = join(directory.path, String(place));
    await buildAt(path, documents, { analysis: buildAnalysis(profiles[place], language) });
    indexes.push(SearchIndex.open(path, own[place] ?? settings));
  }
  const group = new IndexGroup(indexes);
  const result = use((query, more) =>
    group
      .search(query, { ...OPTIONS, ...more })
      .map(({ url, score, index }) => [url.slice("docs://site/".length), score, index]),
  );
  for (const index of indexes) index[Symbol.dispose]();
  return result;
}

const word = fc.constantFrom(
  ...wordsIn("db database river rivers mill milling sluice the gate gates water weir"),
);
const line = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(" "));
const block = fc.oneof(
  line,
  line.map((text) => `## ${text}`),
  line.map((text) => `\`\`\`\n${text}\n\`\`\``),
);
// Some of them stand behind others, which may be in another index.
const folder = fc.oneof(word, fc.constantFrom("v1", "v2", "ja", "en", "blog", "2024-01-02", "2020-01-02"));
const documents = fc.uniqueArray(
  fc.record({
    url: fc
      .tuple(fc.array(folder, { maxLength: 3 }), word)
      .map(([path, name]) => docsUrl("site", [...path, name].join("/"))),
    title: line,
    markdown: fc.array(block, { maxLength: 6 }).map((blocks) => blocks.join("\n\n")),
  }),
  { maxLength: 12, selector: ({ url }) => url },
);
const query = fc.oneof(
  line,
  fc.constantFrom(
    ...`rivr gaets; sluicegate; "mill gate"; how does the water mill; watre; w; g; mi; db;
    database gate; river db mill; rivermill; water gate river mill; gate wate; mill slui;
    sluic weir riv; ; unknown`
      .split(";")
      .map((typed) => typed.trim()),
  ),
);

describe("several indexes", () => {
  test("give what one index of all their documents gives, with the same scores", async () => {
    await fc.assert(
      fc.asyncProperty(
        documents,
        fc.infiniteStream(fc.nat(2)),
        query,
        fc.boolean(),
        fc.constantFrom("", "kind:guide", "version:2 language:ja", "path:*a*/**"),
        fc.nat(5),
        async (all, places, typed, wordMatch, filter, offset) => {
          const options = { wordMatch, offset, filter: parseFilter(filter) };
          const lists: SourceDocument[][] = [[], [], []];
          for (const document of all) lists[places.next().value ?? 0]!.push(document);
          type Search = (query: string, more?: Partial<SearchOptions>) => readonly [string, number, number][];
          const rounded = (search: Search) => {
            try {
              return search(typed, options).map(([url, score]) => [url, Math.round(score * 1e9) / 1e9]);
            } catch (error) {
              return String(error);
            }
          };
          const apart = await together(lists, rounded);
          const one = await together([all], rounded);
          expect(apart).toEqual(one);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("agree on compounds, synonyms, beginnings and words in two parts, with the same scores", async () => {
    const german = fc.constantFrom(
      ..."Kranke Kasse Krankenkasse Krankenkassen Versicherung Krankenversicherung Haus Häuser Hausversicherung".split(
        " ",
      ),
      ..."Versicherungshaus Kassenhaus Police db Datenbank Daten Bank Datum der Kur".split(" "),
    );
    const text = fc.array(german, { minLength: 1, maxLength: 8 }).map((words) => words.join(" "));
    const pages = fc.uniqueArray(fc.record({ path: text, title: text, markdown: text }), {
      maxLength: 8,
      selector: ({ path }) => path,
    });
    const typed = fc.oneof(
      text,
      fc.constantFrom(
        ...["Kasse", "versicherung", "Haus Vers", "k", "Police", "daten bank", "Krankenhaus", "db Ka"],
      ),
    );
    const settings = {
      ...DEFAULT_SEARCH,
      synonyms: { abbreviations: true, groups: [["Police", "Versicherung"]], oneWay: { db: ["Daten Bank"] } },
    };
    await fc.assert(
      fc.asyncProperty(pages, fc.infiniteStream(fc.nat(2)), typed, async (made, places, typedQuery) => {
        const all = made.map(({ path, title, markdown }) => page(path, title, markdown));
        const lists: SourceDocument[][] = [[], [], []];
        for (const document of all) lists[places.next().value ?? 0]!.push(document);
        const find = (parts: readonly (readonly SourceDocument[])[]) =>
          together(
            parts,
            (search) => search(typedQuery).map(([url, score]) => [url, Math.round(score * 1e9) / 1e9]),
            { language: "de", settings },
          );
        expect(await find(lists)).toEqual(await find([all]));
      }),
      { numRuns: 40 },
    );
  });

  test("agree that a title is not the whole query where only another one holds the rest of it", async () => {
    const lists = [[page("a", "Kranke", "Kranke")], [page("Haus", "Kranke", "Kranke")]];
    const find = (parts: readonly (readonly SourceDocument[])[]) =>
      together(parts, (search) => search("Krankenhaus").map(([url, score]) => [url, score]), {
        language: "de",
      });
    expect(await find(lists)).toEqual(await find([lists.flat()]));
  });

  test("agree on a correction, even where one of them holds a nearer word of fewer documents", async () => {
    const lists = [
      [page("a", "One", "gates here")],
      [page("b", "Two", "gate there"), page("c", "Three", "gates and gate")],
      [page("d", "Four", "nothing")],
    ];
    const found = await together(lists, (search) => search("gatez").map(([url]) => url));
    expect(found.toSorted()).toEqual(["a", "b", "c"]);
    // The word is in one of them as it was typed, so nothing is corrected in the others.
    const typed = await together([...lists, [page("e", "Five", "gatez")]], (search) => search("gatez"));
    expect(typed.map(([url, , index]) => [url, index])).toEqual([["e", 3]]);
  });

  test("have synonyms of their own, also where another one is asked the same before", async () => {
    const lists = ["a", "b", "c"].map((name) => [page(name, "Sluice", "the sluice is open")]);
    const synonyms = { abbreviations: false, groups: [["gate", "sluice"]], oneWay: {} };
    const own = [DEFAULT_SEARCH, { ...DEFAULT_SEARCH, synonyms }, DEFAULT_SEARCH];
    const found = await together(lists, (search) => [search("gate"), search("gate")], { own });
    expect(found.map((hits) => hits.map(([url]) => url))).toEqual([["b"], ["b"]]);
  });

  test("of other profiles are scaled to each other", async () => {
    const lists = [
      [page("a", "Connecting", "How to connect a client."), page("x", "Other", "Something else.")],
      [page("b", "Connecting", "How to connect a client."), page("y", "Other", "Something else.")],
    ];
    const [first, second] = await together(lists, (search) => search("connect client"), {
      profiles: ["default", "aggressive-stem"],
    });
    expect([first![0], second![0]]).toEqual(["a", "b"]);
    expect(second![1] / first![1]).toBeCloseTo(1, 1);
  });

  test("may be none, or empty", async () => {
    expect(await together([], (search) => search("x"))).toEqual([]);
    expect(await together([[], []], (search) => search("x"))).toEqual([]);
    expect(
      await together([[], [page("a", "A", "x")]], (search) => search("x")).then((rows) => rows.length),
    ).toBe(1);
  });

  test("give as many as asked for, and stop at the deadline", async () => {
    const lists = [0, 1, 2].map((list) =>
      Array.from({ length: 70 }, (_, number) =>
        page(`${list}-${number}`, "Mill", `mill ${"x ".repeat(number)}`),
      ),
    );
    await together(lists, (search) => {
      expect(search("mill", { size: 1 })).toHaveLength(1);
      expect(search("mill", { size: 100 })).toHaveLength(100);
      expect(() => search("mill", { deadline: performance.now() - 1 })).toThrow("longer than its limit");
    });
  });
});
