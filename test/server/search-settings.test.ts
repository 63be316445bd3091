import { expect, test } from "bun:test";
import { forAllTests } from "../support/for-all-tests.ts";
import { folderTenant, openRegistry, writeTree } from "../support/search-server.ts";

const FILLER = "Some other words that stand in a text without meaning much to anybody. ".repeat(6);
const DOCS = writeTree({
  "guide/lantern.md": `# Lamps\n\n${FILLER}\n\nA lantern & a wick. ${FILLER} The lantern burns.\n`,
  "title.md": `---\ntitle: The lantern\n---\nLight. ${FILLER}`,
  "one.md": `# The lantern of the harbour\n\n${FILLER}\n`,
  "two.md": `# Harbour\n\n## A lantern on the mole\n\n${FILLER}\n`,
  "three.md": `# Mole\n\n### Lantern care\n\nIt is arguable.\n\n${FILLER}\n`,
  "code.md": `# Calls\n\n${FILLER}\n\n\`\`\`\nlantern()\n\`\`\`\n`,
  "address.md": `---\nurl: https://lantern.example/x\n---\n# Addresses\n\n${FILLER}\n`,
  "forms.md": "# Forms\n\nLanterns. An argument. Organizations. `organizations_relational`\n",
});

/** What differs from the defaults, and a query whose answer shows it. */
const SETTINGS: readonly (readonly [name: string, search: object, query: string])[] = [
  ["language", { language: "de" }, "burning"],
  ["synonyms.abbreviations", { synonyms: { abbreviations: false } }, "arg"],
  ["synonyms.groups", { synonyms: { groups: [["lamp", "lantern"]] } }, "lamp"],
  ["synonyms.one_way", { synonyms: { one_way: { luminaire: ["lantern"] } } }, "luminaire"],
];
const tenant = (codename: string, { language = null, ...search }: { readonly language?: string | null }) =>
  folderTenant(codename, DOCS, { language, search });

const tenants = SETTINGS.flatMap(([, search], index) => [
  tenant(`base-${index}`, {}),
  tenant(`changed-${index}`, search),
]);
const registry = forAllTests(openRegistry({ tenants }));
for (const { codename } of registry.list()) await registry.build(codename);

test.each(SETTINGS.map(([name, , query], index) => [name, query, index] as const))(
  "search.%s changes what a search answers",
  async (_, query, index) => {
    const answerOf = async (codename: string): Promise<string> => {
      try {
        const options = { size: 10, wordMatch: false, timeoutMs: 5000 };
        const { hits } = await registry.search(codename, query, options);
        return JSON.stringify(
          hits.map(({ url, score, snippet }) => ({ url: url.replace(codename, ""), score, snippet })),
        );
      } catch (error) {
        return String(error);
      }
    };
    expect(await answerOf(`changed-${index}`)).not.toBe(await answerOf(`base-${index}`));
  },
);

test("the last word of a search is also a beginning, unless words must match", async () => {
  const found = async (query: string, wordMatch: boolean): Promise<number> =>
    (await registry.search("base-1", query, { size: 10, wordMatch, timeoutMs: 5000 })).hits.length;
  expect(await found("wick lant", false)).toBeGreaterThan(0);
  expect(await found("lant", false)).toBe(await found("lantern", false));
  expect(await found("lant", true)).toBe(0);
});
