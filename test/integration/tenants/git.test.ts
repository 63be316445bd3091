import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveGit, type TestRepository } from "../../support/git-server.ts";
import { documentsOf, gitTenantSource, runSync } from "../../support/git-tenant.ts";
import { serveLocal } from "../../support/local.ts";
import { runningProcesses } from "../../support/processes.ts";

let repository: TestRepository;
let rootDir: string;
let url: string;
let count = 0;

const server = forAllTests(await serveGit());
beforeEach(async () => {
  count++;
  rootDir = await mkdtemp(join(tmpdir(), "git-tenant-"));
  repository = await server.create(`handbook-${count}`);
  url = `${server.origin}/handbook-${count}.git`;
});
afterEach(async () => {
  server.protect(null);
  server.intercept(null);
  await rm(rootDir, { recursive: true, force: true });
});

const pathsOf = async (): Promise<string[]> =>
  (await readdir(rootDir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(".article-extractor"))
    .map((entry) => join(entry.parentPath, entry.name).slice(rootDir.length + 1))
    .sort();

describe("a sync of a git repository", () => {
  test("copies the documents below the subpaths, without the prefix that is stripped", async () => {
    await repository.commit({
      "docs/a.md": "# A",
      "docs/deep/b.md": "# B",
      "src/c.md": "# C",
      "docs/x.png": "p",
    });
    const { source } = gitTenantSource({ rootDir, url, tenant: { stripPrefix: "docs" } });
    expect(await runSync(source)).toEqual({ fetched: 2, unchanged: 0, removed: 0, failed: 0 });
    expect(await pathsOf()).toEqual(["a.md", "deep/b.md"]);
    expect([...(await documentsOf(source)).keys()]).toEqual([
      "docs://handbook/a.md",
      "docs://handbook/deep/b.md",
    ]);
  });

  test("names the subpaths that the commit does not have, also where nothing has changed", async () => {
    await repository.commit({ "docs/a.md": "# A" });
    const { source } = gitTenantSource({ rootDir, url, tenant: { subpaths: ["docs", "guide", "manual"] } });
    for (const _ of ["first", "second"])
      expect((await runSync(source)).notes).toEqual([
        expect.stringMatching(
          /^warning: no guide, no manual at [0-9a-f]{12}$|^warning: no manual, no guide at [0-9a-f]{12}$/,
        ),
      ]);
  });

  test("fetches no file that it does not need", async () => {
    const ballast = Array.from({ length: 40_000 }, (_, index) => Bun.hash(String(index)).toString(36)).join(
      " ",
    );
    await repository.commit({ "docs/a.md": "# A", "docs/film.bin": ballast, "assets/data.md": ballast });
    const before = server.sentBytes();
    await runSync(gitTenantSource({ rootDir, url }).source);
    expect(ballast.length).toBeGreaterThan(400_000);
    expect(server.sentBytes() - before).toBeLessThan(10_000);
  });

  test("asks only for the tip when nothing has changed", async () => {
    await repository.commit({ "docs/a.md": "# A" });
    const { source } = gitTenantSource({ rootDir, url });
    await runSync(source);
    const before = server.requests.length;
    expect(await runSync(source)).toEqual({ fetched: 0, unchanged: 1, removed: 0, failed: 0 });
    expect(server.requests.length - before).toBe(2);
  });

  test("fetches what a commit changes and removes what it removes", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [`docs/p${n}.md`, `# Page ${n}\n\n${Bun.hash(`${n}`)}`]),
    );
    await repository.commit({ ...many, "docs/old/gone.md": "# Gone" });
    const { source } = gitTenantSource({ rootDir, url });
    await runSync(source);
    await repository.commit({ ...many, "docs/p7.md": "# Seven, changed", "docs/new.md": "# New" });
    const before = server.sentBytes();
    expect(await runSync(source)).toEqual({ fetched: 2, unchanged: 299, removed: 1, failed: 0 });
    expect(server.sentBytes() - before).toBeLessThan(20_000);
    expect(await readFile(join(rootDir, "docs/p7.md"), "utf8")).toBe("# Seven, changed");
    expect(await readdir(join(rootDir, "docs"))).not.toContain("old");
  });

  test.each([
    ["mkdocs.yml", "site_name: Weir", "docs", "mkdocs"],
    ["docs/.vitepress/config.ts", "export default {}", ".", "vitepress"],
    ["docs/conf.py", "project = 'Weir'", "docs", "docutils"],
    ["mkdocs.yml", "toc: {slugify: my.own}", "docs", undefined],
  ] as const)("reads the generator in %s: %s", async (path, text, subpath, style) => {
    await repository.commit({ "docs/a.md": "# A", [path]: text });
    const { source } = gitTenantSource({ rootDir, url, tenant: { subpaths: [subpath] } });
    expect(await source.slugStyle()).toBeUndefined();
    await runSync(source);
    expect(await source.slugStyle()).toBe(style);
    expect(await pathsOf()).toEqual(["docs/a.md"]);
  });

  test("takes a file where a folder was, and a folder where a file was", async () => {
    const { source } = gitTenantSource({ rootDir, url });
    await repository.commit({ "docs/a.md": "# A", "docs/b.md/c.md": "# C" });
    await runSync(source);
    await repository.commit({ "docs/a.md/d.md": "# D", "docs/b.md": "# B" });
    await runSync(source);
    expect(await pathsOf()).toEqual(["docs/a.md/d.md", "docs/b.md"]);
  });

  test("follows a branch that was rewritten", async () => {
    await repository.commit({ "docs/a.md": "# One" });
    const { source } = gitTenantSource({ rootDir, url });
    await runSync(source);
    await repository.commit({ "docs/b.md": "# Other history" }, { isForced: true });
    expect(await runSync(source)).toEqual({ fetched: 1, unchanged: 0, removed: 1, failed: 0 });
  });

  test("takes a tag, an annotated tag and a commit", async () => {
    const first = await repository.commit({ "docs/a.md": "# First" });
    await repository.git(["tag", "light", first]);
    await repository.git(["tag", "-a", "heavy", "-m", "x", first]);
    await repository.commit({ "docs/a.md": "# Second" });
    for (const revision of ["light", "heavy", first]) {
      const directory = join(rootDir, revision);
      const { source } = gitTenantSource({ rootDir: directory, url, tenant: { revision } });
      await runSync(source);
      expect([...(await documentsOf(source)).values()].map(({ title }) => title)).toEqual(["First"]);
    }
  });

  test.each([
    ["renamed", ["branch", "-m", "release", "trunk"], "main, trunk"],
    ["deleted", ["branch", "-D", "release"], "main"],
  ] as const)(
    "keeps the documents when the branch was %s, and says what there is",
    async (_, words, left) => {
      await repository.commit({ "docs/a.md": "# A" });
      await repository.git(["branch", "release"]);
      const { source } = gitTenantSource({ rootDir, url, tenant: { revision: "release" } });
      await runSync(source);
      await repository.git(words);
      await expect(runSync(source)).rejects.toThrow(`has no branch or tag "release"; it has ${left}`);
      expect((await documentsOf(source)).size).toBe(1);
      // As somebody who has deleted it by mistake does.
      await repository.commit({ "docs/a.md": "# A", "docs/b.md": "# B" });
      await repository.git(["branch", "release"]);
      expect(await runSync(source)).toMatchObject({ fetched: 1, unchanged: 1 });
    },
  );

  test("keeps the documents when a commit has none any more", async () => {
    await repository.commit({ "docs/a.md": "# A" });
    const { source } = gitTenantSource({ rootDir, url });
    await runSync(source);
    await repository.commit({ "manual/a.md": "# A" });
    await expect(runSync(source)).rejects.toThrow(/no documents below docs/);
    expect((await documentsOf(source)).size).toBe(1);
  });

  test("keeps the documents when the server is down", async () => {
    await repository.commit({ "docs/a.md": "# A" });
    const { source } = gitTenantSource({ rootDir, url });
    await runSync(source);
    server.intercept(() => new Response("down", { status: 500 }));
    await expect(runSync(source)).rejects.toMatchObject({ code: "network" });
    expect((await documentsOf(source)).size).toBe(1);
  });

  test("works with a server that cannot leave blobs out", async () => {
    await repository.git(["config", "uploadpack.allowFilter", "false"]);
    await repository.commit({ "docs/a.md": "# A", "src/b.md": "# B" });
    const { source } = gitTenantSource({ rootDir, url });
    expect(await runSync(source)).toEqual({ fetched: 1, unchanged: 0, removed: 0, failed: 0 });
  });

  test("makes a copy again that somebody edited, and shows the commit's text until then", async () => {
    await repository.commit({ "docs/a.md": "# A", "docs/b.md": "# B" });
    const { source } = gitTenantSource({ rootDir, url });
    await runSync(source);
    await writeFile(join(rootDir, "docs/a.md"), "# Edited");
    expect((await documentsOf(source)).get("docs://handbook/docs/a.md")?.markdown).toBe("# A");
    await runSync(source);
    expect(await readFile(join(rootDir, "docs/a.md"), "utf8")).toBe("# A");
  });

  test("shows the last whole state after a sync that was cancelled between two files", async () => {
    const pages = (word: string) =>
      Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`docs/p${n}.md`, `# ${word} ${n}`]));
    await repository.commit(pages("Old"));
    const { source } = gitTenantSource({ rootDir, url });
    await runSync(source);
    await repository.commit({ ...pages("New") });
    const calling = new AbortController();
    const sync = source.sync({ signal: calling.signal, onProgress: () => calling.abort() });
    await expect(sync).rejects.toMatchObject({ code: "cancelled" });
    const onDisk = await Promise.all((await pathsOf()).map((path) => readFile(join(rootDir, path), "utf8")));
    expect(
      onDisk.some((text) => text.startsWith("# New")) && onDisk.some((text) => text.startsWith("# Old")),
    ).toBe(true);
    const shown = [...(await documentsOf(source)).values()];
    expect(shown).toHaveLength(250);
    expect(shown.every(({ title }) => title.startsWith("Old"))).toBe(true);
    expect(await runSync(source)).toMatchObject({ fetched: 250, removed: 0 });
    expect([...(await documentsOf(source)).values()].every(({ title }) => title.startsWith("New"))).toBe(
      true,
    );
  });
});

