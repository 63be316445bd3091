import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { VERSION } from "../../src/base/version.ts";
import { COMMAND_NAMES } from "../../src/cli/commands.ts";
import { BINARY, cleanEnvironment, runBinary } from "../support/binary.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { serveSite } from "../support/site.ts";
import { until } from "../support/until.ts";

// One run of each command of the built program, where the documentation of one tenant is; test/cli has the others.
const site = forAllTests(await serveSite());
const NEWS = `${site.origin}/news/borrowed-tools.html`;
const cwd = writeDeployment({ keys_file: "keys.json" });
const env = { DOCS_SEARCH_STATE_DIR: "state", ARTICLE_EXTRACTOR_STATE_DIR: "state" };

/** What the command writes to stdout. @throws where it does not end with the exit code */
async function run(command: string, exitCode = 0): Promise<string> {
  const ran = await runBinary(command.split(" "), { cwd, env });
  expect(ran).toMatchObject({ exitCode });
  return ran.stdout;
}

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  async extract() {
    const page = JSON.parse(await run(`extract ${NEWS} --fields title,word_count`));
    expect(page).toEqual({ title: "What we learned from two years of lending tools", word_count: 429 });
  },
  async crawl() {
    await run(`crawl ${site.origin}/ --rate-limit 0 --max-pages 3 --output-dir weirside`);
    expect((await Bun.file(join(cwd, "weirside/manifest.json")).json()).successful).toBe(3);
    expect(readdirSync(join(cwd, "weirside")).filter((name) => name.endsWith(".md"))).toHaveLength(3);
  },
  async map() {
    expect((await run(`map ${site.origin}/`)).split("\n")[0]).toBe(`${site.origin}/`);
  },
  async index() {
    expect(await run("index --all")).toStartWith("indexed 1 document of tool");
  },
  async search() {
    await run("index --all");
    expect(await run("search tool no_proxy")).toStartWith("1. ");
  },
  async fetch() {
    expect(await run("fetch tool docs://tool/proxies.md")).toStartWith("# Proxies");
  },
  async serve() {
    await using extractor = await startExtractor();
    expect(await (await fetch(`${extractor.url}/${NEWS}`)).text()).toStartWith("# What we learned");
    await using served = await Served.start(writeDeployment());
    await until(
      () => served.search("no_proxy"),
      ({ error }) => error === null,
    );
  },
  async mcp() {
    const client = new Client({ name: "test", version: "1" });
    const transport = new StdioClientTransport({
      command: BINARY,
      args: ["mcp"],
      cwd,
      env: cleanEnvironment(env),
      stderr: "ignore",
    });
    await client.connect(transport as never);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("root_search");
    await client.close();
  },
  async skill() {
    expect(await run("skill")).toStartWith("---\nname: article-extractor\n");
  },
  async tenants() {
    expect(await run("tenants list")).toContain("tool");
  },
  async keys() {
    expect((await run("keys add reader")).length).toBeGreaterThan(20);
    expect(await run("keys list")).toContain("reader");
  },
  async queries() {
    await run("queries", 1);
  },
  async sync() {
    await run("sync tool");
  },
  async validate() {
    await run("validate deployment.json");
  },
  async schema() {
    expect(JSON.parse(await run("schema")).type).toBe("object");
  },
  async database() {
    await run("database status", 2);
  },
  async doctor() {
    const { checks } = JSON.parse((await runBinary(["doctor", "--json"], { cwd, env })).stdout);
    expect(checks.map(({ name }: { name: string }) => name)).toContain("state directory");
  },
  async completions() {
    expect(await run("completions bash")).toContain("--output-dir");
  },
  async man() {
    expect(await run("man")).toStartWith(".TH");
  },
  async licenses() {
    expect(await run("licenses")).toContain("MIT");
  },
  async help() {
    expect(await run("help crawl")).toContain("--max-pages");
  },
  async version() {
    expect(await run("version")).toContain(VERSION);
  },
};

test("there is a run of each command", () => {
  expect(Object.keys(COMMANDS)).toEqual([...COMMAND_NAMES]);
});

test.each(Object.keys(COMMANDS))("%s", (name) => COMMANDS[name]!());
