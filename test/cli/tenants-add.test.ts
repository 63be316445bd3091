import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary, runShell } from "../support/binary.ts";
import { DocsSite, proseOf } from "../support/docs-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveGit } from "../support/git-server.ts";
import { Served } from "../support/served.ts";
import {
  add,
  environment,
  file,
  makeFolder,
  read,
  root,
  run,
  setUp,
  site,
  syncAll,
  tearDown,
  temporary,
  tenantsOf,
} from "../support/tenants-run.ts";
import { until, untilTrue } from "../support/until.ts";

beforeEach(setUp);
afterEach(tearDown);

const git = forAllTests(await serveGit());

describe("tenants add", () => {
  test("makes the file in an empty directory, whose server would have the tenant at once", async () => {
    makeFolder("handbook/docs", "a.md", "b.md");
    const { exitCode, stdout, stderr } = await run("add", "handbook/docs", "--yes");
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: "handbook: folder\n  docs_root_dir: handbook/docs\n  2 documents\n    a.md\n    b.md\n",
      stderr:
        "added 'handbook' to deployment.json; a running server picks it up; without one: article-extractor sync handbook\n",
    });
    const fields = {
      source_type: "filesystem",
      codename: "handbook",
      docs_name: "docs",
      docs_root_dir: "handbook/docs",
    };
    expect(JSON.parse(read())).toEqual({
      infrastructure: { mcp_host: "127.0.0.1", allow_index_builds: true },
      tenants: [fields],
    });
    expect(await syncAll()).toEqual({ handbook: 2 });
  });

  test("counts files apart of which only the text tells whether they are documents", async () => {
    makeFolder("handbook", "a.md", "package.json", "libssl.so.3");
    const found = await add("handbook", "--dry-run");
    expect(found).toMatchObject({ documents: { count: 1, first: ["a.md"] }, undecided: 2 });
    const { stdout } = await run("add", "handbook", "--dry-run");
    expect(stdout).toEndWith(
      "  1 document\n    a.md\n  and 2 files whose text decides (JSON, YAML, man pages)\n",
    );
  });

  test("takes the sitemap of a website, and only the part that the address stands for", async () => {
    site.fill(12);
    site.write("/blog/a", "A post");
    site.write("/docs/", "Start");
    const found = await add(`${site.origin}/docs/`, "--codename", "manual");
    expect(found.tenant).toEqual({
      source_type: "online",
      codename: "manual",
      docs_name: `${new URL(site.origin).host}/docs/`,
      description: expect.stringMatching(/^.{150,199} …$/),
      docs_root_dir: "data/manual",
      docs_sitemap_url: site.sitemap,
      docs_entry_url: `${site.origin}/docs/`,
      url_whitelist_prefixes: `${site.origin}/docs/`,
      refresh_schedule: "15 3 * * *",
    });
    expect(found.documents.count).toBe(13);
    expect(found.documents.first).toHaveLength(10);
    expect(found).toMatchObject({ added: true, llms_txt: false, markdown: false });
    expect(await syncAll()).toEqual({ manual: 13 });
  });

  test("names a website as it names itself, and describes it by its first page, in what is shown too", async () => {
    const body = `<title>Home | Weirside\u009b31m manual</title><meta property="og:site_name" content="Weirside\u009b31m manual">
      <meta name="description" content="How the\u009b31m gates are worked."><main><h1>Home</h1><p>${proseOf("home")}</p></main>`;
    site.pages.set("/guide/", { body });
    const { stdout } = await run("add", `${site.origin}/guide/`, "--yes");
    expect(tenantsOf()[0]).toMatchObject({
      docs_name: "Weirside31m manual",
      description: "How the31m gates are worked.",
    });
    expect(stdout).toContain("  description: How the31m gates are worked.\n");
    site.pages.set("/two/", {
      body: `<title>Working the gates</title><main><h1>Working the gates</h1><p>${proseOf("two")}</p></main>`,
    });
    expect((await add(`${site.origin}/two/`, "--dry-run")).tenant.docs_name).toBe("Working the gates");
    expect((await add(`${site.origin}/two/`, "--dry-run", "--name", "Gates")).tenant.docs_name).toBe("Gates");
  });

  test("finds the sitemaps that robots.txt names, without those of other parts", async () => {
    site.fill(3);
    site.write("/docs/", "Start");
    const list = (...paths: string[]) =>
      `<urlset>${paths.map((path) => `<url><loc>${site.origin}${path}</loc></url>`).join("")}</urlset>`;
    site.pages.set("/maps/docs.xml", { body: list("/docs/p0", "/docs/p1"), type: "application/xml" });
    site.pages.set("/maps/blog.xml", { body: list("/blog/a"), type: "application/xml" });
    site.pages.set("/robots.txt", {
      body: `User-agent: *\nDisallow: /docs/p1\nSitemap: ${site.origin}/maps/blog.xml\nSitemap: ${site.origin}/maps/docs.xml\n`,
      type: "text/plain",
    });
    const { tenant, documents } = await add(`${site.origin}/docs/`);
    expect(tenant.docs_sitemap_url).toBe(`${site.origin}/maps/docs.xml`);
    expect(tenant.codename).toBe("docs-127-0-0-1");
    expect(documents.first).toEqual([`${site.origin}/docs/p0`, `${site.origin}/docs/`]);
  });

  test("follows links where there is no sitemap, and begins with llms.txt", async () => {
    site.write("/", "Start", ["/one"]);
    site.write("/one", "One", ["/three"]);
    site.write("/two", "Two");
    site.write("/three", "Three");
    site.pages.set("/sitemap.xml", { body: "none", status: 404 });
    site.pages.set("/two.md", { body: "# Two\n\nMarkdown of it.\n", type: "text/markdown" });
    site.pages.set("/llms.txt", {
      body: "# Site\n\n- [Two](/two.md)\n- [Other](https://other.example/x)\n",
      type: "text/plain",
    });
    const found = await add(site.origin, "--codename", "web");
    expect(found.tenant).toMatchObject({ docs_entry_url: `${site.origin}/`, enable_crawler: true });
    expect(found.tenant).not.toHaveProperty("docs_sitemap_url");
    expect(found.documents).toEqual({ count: 2, first: [`${site.origin}/`, `${site.origin}/two`] });
    expect(found).toMatchObject({ llms_txt: true, markdown: true });
    expect(await syncAll()).toEqual({ web: 4 });
  });

  test("reads llms.txt beside the address, in at most three folders above it, and in the root", async () => {
    const start = "/a/b/c/d/e";
    site.write(start, "Start");
    site.pages.set("/sitemap.xml", { body: "none", status: 404 });
    site.write(`${start}/one`, "One");
    for (const folder of ["/a/b/c", ""])
      site.pages.set(`${folder}/llms.txt`, { body: `- [One](${start}/one)`, type: "text/plain" });
    const found = await add(site.origin + start);
    expect(found).toMatchObject({ llms_txt: true, documents: { count: 2 } });
    const asked = site.requests.map(({ path }) => path).filter((path) => path.endsWith("/llms.txt"));
    const folders = ["/a/b/c/d/e", "/a/b/c/d", "/a/b/c", "/a/b", ""];
    expect(asked).toEqual(folders.map((folder) => `${folder}/llms.txt`));
  });

  test("takes the documentation of a repository from its default branch", async () => {
    const repository = await git.create("owner/project");
    const files = {
      "README.md": "# Project\n",
      "docs/a.md": "# A\n\nBarges.\n",
      "docs/b/c.md": "# C\n",
      "src/x.ts": "x",
      "CHANGES.md": "# Changes\n",
    };
    await repository.commit(files, { branch: "trunk" });
    await repository.git(["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    const { tenant, documents } = await add(`${git.origin}/owner/project.git`);
    expect(tenant).toMatchObject({
      codename: "project",
      docs_name: "owner/project",
      git_branch: "trunk",
      git_subpaths: ["docs", "README.md"],
      git_sync_interval_minutes: 60,
    });
    expect(documents).toEqual({ count: 3, first: ["README.md", "docs/a.md", "docs/b/c.md"] });
    expect(await syncAll()).toEqual({ project: 3 });
    const plain = await git.create("owner/docs");
    await plain.commit({ "a.md": "# A\n", "sub/b.md": "# B\n" });
    const other = await add(`${git.origin}/owner/docs.git`);
    expect(other.tenant).toMatchObject({ codename: "owner", git_branch: "main", git_subpaths: ["."] });
    expect(other.documents.count).toBe(2);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("writes nothing with --dry-run, without somebody to ask, and for a source that it has", async () => {
    makeFolder("docs", "a.md");
    const dry = await run("add", "docs", "--dry-run", "--codename", "one", "--json");
    expect(JSON.parse(dry.stdout)).toMatchObject({
      added: false,
      tenant: { codename: "one" },
      documents: { count: 1 },
    });
    expect(readdirSync(root)).toEqual(["docs"]);
    const unasked = await run("add", "docs");
    expect(unasked).toMatchObject({ exitCode: 2, stdout: "" });
    expect(unasked.stderr).toContain("--yes adds the tenant, --dry-run only shows it");
    await add("docs", "--codename", "one");
    const before = read();
    expect(await run("add", "./docs/../docs", "--codename", "two", "--yes")).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "error: the tenant 'one' has this source already\n",
    });
    makeFolder("other", "a.md");
    expect((await run("add", "other", "--codename", "one", "--yes")).stderr).toBe(
      "error: deployment.json has a tenant 'one' already; name another codename\n",
    );
    expect((await run("add", "other", "--codename", "No!", "--yes")).stderr).toContain(
      "codename: must be 2 to 64",
    );
    expect(read()).toBe(before);
    expect((await add("other")).tenant.codename).toBe("other");
  });

  test.each([
    [["add", "example.org", "--yes"], "did you mean https://example.org ?"],
    [["add", "no/such/folder", "--yes"], "not an existing folder"],
    [["add", "https://user:secret@example.org/", "--yes"], "has no credentials"],
    [["add", "http://127.0.0.1:1/", "--yes"], "127.0.0.1:1"],
    [["add", "http://127.0.0.1:1/x.git", "--yes"], "127.0.0.1:1"],
    [
      ["add"],
      "tenants takes: add URL|REPOSITORY|FOLDER, list, why URL, set CODENAME, rename CODENAME NEW, or remove CODENAME",
    ],
    [["list", "x"], "tenants takes"],
    [["remove", "a", "b"], "tenants takes"],
    [["lst"], "did you mean list?"],
    [["list", "--yes"], "--yes goes with tenants add"],
    [["remove", "x", "--codename", "y"], "--codename goes with tenants add"],
    [["remove", "x"], "there is no deployment.json here"],
  ])("%j is refused in one line, and no file is made", async (words, message) => {
    const { exitCode, stdout, stderr } = await run(...words);
    expect(exitCode).toBeGreaterThan(0);
    expect({ stdout, lines: stderr.trimEnd().split("\n").length }).toEqual({ stdout: "", lines: 1 });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("secret");
    expect(existsSync(file())).toBe(false);
  });

  test("of a site that leads to another host, or names a sitemap there, stays on the site", async () => {
    await using other = new DocsSite();
    other.fill(2);
    const elsewhere = other.origin.replace("127.0.0.1", "localhost");
    site.pages.set("/moved", { body: "", status: 302, headers: { location: `${elsewhere}/docs/p0` } });
    // The egress policy would refuse this machine's other name by itself.
    const env = { ...environment(), ARTICLE_EXTRACTOR_EGRESS: "open" };
    const addOpenly = (path: string) =>
      runBinary(["tenants", "add", `${site.origin}${path}`, "--yes"], { cwd: root, env });
    expect(await addOpenly("/moved")).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `error: ${site.origin}/moved leads to another site, ${elsewhere}/docs/p0; name that one instead\n`,
    });
    expect(existsSync(file())).toBe(false);
    const maps = [`${elsewhere}/sitemap.xml`, `${site.origin}/a,b.xml`].map((url) => `Sitemap: ${url}\n`);
    site.pages.set("/robots.txt", { body: maps.join(""), type: "text/plain" });
    site.fill(2);
    other.pages.set("/sitemap.xml", {
      body: `<urlset><url><loc>${site.origin}/docs/p0</loc></url></urlset>`,
      type: "application/xml",
    });
    const before = other.requests.length;
    expect((await addOpenly("/docs/p0")).exitCode).toBe(0);
    expect(tenantsOf()[0]?.docs_sitemap_url).toBe(site.sitemap);
    expect(other.requests).toHaveLength(before);
  });

  test("of a site that answers an error adds nothing", async () => {
    const { exitCode, stderr } = await run("add", `${site.origin}/none`, "--yes");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("answered with status 404");
    expect(existsSync(file())).toBe(false);
  });
});

