import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GitServer, serveGit, type TestRepository } from "../../support/git-server.ts";
import { documentsOf, gitTenantSource, runSync } from "../../support/git-tenant.ts";

let server: GitServer;
let repository: TestRepository;
let rootDir: string;
let url: string;

beforeEach(async () => {
  server = await serveGit();
  repository = await server.create("files");
  url = `${server.origin}/files.git`;
  rootDir = await mkdtemp(join(tmpdir(), "git-files-"));
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(rootDir, { recursive: true, force: true });
});

test("a repository's sync takes what a subpath names, whatever excludes it elsewhere", async () => {
  await repository.commit({
    "vendor/lib/a.md": "# A",
    "vendor/lib/vendor/b.md": "# B",
    "vendor/other/c.md": "# C",
    "node_modules/x/README.md": "# X",
    "node_modules/x/y.md": "# Y",
  });
  const rules = { include: [], exclude: ["README.md"] };
  const subpaths = ["vendor/lib", "node_modules/x/README.md"];
  const { source } = gitTenantSource({ rootDir, url, tenant: { subpaths, rules } });
  await runSync(source);
  const leftOut: string[] = [];
  const titles = [...(await documentsOf(source, leftOut)).values()].map(({ title }) => title);
  expect({ titles, leftOut }).toEqual({ titles: ["X", "A"], leftOut: ["vendor/lib/vendor/"] });
});

test("a repository's sync says what it leaves out when nothing is left", async () => {
  await repository.commit({ "docs/a.png": "p", "docs/b.ts": "t", "docs/.c.md": "# C" });
  await expect(runSync(gitTenantSource({ rootDir, url }).source)).rejects.toThrow(
    /has no documents below docs at [0-9a-f]{12}; left out: 1 hidden, 2 unknown kind$/,
  );
});