describe("a hostile repository", () => {
  test("gets no symbolic link, submodule or special name onto the disk", async () => {
    const outside = join(rootDir, "..", `outside-${count}.md`);
    await repository.commit({
      "docs/fine.md": "# Fine",
      "docs/link.md": { mode: "120000", content: outside },
      "docs/folder": { mode: "120000", content: "/etc" },
      "docs/module.md": { mode: "160000", content: "1".repeat(40) },
      "docs/.git/hooks/post-checkout.md": "#!/bin/sh",
      "docs/.GIT/config.md": "[core]",
      "docs/git~1/config.md": "[core]",
      "docs/.g\u200cit/config.md": "[core]",
      "docs/../../escape.md": "# Escape",
      "docs/./dot.md": "# Dot",
      "docs/back\\..\\slash.md": "# Slash",
      "docs/line\nbreak.md": "# Break",
      "docs/space .md /x.md": "# Space",
      [`docs/${"n".repeat(240)}.md`]: "# Long",
    });
    const { source } = gitTenantSource({ rootDir, url });
    const counts = await runSync(source);
    expect(counts).toMatchObject({ fetched: 1, failed: 7 });
    expect(await pathsOf()).toEqual(["docs/fine.md"]);
    expect(await Bun.file(outside).exists()).toBe(false);
    expect(await Bun.file(join(rootDir, "../escape.md")).exists()).toBe(false);
  });

  test("keeps both of two names that differ in case only", async () => {
    await repository.commit({
      "docs/Readme.md": "# Upper",
      "docs/readme.md": "# Lower",
      "docs/GUIDE.md": "# File",
      "docs/guide.md/x.md": "# Folder",
    });
    const { source } = gitTenantSource({ rootDir, url });
    expect(await runSync(source)).toMatchObject({ fetched: 4, failed: 0 });
    const keys = (await pathsOf()).map((path) => path.toLowerCase());
    expect(new Set(keys).size).toBe(4);
    expect([...(await documentsOf(source)).values()].map(({ title }) => title).sort()).toEqual([
      "File",
      "Folder",
      "Lower",
      "Upper",
    ]);
  });

  test("loses only the file that is too large", async () => {
    await repository.commit({ "docs/a.md": "# A", "docs/huge.md": "x".repeat(21 * 1024 * 1024) });
    const { source } = gitTenantSource({ rootDir, url });
    expect(await runSync(source)).toMatchObject({ fetched: 1, failed: 1 });
    expect(await pathsOf()).toEqual(["docs/a.md"]);
  });

  test("writes nothing through a link that stands in the tenant's directory", async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), "elsewhere-"));
    await symlink(elsewhere, join(rootDir, "docs"));
    await repository.commit({ "docs/a.md": "# A" });
    await expect(runSync(gitTenantSource({ rootDir, url }).source)).rejects.toMatchObject({
      code: "unwritable_output",
    });
    expect(await readdir(elsewhere)).toEqual([]);
    await rm(elsewhere, { recursive: true });
  });

  test("runs no hook and reads no configuration of the machine", async () => {
    await repository.commit({ "docs/a.md": "# A" });
    const { source } = gitTenantSource({ rootDir, url, environment: { HOME: rootDir, GIT_TRACE: "" } });
    await runSync(source);
    const mark = join(rootDir, "hook-ran");
    const hooks = join(rootDir, ".article-extractor/git/hooks");
    await mkdir(hooks, { recursive: true });
    for (const name of ["reference-transaction", "post-merge", "post-checkout", "pre-auto-gc"])
      await writeFile(join(hooks, name), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    await writeFile(
      join(rootDir, ".gitconfig"),
      `[url "http://127.0.0.1:1/"]\n\tinsteadOf = ${server.origin}/\n`,
    );
    await repository.commit({ "docs/a.md": "# B" });
    expect(await runSync(source)).toMatchObject({ fetched: 1 });
    expect(await Bun.file(mark).exists()).toBe(false);
  });

  test("is refused by scheme before git is started", async () => {
    for (const bad of [
      "ext::sh -c touch% /tmp/x",
      "ssh://host/x.git",
      "git@host:x.git",
      "git://host/x.git",
      url,
    ]) {
      const { source } = gitTenantSource({ rootDir, url: bad, protocols: ["https"] });
      await expect(runSync(source)).rejects.toMatchObject({ code: "invalid_settings" });
    }
  });

  test("is reached through the egress policy only", async () => {
    await repository.commit({ "docs/a.md": "# A" });
    const before = server.requests.length;
    const { source } = gitTenantSource({ rootDir, url, caller: { kind: "remote_request" } });
    await expect(runSync(source)).rejects.toMatchObject({ code: "network" });
    expect(server.requests.length).toBe(before);
  });
});

