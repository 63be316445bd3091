import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveGit } from "../../support/git-server.ts";
import { documentsOf, gitTenantSource, runSync } from "../../support/git-tenant.ts";

let count = 0;
const server = forAllTests(await serveGit());

/** A tenant that was synced, and a commit that it has not seen. */
async function openBench() {
  const name = `damaged-${++count}`;
  const repository = await server.create(name);
  const rootDir = await mkdtemp(join(tmpdir(), "git-damage-"));
  await repository.commit({ "docs/a.md": "# A", "docs/c.md": "# C" });
  const tenant = gitTenantSource({ rootDir, url: `${server.origin}/${name}.git` });
  await runSync(tenant.source);
  await repository.commit({ "docs/a.md": "# A now", "docs/b.md": "# B", "docs/c.md": "# C" });
  return {
    ...tenant,
    clone: join(rootDir, ".article-extractor/git"),
    [Symbol.asyncDispose]: async () => {
      server.intercept(null);
      await rm(rootDir, { recursive: true });
    },
  };
}

async function spoilPacks(clone: string, ending: string, content: string): Promise<void> {
  const folder = join(clone, "objects/pack");
  for (const name of await readdir(folder)) {
    if (!name.endsWith(ending)) continue;
    // They are not writable.
    await rm(join(folder, name));
    await writeFile(join(folder, name), content);
  }
}

const DAMAGES: readonly (readonly [string, (clone: string) => Promise<unknown>])[] = [
  ["a lock of its list of roots", (clone) => writeFile(join(clone, "shallow.lock"), "")],
  [
    "a lock of the tip",
    async (clone) => {
      await mkdir(join(clone, "refs/sync"), { recursive: true });
      await writeFile(join(clone, "refs/sync/tip.lock"), "");
    },
  ],
  ["an empty HEAD", (clone) => writeFile(join(clone, "HEAD"), "")],
  ["a configuration that is none", (clone) => writeFile(join(clone, "config"), "[[[")],
  ["no objects", (clone) => rm(join(clone, "objects"), { recursive: true })],
  ["packs cut off", (clone) => spoilPacks(clone, ".pack", "PACK")],
  ["spoilt lists of packs", (clone) => spoilPacks(clone, ".idx", "x")],
  ["a spoilt list of roots", (clone) => writeFile(join(clone, "shallow"), "garbage")],
  ["a tip that names nothing", (clone) => writeFile(join(clone, "refs/sync/tip"), "garbage")],
];

describe("a clone that a crash has left with", () => {
  test.each(DAMAGES)("%s does not keep the tenant from being synced", async (_, damage) => {
    await using bench = await openBench();
    await damage(bench.clone);
    expect(await runSync(bench.source)).toEqual({ fetched: 2, unchanged: 1, removed: 0, failed: 0 });
    const titles = [...(await documentsOf(bench.source)).values()].map(({ title }) => title);
    expect(titles.sort()).toEqual(["A now", "B", "C"]);
    expect(existsSync(`${bench.clone}.new`)).toBe(false);
    // And it is a whole one that the next commit builds upon.
    expect(await runSync(bench.source)).toMatchObject({ fetched: 0, unchanged: 3 });
  });
});

test("a record of an earlier format is made anew by the next sync", async () => {
  await using bench = await openBench();
  await runSync(bench.source);
  const path = join(bench.clone, "../git.json");
  const record: { version: number } = await Bun.file(path).json();
  await writeFile(path, JSON.stringify({ ...record, version: record.version - 1, leftOut: undefined }));
  expect(await runSync(bench.source)).toMatchObject({ removed: 0, failed: 0 });
  expect(await Bun.file(path).json()).toEqual(record);
  const titles = [...(await documentsOf(bench.source)).values()].map(({ title }) => title);
  expect(titles.sort()).toEqual(["A now", "B", "C"]);
});

test("a server that fails midway costs no clone", async () => {
  await using bench = await openBench();
  // To ask for refs is a POST of this kind as well, in protocol 2.
  let left = 1;
  server.intercept((request) =>
    request.method === "POST" && --left < 0 ? new Response("down", { status: 503 }) : null,
  );
  await expect(runSync(bench.source)).rejects.toThrow(/503/);
  expect(bench.logText()).not.toContain("clone is made anew");
  expect((await documentsOf(bench.source)).size).toBe(2);
  server.intercept(null);
  expect(await runSync(bench.source)).toMatchObject({ fetched: 2 });
});
