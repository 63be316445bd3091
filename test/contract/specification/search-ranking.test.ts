import { expect } from "bun:test";
import { forAllTests } from "../../support/for-all-tests.ts";
import { Served } from "../../support/served.ts";
import { validated, writeFiles } from "../../support/specified.ts";
import { writeSyncDeployment } from "../../support/sync-run.ts";
import { until } from "../../support/until.ts";
import { statementsOf } from "./statement.ts";

// What the fields of `search` and `test_queries` do: one server of the built program, with a tenant for each value
// over the same documents.

const statement = statementsOf("search");

const FILLER = "Some other words that stand in a text without meaning much to anybody. ".repeat(6);
const DOCS = {
  "docs/guide/lantern.md": `# Lamps\n\n${FILLER}\n\nA lantern & a wick. ${FILLER} The lantern burns.\n`,
  "docs/title.md": `---\ntitle: The lantern\n---\nLight. ${FILLER}`,
  "docs/one.md": `# The lantern of the harbour\n\n${FILLER}\n`,
  "docs/two.md": `# Harbour\n\n## A lantern on the mole\n\n${FILLER}\n`,
  "docs/three.md": `# Mole\n\n### Lantern care\n\nIt is arguable.\n\n${FILLER}\n`,
  "docs/code.md": `# Calls\n\n${FILLER}\n\n\`\`\`\nlantern()\n\`\`\`\n`,
  "docs/address.md": `---\nurl: https://lantern.example/x\n---\n# Addresses\n\n${FILLER}\n`,
  "docs/forms.md": "# Forms\n\nLanterns. An argument. Organizations. `organizations_relational`\n",
};

const BOOSTS = ["title", "headings_h1", "headings_h2", "headings", "body", "code", "path", "url"];
const boosting = (field: string): string => `boost${field.replace("_h1", "one").replace("_h2", "two")}`;
/** Each tenant's `search`. A name is one word, because addresses are searched too, and their length counts. */
const SEARCHES: Readonly<Record<string, object>> = {
  plain: {},
  twin: {},
  disabled: { enabled: false },
  bm25: { engine: "bm25" },
  stemming: { analyzer_profile: "aggressive-stem" },
  coding: { analyzer_profile: "code-friendly" },
  khigh: { ranking: { bm25_k1: 3 } },
  blow: { ranking: { bm25_b: 0.1 } },
  ...Object.fromEntries(BOOSTS.map((field) => [boosting(field), { boosts: { [field]: 5 } }])),
  html: { snippet: { style: "html" } },
  short: { snippet: { fragment_char_limit: 80 } },
  shortone: { snippet: { fragment_char_limit: 80, max_fragments: 1 } },
  narrow: { snippet: { surrounding_context_chars: 40 } },
};
const TEST_QUERIES = { natural: ["which lantern burns?"], phrases: ["the mole"], words: ["zeppelin"] };
const root = await writeSyncDeployment({
  tenants: Object.entries(SEARCHES).map(([codename, search]) => ({
    source_type: "filesystem",
    codename,
    docs_name: codename,
    docs_root_dir: "docs",
    search,
    ...(codename === "plain" && { test_queries: TEST_QUERIES }),
  })),
});
writeFiles(root, DOCS);
const served = forAllTests(await Served.start(root));

type Answer = {
  readonly error: string | null;
  readonly results: readonly { readonly url: string; readonly score: number; readonly snippet: string }[];
};
/** What a tenant answers once it has its index; addresses without the tenant's name. */
async function search(codename: string, query: string): Promise<Answer["results"]> {
  const asked = { tenant_codename: codename, query };
  const { results } = await until(
    () => served.call("root_search", asked) as Promise<unknown> as Promise<Answer>,
    ({ error }) => error === null,
  );
  return results.map((one) => ({ ...one, url: one.url.replace(`docs://${codename}/`, "") }));
}
const found = async (codename: string, query: string): Promise<readonly string[]> =>
  (await search(codename, query)).map(({ url }) => url);
/** Holds that the answers differ in scores, and are to the same documents. */
async function ranksOtherwise(codename: string, query: string): Promise<void> {
  const [one, other] = [await search(codename, query), await search("plain", query)];
  expect(one.map(({ url }) => url).sort()).toEqual(other.map(({ url }) => url).sort());
  const scores = (results: Answer["results"]) => results.map(({ url, score }) => [url, score]);
  expect(scores(one)).not.toEqual(scores(other));
  expect(scores(await search("twin", query))).toEqual(scores(other));
}
/** What the file says against these settings of a search. */
const problemsOf = async (...searches: readonly object[]): Promise<readonly string[]> =>
  (
    await validated({
      tenants: searches.map((one, at) => ({
        source_type: "filesystem",
        codename: `docs-${at}`,
        docs_name: "Docs",
        docs_root_dir: "docs",
        search: one,
      })),
    })
  ).map((line) => line.replace(/^tenants\[(\d+)\]\.search\./, "$1 "));

