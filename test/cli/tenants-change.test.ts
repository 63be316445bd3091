import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary, runShell } from "../support/binary.ts";
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
  tenantsOf,
} from "../support/tenants-run.ts";
import { untilTrue } from "../support/until.ts";

beforeEach(setUp);
afterEach(tearDown);

const bareRepository = async (): Promise<void> => {
  makeFolder("work/docs", "a.md", "draft.md");
  const git = "git -c user.name=a -c user.email=a@example.org";
  const script = `git init -q --bare handbook.git && cd work && git init -q && git add . && ${git} commit -qm x && git push -q ../handbook.git HEAD:main && git -C ../handbook.git symbolic-ref HEAD refs/heads/main`;
  const { exitCode, stderr } = await runShell(`cd ${root} && ${script}`);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
};

describe("tenants add of a bare repository", () => {
  test("reads it with git, where the operator allows files", async () => {
    await bareRepository();
    const words = ["tenants", "add", join(root, "handbook.git"), "--yes", "--json", "--exclude", "draft.md"];
    const options = { cwd: root, env: { ...environment(), DOCS_SEARCH_GIT_PROTOCOLS: "https,file" } };
    const { exitCode, stdout, stderr } = await runBinary([...words, "--schedule", "5 4 * * *"], options);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      tenant: { source_type: "git", codename: "handbook", docs_name: "handbook", exclude: ["draft.md"] },
      documents: { count: 1, first: ["docs/a.md"] },
    });
    expect(tenantsOf()[0]).toMatchObject({ refresh_schedule: "5 4 * * *", git_subpaths: ["docs"] });
    expect(tenantsOf()[0]).not.toHaveProperty("git_sync_interval_minutes");
  });

  test("says which variable allows files", async () => {
    await bareRepository();
    const { exitCode, stderr } = await run("add", "handbook.git", "--yes");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr:
        "error: Tenant 'handbook': git_repo_url has the scheme file, allowed is https, http; DOCS_SEARCH_GIT_PROTOCOLS=https,http,file allows it\n",
    });
  });
});

describe("tenants add of a folder without documents", () => {
  test.each([
    [[], "the folder is empty"],
    [["logo.png", ".hidden"], "left out: 1 hidden, 1 unknown kind"],
    [["draft.md"], "left out: 1 excluded"],
  ] as const)("warns and says why: %j", async (pages, why) => {
    makeFolder("handbook", ...pages);
    const { exitCode, stderr } = await run("add", "handbook", "--exclude", "draft.md", "--dry-run");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: `warning: no documents are in ${join(root, "handbook")}: ${why}\n`,
    });
  });
});

describe("tenants set", () => {
  const set = async (...words: string[]): Promise<void> => {
    const { exitCode, stderr } = await run("set", ...words);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^set /) });
  };

  test("takes what tenants add takes, and leaves the rest of the file as it is", async () => {
    site.fill(12);
    site.write("/docs/", "Start");
    const wishes = ["--name", "The manual", "--library", "weir", "--version", "2.1", "--max-pages", "5"];
    const found = await add(
      `${site.origin}/docs/`,
      "--codename",
      "manual",
      ...wishes,
      "--exclude",
      "/docs/p1",
    );
    expect(found.documents.count).toBe(5);
    expect(found.documents.first).not.toContain(`${site.origin}/docs/p1`);
    const stored = { docs_name: "The manual", library: "weir", version: "2.1", max_crawl_pages: 5 };
    expect(tenantsOf()[0]).toMatchObject({ ...stored, url_blacklist_prefixes: `${site.origin}/docs/p1` });
    writeFileSync(file(), read().replace('"tenants"', '// Ours.\n  "tenants"'));

    await set("manual", "--version=3.0", "--max-pages", "", "--exclude", "/blog/*", "--exclude", "/docs/p2");
    const text = read();
    expect(text).toContain("  // Ours.\n");
    const [tenant] = tenantsOf(text.replace("// Ours.", ""));
    expect(tenant).toMatchObject({ docs_name: "The manual", version: "3.0" });
    expect(tenant?.url_blacklist_prefixes).toBe(`${site.origin}/blog/, ${site.origin}/docs/p2`);
    expect(tenant).not.toHaveProperty("max_crawl_pages");
  });

  test.each([
    [["--max-pages", "3"], "--max-pages is for websites"],
    [
      ["--schedule", "1 2 * * *"],
      "--schedule is for websites and repositories; a folder is read again when it changes",
    ],
    [
      [],
      "tenants set takes what to set: --name, --library, --library-version, --max-pages, --exclude, --schedule",
    ],
    [["--dry-run"], "--dry-run goes with tenants add"],
  ])("refuses %j for a folder", async (words, message) => {
    makeFolder("handbook", "a.md");
    await add("handbook");
    const before = read();
    const { exitCode, stderr } = await run("set", "handbook", ...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: `error: ${message}\n` });
    expect(read()).toBe(before);
  });

  test("`--version` without a value is still the program's", async () => {
    const { stdout } = await run("--version");
    expect(stdout).toMatch(/^article-extractor \d/);
  });
});