test("tenants list says that there are none, and names those that a word is a part of", async () => {
  makeFolder("docs", "a.md");
  await add("docs", "--codename", "docs-d");
  const wrong = await runBinary(["search", "d", "hosts"], { cwd: root, env: environment() });
  expect([wrong.exitCode, wrong.stderr]).toEqual([1, "error: Tenant 'd' not found; did you mean docs-d?\n"]);
  expect((await run("remove", "d")).stderr).toContain("has no tenant 'd'; did you mean docs-d?");
  await run("remove", "docs-d");
  expect(await run("list")).toMatchObject({
    exitCode: 0,
    stdout: "",
    stderr: `${file()} has no tenants; tenants add URL|REPOSITORY|FOLDER adds one\n`,
  });
  const json = await run("list", "--json");
  expect([json.exitCode, JSON.parse(json.stdout)]).toEqual([0, { tenants: [] }]);
});

test("tenants list shows each tenant with its kind, source, documents and state", async () => {
  makeFolder("docs", "a.md");
  await add("docs", "--codename", "folder");
  await runBinary(["sync", "folder"], { cwd: root, env: environment() });
  writeFileSync(
    file(),
    read().replace(
      '"tenants": [',
      `"tenants": [{"source_type":"online","codename":"web","docs_name":"W","docs_root_dir":"w","docs_entry_url":"${site.origin}/"},`,
    ),
  );
  const { stdout, exitCode } = await run("list");
  expect(exitCode).toBe(0);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["web", "website", `${site.origin}/`, "-", "index_missing"],
    ["folder", "folder", join(root, "docs"), "1", "idle"],
    [""],
  ]);
});

