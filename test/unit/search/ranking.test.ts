import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "../../../src/base/failure.ts";
import { wordsIn } from "../../../src/base/text.ts";
import { stemEnglish } from "../../../src/search/analysis/stemmer.ts";
import type { AnalyzerProfile, SourceDocument } from "../../../src/search/index.ts";
import { weightsFor } from "../../../src/search/ranking/formula.ts";
import { FIELDS } from "../../../src/search/types.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { referenceRanking } from "../../support/search/reference-ranking.ts";
import { rankIn, searchIn } from "../../support/search/searching.ts";
import { buildAnalysis, openFixture, page } from "../../support/search/segment-fixture.ts";

const paths = (hits: readonly { url: string }[]): string[] =>
  hits.map(({ url }) => url.replace("docs://site/", ""));

const openProfile = (documents: readonly SourceDocument[], profile: AnalyzerProfile) =>
  openFixture(documents, { analysis: buildAnalysis(profile) });

const VOCABULARY = wordsIn("river rivers mill mills milling sluice the gate gates water weir");
const word = fc.constantFrom(...VOCABULARY);
const line = fc.array(word, { minLength: 1, maxLength: 14 }).map((words) => words.join(" "));
const block = fc.oneof(
  line,
  fc.tuple(fc.constantFrom("# ", "## ", "### ", "- "), line).map(([mark, text]) => mark + text),
  line.map((text) => `\`\`\`\n${text}\n\`\`\``),
  // These documents are long enough for several passages.
  fc.array(line, { minLength: 20, maxLength: 30 }).map((lines) => lines.join(" ")),
);
const corpusOf = (length: { readonly minLength: number; readonly maxLength: number }) =>
  fc.uniqueArray(
    fc.record({
      url: fc.array(word, { minLength: 1, maxLength: 4 }).map((path) => docsUrl("site", path.join("/"))),
      title: line,
      markdown: fc.array(block, { maxLength: 6 }).map((blocks) => blocks.join("\n\n")),
    }),
    { ...length, selector: ({ url }) => url },
  );
const corpus = corpusOf({ minLength: 1, maxLength: 8 });

test("ranking equals the formula computed over the tokens of every document", async () => {
  const query = fc.array(word, { minLength: 1, maxLength: 7 });
  await fc.assert(
    fc.asyncProperty(corpus, query, async (documents, typed) => {
      await using index = await openFixture(documents);
      const known = typed.filter((form) => index.segment.find(stemEnglish(form)) !== null);
      if (known.length === 0) return;
      const words = known.map((form) => ({ form, term: stemEnglish(form) }));
      const expected = referenceRanking(documents, words, DEFAULT_SEARCH);
      const found = rankIn(index.segment, known.join(" "));
      expect(found.map(({ url }) => url).sort()).toEqual(expected.map(({ url }) => url).sort());
      const scores = new Map(found.map(({ url, score }) => [url, score]));
      for (const { url, score } of expected) expect(scores.get(url)).toBeCloseTo(score, 6);
    }),
    { numRuns: 20 },
  );
});

test("the parts of an explanation add up to the score", async () => {
  await using index = await openFixture([
    page("a", "Sluice gates", "# Sluice gates\n\nThe gate of the sluice opens.\n\n## Rust\n\nGates rust."),
    page("b", "Weirs", "A weir has no gate."),
  ]);
  const hits = searchIn(index.segment, "sluice gate", { options: { explain: true } });
  expect(hits).toHaveLength(2);
  for (const { score, explanation } of hits) {
    const { terms, ...parts } = explanation!;
    const fields = terms.flatMap((term) => Object.values(term.fields));
    const sum = [...fields, ...Object.values(parts)].reduce((total, part) => total + part, 0);
    expect(sum).toBeCloseTo(score, 9);
  }
  expect(hits[0]?.explanation?.terms.map(({ term }) => term)).toEqual(["sluic", "gate"]);
});

