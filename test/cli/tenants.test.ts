import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY, runShell } from "../support/binary.ts";
import { type CommandOptions, runCommand } from "../support/command.ts";
import { folderTenant as tenant } from "../support/deployment.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { indexIn } from "../support/state-place.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const run = (words: readonly string[], options: CommandOptions = {}) =>
  runCommand(words, { cwd: root, ...options, env: { DOCS_SEARCH_STATE_DIR: "state", ...options.env } });

const { path: root } = forAllTests(temporaryDirectory());
for (const folder of ["weir", "mill", "empty"]) mkdirSync(join(root, folder));
const keys =
  "# Keys\n\nAll about access.\n\n## Rotating keys\n\nRun `weir rotate`.\n\n### Old keys\n\nThey stay valid.\n\n## Losing keys\n\nCall us.\n";
writeFileSync(join(root, "weir/keys.md"), keys);
writeFileSync(join(root, "weir/caches.md"), "# Caches\n\nThe rotation of caches.\n");
writeFileSync(join(root, "mill/wheel.md"), "# The wheel\n\nIts rotation drives the mill.\n");
const tenants = [
  tenant("weir", { test_queries: { words: ["rotate", "zeppelin"] } }),
  tenant("mill"),
  tenant("silent", { docs_root_dir: "mill", search: { enabled: false } }),
];
writeFileSync(join(root, "deployment.json"), JSON.stringify({ tenants }));
await run(["index", "weir", "mill"]);

describe("index TENANT", () => {
  test("builds, says so, and warns of test queries that find nothing", async () => {
    expect(await run(["index", "weir", "mill"])).toEqual({
      exitCode: 0,
      stdout: "indexed 2 documents of weir\nindexed 1 document of mill\n",
      stderr: `warning: Tenant 'weir': the test query "zeppelin" finds nothing\n`,
    });
  });

  test("goes on after a tenant that cannot be read, and exits with 1", async () => {
    const config = join(root, "broken.json");
    const tenants = [tenant("gone", { docs_root_dir: "nowhere" }), tenant("mill")];
    writeFileSync(config, JSON.stringify({ tenants }));
    const { exitCode, stdout, stderr } = await run(["index", "--all", "--json", "--config", config]);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout).tenants).toMatchObject([
      { tenant: "gone", doc_count: null, error: { code: "unreadable_input" } },
      { tenant: "mill", doc_count: 1, error: null },
    ]);
    expect(stderr).toStartWith("error: Tenant 'gone': the folder");
  });
});

test("a sync that lost more than max_failed_percent is trouble for tenants list and doctor", async () => {
  mkdirSync(join(root, "torn"));
  writeFileSync(join(root, "torn/whole.md"), "# Whole\n\nAll words are here.\n");
  writeFileSync(join(root, "torn/torn.md"), "\0\x01\x02");
  const config = join(root, "torn.json");
  const look = async (max_failed_percent: number) => {
    const infrastructure = { max_failed_percent };
    writeFileSync(config, JSON.stringify({ infrastructure, tenants: [tenant("torn")] }));
    const list = await run(["tenants", "list", "--config", config]);
    const doctor = await run(["doctor", "--config", config]);
    return [list.stdout.trim().split(/ +/).at(-1), /^(\w+) +tenant torn/m.exec(doctor.stdout)?.[1]];
  };
  await look(1);
  await run(["sync", "torn", "--config", config]);
  expect(await look(49)).toEqual(["pages_lost", "problem"]);
  expect(await look(50)).toEqual(["idle", "ok"]);
});

