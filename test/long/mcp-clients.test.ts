import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { startTlsCaddy } from "../support/caddy.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { outputOf } from "../support/local.ts";
import { startMcpSite } from "../support/mcp-site.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { untilTrue } from "../support/until.ts";

const ROOT = join(import.meta.dir, "../..");
const CLIENTS = join(ROOT, "build/mcp-clients");
const site = forAllTests(await startMcpSite());
const search = forAllTests(await Served.start(writeDeployment()));
const extractor = forAllTests(await startExtractor({ env: { ARTICLE_EXTRACTOR_EGRESS: "open" } }));
await untilTrue(async () => (await search.search("no_proxy")).error === null);

type Call = readonly [tool: string, args: object];
const SEARCH: Call = ["root_search", { tenant_codename: "tool", query: "no_proxy" }];
const READ: Call = ["fetch_url", { url: `${site.origin}/short` }];

/** Calls a tool with an installed client; gives the names of the tools and the result. */
async function call(program: string, url: string, [tool, args]: Call, env = {}) {
  const child = Bun.spawn([join(CLIENTS, program), url, "result", tool, JSON.stringify(args)], {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const { stdout, stderr } = await outputOf(child);
  expect([await child.exited, stderr]).toEqual([0, expect.any(String)]);
  const { tools, result } = JSON.parse(
    stdout
      .split("\n")
      .find((line) => line.startsWith("OUT "))!
      .slice(4),
  );
  return { tools, result: JSON.parse(result) };
}

async function install(client: string): Promise<void> {
  const child = Bun.spawn(["sh", join(ROOT, "scripts/mcp-clients.sh"), client], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const { stderr } = await outputOf(child);
  expect([await child.exited, stderr]).toEqual([0, expect.any(String)]);
}

describe.each([
  ["Go", "go", "go", "goclient/goclient"],
  ["Java", "java", "mvn", "javaclient/javaclient"],
  ["Rust", "rust", "cargo", "rustclient/rustclient"],
])("the official client for %s", (_, client, tool, program) => {
  test.skipIf(Bun.which(tool) === null)(
    "searches and reads a page over HTTP",
    async () => {
      await install(client);
      expect(await call(program, `${search.url}/mcp`, SEARCH)).toMatchObject({
        tools: ["find_tenant", "list_tenants", "describe_tenant", "root_search", "root_fetch"],
        result: { error: null, results: [{ url: "docs://tool/proxies.md" }] },
      });
      expect(await call(program, `${extractor.url}/mcp`, READ)).toMatchObject({
        tools: ["fetch_url", "crawl_site", "crawl_status"],
        result: { error: null, markdown: "# Hello\n\nWord." },
      });
    },
    600_000,
  );
});

test.skipIf(Bun.which("go") === null || Bun.which("caddy") === null)(
  "a client that trusts Caddy's own authority reads through it over TLS",
  async () => {
    await install("go");
    await using caddy = await startTlsCaddy(extractor.url);
    const answer = await call("goclient/goclient", `${caddy.url}/mcp`, READ, {
      SSL_CERT_FILE: caddy.authority,
    });
    expect(answer.result).toMatchObject({ error: null, markdown: "# Hello\n\nWord." });
  },
  600_000,
);
