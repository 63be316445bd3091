import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { SynonymSettings } from "../../../src/search/query/derived-terms.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { rankIn, searchIn } from "../../support/search/searching.ts";
import { openFixture } from "../../support/search/segment-fixture.ts";

const PAGES: Readonly<Record<string, string>> = {
  login: "Press login to begin.",
  apart: "You may log in with a key.",
  database: "The database is large.",
  data: "Put data on a base of stone.",
  kubernetes: "Kubernetes runs pods.",
  k8s: "Our k8s cluster is large.",
  machine: "A virtual machine starts.",
  machinery: "A machine is oiled.",
  repository: "Clone the repository.",
  cloud: "React renders.",
  preact: "Preact renders too.",
};

const index = forAllTests(
  await openFixture(
    Object.entries(PAGES).map(([path, markdown]) => ({ url: docsUrl("site", path), title: "x", markdown })),
  ),
);

const NONE: SynonymSettings = { abbreviations: false, groups: [], oneWay: {} };

const find = (
  query: string,
  synonyms: Partial<SynonymSettings> = DEFAULT_SEARCH.synonyms,
  wordMatch = false,
): string[] =>
  rankIn(index.segment, query, {
    settings: { synonyms: { ...NONE, ...synonyms } },
    options: { wordMatch },
  }).map(({ url }) => url.replace("docs://site/", ""));

describe("abbreviations", () => {
  test.each([
    ["k8s", "k8s kubernetes"],
    ["K8S", "k8s kubernetes"],
    ["kubernetes", "k8s kubernetes"],
    ["db", "database"],
    ["db stone", "data database"],
    ["stone db", "data database"],
    ["db pods stone", "kubernetes database data"],
    ["repos", "repository"],
    ["vm", "machine machinery"],
  ])("%p finds %p", (query, paths) => {
    expect(find(query).toSorted()).toEqual(paths.split(" ").toSorted());
  });

  test("count neither when switched off, nor for exact words, nor in quotes", () => {
    expect(find("k8s", NONE)).toEqual(["k8s"]);
    expect(find("k8s", {}, true)).toEqual(["k8s"]);
    expect(find('"k8s"')).toEqual(["k8s"]);
    expect(find('"db"')).toEqual([]);
  });

  test("are marked in snippets as what stands there", () => {
    const marked = searchIn(index.segment, "repo", { options: { snippetStyle: "html" } })[0]?.snippet;
    expect(marked).toBe("Clone the <mark>repository</mark>.");
  });
});

describe("a tenant's synonyms", () => {
  test("of a group find each other, of one way only forwards", () => {
    const groups = [["pods", "cluster", "stone"]];
    expect(find("stone", { groups })).toEqual(["data", "kubernetes", "k8s"]);
    expect(find("CLUSTERS", { groups }).toSorted()).toEqual(["data", "k8s", "kubernetes"]);
    const oneWay = { React: ["preact"] };
    expect(find("react", { oneWay })).toEqual(["cloud", "preact"]);
    expect(find("preact", { oneWay })).toEqual(["preact"]);
  });

  test("of several words are found and find", () => {
    const groups = [["hypervisor guest", "virtual machine", "pods"]];
    expect(find("pods", { groups })[0]).toBe("kubernetes");
    expect(find("pods", { groups })).toContain("machine");
    expect(find("virtual machine", { groups })).toContain("kubernetes");
    expect(find("machine virtual", { groups })).not.toContain("kubernetes");
    expect(find("hypervisor guests", { groups }).toSorted()).toEqual(["kubernetes", "machine", "machinery"]);
  });

  test("do not follow from one another, and may go round in circles", () => {
    const oneWay = { pods: ["cluster"], cluster: ["stone"], stone: ["pods"] };
    expect(find("pods", { oneWay })).toEqual(["kubernetes", "k8s"]);
    expect(find("stone", { oneWay })).toEqual(["data", "kubernetes"]);
    expect(find("pods", { oneWay: { pods: ["pods"] }, groups: [["pods", "pods"]] })).toEqual(["kubernetes"]);
  });

  test("may be a hundred thousand, of which a word has eight", () => {
    const groups = Array.from({ length: 50_000 }, (_, n) => [`word${n}`, `other${n % 1000}`]);
    const all = [["pods", ...Array.from({ length: 20 }, (_, n) => `w${n}`), "stone"], ...groups];
    expect(find("pods", { groups: all })).toEqual(["kubernetes"]);
    expect(find("word49999", { groups: [...groups, ["word49999", "stone"]] })).toEqual(["data"]);
  });

  test("that say nothing do no harm", () => {
    for (const word of ["", " ", "'", "🙂", "\ud800", "x".repeat(10_000), "__proto__"])
      expect(find("pods", { groups: [["pods", word]], oneWay: { [word]: ["pods"] } })).toEqual([
        "kubernetes",
      ]);
  });
});

describe("words written together or apart", () => {
  test.each([
    ["login", "login apart"],
    ["log in", "apart login"],
    ["LogIn", "apart login"],
    ["data base", "data database"],
    ["large data base", "data"],
  ])("%p finds %p", (query, paths) => {
    expect(find(query, NONE)[0]).toBe(paths.split(" ")[0]!);
    for (const path of paths.split(" ")) expect(find(query, NONE)).toContain(path);
  });

  test("are not looked for where no document has the parts next to each other", async () => {
    await using other = await openFixture([
      { url: docsUrl("site", "a"), title: "x", markdown: "Log what came in." },
      { url: docsUrl("site", "b"), title: "x", markdown: "Sign in, then log in." },
    ]);
    const has = (query: string) => rankIn(other.segment, query).length;
    expect(has("login")).toBe(2);
    expect(has("signlog")).toBe(0);
    expect(rankIn(other.segment, "login", { options: { wordMatch: true } })).toEqual([]);
    expect(rankIn(other.segment, '"login"')).toEqual([]);
  });
});

test("a document with the word comes before all that only have words for it", async () => {
  const word = fc.constantFrom(
    "mill",
    "wheel",
    "waterwheel",
    "water",
    "sluice",
    "gate",
    "log",
    "in",
    "login",
  );
  const line = fc.array(word, { minLength: 1, maxLength: 10 }).map((words) => words.join(" "));
  const documents = fc.array(fc.record({ title: line, markdown: line }), { minLength: 1, maxLength: 9 });
  const synonyms = {
    ...NONE,
    groups: [
      ["mill", "wheel", "sluice gate"],
      ["login", "gate"],
    ],
  };
  await fc.assert(
    fc.asyncProperty(documents, fc.constantFrom("mill", "login", "wheel", "gate"), async (made, query) => {
      const sources = made.map((page, n) => ({ ...page, url: docsUrl("site", `p${n}`) }));
      await using fixture = await openFixture(sources);
      const has = rankIn(fixture.segment, query, { settings: { synonyms } }).map(({ url }) => {
        const { title, markdown } = sources.find((source) => source.url === url)!;
        return `${title} ${markdown}`.split(" ").includes(query);
      });
      expect(has).toEqual(has.toSorted((a, b) => Number(b) - Number(a)));
    }),
    { numRuns: 40 },
  );
});
