import { expect } from "bun:test";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { BINARY, cleanEnvironment } from "../../support/binary.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { callMcp, connectMcp, postMcp } from "../../support/mcp.ts";
import { openIndexed, openSearchServer } from "../../support/search-server.ts";
import { Served, writeDeployment } from "../../support/served.ts";
import { writeFiles } from "../../support/specified.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { statementsOf } from "./statement.ts";

// The tools as clients of MCP meet them, on one server of the built program with several tenants.

const statement = statementsOf("search");

/** A page of 57 495 characters, whose middle is found by a word of its own. */
const LONG = (() => {
  const paragraph = `${"The keeper counts the barges at the weir. ".repeat(12).trim()}\n\n`;
  const text = `# The log of the weir\n\n${paragraph.repeat(57)}## Middle\n\nHere is the zanderfish.\n\n${paragraph.repeat(57)}`;
  return `${text.slice(0, 57_494)}\n`;
})();

const root = forAllTests(temporaryDirectory());
const tenantOf = (codename: string, fields: object = {}): object => ({
  source_type: "filesystem",
  codename,
  docs_name: `The ${codename}`,
  docs_root_dir: codename,
  ...fields,
});
writeFiles(root.path, {
  "deployment.json": JSON.stringify({
    infrastructure: { mcp_host: "127.0.0.1", mcp_port: 1024, allow_index_builds: true },
    tenants: [
      tenantOf("harbour", {
        description: "Mooring boats and paying dues",
        test_queries: { natural: ["how do I moor?"], phrases: ["harbour dues"], words: ["bowline"] },
      }),
      tenantOf("weaving", { description: "Looms, shuttles and yarn" }),
      tenantOf("observatory", { description: "Telescopes and their mounts" }),
    ],
  }),
  "harbour/moor.md":
    "# Mooring\n\nTie the boat with a bowline. A boat that is tied stays; boats drift otherwise.\n",
  "harbour/dues.md":
    "# Dues\n\nA boat pays harbour dues once a year, and the boat of a guest by the day. Boat by boat.\n",
  "harbour/log.md": LONG,
  "weaving/loom.md": "# Loom\n\nThe shuttle carries the weft through the shed.\n",
  "observatory/mount.md": "# Mounts\n\nPoint the telescope at the pole star.\n",
});
const served = forAllTests(await Served.start(root.path));
const client = forAllTests(await connectMcp(`${served.url}/mcp`));
const { tools } = await client.listTools();

type Result = Readonly<Record<string, unknown>> & { readonly error: string | null };

/** Calls a tool as an official client does, which checks the result against the tool's own schema. */
async function call(name: string, args: object = {}): Promise<Result> {
  const answer = await client.callTool({ name, arguments: { ...args } });
  expect(answer.isError ?? false).toBe(false);
  expect(JSON.parse((answer.content as [{ text: string }])[0].text)).toEqual(
    answer.structuredContent as object,
  );
  return answer.structuredContent as Result;
}
for (const tenant_codename of ["harbour", "weaving", "observatory"])
  await until(
    () => call("root_search", { tenant_codename, query: "the" }),
    ({ error }) => error === null,
  );

type Hit = { readonly url: string; readonly title: string; readonly score: number; readonly snippet: string };
const search = async (
  query: string,
  more: object = {},
): Promise<Result & { readonly results: readonly Hit[] }> =>
  (await call("root_search", { tenant_codename: "harbour", query, ...more })) as never;
const fetchPage = (uri: string, more: object = {}): Promise<Result> =>
  call("root_fetch", { tenant_codename: "harbour", uri, ...more });
const urls = ({ results }: { readonly results: readonly Hit[] }): string[] => results.map(({ url }) => url);
const codenames = ({ tenants }: Result): string[] =>
  (tenants as readonly { readonly codename: string }[]).map(({ codename }) => codename);

const LOG = "docs://harbour/log.md";
const NAMES = ["describe_tenant", "find_tenant", "list_tenants", "root_fetch", "root_search"];

