import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runBinary, runShell } from "../support/binary.ts";
import { runCommand } from "../support/command.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { serveRecordingSite } from "../support/recording-site.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const ENV = { ARTICLE_EXTRACTOR_TIMOUT: "5", DOCS_SEARCH_STATE_DIRR: "state" };
const LINES = [
  "warning: the variable ARTICLE_EXTRACTOR_TIMOUT is no setting; did you mean ARTICLE_EXTRACTOR_TIMEOUT?",
  "warning: the variable DOCS_SEARCH_STATE_DIRR is no setting; did you mean DOCS_SEARCH_STATE_DIR?",
];

describe("misspelt variables", () => {
  test.each([
    [["-", "--min-words", "0"], 0],
    [["crawl", "http://127.0.0.1:1/", "--jsonl", "--retries", "0", "--ignore-robots"], null],
    [["doctor"], 0],
    [["validate", "deployment.json"], 0],
    [["index", "--all"], 0],
    [["sync", "--all"], 0],
    [["search", "--all", "hosts"], null],
    [["fetch", "tool", "docs://tool/proxies.md"], null],
  ])("%j warns of them", async (args, exitCode) => {
    const cwd = writeDeployment();
    const env = { ...ENV, XDG_STATE_HOME: join(cwd, "state") };
    const run = await runCommand(args, { env, cwd, stdin: "<p>word</p>" });
    if (exitCode !== null) expect([run.exitCode, run.stderr]).toEqual([exitCode, run.stderr]);
    const warnings = run.stderr.split("\n").filter((line) => line.includes("is no setting"));
    expect(warnings.sort()).toEqual(LINES);
    const quiet = await runCommand([...args, "-q"], { env, cwd, stdin: "<p>word</p>" });
    expect(quiet.stderr).not.toContain("is no setting");
  });

  test("those of a .env file too, and one that stands in both once", async () => {
    using directory = temporaryDirectory();
    await writeFile(
      join(directory.path, "settings"),
      "DOCS_SEARCH_STATE_DIRR=x\nARTICLE_EXTRACTOR_TIMOUT=3\n",
    );
    const run = await runBinary(["-", "--min-words", "0", "--output", "text", "--env-file", "settings"], {
      cwd: directory.path,
      env: { ARTICLE_EXTRACTOR_TIMOUT: "5" },
      stdin: "<p>word</p>",
    });
    expect([run.exitCode, run.stderr.trim().split("\n").sort()]).toEqual([0, LINES]);
  });

  test("a pipe with variables is read once, also beside a deployment file", async () => {
    const script =
      "article-extractor mcp --print-config cursor --config deployment.json --env-file <(echo DOCS_SEARCH_STATE_DIRR=x)";
    const run = await runShell(script, { shell: "bash", cwd: writeDeployment() });
    expect([run.exitCode, run.stderr.trim()]).toEqual([0, LINES[1] ?? ""]);
  });

  test("servers warn once, however many processes there are", async () => {
    await using extractor = await startExtractor({ env: { ...ENV, WEB_CONCURRENCY: "2" } });
    await untilTrue(() => extractor.stderr().includes("serving"));
    expect(extractor.stderr().match(/is no setting/g)).toHaveLength(2);
    await using search = await Served.start(writeDeployment(), { env: ENV });
    expect(search.said.match(/is no setting/g)).toHaveLength(2);
  });

  test("a variable that the deployment names is one of its own", async () => {
    const cwd = writeDeployment();
    writeFileSync(
      join(cwd, "deployment.json"),
      JSON.stringify({
        tenants: [
          {
            source_type: "git",
            codename: "tool",
            docs_name: "Tool",
            docs_root_dir: "docs",
            git_repo_url: "https://h.example/r.git",
            git_subpaths: ["docs"],
            git_auth_token_env: "DOCS_SEARCH_API_KEY2",
          },
        ],
      }),
    );
    const run = await runBinary(["validate", "deployment.json"], {
      cwd,
      env: { DOCS_SEARCH_API_KEY2: "t0ken" },
    });
    expect(run).toEqual({ exitCode: 0, stdout: "deployment.json is valid: 1 tenant\n", stderr: "" });
  });
});

describe("-v", () => {
  const levelsOf = (said: string): string[] => [
    ...new Set([...said.matchAll(/^\{.*"level":"(\w+)"/gm)].map(([, level = ""]) => level)),
  ];
  const ERROR = { ARTICLE_EXTRACTOR_LOG_LEVEL: "error" };

  test("raises the level that the environment sets, --log-level sets it", async () => {
    await using site = serveRecordingSite();
    const levels = async (args: readonly string[]) => {
      const run = await runBinary([`${site.origin}/page`, ...args], { env: ERROR });
      return levelsOf(run.stderr);
    };
    expect(await levels([])).toEqual([]);
    expect(await levels(["-v"])).toEqual(["info"]);
    expect(await levels(["-v", "--log-level", "error"])).toEqual([]);
  });

  test.each([
    [[], ERROR, []],
    [["-v"], ERROR, ["info"]],
    [[], {}, ["info"]],
    [["-v"], {}, ["debug", "info"]],
    [["-v", "--log-level", "error"], {}, []],
  ])("serve extractor %j with %j", async (words, env, levels) => {
    await using server = await startExtractor({ words, env, isSilent: levels.length === 0 });
    await server.get("/health");
    await server.get("/openapi.json");
    if (levels.length > 0) await untilTrue(() => levelsOf(server.stderr()).length >= levels.length);
    expect(levelsOf(server.stderr()).sort()).toEqual(levels);
  });

  test.each([
    [[], {}, []],
    [["-v"], {}, ["info"]],
    [["-v"], ERROR, ["info"]],
  ])("serve search %j with %j, the deployment saying error", async (words, env, levels) => {
    const root = writeDeployment({ log_level: "error" });
    await using server = await Served.start(root, { words, env, isSilent: levels.length === 0 });
    await fetch(`${server.url}/mcp.json`);
    if (levels.length > 0) await untilTrue(() => levelsOf(server.said).length >= levels.length);
    expect(levelsOf(server.said)).toEqual(levels);
  });
});