test("a running server takes a tenant over that is added, and forgets one that is removed", async () => {
  makeFolder("docs", "a.md");
  await add("docs", "--codename", "tool");
  await using served = await Served.start(root, { env: environment() });
  await untilTrue(async () => (await served.search("barges")).results?.length === 1);
  makeFolder("more", "b.md");
  await add("more");
  const search = () => served.call("root_search", { tenant_codename: "more", query: "barges" });
  expect((await until(search, ({ results }) => results?.length === 1)).results).toHaveLength(1);
  await run("remove", "more");
  expect((await until(search, ({ error }) => error !== null)).error).toContain("not found");
});

test.skipIf(Bun.which("script") === null).each([
  ["y", true],
  ["", true],
  ["n", false],
  ["what", false],
])("on a terminal it is asked for, and %j is an answer", async (answer, isAdded) => {
  makeFolder("docs", "a.md");
  writeFileSync(join(root, "run.sh"), "article-extractor tenants add docs --codename one");
  const { stdout } = await runShell(
    `(while ! grep -q 'Y/n' out 2> /dev/null; do sleep 0.05; done; echo '${answer}') | script -qfec 'sh run.sh' out`,
    { cwd: root, env: environment() },
  );
  expect(stdout).toContain("add 'one' to deployment.json? [Y/n]");
  expect(existsSync(file())).toBe(isAdded);
});
