import { describe, expect, test } from "bun:test";
import { copyFileSync, linkSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Tiktoken } from "js-tiktoken/lite";
import cl100k from "js-tiktoken/ranks/cl100k_base";
import { COMMANDS } from "../../src/cli/commands.ts";
import { MCP_CLIENTS } from "../../src/server/index.ts";
import { BINARY, cleanEnvironment, runBinary, runShell } from "../support/binary.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { startMcpSite } from "../support/mcp-site.ts";
import { runningProcesses } from "../support/processes.ts";
import { writeDeployment } from "../support/served.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";

const PAGES = ["fetch_url", "crawl_site", "crawl_status"];
const DOCUMENTS = ["find_tenant", "list_tenants", "describe_tenant", "root_search", "root_fetch"];

const site = forAllTests(startMcpSite());
const home = forAllTests(temporaryDirectory());

const environment = (env: Record<string, string> = {}): Record<string, string> =>
  cleanEnvironment({
    ARTICLE_EXTRACTOR_STATE_DIR: join(home.path, "pages"),
    DOCS_SEARCH_STATE_DIR: join(home.path, "documents"),
    ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
    ...env,
  });

type Started = AsyncDisposable & {
  readonly client: Client;
  readonly pid: number;
  readonly stderr: () => string;
  call(name: string, args: object): Promise<Readonly<Record<string, unknown>>>;
};

type Program = { readonly command: string; readonly args?: readonly string[] };

