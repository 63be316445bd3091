import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { BINARY, cleanEnvironment } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { outputOf } from "../support/local.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

const root = writeDeployment(
  {},
  {},
  { "errors.md": "# Errors\n\nThe code 404 stands for a missing page.\n" },
);
const served = forAllTests(await Served.start(root));
await untilTrue(async () => (await served.search("no_proxy")).error === null);

/** Each tool with arguments, and what its answer holds. */
const CALLS: readonly (readonly [name: string, args: Record<string, unknown>, answer: object])[] = [
  ["list_tenants", {}, { count: 1, tenants: [{ codename: "tool" }] }],
  ["find_tenant", { query: "tol" }, { count: 1, tenants: [{ codename: "tool" }] }],
  ["find_tenant", { query: "tool" }, { count: 1, tenants: [{ codename: "tool" }] }],
  ["describe_tenant", { codename: "tool" }, { display_name: "Tool", source_type: "filesystem" }],
  [
    "root_search",
    { tenant_codename: "tool", query: "no_proxy", size: 2, word_match: true },
    { results: [{ url: "docs://tool/proxies.md" }] },
  ],
  ["root_fetch", { tenant_codename: "tool", uri: "docs://tool/proxies.md" }, { title: "Proxies" }],
  ["root_search", { tenant_codename: "nope", query: "x" }, { error: "Tenant 'nope' not found", results: [] }],
];

// The revision that a client proposes is one that it has; what it sends afterwards names the one agreed on.
class ClientOf extends Client {
  readonly revision: string;

  constructor(revision: string) {
    super({ name: "test", version: "1" });
    this.revision = revision;
  }

  override request(...[request, schema, options]: Parameters<Client["request"]>): never {
    const asked =
      request.method === "initialize"
        ? { ...request, params: { ...request.params, protocolVersion: this.revision } }
        : request;
    return super.request(asked as typeof request, schema, options) as never;
  }
}

describe.each(REVISIONS)("the SDK's client in revision %s", (revision) => {
  const overHttp = () => new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`));
  const overStdio = () =>
    new StdioClientTransport({
      command: BINARY,
      args: ["serve", "search", "--stdio"],
      cwd: root,
      env: cleanEnvironment({ DOCS_SEARCH_STATE_DIR: join(root, "state") }),
      stderr: "ignore",
    });

  test.each([
    ["HTTP", overHttp],
    ["stdio", overStdio],
  ] as const)("calls every tool over %s", async (_, open) => {
    const client = new ClientOf(revision);
    const transport = open();
    const versions: string[] = [];
    const spied = Object.assign(transport, {
      setProtocolVersion: (version: string) => versions.push(version),
    });
    await client.connect(spied as never);
    expect(versions).toEqual([revision]);
    expect((await client.listTools()).tools).toHaveLength(5);
    for (const [name, args, answer] of CALLS) {
      const { structuredContent } = await client.callTool({ name, arguments: args });
      expect(structuredContent).toMatchObject({ error: null, ...answer });
    }
    await client.close();
  });
});

describe("the inspector", () => {
  const INSPECTOR = join(import.meta.dir, "../../node_modules/.bin/mcp-inspector");

  /** Runs it as a command on the server; gives what it prints. */
  async function inspect(
    ...words: string[]
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
    using home = temporaryDirectory();
    const target = [`${served.url}/mcp`, "--transport", "http"];
    const child = Bun.spawn([process.execPath, INSPECTOR, "--cli", ...target, ...words], {
      env: { PATH: process.env.PATH ?? "", HOME: home.path },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { stdout: out, stderr: err } = await outputOf(child);
    return { code: await child.exited, out, err };
  }

  test("finds no fault in the tools' schemas", async () => {
    const { code, out, err } = await inspect("--method", "tools/list", "--strict");
    expect(err).not.toMatch(/Error:|Warning:/);
    expect({
      code,
      names: JSON.parse(out)
        .tools.map(({ name }: { name: string }) => name)
        .sort(),
    }).toEqual({
      code: 0,
      names: ["describe_tenant", "find_tenant", "list_tenants", "root_fetch", "root_search"],
    });
  });

  test("searches for digits, of which it makes a number", async () => {
    const words = [
      "--method",
      "tools/call",
      "--tool-name",
      "root_search",
      "--tool-arg",
      "tenant_codename=tool",
    ];
    const { code, out } = await inspect(...words, "query=404");
    expect(code).toBe(0);
    expect(JSON.parse(out).structuredContent).toMatchObject({
      error: null,
      results: [{ url: "docs://tool/errors.md" }],
    });
  });

  test("calls every tool", async () => {
    for (const [name, args, answer] of CALLS.filter(
      ([tool], at) => CALLS.findIndex(([other]) => other === tool) === at,
    )) {
      const pairs = Object.entries(args).map(([key, value]) => `${key}=${value}`);
      const given = pairs.length === 0 ? [] : ["--tool-arg", ...pairs];
      const { code, out } = await inspect("--method", "tools/call", "--tool-name", name, ...given);
      expect(code).toBe(0);
      expect(JSON.parse(out).structuredContent).toMatchObject({ error: null, ...answer });
    }
  });
});