describe("tenants rename", () => {
  test("keeps the documents, which the next sync indexes under the new codename", async () => {
    site.fill(3);
    site.write("/docs/", "Start");
    await add(`${site.origin}/docs/`, "--codename", "manual");
    expect(await syncAll()).toEqual({ manual: 4 });
    const { exitCode, stderr } = await run("rename", "manual", "guide");
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^renamed 'manual' to 'guide' in /),
    });
    expect(tenantsOf()[0]).toMatchObject({ codename: "guide", docs_root_dir: "data/manual" });
    expect(await syncAll()).toEqual({ guide: 4 });
  });

  const must = async (...words: string[]): Promise<{ stdout: string; stderr: string }> => {
    const env = { ...environment(), DOCS_SEARCH_GIT_PROTOCOLS: "https,http,file" };
    const { exitCode, stdout, stderr } = await runBinary(words, { cwd: root, env });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    return { stdout, stderr };
  };
  const foundBy = async (codename: string): Promise<number> => {
    const { stdout } = await must("search", codename, "barge", "--json");
    return (JSON.parse(stdout) as { results: unknown[] }).results.length;
  };
  const historyOf = (codename: string): number => {
    using database = new Database(join(root, "state", "state.sqlite"), { readonly: true });
    const query = database.query<{ record: string }, [string]>(
      "SELECT record FROM syncs WHERE codename LIKE ?",
    );
    const { record } = query.get(`${codename}@%`) ?? { record: "{}" };
    return (JSON.parse(record) as { history?: unknown[] }).history?.length ?? 0;
  };
  const sources: Readonly<Record<string, () => Promise<string>>> = {
    folder: async () => {
      makeFolder("docs", "a.md");
      return "docs";
    },
    repository: async () => {
      await bareRepository();
      return join(root, "handbook.git");
    },
    website: async () => {
      site.write("/docs/", "Barge");
      return `${site.origin}/docs/`;
    },
  };

  test.each(Object.keys(sources))("carries a %s over, and back: offline, without a sync", async (kind) => {
    await must("tenants", "add", (await sources[kind]?.()) ?? "", "--codename", "manual", "--yes");
    await must("sync", "manual");
    const found = await foundBy("manual");
    expect([found > 0, historyOf("manual")]).toEqual([true, 1]);
    site.intercept = () => new Response("", { status: 503 });
    const { stderr } = await must("tenants", "rename", "manual", "guide");
    expect(stderr).toContain("; its index came along");
    expect([await foundBy("guide"), historyOf("guide"), historyOf("manual")]).toEqual([found, 1, 0]);
    await must("tenants", "rename", "guide", "manual");
    expect([await foundBy("manual"), historyOf("manual")]).toEqual([found, 1]);
  });

  test.each(["folder", "website"])(
    "a running server goes on searching a %s under the new name",
    async (kind) => {
      await must("tenants", "add", (await sources[kind]?.()) ?? "", "--codename", "manual", "--yes");
      await must("sync", "manual");
      await using served = await Served.start(root, { env: environment() });
      const client = await served.connect();
      const search = async (tenant_codename: string) => {
        const args = { tenant_codename, query: "barge" };
        return (await client.callTool({ name: "root_search", arguments: args })).structuredContent as {
          error: string | null;
        };
      };
      expect((await search("manual")).error).toBeNull();
      site.intercept = () => new Response("", { status: 503 });
      await must("tenants", "rename", "manual", "guide");
      // The server has not read the file yet, or it has the index already.
      const answers = new Set<string | null>();
      const isThere = async () => answers.add((await search("guide")).error).has(null);
      await untilTrue(isThere);
      expect([...answers].filter((error) => error !== null && !error.includes("not found"))).toEqual([]);
      await client.close();
    },
  );

  test("leaves state that is somebody else's where it is, and says so", async () => {
    await must("tenants", "add", (await sources.website?.()) ?? "", "--codename", "manual", "--yes");
    await must("sync", "manual");
    const owner = join(root, "data/manual/.article-extractor/owner.json");
    const foreign = {
      deployment: null,
      file: "/elsewhere.json",
      codename: "manual",
      source: ["online", "x"],
    };
    writeFileSync(owner, JSON.stringify(foreign));
    const { stderr } = await must("tenants", "rename", "manual", "guide");
    expect(stderr).toContain("; the next sync builds its index (Tenant 'manual' cannot use ");
    expect(JSON.parse(readFileSync(owner, "utf8"))).toEqual(foreign);
  });

  test("refuses a codename that is none, another tenant's, or its own", async () => {
    for (const name of ["handbook", "manual"]) {
      makeFolder(name, "a.md");
      await add(name);
    }
    const refused = async (next: string) => (await run("rename", "handbook", next)).stderr;
    expect(await refused("manual")).toContain("codename: must be unique");
    expect(await refused("handbook")).toContain("'handbook' has this codename already");
    expect(await refused("A B")).toContain("codename: must be 2 to 64 lower-case letters");
    expect(tenantsOf().map(({ codename }) => codename)).toEqual(["handbook", "manual"]);
  });
});
