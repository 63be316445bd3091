import { expect } from "bun:test";
import { Served, writeDeployment } from "../../support/served.ts";
import {
  codenames,
  LOG,
  LONG,
  openSpecifiedTools,
  type Result,
  type Schema,
  urls,
} from "../../support/specified-tools.ts";
import { until } from "../../support/until.ts";
import { statementsOf } from "./statement.ts";

// The tools as clients of MCP meet them: what they are called, take and answer.

const statement = statementsOf("search");

const { served, client, tools, call, search, fetchPage, schemaOf } = await openSpecifiedTools();
const NAMES = ["describe_tenant", "find_tenant", "list_tenants", "root_fetch", "root_search"];

statement(
  "What the service does",
  "Serves collections of documentation called tenants. Each tenant has a codename.",
  async () => {
    expect(codenames(await call("list_tenants"))).toEqual(["harbour", "weaving", "observatory"]);
  },
);
statement("What the service does", "Exposes five MCP tools on one HTTP endpoint, path `/mcp`", () => {
  expect(tools.map(({ name }) => name).sort()).toEqual(NAMES);
});
statement(
  "What the service does",
  "Intended flow: find a tenant, search inside it, fetch a page.",
  async () => {
    const [tenant_codename] = codenames(await call("find_tenant", { query: "mooring boats" }));
    const found = (await call("root_search", { tenant_codename, query: "how is a boat tied" })) as never;
    const [uri] = urls(found);
    expect((await call("root_fetch", { tenant_codename, uri })).content).toContain("bowline");
  },
);
statement("What the service does", "Search is ranked (BM25 engine) and returns snippets.", async () => {
  const { results } = await search("boat dues");
  expect(results.map(({ url }) => url)).toEqual(["docs://harbour/dues.md", "docs://harbour/moor.md"]);
  const scores = results.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  expect(results[0]?.snippet).toContain("harbour dues");
});
statement("What the service does", "Fetch returns the full page content for a URL.", async () => {
  expect(LONG).toHaveLength(57_495);
  const page = await fetchPage(LOG);
  expect((page.content as string).trimEnd()).toBe(LONG.trimEnd());
  expect(page.next_offset).toBeNull();
  await using full = await Served.start(
    writeDeployment({ default_fetch_mode: "full" }, {}, { "log.md": LONG }),
  );
  const fetched = await until(
    () => full.call("root_fetch", { tenant_codename: "tool", uri: "docs://tool/log.md" }),
    ({ error }) => error === null,
  );
  expect(fetched.content.trimEnd()).toBe(LONG.trimEnd());
});
statement("What the service does", "no root-level MCP resources exist", async () => {
  const { resources } = await client.listResources();
  for (const { uri } of resources) expect(uri).toMatch(/^docs:\/\/(?:harbour|weaving|observatory)\//);
  const { resourceTemplates } = await client.listResourceTemplates();
  for (const { uriTemplate } of resourceTemplates)
    expect(uriTemplate).toStartWith("docs://{tenant_codename}/");
});

statement("Tenant summary", "codename | string", async () => {
  const { tenants } = await call("list_tenants");
  for (const one of tenants as Result[]) expect(one.codename).toBeString();
});
statement("Tenant summary", "description | string", async () => {
  const { tenants } = await call("find_tenant", { query: "boats" });
  expect(tenants).toEqual([{ codename: "harbour", description: "Mooring boats and paying dues" }]);
});

for (const [words, field, value] of [
  ["codename | string", "codename", "harbour"],
  ["display_name | string", "display_name", "The harbour"],
  ["description | string", "description", "Mooring boats and paying dues"],
  ["source_type | string | `online`, `git` or `filesystem`", "source_type", "filesystem"],
  [
    "test_queries | array of string | Example queries.",
    "test_queries",
    ["how do I moor?", "harbour dues", "bowline"],
  ],
  ["url_prefixes | array of string | URL prefixes the tenant covers.", "url_prefixes", ["docs://harbour/"]],
] as const)
  statement("Tenant detail", words, async () => {
    expect((await call("describe_tenant", { codename: "harbour" }))[field]).toEqual(value);
  });

for (const [words, field, value] of [
  ["url | string", "url", "docs://harbour/moor.md"],
  ["title | string", "title", "Mooring"],
  ["score | number", "score", expect.any(Number)],
  ["snippet | string", "snippet", expect.stringContaining("Tie the boat with a bowline.")],
] as const)
  statement("Search result and stats", words, async () => {
    const { results } = await search("bowline");
    expect(results).toHaveLength(1);
    expect(results[0]?.[field]).toEqual(value);
  });
statement("Search result and stats", "`total_docs` (integer)", async () => {
  expect((await search("bowline")).stats).toMatchObject({ total_docs: 3 });
});
statement("Search result and stats", "`query_time_ms` (number)", async () => {
  expect(((await search("bowline")).stats as Result).query_time_ms).toBeNumber();
});

for (const [words, field, value] of [
  ["`url` (string)", "url", "docs://harbour/moor.md"],
  ["`title` (string)", "title", "Mooring"],
  ["`content` (string, Markdown)", "content", expect.stringContaining("# Mooring\n\nTie the boat")],
  ["`error` (string or null)", "error", null],
] as const)
  statement("Fetch result", words, async () => {
    expect((await fetchPage("docs://harbour/moor.md"))[field]).toEqual(value);
    const { [field]: failed } = await fetchPage("docs://harbour/none.md");
    expect(failed).toBeString();
  });

statement(
  "Tool endpoint",
  "`/mcp` on {base_url}, MCP HTTP transport; a standard MCP client calls the tools below.",
  async () => {
    const list = { method: "tools/list", params: {} };
    for (const path of ["", "/"])
      for (const accept of ["application/json, text/event-stream", "application/json", "*/*"]) {
        const response = await fetch(`${served.url}/mcp${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", accept },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...list }),
        });
        expect(response.status).toBe(200);
        expect(await response.json()).toMatchObject({ id: 1, result: { tools: expect.any(Array) } });
      }
  },
);
statement("Tool endpoint", "Every tool result may carry an `error` field", () => {
  for (const { outputSchema } of tools) {
    const { properties, required } = outputSchema as Schema;
    expect(properties?.error).toEqual({ anyOf: [{ type: "string" }, { type: "null" }] });
    expect(required).toContain("error");
  }
});

statement("Tool endpoint", "list_tenants | none", async () => {
  expect(schemaOf("list_tenants")).toMatchObject({ properties: {}, required: [] });
});
statement("Tool endpoint", "none | `count` (integer), `tenants` (array of tenant summary)", async () => {
  const { count, tenants } = await call("list_tenants");
  expect(count).toBe(3);
  for (const one of tenants as object[])
    expect(one).toEqual({ codename: expect.any(String), description: expect.any(String) });
});
statement("Tool endpoint", "find_tenant | `query` (string, required)", async () => {
  expect(schemaOf("find_tenant")).toMatchObject({
    properties: { query: { type: "string" } },
    required: ["query"],
  });
  expect((await call("find_tenant")).error).toBe("query is required");
  expect((await call("find_tenant", { query: 7 })).error).toBe("query must be a string");
});
statement(
  "Tool endpoint",
  "`query` (string), `count` (integer), `tenants` (array of tenant summary)",
  async () => {
    expect(await call("find_tenant", { query: "yarn" })).toEqual({
      query: "yarn",
      count: 1,
      tenants: [{ codename: "weaving", description: "Looms, shuttles and yarn" }],
      error: null,
    });
  },
);
statement("Tool endpoint", "describe_tenant | `codename` (string, required)", async () => {
  expect(schemaOf("describe_tenant")).toMatchObject({
    properties: { codename: { type: "string" } },
    required: ["codename"],
  });
  expect((await call("describe_tenant")).error).toBe("codename is required");
});
statement("Tool endpoint", "| tenant detail |", async () => {
  expect(Object.keys(await call("describe_tenant", { codename: "weaving" })).sort()).toEqual([
    "codename",
    "description",
    "display_name",
    "error",
    "source_type",
    "test_queries",
    "url_prefixes",
  ]);
});
statement(
  "Tool endpoint",
  "root_search | `tenant_codename` (string, required), `query` (string, required)",
  async () => {
    const { properties, required } = schemaOf("root_search");
    expect(required?.toSorted()).toEqual(["query", "tenant_codename"]);
    expect([properties?.tenant_codename?.type, properties?.query?.type]).toEqual(["string", "string"]);
    expect((await call("root_search", { query: "boat" })).error).toStartWith("tenant_codename is required");
    expect((await search("", {})).error).toBe("query is required");
    expect((await call("root_search", { tenant_codename: 7, query: "x" })).error).toBe(
      "tenant_codename must be a string",
    );
  },
);
statement("Tool endpoint", "`size` (integer, optional, default 10, 1 to 100)", async () => {
  expect(schemaOf("root_search").properties?.size).toMatchObject({
    type: "integer",
    minimum: 1,
    maximum: 100,
    default: 10,
  });
  expect((await search("boat", { size: 1 })).results).toHaveLength(1);
  for (const size of [0, 101, 1.5, "many"])
    expect((await search("boat", { size })).error).toBe("size must be between 1 and 100");
});
statement("Tool endpoint", "`word_match` (boolean, optional, default false)", async () => {
  expect(schemaOf("root_search").properties?.word_match).toMatchObject({ type: "boolean", default: false });
  expect(urls(await search("mooring"))).toEqual(urls(await search("mooring", { word_match: false })));
  expect((await search("x", { word_match: "maybe" })).error).toBe("word_match must be true or false");
});
statement(
  "Tool endpoint",
  "`query` (string), `results` (array of search result), `stats` (object)",
  async () => {
    const { query, results, stats } = await search("bowline");
    expect([query, results.length, typeof stats]).toEqual(["bowline", 1, "object"]);
  },
);
statement(
  "Tool endpoint",
  "root_fetch | `tenant_codename` (string, required), `uri` (string, required, a document URL taken from search results)",
  async () => {
    const { properties, required } = schemaOf("root_fetch");
    expect(required?.toSorted()).toEqual(["tenant_codename", "uri"]);
    expect([properties?.tenant_codename?.type, properties?.uri?.type]).toEqual(["string", "string"]);
    for (const url of urls(await search("boat"))) expect((await fetchPage(url)).error).toBeNull();
    expect((await call("root_fetch", { uri: LOG })).error).toStartWith("tenant_codename is required");
    expect((await call("root_fetch", { tenant_codename: "harbour" })).error).toBe("uri is required");
  },
);
statement("Tool endpoint", "| fetch result |", async () => {
  expect(await fetchPage("docs://harbour/moor.md")).toMatchObject({
    url: "docs://harbour/moor.md",
    title: "Mooring",
    content: expect.any(String),
    error: null,
  });
});
