import { describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { BINARY, cleanEnvironment, runBinary, runShell } from "../support/binary.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { until, untilTrue } from "../support/until.ts";

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
    const root = writeDeployment();
    await using served = await Served.start(root);
    const client = await served.connect();
    expect((await search(client, "no_proxy")).results).toMatchObject([{ url: "docs://tool/proxies.md" }]);
    writeFileSync(join(root, "docs/retries.md"), "# Retries\n\nBack-off doubles.\n");
    expect((await search(client, "doubles")).results).toMatchObject([{ url: "docs://tool/retries.md" }]);
    rmSync(join(root, "docs/proxies.md"));
    expect((await search(client, "no_proxy", 0)).results).toEqual([]);
    await client.close();
  });

  test("answers a client over stdin and stdout", async () => {
    const root = writeDeployment();
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
  });

  test("ends with exit code 0 on SIGTERM", async () => {
    await using served = await Served.start(writeDeployment());
    const client = await served.connect();
    await Promise.all(Array.from({ length: 20 }, () => client.listTools()));
    served.child.kill("SIGTERM");
    expect(await served.child.exited).toBe(0);
    expect(await fetch(`${served.url}/health`).catch(() => "closed")).toBe("closed");
  });

  test("logs what it does with --verbose, whatever the deployment's level", async () => {
    const words = ["serve", "search", "--stdio"];
    const env = { DOCS_SEARCH_STATE_DIR: "state" };
    const logged = async (...more: string[]) =>
      // The input ends a moment after the index is there, and with it the server.
      (
        await runShell(
          `(until ls state/*/search.index; do sleep 0.1; done >/dev/null 2>&1; sleep 1) | article-extractor ${[...words, ...more].join(" ")}`,
          { cwd: writeDeployment({ log_level: "error" }), env },
        )
      ).stderr;
    expect(await logged()).not.toContain("index built");
    expect(await logged("--verbose")).toContain("index built");
  });

  test("asks for the key that it was given", async () => {
    const root = writeDeployment();
    writeFileSync(join(root, "key"), "s3cret\n");
    await using served = await Served.start(root, { env: { DOCS_SEARCH_API_KEY_FILE: "key" } });
    await expect(served.connect()).rejects.toThrow();
    expect((await fetch(`${served.url}/health`)).status).toBe(200);
    const client = await served.connect({ authorization: "Bearer s3cret" });
    expect((await client.listTools()).tools).toHaveLength(5);
    await client.close();
  });

  test("stands behind a proxy with a prefix, and answers to the names it is told", async () => {
    const env = {
      ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "127.0.0.0/8",
      DOCS_SEARCH_ALLOWED_HOSTS: "docs.example",
    };
    await using served = await Served.start(writeDeployment(), { env });
    const headers = { host: "docs.example", "x-forwarded-proto": "https", "x-forwarded-prefix": "/tools" };
    const configuration = await (await fetch(`${served.url}/mcp.json`, { headers })).json();
    expect(configuration).toMatchObject({
      mcpServers: { "article-extractor": { url: "https://docs.example/tools/mcp" } },
    });
    const foreign = { host: "evil.example" };
    const refused = await fetch(`${served.url}/status`, { headers: foreign });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("DOCS_SEARCH_ALLOWED_HOSTS");
    await untilTrue(() => served.said.includes("evil.example is not in DOCS_SEARCH_ALLOWED_HOSTS"));
    const below = { ARTICLE_EXTRACTOR_BASE_PATH: "/search" };
    await using based = await Served.start(writeDeployment(), { env: below });
    expect((await fetch(`${based.url}/search/health`)).status).toBe(200);
  });

  test("keeps the index in the state directory, and takes it up again", async () => {
    const root = writeDeployment();
    {
      await using served = await Served.start(root);
      const client = await served.connect();
      await search(client, "no_proxy");
      await client.close();
    }
    const config = JSON.parse(await Bun.file(join(root, "deployment.json")).text());
    config.infrastructure.allow_index_builds = false;
    writeFileSync(join(root, "deployment.json"), JSON.stringify(config));
    await using served = await Served.start(root);
    const again = await served.connect();
    expect((await search(again, "no_proxy")).error).toBeNull();
    await again.close();
  });

  test.each([
    ["", { docs_root_dir: "docs" }],
    [" (docs_root_dir ", { docs_root_dir: "nowhere" }],
  ])("a server that may not build names the tenants without index at its start%s", async (why, tenant) => {
    const root = writeDeployment({ allow_index_builds: false }, tenant);
    await using served = await Served.start(root);
    const warnings = served.said.split("\n").filter((line) => line.includes("no search index"));
    expect(warnings).toEqual([expect.stringContaining(`(allow_index_builds is false): tool${why}`)]);
    expect(warnings[0]).toContain("; build with: article-extractor index tool");
    const built = writeDeployment({ allow_index_builds: false });
    const env = { DOCS_SEARCH_STATE_DIR: join(built, "state") };
    expect((await runBinary(["index", "tool"], { cwd: built, env })).exitCode).toBe(0);
    await using afterwards = await Served.start(built);
    expect(afterwards.said).not.toContain("no search index");
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
    expect(await refused(writeDeployment(), words)).toContain("serve takes what to serve: extractor, search");
  });

  test("sources that cannot be synced, every problem a line", async () => {
    const git = {
      source_type: "git",
      git_repo_url: "http://git.example/docs.git",
      git_subpaths: ["docs"],
      git_auth_token_env: "NO_SUCH_TOKEN",
    };
    const fallback = { article_extractor_fallback: { enabled: true, endpoint: "http://127.0.0.1:9/" } };
    const said = await refused(writeDeployment(fallback, git), ["search"]);
    expect(said.split("\n").filter((line) => line.includes('"level":"critical"'))).toEqual([
      expect.stringContaining("git_repo_url has the scheme http, allowed is https"),
      expect.stringContaining("the variable NO_SUCH_TOKEN is not set"),
      expect.stringContaining("nobody answers at http://127.0.0.1:9/"),
    ]);
  });

  test("a port that is taken", async () => {
    await using served = await Served.start(writeDeployment());
    const stderr = await refused(writeDeployment(), ["search", "--port", new URL(served.url).port]);
    expect(stderr).toContain("the port is in use");
  });

  test("settings that are none", async () => {
    const root = writeDeployment();
    for (const env of [
      { ARTICLE_EXTRACTOR_BASE_PATH: "//evil" },
      { ARTICLE_EXTRACTOR_TRUSTED_PROXIES: "proxy" },
      { DOCS_SEARCH_API_KEY: "with space" },
    ])
      expect(await refused(root, ["search", "--port", "0"], env)).toContain(Object.keys(env)[0] ?? "");
  });
});
