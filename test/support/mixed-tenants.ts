import { expect } from "bun:test";
import { mkdir, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openTenants } from "../../src/app/index.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import { readDeployment } from "../../src/settings/index.ts";
import { folder, repository, tenants } from "./deployment.ts";
import { serveGit } from "./git-server.ts";
import { MIXED_RULES, type MixedTree, makeMixedTree } from "./mixed-tree.ts";
import { openTestTenantApp, testProgram } from "./program.ts";
import { temporaryDirectory } from "./temporary.ts";

/**
 * Syncs a repository of so many files of every sort twice, and the same files as a folder, and checks what is indexed,
 * what is counted as left out, and that the second sync touches nothing.
 */
export async function checkMixedTenants(count: number): Promise<void> {
  using place = temporaryDirectory();
  const directory = place.path;
  await using server = await serveGit();
  const tree = makeMixedTree(count);
  const { files, documents } = tree;
  const submodule = { mode: "160000", content: "1".repeat(40) } as const;
  await (await server.create("mixed")).commit({ ...files, "docs/module": submodule });
  await writeFiles(join(directory, "files"), tree);
  const deployment = {
    ...readDeployment(
      JSON.stringify(
        tenants(
          {
            ...repository,
            ...MIXED_RULES,
            codename: "repo",
            git_repo_url: `${server.origin}/mixed.git`,
            git_subpaths: ["."],
          },
          { ...folder, ...MIXED_RULES, codename: "files", docs_root_dir: "files" },
        ),
      ),
      { name: "d.json", directory },
    ),
    path: join(directory, "d.json"),
    text: "",
  };
  const program = testProgram({
    PATH: process.env.PATH,
    DOCS_SEARCH_STATE_DIR: join(directory, "state"),
    DOCS_SEARCH_GIT_PROTOCOLS: "http",
  });
  await using app = openTestTenantApp(program);
  await using open = openTenants(program, { deployment, app, log: silentLog });
  const { registry } = open;
  const countsOf = async (codename: string): Promise<Record<string, number>> => {
    const { leftOut } = await registry.status(codename);
    const counts = Object.fromEntries(Object.entries(leftOut).map(([reason, one]) => [reason, one.count]));
    const listed: Record<string, number> = {};
    for (const { reason } of await registry.leftOut(codename)) listed[reason] = (listed[reason] ?? 0) + 1;
    expect(listed).toEqual(counts);
    return counts;
  };
  expect((await registry.sync("repo")).documentCount).toBe(documents);
  expect(await countsOf("repo")).toEqual({ ...tree.leftOut, submodule: 1 });
  expect((await registry.sync("files")).documentCount).toBe(documents);
  expect(await countsOf("files")).toEqual(tree.leftOut);

  const state = join(directory, "repo/.article-extractor");
  const paths = ["git.json", "left-out.json", "search.index"].map((name) => join(state, name));
  const timesOf = () =>
    Promise.all([...paths, join(directory, "repo/docs")].map(async (path) => (await stat(path)).mtimeMs));
  const [times, requests] = [await timesOf(), server.requests.length];
  const again = await registry.sync("repo");
  expect(again.counts).toMatchObject({ fetched: 0, removed: 0 });
  expect(server.requests.length - requests).toBe(2);
  expect(await timesOf()).toEqual(times);
  expect(await countsOf("repo")).toEqual({ ...tree.leftOut, submodule: 1 });
  const { counts } = await registry.sync("files");
  expect(counts).toMatchObject({ fetched: 0, unchanged: documents, removed: 0 });
}

async function writeFiles(root: string, { files }: MixedTree): Promise<void> {
  for (const [path, file] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    if (typeof file === "string") await Bun.write(join(root, path), file);
    else await symlink(`${file.content}`, join(root, path));
  }
}
