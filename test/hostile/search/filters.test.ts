import { expect, test } from "bun:test";
import { NO_FILTER } from "../../../src/search/attributes.ts";
import { parseFilter } from "../../../src/search/index.ts";
import { countIn } from "../../../src/search/searcher.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { searchIn } from "../../support/search/searching.ts";
import { openFixture } from "../../support/search/segment-fixture.ts";

const COUNT = 100_000;
const FOLDERS = ["guide", "api", "blog", "v1/guide", "v2/guide", "ja/guide"];

/** The one document that a filter below finds among all. */
const ALONE = 77_777;

const sources = Array.from({ length: COUNT }, (_, number) => ({
  url: docsUrl("site", `${number === ALONE ? "archive" : FOLDERS[number % FOLDERS.length]}/p${number}.md`),
  title: `Page ${number}`,
  markdown: `the mill w${number % 1000} ${"of water ".repeat(number % 3)}`,
}));

const index = forAllTests(await openFixture(sources));

const search = (query: string, filter: string, more: object = {}) =>
  searchIn(index.segment, query, { options: { filter: parseFilter(filter), ...more } });

/** The least CPU time of some runs, in ms. */
function cpuOf(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5; run++) {
    const start = process.cpuUsage();
    for (let turn = 0; turn < 5; turn++) work();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

test("a filter that one document of 100 000 meets finds it, and fills pages where many do", () => {
  expect(search("the mill", "kind:archive").map(({ url }) => url)).toEqual([sources[ALONE]!.url]);
  for (const filter of ["kind:reference", "language:ja", "version:1 kind:guide", "path:v2/**", "path:*7.md"])
    expect(search("the mill of water", filter, { size: 100, offset: 300 })).toHaveLength(100);
  expect(search("the mill", "path:nowhere/**")).toEqual([]);
  expect(search("the mill", "path:**", { size: 100 })).toEqual(search("the mill", "", { size: 100 }));
});

test("counts all matches of 100 000 documents", () => {
  const parts = { reader: index.segment, settings: DEFAULT_SEARCH };
  const options = { size: 10, wordMatch: false, explain: false, deadline: Number.POSITIVE_INFINITY };
  const counts = countIn(parts, "the mill", { ...options, filter: NO_FILTER }, null);
  expect(counts.total).toBe(COUNT);
  expect(counts.values.kind.get("archive")).toBe(1);
  expect(counts.values.language.get("ja")).toBe(sources.filter(({ url }) => url.includes("/ja/")).length);
});

test("a filter stops at the deadline of the search", () => {
  const deadline = performance.now() - 1;
  for (const filter of ["kind:blog", "path:**/x", "version:1"])
    expect(() => search("mill", filter, { deadline })).toThrow("longer than its limit");
});

test("a filtered search costs about what the same search costs without", () => {
  const plain = cpuOf(() => search("the mill of water", ""));
  for (const filter of ["kind:reference", "kind:archive", "language:ja version:1"]) {
    const filtered = cpuOf(() => search("the mill of water", filter));
    expect({ filter, isCheap: filtered < plain * 3 + 50 }).toEqual({ filter, isCheap: true });
  }
});
