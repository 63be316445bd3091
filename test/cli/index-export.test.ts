import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary, runShell } from "../support/binary.ts";
import { serveLocal } from "../support/local.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** A directory with a folder of documents, and a deployment of it. */
function place() {
  const directory = temporaryDirectory();
  mkdirSync(join(directory.path, "quay/guide"), { recursive: true });
  writeFileSync(join(directory.path, "quay/gates.md"), "# Gates\n\nThe gate opens at low water.\n");
  writeFileSync(join(directory.path, "quay/guide/barges.md"), "# Barges\n\nBarges wait for the tide.\n");
  writeFileSync(join(directory.path, "quay/picture.png"), "no document");
  const tenant = {
    source_type: "filesystem",
    codename: "quay",
    docs_name: "The quay",
    docs_root_dir: "quay",
  };
  const described = {
    ...tenant,
    description: "Gates and barges",
    library: "quay",
    version: "2.1",
    exclude: ["guide/"],
  };
  writeFileSync(join(directory.path, "deployment.json"), JSON.stringify({ tenants: [described] }));
  const run = (...words: string[]) =>
    runBinary(words, { cwd: directory.path, env: { DOCS_SEARCH_STATE_DIR: "state" } });
  return { ...directory, path: directory.path, run, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

describe("index export and index import", () => {
  test("carry a folder to where it is searched", async () => {
    using here = place();
    const words = [
      "--dir",
      "quay",
      "--name",
      "Quay",
      "--licence",
      "CC-BY-4.0",
      "--version",
      "3",
      "--source",
      "a shelf",
    ];
    const exported = await here.run("index", "export", "quay.jsonl.gz", ...words);
    expect(exported).toMatchObject({ exitCode: 0, stderr: "" });
    expect(exported.stdout).toMatch(
      /^quay\.jsonl\.gz: Quay, 2 documents\n {2}description: not stated\n {2}source: a shelf\n {2}licence: CC-BY-4\.0\n {2}version: 3\n {2}date: 20/,
    );
    const imported = await here.run("index", "import", "quay.jsonl.gz", "--dir", "there", "--yes");
    expect(imported).toMatchObject({
      exitCode: 0,
      stdout: "indexed 2 documents in there/.article-extractor/search.index\n",
    });
    // Who imports sees what it is.
    expect(imported.stderr).toContain("quay.jsonl.gz: Quay, 2 documents\n");
    expect(imported.stderr).toContain("  licence: CC-BY-4.0\n");
    expect(imported.stderr).toContain("    gates.md\n    guide/barges.md\n");
    expect((await here.run("search", "--dir", "there", "tide")).stdout).toContain("Barges");
    // It can be passed on with what it said, as a stream too.
    const piped = await runShell(
      `article-extractor index export - --dir there | article-extractor index import - --dir on --yes`,
      { cwd: here.path },
    );
    expect([
      piped.exitCode,
      piped.stderr.replaceAll("the input", "quay.jsonl.gz").replace(/date: .*/, ""),
    ]).toEqual([0, imported.stderr.replace(/date: .*/, "")]);
    expect(readFileSync(join(here.path, "on/guide/barges.md"), "utf8")).toContain("Barges wait");
    const again = await here.run("index", "import", "quay.jsonl.gz", "--dir", "there", "--yes");
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining("there is not empty")]);
  });

  test("carry a tenant with what its deployment says of it, and only its documents", async () => {
    using here = place();
    const exported = await here.run("index", "export", "out.jsonl.gz", "quay", "--json");
    expect(JSON.parse(exported.stdout)).toMatchObject({
      file: join(here.path, "out.jsonl.gz"),
      name: "The quay",
      description: "Gates and barges",
      version: "2.1",
      licence: null,
      documents: 1,
    });
    using there = place();
    writeFileSync(join(there.path, "quay-2.jsonl.gz"), readFileSync(join(here.path, "out.jsonl.gz")));
    const looked = await there.run("tenants", "add", "quay-2.jsonl.gz", "--dry-run");
    expect([looked.exitCode, existsSync(join(there.path, "data"))]).toEqual([0, false]);
    expect(looked.stderr).toContain("The quay, 1 document\n");
    const added = await there.run("tenants", "add", "quay-2.jsonl.gz", "--yes");
    expect(added.exitCode).toBe(0);
    const { tenants } = JSON.parse(readFileSync(join(there.path, "deployment.json"), "utf8"));
    expect(tenants.at(-1)).toEqual({
      source_type: "filesystem",
      codename: "quay-2",
      docs_name: "The quay",
      docs_root_dir: "data/quay-2",
      description: "Gates and barges",
    });
    expect((await there.run("index", "quay-2")).exitCode).toBe(0);
    expect((await there.run("search", "quay-2", "gate")).stdout).toContain("Gates");
  });

  test.each<[string, Record<string, string>]>([
    ["as a file", { "content-type": "application/gzip" }],
    ["as packed text", { "content-type": "application/json", "content-encoding": "gzip" }],
  ])("reach it over the web, served %s", async (_, headers) => {
    using here = place();
    await here.run("index", "export", "quay.jsonl.gz", "quay");
    const file = readFileSync(join(here.path, "quay.jsonl.gz"));
    const seen: (string | null)[] = [];
    await using site = serveLocal((request) => {
      seen.push(request.headers.get("authorization"));
      return new URL(request.url).pathname === "/tide.jsonl.gz"
        ? new Response(file, { headers })
        : new Response("", { status: 404 });
    });
    const origin = `http://127.0.0.1:${site.port}`;
    const added = await here.run(
      "tenants",
      "add",
      `http://me:secret@127.0.0.1:${site.port}/tide.jsonl.gz?v=2`,
      "--yes",
    );
    expect([added.exitCode, added.stderr]).toEqual([
      0,
      expect.stringContaining(`${origin}/tide.jsonl.gz?v=2: The quay, 1 document\n`),
    ]);
    expect([added.stderr.includes("secret"), seen]).toEqual([false, [`Basic ${btoa("me:secret")}`]]);
    expect(readFileSync(join(here.path, "data/tide/gates.md"), "utf8")).toContain("# Gates");
    const missing = await here.run("index", "import", `${origin}/none.jsonl.gz`, "--dir", "b", "--yes");
    expect([missing.exitCode === 0, missing.stderr, existsSync(join(here.path, "b"))]).toEqual([
      false,
      expect.stringContaining("was answered with 404"),
      false,
    ]);
  });

  test("leave out what is too large for an index, and say so", async () => {
    using here = place();
    writeFileSync(join(here.path, "quay/large.md"), "a line of it\n".repeat(2_000_000));
    const exported = await here.run("index", "export", "quay.jsonl.gz", "--dir", "quay");
    expect(exported).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("2 documents") });
    expect(exported.stderr).toContain("warning: large.md is left out: ");
    expect((await here.run("index", "import", "quay.jsonl.gz", "--dir", "b", "--yes")).exitCode).toBe(0);
  });

  test("index export writes into a device, and replaces no folder", async () => {
    using here = place();
    expect((await here.run("index", "export", "/dev/null", "--dir", "quay")).exitCode).toBe(0);
    expect(statSync("/dev/null").isCharacterDevice()).toBeTrue();
    const run = await here.run("index", "export", "quay", "--dir", "quay");
    expect([run.exitCode, run.stderr]).toEqual([
      1,
      expect.stringContaining("quay is a directory, not a file"),
    ]);
  });

  test.each([
    ["nowhere.jsonl.gz", "there is no file nowhere.jsonl.gz"],
    [
      "http://me:secret@127.0.0.1:9/docs.jsonl.gz",
      "GET http://127.0.0.1:9/docs.jsonl.gz: the connection was refused",
    ],
  ])("tenants add %s is refused", async (written, message) => {
    using here = place();
    const run = await here.run("tenants", "add", written, "--yes");
    expect([run.exitCode === 0, run.stderr]).toEqual([false, expect.stringContaining(message)]);
  });

  test.each<[string[], string]>([
    [["export"], "index export takes a file"],
    [["export", "a.gz"], "index export takes a file, and one tenant or --dir DIR"],
    [["export", "a.gz", "quay", "--dir", "quay"], "index export takes a file, and one tenant or --dir DIR"],
    [["export", "a.gz", "nobody"], "has no tenant 'nobody'"],
    [["export", "a.gz", "--dir", "state"], "state could not be read"],
    [
      ["export", "missing/a.gz", "--dir", "quay"],
      "missing/a.gz cannot be written: there is no such directory",
    ],
    [["import", "a.gz"], "index import takes a file and --dir DIR"],
    [["import", "a.gz", "--dir", "b", "--yes"], "there is no file a.gz"],
    [["import", "deployment.json", "--dir", "b", "--yes"], "deployment.json is no file of documents"],
    [["import", "deployment.json", "--dir", "b"], "there is no terminal to ask on"],
    [["import", "-", "--dir", "b"], "there is no terminal to ask on"],
    [["import", "-", "--dir", "b", "--yes"], "the input is no file of documents"],
    [["quay", "--licence", "MIT"], "--licence goes with index export"],
    [["quay", "--yes"], "--yes goes with index import"],
  ])("index %j is refused, and writes nothing", async (words, message) => {
    using here = place();
    const run = await here.run("index", ...words);
    expect([run.exitCode === 0, run.stdout]).toEqual([false, ""]);
    expect(run.stderr).toContain(message);
    expect([existsSync(join(here.path, "a.gz")), existsSync(join(here.path, "b"))]).toEqual([false, false]);
  });
});
