import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { BINARY, cleanEnvironment, runBinary, runShell } from "../support/binary.ts";
import { connectMcp } from "../support/mcp.ts";
import { until } from "../support/until.ts";

const running: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
});

/** A directory with a deployment file of one folder, and the documents. */
function deployment(fields: object = {}, tenant: object = {}): string {
  const root = mkdtempSync(join(tmpdir(), "serve-"));
  mkdirSync(join(root, "docs"));
  writeFileSync(join(root, "docs/proxies.md"), "# Proxies\n\nNO_PROXY lists hosts that go without.\n");
  const json = {
    infrastructure: {
      mcp_host: "127.0.0.1",
      mcp_port: 1024,
      allow_index_builds: true,
      log_level: "error",
      ...fields,
    },
    tenants: [
      { source_type: "filesystem", codename: "tool", docs_name: "Tool", docs_root_dir: "docs", ...tenant },
    ],
  };
  writeFileSync(join(root, "deployment.json"), JSON.stringify(json));
  return root;
}

/** Starts the program in the directory; gives its address. */
async function serve(
  root: string,
  env: Record<string, string> = {},
  words: readonly string[] = [],
  notes: string[] = [],
): Promise<string> {
  const child = Bun.spawn([BINARY, "serve", "search", "--port", "0", ...words], {
    cwd: root,
    env: cleanEnvironment({ DOCS_SEARCH_STATE_DIR: join(root, "state"), ...env }),
    stdout: "ignore",
    stderr: "pipe",
  });
  running.push(child);
  let said = "";
  for await (const piece of child.stderr) {
    const text = new TextDecoder().decode(piece);
    notes.push(text);
    said += text;
    const address = /at (http:\S+)\/mcp\n/.exec(said)?.[1];
    if (address) return address;
  }
  throw new Error(`it ended: ${said}`);
}

type Answer = { readonly error: string | null; readonly results: readonly { readonly url: string }[] };

/** Searches until there is an answer without error and with so many results. */
async function search(client: Client, query: string, count = 1): Promise<Answer> {
  const ask = async (): Promise<Answer> => {
    const args = { tenant_codename: "tool", query };
    const { structuredContent } = await client.callTool({ name: "root_search", arguments: args });
    return structuredContent as unknown as Answer;
  };
  return await until(ask, ({ error, results }) => error === null && results.length === count);
}

