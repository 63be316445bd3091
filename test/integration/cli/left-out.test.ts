import { expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../../support/command.ts";
import { folder, repository, tenants, web } from "../../support/deployment.ts";
import { DocsSite, proseOf } from "../../support/docs-site.ts";
import { type GitServer, serveGit } from "../../support/git-server.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const FILES = {
  "docs/a.md": `# Sluices\n\n${proseOf("sluices")}`,
  "docs/_build/a.html": `<title>Sluices</title><article><h1>Sluices</h1><p>${proseOf("sluices")}</p></article>`,
  "docs/drafts/b.md": "# Draft",
  "docs/node_modules/x/README.md": "# Package",
  "docs/.hidden.md": "# Hidden",
  "docs/photo.png": "png",
  "docs/large.md": "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
  "docs/empty.txt": "",
} as const;

const LEFT_OUT = {
  excluded: { count: 2, examples: ["docs/drafts/", "docs/node_modules/"] },
  hidden: { count: 1, examples: ["docs/.hidden.md"] },
  unknown_kind: { count: 1, examples: ["docs/photo.png"] },
  duplicate: { count: 1, examples: ["docs/_build/a.html"] },
  lfs_pointer: { count: 1, examples: ["docs/large.md"] },
  empty: { count: 1, examples: ["docs/empty.txt"] },
};

const withServer = async (use: (server: GitServer, directory: string) => Promise<void>): Promise<void> => {
  using directory = temporaryDirectory();
  await using server = await serveGit();
  await use(server, directory.path);
};

test("sync and index count what they leave out, alike for a folder and a repository", async () => {
  await withServer(async (server, directory) => {
    for (const [path, text] of Object.entries(FILES)) await Bun.write(join(directory, "files", path), text);
    const made = await server.create("docs");
    await made.commit({ ...FILES, "docs/module": { mode: "160000", content: "1".repeat(40) } });
    const rules = { exclude: ["drafts/"] };
    const config = join(directory, "deployment.json");
    const url = `${server.origin}/docs.git`;
    await Bun.write(
      config,
      JSON.stringify(
        tenants(
          { ...folder, ...rules, codename: "plain", docs_root_dir: "files" },
          { ...repository, ...rules, codename: "repo", git_repo_url: url, git_subpaths: ["docs"] },
        ),
      ),
    );
    const env = { DOCS_SEARCH_GIT_PROTOCOLS: "http", DOCS_SEARCH_STATE_DIR: join(directory, "state") };
    const run = (...words: string[]) => runCommand([...words, "--config", config], { env });

    const synced = await run("sync", "--all");
    expect(synced.exitCode).toBe(0);
    const reasons = "2 excluded, 1 hidden, 1 unknown kind, 1 duplicate, 1 lfs pointer, 1 empty";
    for (const codename of ["plain", "repo"]) {
      const line = synced.stdout.split("\n").find((one) => one.startsWith(`${codename}: 1 document`)) ?? "";
      for (const reason of reasons.split(", ")) expect(line).toContain(reason);
      expect(line).toContain("(--verbose lists them)");
    }
    expect(synced.stdout).toContain("1 submodule");

    const again = await run("sync", "repo", "--verbose", "--log-level", "critical");
    expect(again.stdout).toContain("0 fetched, 4 unchanged, 0 removed, 0 failed; left out: ");
    expect(
      again.stdout
        .split("\n")
        .filter((line) => line.startsWith("  left out: "))
        .sort(),
    ).toEqual([
      "  left out: docs/.hidden.md: the name begins with a dot",
      "  left out: docs/_build/a.html: it is a duplicate of docs/a.md",
      "  left out: docs/drafts/: an exclude pattern matches it",
      "  left out: docs/empty.txt: it holds no words",
      "  left out: docs/large.md: its content is in Git LFS",
      "  left out: docs/module: it is another repository",
      "  left out: docs/node_modules/: an exclude pattern matches it",
      "  left out: docs/photo.png: files of this kind are not read",
    ]);

    const checked = JSON.parse((await run("doctor", "--json")).stdout) as {
      checks: { name: string; detail: string }[];
    };
    const plain = checked.checks.find(({ name }) => name === "tenant plain");
    expect(plain?.detail).toMatch(/^1 document, indexed \S+; left out: 1 hidden, 2 excluded, /);

    const indexed = await run("index", "plain", "--json");
    expect(indexed.exitCode).toBe(0);
    expect(JSON.parse(indexed.stdout).tenants[0]).toMatchObject({
      doc_count: 1,
      skipped: 0,
      left_out: LEFT_OUT,
    });

    // A pattern that is no longer there lets in what it kept out, though the commit is the same.
    const changed = (await Bun.file(config).text()).replaceAll("drafts/", "elsewhere/");
    await Bun.write(config, changed);
    expect((await run("sync", "repo")).stdout).toContain("1 fetched, 4 unchanged");
  });
});

test("sync says how many known pages a limit left, and doctor does so later", async () => {
  await using site = new DocsSite();
  site.fill(5);
  using directory = temporaryDirectory();
  const config = join(directory.path, "deployment.json");
  const infrastructure = { crawler_browser_first: false };
  const tenant = { ...web, docs_entry_url: "", docs_sitemap_url: site.sitemap, max_crawl_pages: 2 };
  await Bun.write(config, JSON.stringify({ infrastructure, ...tenants(tenant) }));
  const env = {
    ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
    DOCS_SEARCH_STATE_DIR: join(directory.path, "state"),
  };
  const run = (...words: string[]) => runCommand([...words, "--config", config], { env });
  expect((await run("sync", "web")).stdout).toBe(
    "web: 2 documents; 2 fetched, 0 unchanged, 0 removed, 0 failed; max_crawl_pages left 3 known pages unfetched\n",
  );
  expect((await run("doctor", "--json")).stdout).toContain("; max_crawl_pages left 3 known pages unfetched");
});