describe("search --library", () => {
  let config: string;
  const search = (...words: string[]) => run(["search", "rotation", "--config", config, ...words]);
  beforeAll(async () => {
    config = join(root, "versions.json");
    const tenants = [
      tenant("weir1", { library: "weir", version: "1.4", docs_root_dir: "weir" }),
      tenant("weir2", { library: "weir", version: "2.1", docs_root_dir: "weir" }),
      tenant("mill1", { library: "@my/mill", version: "1", docs_root_dir: "mill" }),
    ];
    writeFileSync(config, JSON.stringify({ tenants }));
    const locked = {
      "node_modules/weir": { version: "1.9.0" },
      "node_modules/@my/mill": { version: "3.0.0" },
    };
    writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages: locked }));
    await run(["index", "--all", "--config", config]);
  });

  test.each([
    [["--library", "weir"], ["weir 2.1, the newest"], ["weir2"]],
    [["--library", "weir@1.9"], ["weir 1.4, the nearest not above 1.9"], ["weir1"]],
    [["--library", "WEIR==2.1"], ["weir 2.1"], ["weir2"]],
    [["--library", "@my/mill@1"], ["@my/mill 1"], ["mill1"]],
    [
      ["--from-lockfile", "package-lock.json"],
      ["weir 1.4, the nearest not above 1.9.0", "@my/mill 1, the nearest not above 3.0.0"],
      ["mill1", "weir1"],
    ],
    [
      ["--from-lockfile", "package-lock.json", "--library", "weir"],
      ["weir 1.4, the nearest not above 1.9.0"],
      ["weir1"],
    ],
  ])("%j searches what it says", async (words, resolved, codenames) => {
    const { exitCode, stdout, stderr } = await search(...words, "--json");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const answer = JSON.parse(stdout);
    expect(answer.resolved).toEqual(resolved);
    const searched = new Set(answer.results.map(({ tenant }: { tenant: string }) => tenant));
    expect([...searched].sort()).toEqual(codenames);
  });

  test.each([
    ["package-lock.json", "weir 1.4, the nearest not above 1.9.0"],
    ["bun.lock", "weir 1.4, the nearest not above 1.4.0"],
    ["Cargo.lock", "weir 2.1, the nearest not above 2.1.0"],
    ["requirements.txt", "weir 2.1"],
  ])("a %s comes through a pipe, too", async (name, resolved) => {
    const texts: Readonly<Record<string, string>> = {
      "bun.lock":
        '{\n  "lockfileVersion": 1,\n  "workspaces": { "": { "name": "x", "dependencies": { "weir": "1" } } },\n  "packages": { "weir": ["weir@1.4.0", "", {}, "sha512-x"], },\n}\n',
      "Cargo.lock": 'version = 4\n\n[[package]]\nname = "weir"\nversion = "2.1.0"\n',
      "requirements.txt": "# pinned\nweir==2.1\n",
    };
    if (texts[name]) writeFileSync(join(root, name), texts[name]);
    for (const place of ["-", "/dev/stdin", "/dev/fd/0"]) {
      const line = `cat ${name} | article-extractor search rotation --config ${config} --from-lockfile ${place} --json`;
      const { exitCode, stdout } = await runShell(line, {
        cwd: root,
        env: { DOCS_SEARCH_STATE_DIR: "state" },
      });
      expect({ exitCode, resolved: JSON.parse(stdout).resolved[0] }).toEqual({ exitCode: 0, resolved });
    }
  });

  test("says to people what is searched, unless they want quiet", async () => {
    const said = await search("--library", "weir@1");
    expect(said.stderr).toBe("searching weir 1.4, the nearest not above 1\n");
    expect(said.stdout).toStartWith("1. Keys\n   docs://weir1/keys.md");
    expect((await search("--library", "weir@1", "--quiet")).stderr).toBe("");
  });

  test.each([
    [["--library", "wier"], 1, "No tenant has the library 'wier'; did you mean weir?"],
    [["--library", "weir@main"], 2, "version must begin with a number"],
    [["--library", "weir@"], 2, "--library takes a name, or a name and a version: react@18.2"],
    [["--library", "@"], 2, "--library takes a name"],
    [["--library", "weir", "--all"], 2, "search takes --all or a library, not both"],
    [["--library", "weir@1", "--from-lockfile", "go.sum"], 2, "--from-lockfile gives the version"],
    [["--from-lockfile", "yarn.lock"], 2, "--from-lockfile takes a package-lock.json, bun.lock"],
    [["--from-lockfile", "go.sum"], 1, "go.sum cannot be read: there is no such file"],
    [["--from-lockfile", "none.txt"], 1, "none.txt has no version of a library that a tenant documents"],
    [["--from-lockfile", "none.txt", "--library", "weir"], 1, "none.txt has no version of weir"],
    [["--from-lockfile", "huge.txt"], 1, "huge.txt"],
    [["--from-lockfile", "deployment.txt"], 1, "deployment.txt"],
  ])("%j is refused", async (words, exitCode, message) => {
    writeFileSync(join(root, "none.txt"), "# nothing\n");
    writeFileSync(join(root, "huge.txt"), new Uint8Array(33 * 1024 * 1024));
    const refused = await search(...words, "--config", config);
    expect(refused).toMatchObject({ exitCode, stdout: "" });
    expect(refused.stderr).toContain(message);
  });

  test("asks for a query, and for tenants", async () => {
    const { stderr } = await run(["search", "--library", "weir", " "]);
    expect(stderr).toContain("search needs a query: search --library NAME QUERY");
    const { stderr: refused } = await run(["search", "--library", "weir", "--dir", "weir", "rotation"]);
    expect(refused).toContain("--library goes with tenants, not with --dir");
  });
});