describe("a private repository", () => {
  const token = "tok3n-that-nobody-may-see";
  const tenant = { tokenVariable: "DOCS_TOKEN" };
  const variables = { DOCS_TOKEN: token };

  test("is read with a token that stands in no argument, URL, file or log line", async () => {
    await repository.commit({ "docs/a.md": "# A" });
    server.protect(`x-access-token:${token}`);
    const seen: string[] = [];
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        seen.push(...runningProcesses().map(({ args }) => args));
        await Bun.sleep(5);
      }
    })();
    const { source, logText } = gitTenantSource({ rootDir, url, tenant, variables });
    expect(await runSync(source)).toMatchObject({ fetched: 1 });
    isOver = true;
    await watching;
    expect(seen.join("\n")).toContain("git");
    expect(seen.join("\n")).not.toContain(token);
    expect(server.requests.join("\n")).not.toContain(token);
    expect(logText()).not.toContain(token);
    for (const entry of await readdir(rootDir, { recursive: true, withFileTypes: true }))
      if (entry.isFile())
        expect(await readFile(join(entry.parentPath, entry.name), "latin1")).not.toContain(token);
  });

  test("takes a name and a token with a colon between", async () => {
    await repository.commit({ "docs/a.md": "# A" });
    server.protect("deploy:secret-1");
    const { source } = gitTenantSource({
      rootDir,
      url,
      tenant,
      variables: { DOCS_TOKEN: "deploy:secret-1" },
    });
    expect(await runSync(source)).toMatchObject({ fetched: 1 });
  });

  test("says that it was refused without saying the token", async () => {
    await repository.commit({ "docs/a.md": "# A" });
    server.protect("x-access-token:another");
    const { source, logText } = gitTenantSource({ rootDir, url, tenant, variables });
    const error = await runSync(source).then(() => null, String);
    expect(error).toContain("Authentication failed");
    expect(error + logText()).not.toContain(token);
  });

  test("is not asked for without its variable", async () => {
    const { source } = gitTenantSource({ rootDir, url, tenant });
    await expect(runSync(source)).rejects.toThrow("Tenant 'handbook': the variable DOCS_TOKEN is not set");
  });

  test("gives its token to no server that it redirects to", async () => {
    const asked: (string | null)[] = [];
    await using other = serveLocal((request) => {
      asked.push(request.headers.get("authorization"));
      return new Response(null, { status: 401, headers: { "www-authenticate": 'Basic realm="x"' } });
    });
    server.intercept(({ url: from }) =>
      Response.redirect(from.replace(server.origin, other.url.origin), 301),
    );
    const { source } = gitTenantSource({ rootDir, url, tenant, variables });
    await expect(runSync(source)).rejects.toMatchObject({ code: "network" });
    expect(asked).toEqual([]);
  });
});