/** Starts a server as the official client does, from an empty directory unless one is given. */
async function start(
  { command, args = [] }: Program,
  { cwd = home.path, env = {} }: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<Started> {
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    cwd,
    env: environment(env),
    stderr: "pipe",
  });
  let said = "";
  transport.stderr?.on("data", (piece) => {
    said += piece;
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return {
    client,
    pid: transport.pid ?? 0,
    stderr: () => said,
    call: async (name, args) =>
      (await client.callTool({ name, arguments: { ...args } })).structuredContent as Record<string, unknown>,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const toolsOf = async ({ client }: Started): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

const MCP = { command: BINARY, args: ["mcp"] };

/** How each client reads what is put into its file, or typed into a shell. */
const READERS: Readonly<Record<(typeof MCP_CLIENTS)[number], (text: string) => Promise<Program>>> = {
  "claude-code": async (text) => {
    const { stdout } = await runShell(`claude() { printf '%s\\0' "$@"; }; ${text}`);
    const words = stdout.split("\0").slice(0, -1);
    expect(words.slice(0, 6)).toEqual(["mcp", "add", "--transport", "stdio", "article-extractor", "--"]);
    return { command: words[6] ?? "", args: words.slice(7) };
  },
  "claude-desktop": async (text) => JSON.parse(text).mcpServers["article-extractor"],
  cursor: async (text) => JSON.parse(text).mcpServers["article-extractor"],
  vscode: async (text) => {
    const { type, ...program } = JSON.parse(text).servers["article-extractor"];
    expect(type).toBe("stdio");
    return program;
  },
  zed: async (text) => JSON.parse(text).context_servers["article-extractor"],
  // A table of TOML.
  codex: async (text) =>
    (Bun.TOML.parse(text) as { mcp_servers: Record<string, Program> }).mcp_servers[
      "article-extractor"
    ] as Program,
  generic: async (text) => JSON.parse(text).mcpServers["article-extractor"],
};

describe("--print-config", () => {
  test("knows the clients that the option offers", () => {
    const flags = COMMANDS.find(({ name }) => name === "mcp")?.flags ?? [];
    expect(flags.find(({ name }) => name === "print-config")?.choices).toEqual([...MCP_CLIENTS]);
  });

  test.each(MCP_CLIENTS)("prints what %s starts", async (client) => {
    using place = temporaryDirectory();
    // Blanks and quotes in paths are what a shell and TOML would trip over.
    const directory = join(place.path, 'it\'s a "place"');
    mkdirSync(directory);
    const binary = join(directory, "article-extractor");
    try {
      linkSync(BINARY, binary);
    } catch {
      copyFileSync(BINARY, binary);
    }
    const root = writeDeployment();
    writeFileSync(join(directory, "my docs.json"), await Bun.file(join(root, "deployment.json")).text());
    const words = ["mcp", "--print-config", client, "--config", "my docs.json", "--log-level", "error"];
    const printed = await runBinary(words, { binary, cwd: directory });
    expect(printed).toMatchObject({ exitCode: 0, stderr: "" });
    const program = await READERS[client](printed.stdout);
    expect(program).toMatchObject({
      command: binary,
      args: ["mcp", "--config", join(directory, "my docs.json"), "--log-level", "error"],
    });
    await using server = await start(program);
    expect(await toolsOf(server)).toEqual([...DOCUMENTS, ...PAGES]);
    expect(await server.call("fetch_url", { url: `${site.origin}/short` })).toMatchObject({
      title: "Hello",
      error: null,
    });
  });

  test("names the deployment file that the server would find here, and fails as it would without the one that is named", async () => {
    const root = writeDeployment();
    const path = join(root, "deployment.json");
    const argsOf = (stdout: string) => JSON.parse(stdout).mcpServers["article-extractor"].args;
    for (const place of [{ cwd: root }, { env: { DEPLOYMENT_CONFIG: path } }])
      expect(argsOf((await runBinary(["mcp", "--print-config", "generic"], place)).stdout)).toEqual([
        "mcp",
        "--config",
        path,
      ]);
    for (const words of [
      ["--config", "nope.json"],
      ["--config", root],
    ]) {
      const printed = await runBinary(["mcp", "--print-config", "generic", ...words]);
      expect(printed).toMatchObject({ exitCode: 1, stdout: "" });
      const { stderr } = await runBinary(["mcp", ...words]);
      expect(printed.stderr).toBe(stderr);
      expect(stderr).toContain(words[1]!);
    }
  });

  test("refuses a client that it does not know, and names the others", async () => {
    const { exitCode, stdout, stderr } = await runBinary(["mcp", "--print-config", "emacs"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    for (const client of MCP_CLIENTS) expect(stderr).toContain(client);
  });

  test("is what the documentation shows", async () => {
    const documented = await Bun.file(join(import.meta.dir, "../../docs/mcp.md")).text();
    for (const client of MCP_CLIENTS) {
      const { stdout } = await runBinary(["mcp", "--print-config", client]);
      const usual = stdout.trimEnd().replaceAll(BINARY, "/usr/local/bin/article-extractor");
      expect(documented).toContain(`\n${usual}\n\`\`\``);
    }
  });
});

describe("mcp", () => {
  test("has pages and crawls without a deployment file, and its documentation with one", async () => {
    await using plain = await start(MCP);
    expect(await toolsOf(plain)).toEqual(PAGES);
    const root = writeDeployment();
    for (const place of [{ cwd: root }, { env: { DEPLOYMENT_CONFIG: join(root, "deployment.json") } }]) {
      await using server = await start(MCP, place);
      expect(await toolsOf(server)).toEqual([...DOCUMENTS, ...PAGES]);
      const found = await until(
        () => server.call("root_search", { tenant_codename: "tool", query: "no_proxy" }),
        ({ error }) => error === null,
      );
      expect(found).toMatchObject({ results: [{ url: "docs://tool/proxies.md" }] });
    }
  });

  test("costs a model at most 1800 tokens of cl100k", async () => {
    await using server = await start(MCP, { cwd: writeDeployment() });
    const { tools } = await server.client.listTools();
    expect(tools).toHaveLength(8);
    expect(new Tiktoken(cl100k).encode(JSON.stringify(tools)).length).toBeLessThanOrEqual(1800);
    expect(server.client.getInstructions()?.split(/\s+/).length).toBeLessThanOrEqual(150);
  });

  test("leaves out a deployment file that it happens to find and cannot read, but not one that was named", async () => {
    using place = temporaryDirectory();
    writeFileSync(join(place.path, "deployment.json"), '{"apiVersion": "apps/v1", "kind": "Deployment"}');
    await using server = await start(MCP, { cwd: place.path });
    expect(await toolsOf(server)).toEqual(PAGES);
    expect(server.stderr()).toContain("deployment.json is left out");
    const named = await runBinary(["mcp", "--config", "deployment.json"], { cwd: place.path });
    expect(named).toMatchObject({ exitCode: 2, stdout: "" });
    expect(named.stderr).toContain("apiVersion");
  });

  test("fetches nothing in offline mode", async () => {
    await using server = await start(MCP, { cwd: writeDeployment({ operation_mode: "offline" }) });
    expect(await toolsOf(server)).toEqual(DOCUMENTS);
  });

  test("fetches by the egress policy", async () => {
    await using server = await start({ ...MCP, args: ["mcp", "--egress", "public"] });
    expect((await server.call("fetch_url", { url: `${site.origin}/short` })).error).toContain("refuse");
    expect(site.count("/nothing")).toBe(0);
  });

  test("reads pages where crawls have no place", async () => {
    using place = temporaryDirectory();
    writeFileSync(join(place.path, "file"), "");
    await using server = await start(MCP, {
      env: { ARTICLE_EXTRACTOR_STATE_DIR: join(place.path, "file/state") },
    });
    expect(await server.call("fetch_url", { url: `${site.origin}/short` })).toMatchObject({ error: null });
    const refused = await server.call("crawl_site", { url: site.origin });
    expect(refused.error).toContain("file/state");
  });

  test("keeps the pages of a crawl in its state directory, and goes on with it after a restart", async () => {
    const state = join(home.path, "restarted");
    const env = { ARTICLE_EXTRACTOR_STATE_DIR: state, ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0.5" };
    let job: Readonly<Record<string, unknown>>;
    {
      await using first = await start(MCP, { env });
      job = await first.call("crawl_site", { url: `${site.origin}/site/` });
      expect(job).toMatchObject({ error: null });
      expect(job.directory).toStartWith(join(state, "crawls/127.0.0.1_"));
      const begun = await until(
        () => first.call("crawl_status", { job_id: job.job_id }),
        ({ progress }) => Number(progress) > 0,
      );
      expect(begun).toMatchObject({ status: "running" });
    }
    await using second = await start(MCP, { env });
    const end = await second.call("crawl_status", { job_id: job.job_id, wait: 50 });
    expect(end).toMatchObject({ status: "completed", successful: 2, directory: job.directory, error: null });
    expect(site.count("/site/")).toBe(1);
  });
});

describe("the stream of mcp", () => {
  const message = (id: number, method: string, params: object = {}): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
  const hello = message(0, "initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  });
  const fetchOf = (id: number, path: string): string =>
    message(id, "tools/call", { name: "fetch_url", arguments: { url: site.origin + path } });

  test("answers what came before stdin closed, in nothing but messages, and logs beside it", async () => {
    const stdin = [hello, fetchOf(1, "/short"), fetchOf(2, "/long"), "no json\n", fetchOf(3, "/parts")].join(
      "",
    );
    const { exitCode, stdout, stderr } = await runBinary(["mcp"], { stdin, env: environment() });
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly jsonrpc: string; readonly id: number | null });
    expect(answers.map(({ jsonrpc }) => jsonrpc)).toEqual(answers.map(() => "2.0"));
    // What is no JSON has no id.
    expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([0, 1, 2, 3, null]));
    expect(stderr).toContain("extracted");
    expect(exitCode).toBe(0);
  });

  test("may begin with a byte order mark, end its lines with CRLF, and its last line with nothing", async () => {
    const stdin = `\ufeff${hello.trimEnd()}\r\n\r\n${message(1, "ping").trimEnd()}\r\n${message(2, "ping").trimEnd()}`;
    const { exitCode, stdout } = await runBinary(["mcp"], { stdin, env: environment() });
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly id: number; readonly result?: object });
    expect(answers).toMatchObject([0, 1, 2].map((id) => ({ id, result: {} })));
    expect(exitCode).toBe(0);
  });

  test("ends at once without a client", async () => {
    expect(await runBinary(["mcp"], { env: environment() })).toMatchObject({ exitCode: 0, stdout: "" });
  });

  test.each(["SIGTERM", "SIGKILL"] as const)("leaves nothing behind after %s", async (signal) => {
    const child = Bun.spawn([BINARY, "mcp"], {
      cwd: tmpdir(),
      env: environment(),
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.stdin.write(hello + fetchOf(1, `/slow/${signal}`));
    child.stdin.flush();
    await until(site.waiting, (count) => count > 0);
    child.kill(signal);
    await child.exited;
    expect(await until(site.waiting, (count) => count === 0)).toBe(0);
    const left = runningProcesses().filter(({ parent, session }) => [parent, session].includes(child.pid));
    expect(left).toEqual([]);
  });
});