describe("search TENANT", () => {
  test("shows hits as people read them", async () => {
    const { exitCode, stdout, stderr } = await run(["search", "weir", "rotating", "keys"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toStartWith("1. Keys\n   docs://weir/keys.md#rotating-keys\n   Rotating keys\n");
  });

  test("searches all tenants by one order of scores, says where, and what it could not search", async () => {
    const { exitCode, stdout, stderr } = await run(["search", "--all", "rotation"]);
    expect(exitCode).toBe(1);
    expect(stderr).toBe("warning: Search is disabled for tenant 'silent'\n");
    expect(stdout).toContain("The wheel  (mill)\n   docs://mill/wheel.md");
    expect(stdout).toContain("Caches  (weir)\n");
  });

  test("answers programs in JSON", async () => {
    const { stdout } = await run(["search", "--all", "rotation", "--json", "--size", "1"]);
    expect(JSON.parse(stdout)).toEqual({
      query: "rotation",
      results: [
        {
          tenant: expect.any(String),
          url: expect.any(String),
          title: expect.any(String),
          score: expect.any(Number),
          snippet: expect.stringContaining("rotat"),
          anchor: expect.any(String),
          headings: expect.any(Array),
        },
      ],
      stats: { total_docs: 3, query_time_ms: expect.any(Number) },
      errors: [{ code: "search_disabled", message: "Search is disabled for tenant 'silent'" }],
    });
  });

  test("says when there is nothing, on stderr", async () => {
    expect(await run(["search", "weir", "zeppelin"])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "nothing found in 2 documents\n",
    });
  });

  test("paints the words on a terminal, and none in a pipe", async () => {
    const inTerminal = `script -qec "${BINARY} search weir rotation" /dev/null`;
    const env = { DOCS_SEARCH_STATE_DIR: "state", TERM: "xterm" };
    const { stdout } = await runShell(inTerminal, { cwd: root, env });
    expect(stdout).toContain("\u001b[33mrotation\u001b[0m");
    expect(
      (await runShell("article-extractor search weir rotation | cat", { cwd: root, env })).stdout,
    ).not.toContain("\u001b");
  });
});

describe("fetch TENANT URI", () => {
  test("prints a document as Markdown", async () => {
    const { exitCode, stdout } = await run(["fetch", "mill", "docs://mill/wheel.md"]);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: "# The wheel\n\nIts rotation drives the mill.\n",
    });
  });

  // As a result has it, and as people and browsers write it.
  test.each(["rotating-keys", "Rotating-Keys", "rotating%2Dkeys"])(
    "prints the section #%s with what is below it",
    async (anchor) => {
      const { stdout } = await run(["fetch", "weir", `docs://weir/keys.md#${anchor}`]);
      expect(stdout).toBe("## Rotating keys\n\nRun `weir rotate`.\n\n### Old keys\n\nThey stay valid.\n");
    },
  );

  test("answers programs in JSON, and takes what a search gives", async () => {
    const search =
      'article-extractor search weir caches --json --size 1 | sed -n \'s/.*"url": "\\(.*\\)".*/\\1/p\'';
    const { stdout } = await runShell(`article-extractor fetch weir "$(${search})" --json`, {
      cwd: root,
      env: { DOCS_SEARCH_STATE_DIR: "state" },
    });
    expect(JSON.parse(stdout)).toEqual({
      url: "docs://weir/caches.md",
      title: "Caches",
      content: "# Caches\n\nThe rotation of caches.\n",
      total_chars: 34,
    });
  });
});