type Schema = {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
const schemaOf = (name: string): Schema =>
  (tools.find((tool) => tool.name === name)?.inputSchema ?? {}) as Schema;

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

statement(
  "Tool endpoint 1",
  "`find_tenant` matches a topic by fuzzy search with typo tolerance",
  async () => {
    for (const [query, codename] of [
      ["telescopes", "observatory"],
      ["telescpoe", "observatory"],
      ["moring a boat", "harbour"],
      ["shutles", "weaving"],
    ] as const)
      expect(codenames(await call("find_tenant", { query }))).toEqual([codename]);
  },
);
statement("Tool endpoint 1", "(a misspelling of a codename still finds it)", async () => {
  for (const query of ["harbuor", "harbor", "weavign", "obzervatory"]) {
    const [first] = codenames(await call("find_tenant", { query }));
    expect(["harbour", "weaving", "observatory"].find((name) => name[0] === query[0])).toBe(first);
  }
});
statement("Tool endpoint 1", "returns only matching tenants", async () => {
  for (const query of ["quantum chemistry", "", "zzz"]) {
    const { count, tenants, hint, error } = await call("find_tenant", { query });
    expect([count, tenants, error]).toEqual([0, [], null]);
    expect(hint).toContain("list_tenants");
  }
  expect(codenames(await call("find_tenant", { query: "looms" }))).toEqual(["weaving"]);
});
statement(
  "Tool endpoint 2",
  "`list_tenants` returns all tenants; `find_tenant` is preferred when the topic is known.",
  async () => {
    expect(await call("list_tenants")).toMatchObject({ count: 3, error: null });
    const { description } = tools.find(({ name }) => name === "list_tenants") ?? {};
    expect(description).toContain("find_tenant");
  },
);
statement("Tool endpoint 3", "`root_search` with `word_match` true matches exact words.", async () => {
  expect(urls(await search("drifting"))).toEqual(["docs://harbour/moor.md"]);
  expect(urls(await search("drifting", { word_match: true }))).toEqual([]);
  expect(urls(await search("drift", { word_match: true }))).toEqual(["docs://harbour/moor.md"]);
  // Neither typing mistakes nor beginnings of words.
  for (const query of ["bowlnie", "bowl"])
    expect(urls(await search(query, { word_match: true }))).toEqual([]);
});
statement(
  "Tool endpoint 4",
  "Whether `stats` is present is set for the whole server by `infrastructure.search_include_stats`",
  async () => {
    expect(Object.keys(await search("boat"))).toContain("stats");
    await using bare = await Served.start(writeDeployment({ search_include_stats: false }));
    const answer = await until(
      () => bare.search("no_proxy"),
      ({ error }) => error === null,
    );
    expect(Object.keys(answer)).not.toContain("stats");
    expect(
      Object.keys(await bare.call("root_search", { tenant_codename: "nope", query: "x" })),
    ).not.toContain("stats");
  },
);
statement("Tool endpoint 4", "a client cannot switch it per request", async () => {
  for (const name of ["stats", "search_include_stats", "include_stats"]) {
    expect(Object.keys(schemaOf("root_search").properties ?? {})).not.toContain(name);
    expect(Object.keys(await search("boat", { [name]: false }))).toContain("stats");
  }
});
statement("Tool endpoint 5", "Parameter naming differs by tool: `codename` for describe", async () => {
  expect(Object.keys(schemaOf("describe_tenant").properties ?? {})).toEqual(["codename"]);
  // Other names are taken for it, and are not in the schema.
  for (const name of ["tenant_codename", "tenant"])
    expect(await call("describe_tenant", { [name]: "harbour" })).toMatchObject({
      codename: "harbour",
      error: null,
    });
});
statement("Tool endpoint 5", "`tenant_codename` for search and fetch", async () => {
  for (const name of ["root_search", "root_fetch"]) {
    expect(Object.keys(schemaOf(name).properties ?? {})).toContain("tenant_codename");
    for (const other of ["codename", "tenant"])
      expect(Object.keys(schemaOf(name).properties ?? {})).not.toContain(other);
  }
  for (const other of ["codename", "tenant"]) {
    expect(await call("root_search", { [other]: "harbour", query: "boat" })).toMatchObject({ error: null });
    expect(await call("root_fetch", { [other]: "harbour", uri: LOG })).toMatchObject({ error: null });
  }
});
statement("Tool endpoint 5", "`uri` for the page address in fetch", async () => {
  expect(Object.keys(schemaOf("root_fetch").properties ?? {})).not.toContain("url");
  expect(await call("root_fetch", { tenant_codename: "harbour", url: LOG })).toMatchObject({
    url: LOG,
    error: null,
  });
});

/** Of each tool a call that fails for an unknown tenant. */
const FAILING = [
  ["describe_tenant", { codename: "harbuor" }],
  ["root_search", { tenant_codename: "harbuor", query: "boat" }],
  ["root_fetch", { tenant_codename: "harbuor", uri: LOG }],
] as const;

statement("Errors 1", "Every tool can return an `error` field", async () => {
  for (const [name, args] of [...FAILING, ["find_tenant", {}], ["list_tenants", {}]] as const)
    expect(Object.keys(await call(name, args))).toContain("error");
  // Every other field of the schema is there, and empty.
  const { stats, ...failed } = await call("root_search", { tenant_codename: "nope", query: "boat" });
  expect(failed).toEqual({ query: "boat", results: [], error: expect.any(String) });
  expect(stats).toEqual({ total_docs: 0, query_time_ms: 0 });
  expect(await call("root_fetch", { tenant_codename: "nope", uri: LOG })).toMatchObject({
    url: LOG,
    title: "",
    content: "",
  });
  expect(await call("describe_tenant", { codename: "nope" })).toMatchObject({
    codename: "nope",
    display_name: "",
    description: "",
    source_type: "",
    test_queries: [],
    url_prefixes: [],
  });
});
statement("Errors 1", "it is null when the call succeeded", async () => {
  expect((await call("list_tenants")).error).toBeNull();
  expect((await call("find_tenant", { query: "boats" })).error).toBeNull();
  expect((await call("describe_tenant", { codename: "harbour" })).error).toBeNull();
  expect((await search("boat")).error).toBeNull();
  expect((await fetchPage(LOG)).error).toBeNull();
});
statement("Errors 2", "`Tenant '<codename>' not found` | Unknown codename", async () => {
  for (const [name, args] of FAILING)
    expect((await call(name, args)).error).toBe("Tenant 'harbuor' not found; did you mean harbour?");
  const stdio = new Client({ name: "test", version: "1" });
  const transport = new StdioClientTransport({
    command: BINARY,
    args: ["serve", "search", "--stdio"],
    cwd: root.path,
    env: cleanEnvironment({ DOCS_SEARCH_STATE_DIR: join(root.path, "other") }),
    stderr: "ignore",
  });
  await stdio.connect(transport as never);
  for (const [name, args] of FAILING) {
    const { isError, structuredContent } = await stdio.callTool({ name, arguments: { ...args } });
    expect([isError ?? false, structuredContent]).toMatchObject([
      false,
      { error: "Tenant 'harbuor' not found; did you mean harbour?" },
    ]);
  }
  await stdio.close();
  // What is no call of a tool is an error of the protocol.
  await expect(client.callTool({ name: "search", arguments: {} })).rejects.toThrow(
    /-32602.*Unknown tool: search/,
  );
});
statement("Errors 2", "`Search timeout` | Query exceeded `search_timeout`", async () => {
  await using registry = await openIndexed(tenantOf("slow", { docs_root_dir: join(root.path, "harbour") }));
  await using slow = openSearchServer(registry, { searchTimeoutMs: 0 });
  const asked = { tenant_codename: "slow", query: "boat" };
  const answer = await callMcp<Result>(slow.url, "root_search", asked);
  expect(answer.error).toMatch(/^Search timeout\b/);
  expect(answer).toMatchObject({ query: "boat", results: [] });
});
statement("Errors 2", "simplify the query or lower `size`", async () => {
  await using registry = await openIndexed(tenantOf("slow", { docs_root_dir: join(root.path, "harbour") }));
  await using slow = openSearchServer(registry, { searchTimeoutMs: 0 });
  const asked = { tenant_codename: "slow", query: "boat" };
  const { error } = await callMcp<Result>(slow.url, "root_search", asked);
  expect(error).toContain("use fewer or rarer words, or a smaller size");
});

statement("Limits", "root_search `size` | 1 to 100, default 10", async () => {
  const files = Array.from(
    { length: 120 },
    (_, at) => [`p${at}.md`, `# Page ${at}\n\nThe heron stands.\n`] as const,
  );
  await using many = await Served.start(writeDeployment({}, {}, Object.fromEntries(files)));
  const found = async (more: object): Promise<number> =>
    (await many.call("root_search", { tenant_codename: "tool", query: "heron", ...more })).results.length;
  expect(
    await until(
      () => found({}),
      (count) => count > 0,
    ),
  ).toBe(10);
  for (const size of [1, 37, 100]) expect(await found({ size })).toBe(size);
});

statement(
  "Versioning",
  "The tools follow the 2024-11-05 revision of the MCP tools specification.",
  async () => {
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo };
    const ask = async (method: string, more: object): Promise<Record<string, unknown>> =>
      (
        (await (await postMcp(served.url, { method, params: more })).json()) as {
          result: Record<string, unknown>;
        }
      ).result;
    expect(await ask("initialize", params)).toMatchObject({
      protocolVersion: "2024-11-05",
      capabilities: { tools: {} },
    });
    for (const tool of (await ask("tools/list", {})).tools as object[])
      expect(tool).toMatchObject({
        name: expect.any(String),
        description: expect.any(String),
        inputSchema: { type: "object" },
      });
    const { content } = await ask("tools/call", { name: "list_tenants", arguments: {} });
    expect(content).toEqual([{ type: "text", text: expect.stringContaining('"count":3') }]);
  },
);