describe("serve search", () => {
  test("answers an MCP client over HTTP from a folder, and follows its changes", async () => {
    const root = deployment();
    const client = await connectMcp(`${await serve(root)}/mcp`);
    expect((await search(client, "no_proxy")).results).toMatchObject([{ url: "docs://tool/proxies.md" }]);
    writeFileSync(join(root, "docs/retries.md"), "# Retries\n\nBack-off doubles.\n");
    expect((await search(client, "doubles")).results).toMatchObject([{ url: "docs://tool/retries.md" }]);
    rmSync(join(root, "docs/proxies.md"));
    expect((await search(client, "no_proxy", 0)).results).toEqual([]);
    await client.close();
  }, 120_000);

  test("answers a client over stdin and stdout", async () => {
    const root = deployment();
    const transport = new StdioClientTransport({
      command: BINARY,
      args: ["serve", "search", "--stdio"],
      cwd: root,
      env: cleanEnvironment({ DOCS_SEARCH_STATE_DIR: join(root, "state") }),
      stderr: "ignore",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport as never);
    expect((await search(client, "no_proxy")).error).toBeNull();
    await client.close();
  }, 120_000);

  test("ends with exit code 0 on SIGTERM", async () => {
    const address = await serve(deployment());
    const client = await connectMcp(`${address}/mcp`);
    const answers = Promise.all(Array.from({ length: 20 }, () => client.listTools()));
    const [child] = running;
    await answers;
    child?.kill("SIGTERM");
    expect(await child?.exited).toBe(0);
    expect(await fetch(`${address}/health`).catch(() => "closed")).toBe("closed");
  });

  test("logs what it does with --verbose, whatever the deployment's level", async () => {
    const words = ["serve", "search", "--stdio"];
    const env = { DOCS_SEARCH_STATE_DIR: "state" };
    const logged = async (...more: string[]) =>
      // The input ends a moment after the index is there, and with it the server.
      (
        await runShell(
          `(until ls state/*/search.index; do sleep 0.1; done >/dev/null 2>&1; sleep 1) | article-extractor ${[...words, ...more].join(" ")}`,
          {
            cwd: deployment(),
            env,
          },
        )
      ).stderr;
    expect(await logged()).not.toContain("index built");
    expect(await logged("--verbose")).toContain("index built");
  }, 120_000);

  test("asks for the key that it was given", async () => {
    const root = deployment();
    writeFileSync(join(root, "key"), "s3cret\n");
    const address = await serve(root, { DOCS_SEARCH_API_KEY_FILE: "key" });
    await expect(connectMcp(`${address}/mcp`)).rejects.toThrow();
    expect((await fetch(`${address}/health`)).status).toBe(200);
    const client = await connectMcp(`${address}/mcp`, { authorization: "Bearer s3cret" });
    expect((await client.listTools()).tools).toHaveLength(5);
    await client.close();
  });

  test("stands behind a proxy with a prefix, and answers to the names it is told", async () => {
    const address = await serve(deployment(), {
      ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.0/8",
      DOCS_SEARCH_ALLOWED_HOSTS: "docs.example",
    });
    const headers = { host: "docs.example", "x-forwarded-proto": "https", "x-forwarded-prefix": "/tools" };
    const configuration = await (await fetch(`${address}/mcp.json`, { headers })).json();
    expect(configuration).toMatchObject({
      mcpServers: { "article-extractor": { url: "https://docs.example/tools/mcp" } },
    });
    const foreign = { host: "evil.example" };
    expect((await fetch(`${address}/health`, { headers: foreign })).status).toBe(403);
    const based = await serve(deployment(), { ARTICLE_EXTRACTOR_BASE_PATH: "/search" });
    expect((await fetch(`${based}/search/health`)).status).toBe(200);
  });

  test("keeps the index in the state directory, and takes it up again", async () => {
    const root = deployment();
    const client = await connectMcp(`${await serve(root)}/mcp`);
    await search(client, "no_proxy");
    await client.close();
    running[0]?.kill("SIGKILL");
    const config = JSON.parse(await Bun.file(join(root, "deployment.json")).text());
    config.infrastructure.allow_index_builds = false;
    writeFileSync(join(root, "other.json"), JSON.stringify(config));
    const again = await connectMcp(`${await serve(root, {}, ["--config", "other.json"])}/mcp`);
    expect((await search(again, "no_proxy")).error).toBeNull();
    await again.close();
  }, 120_000);

  test.each([
    ["", { docs_root_dir: "docs" }],
    [" (docs_root_dir ", { docs_root_dir: "nowhere" }],
  ])("a server that may not build names the tenants without index at its start%s", async (why, tenant) => {
    const root = deployment({ allow_index_builds: false }, tenant);
    const said: string[] = [];
    await serve(root, {}, [], said);
    const warnings = said
      .join("")
      .split("\n")
      .filter((line) => line.includes("no search index"));
    expect(warnings).toEqual([expect.stringContaining(`(allow_index_builds is false): tool${why}`)]);
    expect(warnings[0]).toEndWith("build with: article-extractor index tool");
    const built = deployment({ allow_index_builds: false });
    const env = { DOCS_SEARCH_STATE_DIR: join(built, "state") };
    expect((await runBinary(["index", "tool"], { cwd: built, env })).exitCode).toBe(0);
    const afterwards: string[] = [];
    await serve(built, {}, [], afterwards);
    expect(afterwards.join("")).not.toContain("no search index");
  });

  test("a server that may not build says how to get an index", async () => {
    const client = await connectMcp(`${await serve(deployment({ allow_index_builds: false }))}/mcp`);
    const args = { tenant_codename: "tool", query: "x" };
    const { structuredContent } = await client.callTool({ name: "root_search", arguments: args });
    expect((structuredContent as unknown as Answer).error).toStartWith(
      "Tenant 'tool' has no search index; build it with",
    );
    await client.close();
  });
});

describe("serve is refused with", () => {
  const refused = async (root: string, words: readonly string[], env = {}): Promise<string> => {
    const { exitCode, stderr } = await runBinary(["serve", ...words], { cwd: root, env });
    expect(exitCode).toBe(2);
    return stderr;
  };

  test.each<[string, string[]]>([
    ["nothing to serve", []],
    ["another server", ["extractors"]],
    ["two servers", ["search", "search"]],
  ])("%s", async (_, words) => {
    expect(await refused(deployment(), words)).toContain("serve takes what to serve: extractor, search");
  });

  test("a wrong deployment file, every problem a line", async () => {
    const root = deployment({ mcp_port: 0, extra: 1 });
    expect((await refused(root, ["search"])).trimEnd().split("\n")).toHaveLength(2);
  });

  test("sources that cannot be synced, every problem a line", async () => {
    const git = {
      source_type: "git",
      git_repo_url: "http://git.example/docs.git",
      git_subpaths: ["docs"],
      git_auth_token_env: "NO_SUCH_TOKEN",
    };
    const fallback = { article_extractor_fallback: { enabled: true, endpoint: "http://127.0.0.1:9/" } };
    const lines = (await refused(deployment(fallback, git), ["search"])).trimEnd().split("\n");
    expect(lines).toEqual([
      expect.stringContaining("git_repo_url has the scheme http, allowed is https"),
      expect.stringContaining("the variable NO_SUCH_TOKEN is not set"),
      expect.stringContaining("nobody answers at http://127.0.0.1:9/"),
    ]);
  });

  test("a port that is taken", async () => {
    const address = await serve(deployment());
    const stderr = await refused(deployment(), ["search", "--port", new URL(address).port]);
    expect(stderr).toContain("the port is in use");
  });

  test("settings that are none", async () => {
    const root = deployment();
    for (const env of [
      { ARTICLE_EXTRACTOR_BASE_PATH: "//evil" },
      { ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "proxy" },
      { DOCS_SEARCH_API_KEY: "with space" },
    ])
      expect(await refused(root, ["search", "--port", "0"], env)).toContain(Object.keys(env)[0] ?? "");
  });
});
