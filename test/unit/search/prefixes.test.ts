import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TermWalk } from "../../../src/search/types.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { buildMemoryIndex } from "../../support/search/memory-index.ts";
import { rankIn, searchIn } from "../../support/search/searching.ts";
import { buildAnalysis, openFixture, sourceDocuments } from "../../support/search/segment-fixture.ts";

const PAGES: Readonly<Record<string, string>> = {
  middleware: "A middleware runs before the handler.",
  effect: "Call `useEffect` once, then `useState`.",
  snake: "The function pg_stat_activity lists sessions.",
  dotted: "Join names with `os.path.join`.",
  running: "It is running.",
  option: "Give `--no-cache` to it.",
  accents: "In Zürich liegt Schnee, in México nicht.",
  cjk: "水車の設定を変更する。",
  configuration: "The configuration of a server.",
  configured: "It was configured by hand.",
  conf: "The file conf is read.",
  typo: "A middlewraith haunts the mill.",
};

type Fixture = Awaited<ReturnType<typeof openFixture>>;
const open = (pages: Readonly<Record<string, string>>): Promise<Fixture> =>
  openFixture(
    Object.entries(pages).map(([path, markdown]) => ({ url: docsUrl("site", path), title: "x", markdown })),
  );

const findIn = ({ segment }: Fixture, query: string, wordMatch = false): string[] =>
  rankIn(segment, query, { options: { wordMatch } }).map(({ url }) => url.replace("docs://site/", ""));

let index: Fixture;
beforeAll(async () => {
  index = await open(PAGES);
});
afterAll(() => index[Symbol.asyncDispose]());

const find = (query: string, wordMatch = false): string[] => findIn(index, query, wordMatch);

describe("the last word of a query", () => {
  test.each([
    ["middlewa", "middleware"],
    ["MIDDLEWA", "middleware"],
    ["handler middlewa", "middleware"],
    ["middlewa ", "middleware"],
    ["useEff", "effect"],
    ["useeff", "effect"],
    ["eff", "effect"],
    ["pg_stat_act", "snake"],
    ["pg_st", "snake"],
    ["os.pa", "dotted"],
    ["os.path.jo", "dotted"],
    ["runn", "running"],
    ["runnin", "running"],
    ["--no-ca", "option"],
    ["zür", "accents"],
    ["zur", "accents"],
    ["mexi", "accents"],
    ["水", "cjk"],
    ["設", "cjk"],
    ["configurati", "configuration"],
    ["z", "accents"],
    ["Z", "accents"],
    ['"liegt" mexi', "accents"],
  ])("%p finds %p first", (query, path) => {
    expect(find(query)[0]).toBe(path);
  });

  test("is not corrected when words begin with it, even where another word is nearer", () => {
    expect(find("middlewra")).toEqual(["typo"]);
    expect(find("middlew").toSorted()).toEqual(["middleware", "typo"]);
  });

  test("is corrected when no word begins with it", () => {
    expect(find("midleware")).toEqual(["middleware"]);
  });

  test("finds the exact word before longer ones", () => {
    expect(find("conf")).toEqual(["conf", "configured", "configuration"].toSorted());
    expect(find("conf")[0]).toBe("conf");
  });

  test("is no beginning when it is quoted, when only exact words count, or when it is not the last", () => {
    expect(find('"middlewa"')).toEqual([]);
    expect(find("middlewa", true)).toEqual([]);
    expect(find("mexi handler")).toEqual(["middleware"]);
  });

  test("is marked as a whole word in snippets", () => {
    const marked = (query: string) =>
      searchIn(index.segment, query, { options: { snippetStyle: "html" } })[0]?.snippet;
    expect(marked("middlewa")).toContain("<mark>middleware</mark>");
    expect(marked("useEff")).toContain("<mark>useEffect</mark>");
    expect(marked("runnin")).toContain("<mark>running</mark>");
    expect(marked("os.pa")).toContain("<mark>os.path.join</mark>");
  });
});

describe("a word in ten documents", () => {
  test("is not taken for the beginning of another", async () => {
    const pages = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`p${n}`, "mill"]));
    await using many = await open({ ...pages, other: "millwheel" });
    expect(findIn(many, "mill")).not.toContain("other");
    await using few = await open({ p0: "mill", other: "millwheel" });
    expect(findIn(few, "mill")).toEqual(["p0", "other"]);
  });
});

test("the most frequent eight continuations are searched for", async () => {
  const words = Array.from({ length: 12 }, (_, n) => `zeta${String.fromCharCode(97 + n)}`);
  // zetal is in twelve documents, zetaa in one.
  const pages = words.map((_, n) => [`p${n}`, words.slice(n).join(" ")] as const);
  await using index = await open(Object.fromEntries([...pages, ["rare", "zetab"], ["rarest", "zetaa"]]));
  const found = findIn(index, "zeta");
  expect(found).toHaveLength(12);
  expect(found).not.toContain("rarest");
});

test("a document with the word comes before all that only have longer words", async () => {
  const word = fc.constantFrom("mill", "millwheel", "millstone", "water", "mil", "gate");
  const line = fc.array(word, { minLength: 1, maxLength: 10 }).map((words) => words.join(" "));
  const documents = fc.array(
    fc.record({
      title: line,
      markdown: fc
        .tuple(line, line, line)
        .map(([heading, first, second]) => `# ${heading}\n\n${first}\n\n${second}`),
    }),
    { minLength: 1, maxLength: 9 },
  );
  await fc.assert(
    fc.asyncProperty(documents, async (made) => {
      const sources = made.map((page, n) => ({ ...page, url: docsUrl("site", `p${n}`) }));
      await using index = await openFixture(sources);
      const has = rankIn(index.segment, "mill").map(({ url }) => {
        const { title, markdown } = sources.find((source) => source.url === url)!;
        return /\bmill\b/.test(`${title} ${markdown}`);
      });
      expect(has).toEqual(has.toSorted((a, b) => Number(b) - Number(a)));
    }),
    { numRuns: 40 },
  );
});

test("an index file walks its terms, from both ends, as a list in memory does", async () => {
  const walked = (walk: TermWalk): [string, number][] => {
    const terms: [string, number][] = [];
    while (walk.next()) terms.push([walk.term, walk.documentFrequency]);
    return terms;
  };
  const parts = fc.constantFrom("", "m", "mil", "水", "ri", "zz", "os.", "t", "eam", "sluice", "\ud835");
  const language = fc.constantFrom("en" as const, "de" as const);
  await fc.assert(
    fc.asyncProperty(sourceDocuments(8), parts, language, async (sources, part, language) => {
      const compounds = {
        url: docsUrl("site", "c"),
        title: "x",
        markdown: "Dampfstream millstream steamer 𝔤𝔞𝔱𝔢𝔤𝔞𝔱𝔢",
      };
      const all = [...sources, compounds];
      await using file = await openFixture(all, { analysis: buildAnalysis("default", language) });
      const memory = buildMemoryIndex(all, "default", language);
      expect(walked(file.segment.walk(part))).toEqual(walked(memory.walk(part)));
      expect(walked(file.segment.walkEnds(part))).toEqual(walked(memory.walkEnds(part)));
      if (language === "de") expect(walked(memory.walkEnds("eam"))).not.toEqual([]);
    }),
    { numRuns: 30 },
  );
});
