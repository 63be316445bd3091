import { describe, expect, test } from "bun:test";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runShell } from "../support/binary.ts";
import { runCommand } from "../support/command.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const PAGES: Readonly<Record<string, string>> = {
  "keys.md":
    "---\nurl: https://weir.example/keys\ntitle: Keys\n---\n# Keys\n\nAll about access.\n\n## Rotating keys\n\nRun `weir rotate` to rotate an access key. The old <key> stays valid for a day.\n",
  "install.md": "# Installing weir\n\nInstall the package with your package manager.\n",
  "deep/cache.md": "# Caches\n\nThe flag `--no-cache` turns caching off for one run.\n",
};

/** A directory with the pages in `docs`, indexed. */
async function indexedPages() {
  const directory = temporaryDirectory();
  await writePages(directory.path, PAGES);
  const run = await runCommand(["index", "--dir", "docs"], { cwd: directory.path });
  if (run.exitCode !== 0) throw new Error(run.stderr);
  return directory;
}

async function writePages(path: string, pages: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(path, "docs/deep"), { recursive: true });
  for (const [name, text] of Object.entries(pages)) await writeFile(join(path, "docs", name), text);
}

describe("index", () => {
  test("says what it has indexed, and reads only what changed the next time", async () => {
    using directory = temporaryDirectory();
    await writePages(directory.path, PAGES);
    const index = () => runCommand(["index", "--dir", "docs"], { cwd: directory.path });
    expect(await index()).toEqual({
      exitCode: 0,
      stdout: "indexed 3 documents in docs/.article-extractor/search.index\n",
      stderr: "",
    });
    await writeFile(join(directory.path, "docs/install.md"), "# Installing\n\nother words\n");
    const { stdout } = await index();
    expect(stdout).toBe(
      "indexed 3 documents, 2 of them unchanged, in docs/.article-extractor/search.index\n",
    );
    expect(await readdir(join(directory.path, "docs/.article-extractor"))).toEqual(["search.index"]);
  });

  test("reads saved web pages without their menus, and finds their sections by the pages' own anchors", async () => {
    using directory = temporaryDirectory();
    await writePages(directory.path, {
      "gates.html": `<title>Gates</title><nav><a href="a">Zeppelins</a></nav><main><h1>Gates</h1><p>A gate holds the water back.</p>
        <h2 id="winch-care">Care</h2><p>Grease the winch of the gate twice a year, and before the spring tide.</p></main>`,
    });
    const cwd = directory.path;
    expect(await runCommand(["index", "--dir", "docs"], { cwd })).toMatchObject({
      exitCode: 0,
      stdout: "indexed 1 document in docs/.article-extractor/search.index\n",
    });
    const found = await runCommand(["search", "grease", "--dir", "docs", "--json"], { cwd });
    expect(found.stdout).toContain('"anchor": "winch-care"');
    const none = await runCommand(["search", "zeppelins", "--dir", "docs"], { cwd });
    expect(none.stderr).toBe("nothing found in 1 document\n");
  });

  test("makes anchors as the generator above the folder does", async () => {
    using directory = temporaryDirectory();
    await writePages(directory.path, { "a.md": "# Weir\n\n## 1. Gates & chains\n\nTurn the winch.\n" });
    await writeFile(join(directory.path, "mkdocs.yml"), "site_name: Weir\n");
    await runCommand(["index", "--dir", "docs"], { cwd: directory.path });
    const found = await runCommand(["search", "winch", "--dir", "docs", "--json"], { cwd: directory.path });
    expect(found.stdout).toContain('"1-gates-chains"');
  });

  test("leaves out what is no text, says so, and exits with 1", async () => {
    using directory = temporaryDirectory();
    await writePages(directory.path, PAGES);
    await writeFile(join(directory.path, "docs/image.md"), Buffer.from([0, 1, 2]));
    const run = await runCommand(["index", "--dir", "docs", "--index-file", "here.index"], {
      cwd: directory.path,
    });
    expect(run).toEqual({
      exitCode: 1,
      stdout: "indexed 3 documents in here.index\n",
      stderr: "warning: docs/image.md is left out: it is not text\n",
    });
  });

  test("lists what it leaves out when it is asked to", async () => {
    using directory = temporaryDirectory();
    await writePages(directory.path, { ...PAGES, "photo.png": "x", "empty.txt": "" });
    const index = (...words: string[]) =>
      runCommand(["index", "--dir", "docs", ...words], { cwd: directory.path });
    const brief = await index();
    expect([brief.exitCode, brief.stderr]).toEqual([
      0,
      "left out: 1 unknown kind, 1 empty (--verbose lists them)\n",
    ]);
    // Carried over from the last build or not, the list is the same.
    for (const _ of [1, 2])
      expect((await index("--verbose", "--log-level", "critical")).stderr).toBe(
        "left out: 1 unknown kind, 1 empty\n  left out: docs/photo.png: files of this kind are not read\n  left out: docs/empty.txt: it holds no words\n",
      );
  });

  test("replaces no file that is none of ours", async () => {
    using directory = temporaryDirectory();
    await writePages(directory.path, PAGES);
    await writeFile(join(directory.path, "notes.txt"), "precious");
    const index = () =>
      runCommand(["index", "--dir", "docs", "--index-file", "notes.txt"], { cwd: directory.path });
    expect(await index()).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "error: notes.txt exists and is not a search index: name another file\n",
    });
    expect(await Bun.file(join(directory.path, "notes.txt")).text()).toBe("precious");
    await writeFile(join(directory.path, "notes.txt"), "");
    expect((await index()).exitCode).toBe(0);
    expect((await index()).exitCode).toBe(0);
  });

  test("says what is wrong, and not what went wrong after it", async () => {
    using directory = temporaryDirectory();
    await writeFile(join(directory.path, "file.md"), "# A file\n");
    const run = await runCommand(["index", "--dir", "file.md"], { cwd: directory.path });
    expect(run).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "error: the folder file.md could not be read: it is not a folder\n",
    });
  });

  test("narrows, continues and counts, for people and for programs", async () => {
    await using directory = await indexedPages();
    const search = async (...words: string[]) =>
      await runCommand(["search", "--dir", "docs", ...words], { cwd: directory.path });
    const json = async (...words: string[]) => JSON.parse((await search("--json", ...words)).stdout);
    const urls = async (...words: string[]) =>
      (await json(...words)).results.map(({ url }: { url: string }) => url);
    const all = await urls("the");
    expect(all.length).toBeGreaterThan(1);
    expect(await urls("the", "--offset", "1")).toEqual(all.slice(1));
    expect(await urls("the", "--offset", "1", "--size", "1")).toEqual(all.slice(1, 2));
    expect(await urls("--filter", "path:deep/", "caching")).toEqual(["docs://docs/deep/cache.md"]);
    const counted = await json("the", "--facets", "--size", "1");
    expect(counted).toMatchObject({ total: all.length, is_total_exact: true, facets: { kind: {} } });
    const text = await search("--facets", "the");
    expect(text.stdout).toContain(`\n${all.length} found\n  kind: guide ${all.length}\n`);
    expect((await search("the", "--offset", "1")).stdout).toStartWith("2. ");
    const beyond = await search("the", "--offset", "900");
    expect([beyond.exitCode, beyond.stderr]).toEqual([0, "there are no hits after the first 900\n"]);
  });

  const REFUSED: readonly (readonly [words: readonly string[], code: number, message: string])[] = [
    [["index"], 2, "index needs tenants of the deployment file, --all, or --dir DIR"],
    [["index", "docs"], 2, "there is no deployment.json here"],
    [["index", "docs", "--dir", "docs"], 2, "index --dir takes no tenants"],
    [["index", "--dir", "nowhere"], 1, "the folder nowhere could not be read: there is no such folder"],
    [["index", "--dir", "empty"], 1, "empty holds no documents"],
    [["index", "--dir", "docs", "--profile", "defualt"], 2, "did you mean default?"],
    [["index", "--dir", "docs", "--index-file", "/proc/x/index"], 1, "/proc/x"],
  ];
  for (const [words, code, message] of REFUSED) {
    test(`${words.join(" ")} fails with ${code} and says why`, async () => {
      using directory = temporaryDirectory();
      await writePages(directory.path, PAGES);
      await mkdir(join(directory.path, "empty"));
      const run = await runCommand(words, { cwd: directory.path });
      expect(run.exitCode).toBe(code);
      expect(run.stdout).toBe("");
      expect(run.stderr).toContain(message);
      expect(run.stderr.trimEnd().split("\n")).toHaveLength(1);
    });
  }
});