test("the best are the same, with the same scores, whether a few or all are asked for", async () => {
  const query = fc.array(word, { minLength: 1, maxLength: 5 });
  const many = corpusOf({ minLength: 12, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(many, query, fc.integer({ min: 1, max: 4 }), async (documents, typed, size) => {
      await using index = await openFixture(documents);
      const scores = (most: number) =>
        searchIn(index.segment, typed.join(" "), { options: { size: most } }).map(({ url, score }) => [
          url,
          score,
        ]);
      expect(scores(size)).toEqual(scores(documents.length).slice(0, size));
    }),
    { numRuns: 60 },
  );
});

test("equal documents are sorted by address", async () => {
  const names = ["c", "a", "d", "b"];
  await using index = await openFixture(names.map((name) => page(name, "Mill", "A mill turns.")));
  expect(paths(rankIn(index.segment, "mill"))).toEqual(["a", "b", "c", "d"]);
});

describe("of two pages that differ in one word", () => {
  const FILLERS = ["stone", "barge", "otter"];
  // No two of these have a stem in common, so that a filler is never a word of the query.
  const queryWords = fc.uniqueArray(
    fc.constantFrom<string[]>("river", "mill", "sluice", "gate", "water", "weir"),
    { minLength: 2, maxLength: 6 },
  );
  const filler = fc.constantFrom(...FILLERS);
  const text = fc.array(fc.oneof(filler, fc.constantFrom("river", "gate", "weir", "mill")), {
    maxLength: 40,
  });
  const others = fc.array(line, { maxLength: 4 });

  /** The scores of `better` and of `other`, among some more pages. */
  const scoresOf = async (query: string, pair: readonly SourceDocument[], more: readonly string[]) => {
    const rest = more.map((markdown, index) => page(`rest${index}`, "rest", markdown));
    await using index = await openFixture([...pair, ...rest]);
    const found = new Map(rankIn(index.segment, query).map(({ url, score }) => [url, score]));
    return pair.map(({ url }) => found.get(url) ?? 0);
  };

  test("the one whose title is the query comes first", async () => {
    await fc.assert(
      fc.asyncProperty(queryWords, filler, text, others, fc.nat(), async (words, other, body, more, at) => {
        const title = words.with(at % words.length, other).join(" ");
        const query = words.join(" ");
        const pair = [page("b", query, body.join(" ")), page("a", title, body.join(" "))];
        const [exact, near] = await scoresOf(query, pair, more);
        expect(exact).toBeGreaterThan(near!);
      }),
      { numRuns: 40 },
    );
  });

  test("a word of the query in a heading in place of another never puts a page behind", async () => {
    const heading = fc.array(filler, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(queryWords, heading, text, others, fc.nat(), async (words, plain, body, more, at) => {
        const headed = plain.with(at % plain.length, words[at % words.length]!);
        const markdown = (title: readonly string[]) =>
          `${body.join(" ")}\n\n## ${title.join(" ")}\n\n${body.join(" ")}`;
        const pair = [page("b", "x", markdown(headed)), page("a", "x", markdown(plain))];
        const [better, before] = await scoresOf(words.join(" "), pair, more);
        expect(better).toBeGreaterThan(before!);
      }),
      { numRuns: 40 },
    );
  });
});

test("the order in which pages are indexed changes no score", async () => {
  await fc.assert(
    fc.asyncProperty(corpus, line, async (documents, query) => {
      await using index = await openFixture(documents);
      await using reversed = await openFixture(documents.toReversed());
      expect(rankIn(reversed.segment, query)).toEqual(rankIn(index.segment, query));
      expect(rankIn(index.segment, query)).toEqual(rankIn(index.segment, query));
    }),
    { numRuns: 20 },
  );
});

test.each([
  [11, 2],
  [12, 1],
])("of two words %d tokens apart, %d count as close", async (distance, close) => {
  const between = "stone ".repeat(distance - 1);
  await using index = await openFixture([
    page("a", "x", `sluice ${between} gate`),
    page("b", "y", "Stones."),
  ]);
  const [hit] = searchIn(index.segment, "gate sluice", { options: { explain: true } });
  const { closeness, terms } = hit!.explanation!;
  // Both words are in one page, so that their weights are equal.
  expect(closeness).toBeCloseTo(weightsFor(2).closeness * terms[0]!.weight * close, 9);
});

test("a sentence finds the short page on its subject before a long one that begins alike", async () => {
  const subject = "Open the sluice gate of the mill by hand.";
  await using index = await openFixture([
    page("long", "x", `${subject}\n\n${"Stones lie in the river.\n\n".repeat(300)}`),
    page("short", "x", subject),
    page("other", "y", "Stones."),
  ]);
  const query = "open the gate of a mill by hand";
  const hits = searchIn(index.segment, query, { options: { explain: true } });
  expect(paths(hits).slice(0, 2)).toEqual(["short", "long"]);
  const [short, long] = hits.map(({ explanation }) => explanation!.brevity);
  expect(short).toBeGreaterThan(long!);
  expect(searchIn(index.segment, "mill gate", { options: { explain: true } })[0]?.explanation?.brevity).toBe(
    0,
  );
});

describe("settings", () => {
  const FILLER = "Nothing of it is said in this text about water and stones and other matters.";
  const TEXTS: Readonly<Record<(typeof FIELDS)[number], SourceDocument>> = {
    title: page("p1", "zebra", FILLER),
    headings_h1: page("p2", "x", `# zebra\n\n${FILLER}`),
    headings_h2: page("p3", "x", `## zebra\n\n${FILLER}`),
    headings: page("p4", "x", `### zebra\n\n${FILLER}`),
    body: page("p5", "x", `${FILLER} A zebra is here.`),
    code: page("p6", "x", `${FILLER}\n\n\`\`\`\nzebra\n\`\`\``),
    path: page("zebra", "x", FILLER),
    url: page("other/zebra", "x", FILLER),
  };

  test.each([...FIELDS])(
    "the boost of %s changes the score of a page that has the word there",
    async (name) => {
      await using index = await openFixture(Object.values(TEXTS));
      const ranking = DEFAULT_SEARCH.ranking;
      const scoreWith = (boost: number) => {
        const boosts = { ...ranking.boosts, [name]: boost };
        const found = rankIn(index.segment, "zebra", { settings: { ranking: { ...ranking, boosts } } });
        return found.find(({ url }) => url === TEXTS[name].url)?.score ?? 0;
      };
      expect(scoreWith(5)).toBeGreaterThan(scoreWith(0.5));
    },
  );

  test.each([
    ["k1", { k1: 3 }],
    ["b", { b: 0.1 }],
  ])("bm25's %s changes scores", async (_name, change) => {
    await using index = await openFixture([
      page("a", "x", "zebra zebra zebra zebra"),
      page("b", "y", `zebra ${FILLER}`),
    ]);
    const ranking = { ...DEFAULT_SEARCH.ranking, ...change };
    expect(rankIn(index.segment, "zebra", { settings: { ranking } })).not.toEqual(
      rankIn(index.segment, "zebra"),
    );
  });

  test("the size limits the number of hits", async () => {
    await using index = await openFixture(["a", "b", "c"].map((name) => page(name, "Mill", "A mill.")));
    expect(searchIn(index.segment, "mill", { options: { size: 2 } })).toHaveLength(2);
  });

  test("an index of another analyser is refused", async () => {
    await using index = await openFixture([page("a", "Mill", "A mill.")]);
    expect(() => searchIn(index.segment, "mill", { settings: { profile: "code-friendly" } })).toThrow(
      Failure,
    );
  });

  test("a passed deadline ends the search", async () => {
    await using index = await openFixture([page("a", "Mill", "A mill.")]);
    const options = { deadline: performance.now() - 1 };
    expect(() => searchIn(index.segment, "mill", { options })).toThrow("limit");
    expect(() => searchIn(index.segment, '"a mill"', { options })).toThrow("limit");
  });
});

describe("profiles", () => {
  const DOCUMENTS = [
    page("connector", "x", "Plug in the connector."),
    page("connects", "y", "It connects."),
    page("code", "z", "Text.\n\n```\nlistening sockets\n```"),
  ];

  test("default finds inflected forms, in code too", async () => {
    await using index = await openProfile(DOCUMENTS, "default");
    expect(paths(rankIn(index.segment, "listen"))).toEqual(["code"]);
    expect(paths(rankIn(index.segment, "connection"))).toEqual(["connects"]);
  });

  test("aggressive-stem treats words of one family as one", async () => {
    await using index = await openProfile(DOCUMENTS, "aggressive-stem");
    const settings = { profile: "aggressive-stem" } as const;
    expect(paths(rankIn(index.segment, "connection", { settings })).sort()).toEqual([
      "connector",
      "connects",
    ]);
  });

  test("code-friendly leaves code unchanged and finds it unchanged", async () => {
    await using index = await openProfile(DOCUMENTS, "code-friendly");
    const settings = { profile: "code-friendly" } as const;
    expect(paths(rankIn(index.segment, "listened", { settings }))).toEqual([]);
    expect(paths(rankIn(index.segment, "listening", { settings }))).toEqual(["code"]);
    expect(paths(rankIn(index.segment, '"listening sockets"', { settings }))).toEqual(["code"]);
    expect(paths(rankIn(index.segment, "sockets", { settings, options: { wordMatch: true } }))).toEqual([
      "code",
    ]);
  });
});
