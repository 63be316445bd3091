import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { BINARY, cleanEnvironment, runShell } from "../support/binary.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { outputOf } from "../support/local.ts";
import { connectMcp } from "../support/mcp.ts";
import { startMcpSite } from "../support/mcp-site.ts";
import { startNginx } from "../support/nginx.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { temporaryDirectory } from "../support/temporary.ts";

type Address = { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

const server = (
  text: string,
  root: string,
): Address & { readonly type?: string; readonly args?: readonly string[] } =>
  JSON.parse(text)[root]["article-extractor"];

/** How each client reads the form that it is given. */
const READERS: Readonly<Record<string, (text: string) => Promise<Address>>> = {
  "claude-code": async (text) => {
    const { stdout } = await runShell(`claude() { printf '%s\\0' "$@"; }; ${text}`);
    const [mcp, add, flag, transport, name, url = "", ...rest] = stdout.split("\0").slice(0, -1);
    expect([mcp, add, flag, transport, name].join(" ")).toBe("mcp add --transport http article-extractor");
    const [option, header = ""] = rest;
    if (option === undefined) return { url };
    expect(option).toBe("--header");
    return { url, headers: Object.fromEntries([header.split(": ")]) };
  },
  "claude-desktop": async (text) => {
    const { args = [] } = server(text, "mcpServers");
    const header = args[args.indexOf("--header") + 1] ?? "";
    const headers = args.includes("--header") ? { headers: Object.fromEntries([header.split(": ")]) } : {};
    return { url: args[2] ?? "", ...headers };
  },
  cursor: async (text) => server(text, "mcpServers"),
  vscode: async (text) => {
    expect(server(text, "servers").type).toBe("http");
    return server(text, "servers");
  },
  zed: async (text) => server(text, "context_servers"),
  codex: async (text) => {
    const { mcp_servers } = Bun.TOML.parse(text) as {
      mcp_servers: Record<string, { url: string; bearer_token_env_var?: string }>;
    };
    const { url = "", bearer_token_env_var } = mcp_servers["article-extractor"] ?? {};
    return { url, ...(bearer_token_env_var && { headers: { Authorization: "Bearer YOUR_KEY" } }) };
  },
  generic: async (text) => server(text, "mcpServers"),
};

const KEY = "s3cret";

describe.each([
  [
    "serve search",
    (hasKey: boolean) => Served.start(writeDeployment(), { env: hasKey ? { DOCS_SEARCH_API_KEY: KEY } : {} }),
    "list_tenants",
  ],
  [
    "serve extractor",
    (hasKey: boolean) => startExtractor({ env: hasKey ? { ARTICLE_EXTRACTOR_API_KEY: KEY } : {} }),
    "fetch_url",
  ],
] as const)("/mcp.json of %s", (_, open, tool) => {
  test.each([false, true])("leads every client to the server, with a key: %p", async (hasKey) => {
    await using running = await open(hasKey);
    const authorization: Record<string, string> = hasKey ? { authorization: `Bearer ${KEY}` } : {};
    for (const [client, read] of Object.entries(READERS)) {
      const response = await fetch(`${running.url}/mcp.json?client=${client}`, { headers: authorization });
      const { url, headers } = await read(await response.text());
      expect([client, headers]).toEqual([client, hasKey ? { Authorization: "Bearer YOUR_KEY" } : undefined]);
      await using connected = await connectMcp(url, authorization);
      expect((await connected.listTools()).tools.map(({ name }) => name)).toContain(tool);
    }
  });

  test("refuses a client that it does not know, and names the others", async () => {
    await using running = await open(false);
    const response = await fetch(`${running.url}/mcp.json?client=emacs`);
    expect(response.status).toBe(422);
    const text = await response.text();
    for (const client of Object.keys(READERS)) expect(text).toContain(client);
  });
});

test("a client reads pages through serve extractor behind an nginx with a path prefix", async () => {
  await using site = startMcpSite();
  await using running = await startExtractor({
    env: { ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.0/8", ARTICLE_EXTRACTOR_EGRESS: "127.0.0.1" },
  });
  await using nginx = await startNginx(
    `location /reader/ { proxy_pass ${running.url}/; proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Prefix /reader; }`,
  );
  const configuration = (await (await fetch(`${nginx.url}/reader/mcp.json?client=cursor`)).json()) as {
    readonly mcpServers: Readonly<Record<string, { readonly url: string }>>;
  };
  const url = configuration.mcpServers["article-extractor"]?.url ?? "";
  expect(url).toBe(`${nginx.url}/reader/mcp`);
  await using client = await connectMcp(url);
  const args = { url: `${site.origin}/short` };
  const { structuredContent } = await client.callTool({ name: "fetch_url", arguments: args });
  expect(structuredContent).toMatchObject({ title: "Hello", error: null });
});

describe("the inspector on mcp", () => {
  const INSPECTOR = join(import.meta.dir, "../../node_modules/.bin/mcp-inspector");
  const site = forAllTests(startMcpSite());
  const home = forAllTests(temporaryDirectory());

  /** Runs it as a command that starts the program. */
  async function inspect(...words: string[]): Promise<{ readonly out: string; readonly err: string }> {
    const child = Bun.spawn([process.execPath, INSPECTOR, "--cli", BINARY, "mcp", ...words], {
      cwd: home.path,
      env: cleanEnvironment({ HOME: home.path }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { stdout: out, stderr: err } = await outputOf(child);
    expect([await child.exited, err]).toEqual([0, err]);
    return { out, err };
  }

  test("finds no fault in the tools' schemas", async () => {
    const { out, err } = await inspect("--method", "tools/list", "--strict");
    expect(err).not.toMatch(/Error:|Warning:/);
    const names = JSON.parse(out).tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["fetch_url", "crawl_site", "crawl_status"]);
  });

  test("reads a page", async () => {
    const call = ["--method", "tools/call", "--tool-name", "fetch_url"];
    const { out } = await inspect(...call, "--tool-arg", `url=${site.origin}/short`, "max_chars=8");
    const part = { markdown: "# Hello", next_offset: 9, error: null };
    expect(JSON.parse(out).structuredContent).toMatchObject(part);
  });
});