describe("HTML documents of a folder", () => {
  const page =
    "<html><head><title>Pump manual</title></head><body><main><h1>Pump manual</h1><p>The pump moves water from the pond to the mill whenever the wheel turns fast enough.</p><h2>Starting</h2><p>Open the valve, wait for the pressure to rise, then release the brake slowly.</p></main></body></html>";
  const directory = (): string => join(root, "manuals");
  beforeAll(async () => {
    mkdirSync(join(directory(), "handbook"), { recursive: true });
    writeFileSync(join(directory(), "handbook/page.html"), page);
    const file = JSON.stringify({ tenants: [tenant("handbook")] });
    writeFileSync(join(directory(), "deployment.json"), file);
    await run(["index", "handbook"], { cwd: directory() });
  });

  test.each(["", "#pump-manual"])("begin with their title as a heading: %j", async (anchor) => {
    const { stdout, stderr } = await run(["fetch", "handbook", `docs://handbook/page.html${anchor}`], {
      cwd: directory(),
    });
    expect(stderr).toBe("");
    expect(stdout).toStartWith("# Pump manual\n\nThe pump moves");
    expect(stdout).toContain("## Starting");
    expect(stdout.match(/Pump manual/g)).toHaveLength(1);
  });

  test("are read by the engine that the settings name", async () => {
    writeFileSync(join(directory(), "handbook/wheel.html"), page.replace("the wheel", "the mill_wheel"));
    const env = { ARTICLE_EXTRACTOR_ENGINE: "readability" };
    await run(["index", "handbook"], { cwd: directory(), env });
    const { stdout } = await run(["fetch", "handbook", "docs://handbook/wheel.html"], { cwd: directory() });
    // As node-html-markdown writes it.
    expect(stdout).toContain("mill\\_wheel");
  });
});

describe("mistakes", () => {
  test.each<[string[], number, string]>([
    [["search", "wier", "x"], 1, "Tenant 'wier' not found; did you mean weir?"],
    [["fetch", "wier", "x"], 1, "Tenant 'wier' not found; did you mean weir?"],
    [["index", "mill", "wier"], 1, "Tenant 'wier' not found; did you mean weir?"],
    [["search", "silent", "x"], 1, "Search is disabled for tenant 'silent'"],
    [["fetch", "weir", "docs://weir/none.md"], 1, "Tenant 'weir' has no document"],
    [["fetch", "weir", "docs://weir/keys.md#no"], 1, "there are #keys #rotating-keys #old-keys #losing-keys"],
    [["search", "weir"], 2, "search needs a query after the tenant"],
    [["search"], 2, "search needs a tenant and a query"],
    [["search", "--all"], 2, "search needs a tenant and a query"],
    [["fetch", "weir"], 2, "fetch takes a tenant and an address"],
    [["index"], 2, "index needs tenants"],
    [["index", "weir", "--all"], 2, "index takes tenants or --all, not both"],
    [["search", "--dir", "weir", "--config", "x", "q"], 2, "--config goes with tenants, not with --dir"],
    [["search", "weir", "q", "--index-file", "x"], 2, "--index-file goes with --dir"],
    [["search", "weir", "q", "--config", "none.json"], 1, "none.json"],
    [["search", "weir", "q", "--size", "0"], 2, "--size"],
  ])("%j fails with %d and says why", async (words, code, message) => {
    const { exitCode, stdout, stderr } = await run(words);
    expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: "" });
    expect(stderr).toStartWith("error: ");
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("a tenant without an index says how to build one", async () => {
    const { exitCode, stderr } = await run(["search", "weir", "x"], {
      env: { DOCS_SEARCH_STATE_DIR: "other" },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      "error: Tenant 'weir' has no search index; build it with: article-extractor index weir\n",
    );
  });
});

describe("a tenant whose index a server would build, without a server", () => {
  const state = (): string => join(root, "unserved");
  const builds = (): string => join(root, "builds.json");
  beforeAll(() => {
    writeFileSync(builds(), JSON.stringify({ tenants: [tenant("weir", { allow_index_builds: true })] }));
  });

  test.each([
    ["search", "x"],
    ["fetch", "docs://weir/keys.md"],
  ])("%s says how to build one that is not there", async (command, what) => {
    const { exitCode, stderr } = await run([command, "weir", what, "--config", builds()], {
      env: { DOCS_SEARCH_STATE_DIR: state() },
    });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: "error: Tenant 'weir' has no search index; build it with: article-extractor index weir\n",
    });
  });

  test("says how to build a damaged one anew", async () => {
    const env = { DOCS_SEARCH_STATE_DIR: join(root, "damaged") };
    await run(["index", "weir", "--config", builds()], { env });
    writeFileSync(indexIn(env.DOCS_SEARCH_STATE_DIR, "weir"), "hello ".repeat(1000));
    // The second one, too: the first has asked for a sync that nobody does.
    for (const _ of [1, 2]) {
      const { stderr } = await run(["search", "weir", "x", "--config", builds()], { env });
      expect(stderr).toBe(
        "error: Tenant 'weir' has no search index that can be used (its file is damaged); build it with: article-extractor index weir\n",
      );
    }
  });
});