statement("Search tuning", "Search on for the tenant.", async () => {
  const { error } = await served.call("root_search", { tenant_codename: "disabled", query: "lantern" });
  expect(error).toBe("Search is disabled for tenant 'disabled'");
  expect(await found("plain", "lantern")).not.toEqual([]);
});
statement("Search tuning", "Only `bm25` is supported.", async () => {
  expect(await problemsOf({ engine: "tfidf" }, { engine: "bm25" })).toEqual([
    '0 engine: must be one of bm25, not "tfidf"',
  ]);
  expect(await search("bm25", "lantern")).toEqual(
    (await search("plain", "lantern")).map((one) => ({ ...one, tenant: "bm25" })),
  );
});
statement("Search tuning", "`default`, `aggressive-stem`, `code-friendly`.", async () => {
  expect(await problemsOf({ analyzer_profile: "fast" })).toEqual([
    '0 analyzer_profile: must be one of default, aggressive-stem, code-friendly, not "fast"',
  ]);
  // A coarser stem finds the argument.
  expect(await found("stemming", "arguable")).toContain("forms.md");
  expect(await found("plain", "arguable")).not.toContain("forms.md");
  await ranksOtherwise("coding", "organization_relation");
});
statement("Search tuning", "Range 0.5 to 3.0.", async () => {
  const at = (bm25_k1: number): object => ({ ranking: { bm25_k1 } });
  expect(await problemsOf(at(0.49), at(0.5), at(3), at(3.01))).toEqual([
    "0 ranking.bm25_k1: must be a number from 0.5 to 3, not 0.49",
    "3 ranking.bm25_k1: must be a number from 0.5 to 3, not 3.01",
  ]);
  await ranksOtherwise("khigh", "lantern");
});
statement("Search tuning", "Range 0.1 to 1.0.", async () => {
  const at = (bm25_b: number): object => ({ ranking: { bm25_b } });
  expect(await problemsOf(at(0.09), at(0.1), at(1), at(1.01))).toEqual([
    "0 ranking.bm25_b: must be a number from 0.1 to 1, not 0.09",
    "3 ranking.bm25_b: must be a number from 0.1 to 1, not 1.01",
  ]);
  await ranksOtherwise("blow", "lantern");
});
statement(
  "Search tuning",
  "Keys `title`, `headings_h1`, `headings_h2`, `headings`, `body`, `code`, `path`, `url`.",
  async () => {
    expect(await problemsOf({ boosts: Object.fromEntries(BOOSTS.map((field) => [field, 0.5])) })).toEqual([]);
    expect(await problemsOf({ boosts: { heading: 1 } })).toEqual([
      "0 boosts.heading: unknown field; did you mean headings?",
    ]);
    for (const field of BOOSTS) await ranksOtherwise(boosting(field), "lantern");
  },
);
statement("Search tuning", "search.snippet | object", async () => {
  const snippets = async (codename: string, query = "lantern"): Promise<string> =>
    (await search(codename, query)).map(({ snippet }) => snippet).join("\n");
  expect(await snippets("plain")).not.toContain("<mark>");
  expect(await snippets("html")).toContain("<mark>lantern</mark> &amp; a wick");
  expect((await snippets("short")).length).toBeLessThan((await snippets("plain")).length);
  expect((await snippets("shortone", "lantern wick burns")).length).toBeLessThan(
    (await snippets("short", "lantern wick burns")).length,
  );
  expect(await snippets("narrow")).not.toBe(await snippets("plain"));
});

statement("Tenant, common fields", "Search tuning (below).", async () => {
  expect(await problemsOf({}, { enabled: true, ranking: {}, boosts: {}, snippet: {} })).toEqual([]);
});
statement("Tenant, common fields", "Validation queries (below).", async () => {
  await search("plain", "lantern");
  const status = async () =>
    (await (await fetch(`${served.url}/plain/sync/status`)).json()) as { test_queries: readonly unknown[] };
  const { test_queries } = await until(status, (now) => now.test_queries.length > 0);
  expect(test_queries).toEqual([
    { query: "which lantern burns?", hits: expect.any(Number) },
    { query: "the mole", hits: expect.any(Number) },
    { query: "zeppelin", hits: 0 },
  ]);
  expect(await served.call("describe_tenant", { codename: "plain" })).toMatchObject({
    test_queries: ["which lantern burns?", "the mole", "zeppelin"],
  });
});
