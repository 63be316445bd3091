import { describe, expect, test } from "bun:test";
import { wordsIn } from "../../../src/base/text.ts";
import { NO_FILTER } from "../../../src/search/attributes.ts";
import { parseQuery } from "../../../src/search/query/compile.ts";
import { countIn } from "../../../src/search/searcher.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { OPTIONS, rankIn, searchIn } from "../../support/search/searching.ts";
import { openFixture } from "../../support/search/segment-fixture.ts";

const PAGES: Readonly<Record<string, readonly [title: string, markdown: string]>> = {
  gates: [
    "Sluice gates",
    "# Sluice gates\n\nA running gate of the sluice.\n\n## Rust on hinges\n\nOil the hinges.",
  ],
  runners: ["Runners", "Runners run. They ran to the gate of a running mill."],
  join: ["os.path", "Use `os.path.join(a, b)` and `getElementById`."],
  flags: ["Flags", "Pass `--no-cache` or use C++ with .NET 3.11.2 in /etc/passwd."],
  city: ["Zürich", "Die Straße in Zürich."],
  wheel: ["水車", "水車の設定を変更する。"],
  how: ["Questions", "How to do it, and why it is what it is."],
  configuration: ["Configuration", "The configuration of weirs."],
  arrows: ["Functions", "## The fat arrow `=>`\n\nIt returns.\n\n```\nkey => value\n```"],
  chains: ["Chains", "Read `boat?.mast` where there may be none; wait... is it `a ?? b`?"],
  strict: ["Equality", "Unequal is `a !== b`. 🚀\n\n## 🚀 Start"],
  elvis: ["Elvis", `${"Lines coil on deck. ".repeat(100)}\n\nThen \`keel ?: rudder\` is read.`],
  uses: ["Uses", "Call `ropes.map((rope) => rope.length)`."],
};

const index = forAllTests(
  await openFixture(
    Object.entries(PAGES).map(([path, [title, markdown]]) => ({
      url: docsUrl("site", path),
      title,
      markdown,
    })),
  ),
);

const find = (query: string, wordMatch = false): string[] =>
  rankIn(index.segment, query, { options: { wordMatch } }).map(({ url }) => url.replace("docs://site/", ""));

describe("a query of signs", () => {
  test.each([
    ["=>", ["arrows", "uses"]],
    ["`=>`", ["arrows", "uses"]],
    ["?.", ["chains"]],
    ["??", ["chains"]],
    ["!==", ["strict"]],
    ["🚀", ["strict"]],
    // Part of another operator, in prose alone, nowhere, and a sign that stands everywhere.
    ["!=", []],
    ["...", []],
    [":=", []],
    [".", []],
  ])("finds %s in headings and code", (query, found) => {
    expect(find(query)).toEqual(found);
  });

  test("shows the section with them, and is counted", () => {
    expect(searchIn(index.segment, "=>")[0]).toMatchObject({ headings: ["The fat arrow =>"] });
    const parts = { reader: index.segment, settings: DEFAULT_SEARCH };
    expect(countIn(parts, "=>", OPTIONS, null).total).toBe(2);
  });

  test("has snippets that begin near the signs, and marks them", () => {
    const [hit] = searchIn(index.segment, "?:", { options: { snippetStyle: "html" } });
    expect(hit?.snippet.indexOf("<mark>?:</mark>")).toBeWithin(0, 200);
  });

  test("meets filters", () => {
    const filter = { ...NO_FILTER, path: ["uses"] };
    const hits = searchIn(index.segment, "=>", { options: { filter } });
    expect(hits.map(({ url }) => String(url))).toEqual(["docs://site/uses"]);
  });
});

