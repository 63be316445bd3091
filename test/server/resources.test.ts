import { expect, test } from "bun:test";
import { forAllTests } from "../support/for-all-tests.ts";
import { connectMcp, postMcp } from "../support/mcp.ts";
import { folderTenant, openRegistry, openSearchServer, writeTree } from "../support/search-server.ts";

const PAGES = 230;
const paragraphs = (count: number): string =>
  Array.from({ length: count }, (_, at) => `Paragraph ${at} of a long page about ropes.`).join("\n\n");
const SMALL = writeTree({ "a b.md": "# Space\n\nAn apple.\n", "deep/c.md": "A page without a heading.\n" });
const MANY = writeTree({
  ...Object.fromEntries(
    Array.from({ length: PAGES - 2 }, (_, at) => [`p${at}.md`, `# Page ${at}\n\nText ${at}.\n`]),
  ),
  "long.md": `# Long\n\n${paragraphs(1000)}\n`,
  "unbroken.md": `${"x".repeat(30_000)}\n`,
});
const DEPLOYMENT = {
  infrastructure: { allow_index_builds: true },
  tenants: [
    folderTenant("first", SMALL),
    folderTenant("unbuilt", `${SMALL}/missing`),
    folderTenant("silent", SMALL, { search: { enabled: false } }),
    folderTenant("many", MANY),
  ],
};

const registry = forAllTests(openRegistry(DEPLOYMENT));
await registry.build("first");
await registry.build("many");
const server = forAllTests(openSearchServer(registry));
const client = forAllTests(await connectMcp(`${server.url}/mcp`));

const contentsOf = async (uri: string) => {
  const { contents } = await client.readResource({ uri });
  const [content] = contents as [{ uri: string; mimeType: string; text: string; _meta: object }];
  return content;
};

test("resources and prompts are advertised where there are tenants, and not elsewhere", async () => {
  expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {}, prompts: {} });
  const none = openRegistry({ tenants: [] });
  await using bare = openSearchServer(none);
  await using other = await connectMcp(`${bare.url}/mcp`);
  expect(other.getServerCapabilities()).toEqual({ tools: {} });
  // A client that asks nevertheless is answered.
  const ask = async (method: string): Promise<object> => {
    const response = await postMcp(bare.url, { method });
    return ((await response.json()) as { result: object }).result;
  };
  expect(await ask("resources/list")).toEqual({ resources: [] });
  expect(await ask("resources/templates/list")).toEqual({ resourceTemplates: [] });
  expect(await ask("prompts/list")).toEqual({ prompts: [] });
  await other.close();
  await none[Symbol.asyncDispose]();
});

test("every document of every searchable tenant is listed once, over pages", async () => {
  const uris: string[] = [];
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources({ cursor });
    uris.push(...page.resources.map(({ uri }) => uri));
    sizes.push(page.resources.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(sizes).toEqual([100, 100, 32]);
  expect(new Set(uris).size).toBe(PAGES + 2);
  expect(uris.slice(0, 2)).toEqual(["docs://first/a%20b.md", "docs://first/deep/c.md"]);
});

test("a page of the list begins after the document that the cursor names, even when that is gone", async () => {
  const cursor = (text: string): string => Buffer.from(text).toString("base64url");
  const { resources } = await client.listResources({ cursor: cursor("first\ndocs://first/b") });
  expect(resources[0]?.uri).toBe("docs://first/deep/c.md");
  const last = await client.listResources({ cursor: cursor("many\ndocs://many/zzz") });
  expect(last).toEqual({ resources: [] });
});

test.each(["x", "", "bm9wZQpkb2NzOi8vbm9wZS8"])("the cursor %p is refused", async (cursor) => {
  await expect(client.listResources({ cursor })).rejects.toThrow("cursor is not one of an earlier page");
});

test("a document is read as Markdown, by each form of its address", async () => {
  for (const uri of ["docs://first/a%20b.md", "docs://first/a%20b.md#space"])
    expect(await contentsOf(uri)).toEqual({
      uri,
      mimeType: "text/markdown",
      text: "# Space\n\nAn apple.\n",
      _meta: { title: "Space", total_chars: 19, next_offset: null },
    });
});

test("a long document is cut at the end of a paragraph, and says how to go on", async () => {
  const { text, _meta } = await contentsOf("docs://many/long.md");
  const { next_offset: offset, total_chars: total } = _meta as Record<string, number>;
  expect(offset).toBeGreaterThan(19_900);
  expect(offset).toBeLessThanOrEqual(20_000);
  expect(text).toEndWith(
    `about ropes.\n\n[… root_fetch with offset ${offset} gives the rest of ${total} characters]`,
  );
  const cut = await contentsOf("docs://many/unbroken.md");
  expect(cut._meta).toMatchObject({ next_offset: 20_000 });
});

test.each([
  ["docs://nope/a.md", "Tenant 'nope' not found"],
  ["docs://first/nope.md", "Tenant 'first' has no document"],
  ["docs://first/../../etc/passwd", "Tenant 'first' has no document"],
  ["docs://first/https://example.com/x", "Tenant 'first' has no document"],
  ["docs://silent/a%20b.md", "Search is disabled for tenant 'silent'"],
  ["docs://unbuilt/a.md", "Tenant 'unbuilt' has no search index"],
  ["file:///etc/passwd", "resources have addresses like docs://TENANT/PATH"],
  ["", "resources have addresses like docs://TENANT/PATH"],
])("%p is not found, and the error says why", async (uri, message) => {
  const error = await client.readResource({ uri }).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: -32002, data: { uri } });
  expect(error.message).toContain(message);
});

test("the template's addresses are those of the list", async () => {
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates).toMatchObject([
    { uriTemplate: "docs://{tenant_codename}/{+uri}", mimeType: "text/markdown" },
  ]);
});

test("the prompts name the tools and hold what was given", async () => {
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(["answer_from_docs", "compare_versions"]);
  const textOf = async (name: string, given: Record<string, string>): Promise<string> => {
    const { messages } = await client.getPrompt({ name, arguments: given });
    const [message] = messages as unknown as [{ content: { text: string } }];
    return message.content.text;
  };
  const open = await textOf("answer_from_docs", { question: "What is a bowline?" });
  expect(open).toContain("What is a bowline?");
  expect(open).toContain("find_tenant");
  expect(await textOf("answer_from_docs", { question: "q", tenant: "first" })).toContain(
    "root_search in the tenant first",
  );
  const both = await textOf("compare_versions", { topic: "knots", old: "v1", new: "v2" });
  for (const word of ["knots", "v1 and v2", "[title](url#anchor)"]) expect(both).toContain(word);
});

test.each<[name: string, given: Record<string, unknown>, message: string]>([
  ["nope", {}, "Unknown prompt: nope; there are answer_from_docs, compare_versions"],
  ["answer_from_docs", {}, "question is required"],
  ["answer_from_docs", { question: " " }, "question is required"],
  ["answer_from_docs", { question: "x".repeat(10_001) }, "question must be a string of at most 10000"],
  ["compare_versions", { topic: "t", old: "a" }, "new is required"],
])("the prompt %s without what it needs is refused", async (name, given, message) => {
  await expect(client.getPrompt({ name, arguments: given as never })).rejects.toThrow(message);
});