describe("doctor", () => {
  type Check = { readonly name: string; readonly status: string; readonly detail: string };
  const checksOf = async (words: readonly string[], cwd = root): Promise<Check[]> => {
    const { stdout } = await run(["doctor", "--json", ...words], { cwd, env: NO_BROWSER });
    return (JSON.parse(stdout) as { checks: Check[] }).checks;
  };
  // Only that it is not started counts.
  const NO_BROWSER = { ARTICLE_EXTRACTOR_BROWSER_PATH: "/nowhere" };

  test("says how the tenants are, with the test queries that find nothing", async () => {
    const tenants = (await checksOf([])).filter(({ name }) => name.startsWith("tenant"));
    expect(tenants).toEqual([
      {
        name: "tenant weir",
        status: "note",
        detail: expect.stringMatching(
          /^2 documents, indexed \S+; test queries that find nothing: "zeppelin"$/,
        ),
      },
      { name: "tenant mill", status: "ok", detail: expect.stringMatching(/^1 document, indexed \S+$/) },
      { name: "tenant silent", status: "note", detail: "search is disabled" },
    ]);
  });

  test("says what keeps tenants from being synced, and what is wrong in the file", async () => {
    const config = join(root, "sources.json");
    const repository = {
      source_type: "git",
      codename: "guides",
      docs_name: "x",
      docs_root_dir: "guides",
      git_repo_url: "https://git.example/x.git",
      git_subpaths: ["docs"],
    };
    writeFileSync(config, JSON.stringify({ tenants: [{ ...repository, git_auth_token_env: "NO_TOKEN" }] }));
    expect(await checksOf(["--config", config])).toContainEqual({
      name: "sources",
      status: "problem",
      detail: "Tenant 'guides': the variable NO_TOKEN is not set",
    });
    writeFileSync(config, JSON.stringify({ tenants: [{ ...repository, surprise: 1 }] }));
    const [problem] = (await checksOf(["--config", config])).filter(({ name }) => name === "deployment");
    expect(problem).toMatchObject({ status: "problem", detail: expect.stringContaining("surprise") });
  });

  test("looks at no tenants where there is no deployment file", async () => {
    using empty = temporaryDirectory();
    const names = (await checksOf([], empty.path)).map(({ name }) => name);
    expect(names.filter((name) => /^(?:tenant|deployment|sources)/.test(name))).toEqual([]);
  });
});