describe("a query", () => {
  test.each([
    ["os.path.join", "join"],
    ["join", "join"],
    ["element by id", "join"],
    ["getelementbyid", "join"],
    ["--no-cache", "flags"],
    ["cache", "flags"],
    ["c++", "flags"],
    [".net", "flags"],
    ["3.11", "flags"],
    ["/etc/passwd", "flags"],
    ["zurich", "city"],
    ["STRASSE", "city"],
    ["水車", "wheel"],
    ["設定", "wheel"],
    ["水", "wheel"],
    ["configurations", "configuration"],
  ])("%p finds %p first", (query, path) => {
    expect(find(query)[0]).toBe(path);
  });

  test("finds no C++ for the letter C, unless more may follow", () => {
    expect(find("c of")).not.toContain("flags");
    expect(find("c", true)).toEqual([]);
    expect(find("c")).toContain("flags");
  });

  test("loses the words of a question, but not when it has no others", () => {
    expect(find("how do I oil the hinges of it?")).toEqual(["gates"]);
    expect(find("what is it?")).toContain("how");
  });

  test("has unknown words corrected, by one edit from four letters on and two from eight", () => {
    expect(find("sluise")).toEqual(["gates"]);
    expect(find("confgiurtaion")).toEqual(["configuration"]);
    expect(find("hinegs")).toEqual(["gates"]);
    expect(find("zzz")).toEqual([]);
  });

  test("has a wrong, missing or additional first letter corrected", () => {
    expect(find("singes")).toEqual(["gates"]);
    expect(find("luice")).toEqual(["gates"]);
    expect(find("xonfiguration")).toEqual(["configuration"]);
    expect(find("aconfiguration")).toEqual(["configuration"]);
  });
});

describe("exact words", () => {
  test("are found as typed, without stems and corrections", () => {
    expect(find("running").sort()).toEqual(["gates", "runners"]);
    expect(find("runs").sort()).toEqual(["gates", "runners"]);
    expect(find("runs", true)).toEqual([]);
    expect(find("run", true)).toEqual(["runners"]);
    expect(find("sluise", true)).toEqual([]);
    expect(find("Zurich", true)).toEqual(["city"]);
  });
});

describe("a quoted phrase", () => {
  test("must be in the text word by word, in its forms and order", () => {
    expect(find('"gate of the sluice"')).toEqual(["gates"]);
    expect(find('"sluice of the gate"')).toEqual([]);
    expect(find('"running gates"')).toEqual([]);
    expect(find('"running mill" gate')).toEqual(["runners"]);
    expect(find('"running mill" "of a"')).toEqual(["runners"]);
    expect(find("“os.path.join”")).toEqual(["join"]);
    expect(find('"水車の設定"')).toEqual(["wheel"]);
  });

  test("crosses neither the title nor a heading", () => {
    expect(find('"gates sluice"')).toEqual([]);
    expect(find('"hinges oil"')).toEqual([]);
  });

  test("counts as ordinary words in a question, unless the question begins with it", () => {
    expect(find('how do I oil the "hinges of a gate"?')).toContain("gates");
    expect(find('"hinges of a gate" oil?')).toEqual([]);
  });

  test("without its second quote counts as ordinary words", () => {
    expect(find('"running gates').length).toBeGreaterThan(0);
  });
});

describe("a pasted message", () => {
  const found = (query: string) =>
    searchIn(index.segment, query).map(({ url, isLoose }) => [url.replace("docs://site/", ""), isLoose]);

  test.each([
    'Module "reef" cannot oil the hinges',
    'File "mill.py", line 3, in run\nhinges',
    'oil(hinges="reef")',
    'error: "reef" hinges',
    'ValueError: "reef" hinges',
    'das "Riff" ist ohne hinges',
  ])("has quotes that are text: %s", (query) => {
    expect(found(query)).toContainEqual(["gates", false]);
  });

  test("finds without its phrases what has none of them, and says so; a phrase alone stays exact", () => {
    expect(found('"mill of the hinges" oil')[0]).toEqual(["gates", true]);
    expect(found('"mill of the hinges"')).toEqual([]);
    expect(found('"running mill" gate')).toEqual([["runners", false]]);
  });

  test("of many frames is read by its last line and its rare words", () => {
    const frame = (n: number) =>
      `  File "/usr/lib/python3/site/w${n}.py", line ${n}, in call_${n}\n    go_${n}()\n`;
    const frames = Array.from({ length: 40 }, (_, n) => frame(n)).join("");
    expect(found(`Traceback (most recent call last):\n${frames}HingeError: configuration`)[0]?.[0]).toBe(
      "configuration",
    );
    expect(found(`sluice\n${frames}${frames}`)[0]?.[0]).toBe("gates");
  });
});