describe("search", () => {
  test("shows title, address of the section and snippet, plain in a pipe", async () => {
    await using directory = await indexedPages();
    const run = await runCommand(["search", "--dir", "docs", "rotate", "an", "access", "key"], {
      cwd: directory.path,
    });
    expect(run.exitCode).toBe(0);
    expect(run.stderr).toBe("");
    expect(run.stdout).toStartWith(
      "1. Keys\n   https://weir.example/keys#rotating-keys\n   Rotating keys\n   Run weir rotate to rotate an access key. The old <key> stays valid for a day.\n",
    );
  });

  test("takes the last word for a beginning, and finds words that are written otherwise", async () => {
    await using directory = await indexedPages();
    const first = async (query: string) => {
      const run = await runCommand(["search", "--dir", "docs", query], { cwd: directory.path });
      return run.stdout.split("\n")[0];
    };
    expect(await first("packa")).toBe("1. Installing weir");
    expect(await first("pkg")).toBe("1. Installing weir");
    expect(await first("access-ke")).toBe("1. Keys");
  });

  test("gives JSON for programs", async () => {
    await using directory = await indexedPages();
    const run = await runCommand(["search", "--dir", "docs", "--json", "--size", "1", "caching"], {
      cwd: directory.path,
    });
    const { query, results, stats } = JSON.parse(run.stdout);
    expect(query).toBe("caching");
    expect(results).toEqual([
      {
        url: "docs://docs/deep/cache.md",
        title: "Caches",
        score: expect.any(Number),
        snippet: "The flag --no-cache turns caching off for one run.",
        anchor: "caches",
        headings: ["Caches"],
      },
    ]);
    expect(stats).toEqual({ total_docs: 3, query_time_ms: expect.any(Number) });
  });

  test("explains a score as a sum of its parts", async () => {
    await using directory = await indexedPages();
    const words = ["search", "--dir", "docs", "package manager", "--explain"];
    const { stdout } = await runCommand(words, { cwd: directory.path });
    const lines = stdout.split("\n");
    const start = lines.findIndex((line) => line.includes("score "));
    const total = Number(/score ([\d.]+)/.exec(lines[start] ?? "")?.[1]);
    const parts = lines.slice(start + 1).map((line) => Number(/^ +([\d.]+) {2}/.exec(line)?.[1] ?? 0));
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 1);
    const { stdout: json } = await runCommand([...words, "--json"], { cwd: directory.path });
    expect(JSON.parse(json).results[0].explanation.terms[0]).toMatchObject({
      term: expect.any(String),
      fields: {},
    });
  });

  test("finds other forms of a word, unless only words as typed are asked for", async () => {
    await using directory = await indexedPages();
    const search = (...words: string[]) =>
      runCommand(["search", "--dir", "docs", ...words], { cwd: directory.path });
    expect((await search("installs")).stdout).toContain("Installing weir");
    const exact = await search("installs", "--word-match");
    expect(exact).toEqual({ exitCode: 0, stdout: "", stderr: "nothing found in 3 documents\n" });
  });

  test("counts one document as one", async () => {
    using place = temporaryDirectory();
    await Bun.write(join(place.path, "docs/a.md"), "# Keys\n\nRotate them.\n");
    await runCommand(["index", "--dir", "docs"], { cwd: place.path });
    const run = await runCommand(["search", "--dir", "docs", "zebra"], { cwd: place.path });
    expect(run).toEqual({ exitCode: 0, stdout: "", stderr: "nothing found in 1 document\n" });
  });

  test("paints the words on a terminal", async () => {
    await using directory = await indexedPages();
    const run = await runShell(
      "script -qec 'article-extractor search --dir docs old key' /dev/null; script -qec 'article-extractor search --dir docs old key --no-color' /dev/null",
      { cwd: directory.path, env: { TERM: "xterm" } },
    );
    expect(run.stdout).toContain("\u001b[1mKeys\u001b[0m");
    expect(run.stdout).toContain("The \u001b[33mold\u001b[0m <\u001b[33mkey\u001b[0m> stays");
    expect(run.stdout).toContain("The old <key> stays");
  });

  test("says how to build an index that is missing, damaged or of another version", async () => {
    await using directory = await indexedPages();
    const file = join(directory.path, "docs/.article-extractor/search.index");
    const search = (...words: string[]) => runCommand(["search", "key", ...words], { cwd: directory.path });
    const rebuild = "article-extractor index --dir docs\n";
    const bytes = await Bun.file(file).bytes();
    await writeFile(file, bytes.subarray(0, 5000));
    const cut = await search("--dir", "docs");
    expect([cut.exitCode, cut.stdout]).toEqual([1, ""]);
    expect(cut.stderr).toMatch(/is damaged \(5000 bytes instead of \d+\)/);
    expect(cut.stderr).toEndWith(rebuild);
    const missing = await search("--dir", "it's not here");
    expect(missing.stderr).toContain(
      "there is no search index at it's not here/.article-extractor/search.index",
    );
    expect(missing.stderr).toEndWith("article-extractor index --dir 'it'\\''s not here'\n");
    const again = await runCommand(["index", "--dir", "docs"], { cwd: directory.path });
    expect(again.exitCode).toBe(0);
    expect((await search("--dir", "docs")).exitCode).toBe(0);
  });

  const REFUSED: readonly (readonly [words: readonly string[], message: string])[] = [
    [["search", "--dir", "docs"], "search needs a query"],
    [["search", "--dir", "docs", " "], "search needs a query"],
    [["search", "key"], "search needs a query after the tenant"],
    [["search", "--dir", "docs", "key", "--size", "0"], "--size must be"],
    [["search", "--dir", "docs", "key", "--size", "101"], "--size must be"],
    [["search", "--dir", "docs", "key", "--offset", "901"], "--offset must be"],
    [["search", "--dir", "docs", "key", "--filter", "kind:guid"], "filter: kind:guid is none of guide"],
    [["search", "--dir", "docs", "key", "--filter", "language:xx"], "nothing searched has a language"],
    [["search", "--dir", "docs", "key", "--filter", "group:a"], "goes with tenants, not with --dir"],
  ];
  for (const [words, message] of REFUSED) {
    test(`${words.join(" ")} is wrong usage`, async () => {
      await using directory = await indexedPages();
      const run = await runCommand(words, { cwd: directory.path });
      expect(run.exitCode).toBe(2);
      expect(run.stderr).toContain(message);
    });
  }
});
