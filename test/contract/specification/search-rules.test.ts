import { expect } from "bun:test";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { BINARY, cleanEnvironment } from "../../support/binary.ts";
import { callMcp, postMcp } from "../../support/mcp.ts";
import { openIndexed, openSearchServer } from "../../support/search-server.ts";
import { Served, writeDeployment } from "../../support/served.ts";
import {
  codenames,
  LOG,
  openSpecifiedTools,
  type Result,
  tenantOf,
  urls,
} from "../../support/specified-tools.ts";
import { until } from "../../support/until.ts";
import { statementsOf } from "./statement.ts";

// The rules of the tools, their errors and limits, and the revision of the protocol that they follow.

const statement = statementsOf("search");

const { root, served, client, tools, call, search, fetchPage, schemaOf } = await openSpecifiedTools();

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