describe("a hit", () => {
  test("names the section that fits best, its headings and its anchor", () => {
    const [hit] = searchIn(index.segment, "oil hinges");
    expect(hit?.anchor).toBe("rust-on-hinges");
    expect(hit?.headings).toEqual(["Sluice gates", "Rust on hinges"]);
    expect(hit?.snippet).toBe("Oil the hinges.");
  });

  test("before the first heading has no anchor", () => {
    const [hit] = searchIn(index.segment, "runners");
    expect(hit?.anchor).toBeNull();
    expect(hit?.headings).toEqual([]);
  });
});

const NASTY: readonly string[] = [
  "",
  " ",
  "\0",
  "\0\0mill\0",
  "\n\t\r\v\f",
  "the of and",
  "what is the",
  '" "',
  'the" of "',
  "`",
  "(a+)+$",
  "^$",
  "\\",
  "\\\\",
  "\\u0000",
  "'; DROP TABLE pages; --",
  "gate AND NOT sluice",
  "gate OR",
  "$",
  "$$$",
  "🙂🙂🙂 gate",
  "👩‍👩‍👧‍👦",
  "e\u0301",
  "\u0301",
  "\u200b",
  "\u202egate",
  "\ufeffgate",
  "\ud800",
  "\udc00gate",
  "水".repeat(5000),
  "a".repeat(100_000),
  "ab.".repeat(30_000),
  "a_".repeat(30_000),
  "aB".repeat(30_000),
  "1.".repeat(30_000),
  "gate ".repeat(10_000),
  Array.from({ length: 10_000 }, (_, i) => `w${i}`).join(" "),
  '"gate" '.repeat(10_000),
  '"'.repeat(10_000),
  "-".repeat(100_000),
  "🙂".repeat(20_000),
  "\u0301".repeat(20_000),
  "C++ C# F# .NET",
  "hasOwnProperty toString",
  ...wordsIn(`? ???? !!! " "" """ "the ' '' * ** a* *gate* [a-z]+ .* %00 %s%n ../../etc/passwd
    <script>alert(1)</script> title:gate gate~2 gate^5 -gate +gate -- --- ---------------- . .. ... / //
    ///////// :: a::b::c _ ____ _gate_ @ # &amp; 🙂 𝔤𝔞𝔱𝔢 𠀀𠀁𠀂 ﬁle İstanbul ẞ ทดสอบ مرحبا שלום नमस्ते 한국어
    ーーー NaN __proto__ constructor`),
];

describe("a nasty query", () => {
  test.each(NASTY.map((query) => [JSON.stringify(query.slice(0, 24)), query] as const))(
    "%s ends in hits or none",
    (_, query) => {
      for (const wordMatch of [false, true]) {
        for (const hit of searchIn(index.segment, query, { options: { wordMatch, explain: true } })) {
          expect(Number.isFinite(hit.score)).toBe(true);
          expect(hit.snippet.isWellFormed()).toBe(true);
        }
      }
    },
  );

  test("there are a hundred of them", () => {
    expect(new Set(NASTY).size).toBe(100);
  });

  test("of any length is read up to 32 768 characters", () => {
    expect(parseQuery("gate ".repeat(10_000)).text.length).toBeLessThan(32_770);
  });
});
