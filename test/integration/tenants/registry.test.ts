import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Database, openDatabase, openLeases } from "../../../src/base/database/index.ts";
import { NO_FILTER } from "../../../src/search/attributes.ts";
import { leaseOf } from "../../../src/tenants/sync-book.ts";
import { folderTenant } from "../../support/deployment.ts";
import { openRegistry, type TestRegistry, writeTree } from "../../support/search-server.ts";
import { indexIn, keyIn } from "../../support/state-place.ts";
import { until, untilTrue } from "../../support/until.ts";

let root: string;
let registry: TestRegistry;
let beside: Database;
beforeEach(() => {
  root = writeTree({ "sluices.md": "# Sluices\n\nHow a sluicegate opens.\n" });
  registry = openRegistry({
    infrastructure: { allow_index_builds: true },
    tenants: [{ source_type: "filesystem", codename: "harbour", docs_name: "Harbour", docs_root_dir: root }],
  });
  const path = join(registry.stateDirectory, "state.sqlite");
  beside = openDatabase({ path, name: "the state", access: { kind: "shared" } });
});
afterEach(async () => {
  await registry[Symbol.asyncDispose]();
  beside.close();
});

const hitsOf = async (query: string): Promise<number> => {
  try {
    const options = { size: 10, wordMatch: false, timeoutMs: 30_000 };
    return (await registry.search("harbour", query, options)).hits.length;
  } catch {
    return -1;
  }
};
const untilHits = (query: string, count: number): Promise<number> =>
  until(
    () => hitsOf(query),
    (found) => found === count,
  );
const hasSaid = (words: string): boolean => registry.lines.some((line) => line.includes(words));

test("tenants are searched on while the shared state fails, and looked after again when it is back", async () => {
  registry.start();
  expect(await untilHits("sluicegate", 1)).toBe(1);
  await until(
    async () => (await registry.status("harbour")).state,
    (state) => state === "idle",
  );
  beside.run("ALTER TABLE sync_requests RENAME TO elsewhere");
  await untilTrue(() => hasSaid("syncs are not looked after"));
  expect(hasSaid("syncs are not looked after")).toBe(true);
  expect(await hitsOf("sluicegate")).toBe(1);
  beside.run("ALTER TABLE elsewhere RENAME TO sync_requests");
  writeFileSync(join(root, "locks.md"), "# Locks\n\nA lockkeeper works here.\n");
  await untilTrue(async () => (await registry.requestSync("harbour")) === "queued");
  expect(await untilHits("lockkeeper", 1)).toBe(1);
});

test("a damaged index is searched on although no build can be asked for", async () => {
  await registry.build("harbour");
  expect(await hitsOf("sluicegate")).toBe(1);
  beside.run("DROP TABLE sync_requests");
  const path = indexIn(registry.stateDirectory, "harbour");
  writeFileSync(`${path}.new`, "garbage");
  renameSync(`${path}.new`, path);
  await until(
    async () => {
      expect(await hitsOf("sluicegate")).toBe(1);
      return hasSaid("no sync requested");
    },
    (said) => said,
  );
  expect(hasSaid("no sync requested")).toBe(true);
});

test("wherever a tenant's index is damaged, a search of several finds what the others have", async () => {
  const words = (number: number) =>
    Array.from({ length: 1000 }, (_, place) => (place * place * 7919 + number * 31) % 997).join(" ");
  const pages = Array.from({ length: 40 }, (_, number): [string, string] => [
    `page-${number}.md`,
    `# Page ${number}\n\nThe sluicegate. ${words(number)}\n`,
  ]);
  const docs = writeTree(Object.fromEntries(pages));
  const tenants = Array.from({ length: 8 }, (_, number) =>
    folderTenant(number === 0 ? "another" : `damaged-${number}`, { docs_root_dir: docs }),
  );
  await using several = openRegistry({ tenants });
  for (const { codename } of several.list()) await several.build(codename);
  for (const [number, { codename }] of several.list().entries()) {
    if (number === 0) continue;
    const path = indexIn(several.stateDirectory, codename);
    const bytes = await Bun.file(path).bytes();
    // A bit in each of the first parts of the file that have checksums, which hold the documents.
    const at = 16_384 * number - 1000;
    bytes[at]! ^= 1;
    writeFileSync(`${path}.new`, bytes);
    renameSync(`${path}.new`, path);
  }
  for (const { codename } of several.list().slice(1)) {
    for (const number of [0, 9, 19, 29, 39]) {
      // Without the filter a search of the tenant alone shows other pages, from other parts of its file.
      const filter = { ...NO_FILTER, path: [`page-${number}.md`] };
      const options = { size: 3, filter, wordMatch: false, timeoutMs: 30_000 };
      const { hits, failures } = await several.searchTogether(["another", codename], "sluicegate", options);
      expect({ codename, number, hits: hits.length }).toEqual({
        codename,
        number,
        hits: failures.length > 0 ? 1 : 2,
      });
    }
  }
  rmSync(docs, { recursive: true });
});

test("documents that change while another process is at them are read when it has ended", async () => {
  registry.start();
  expect(await untilHits("sluicegate", 1)).toBe(1);
  await until(
    async () => (await registry.status("harbour")).state,
    (state) => state === "idle",
  );
  const leases = openLeases(beside);
  expect(
    await leases.take(leaseOf(keyIn(registry.stateDirectory, "harbour")), "elsewhere:1:x", 60_000),
  ).not.toBeNull();
  writeFileSync(join(root, "locks.md"), "# Locks\n\nA lockkeeper works here.\n");
  // It has seen the change, and not been able to do anything about it.
  await until(
    async () => (await registry.status("harbour")).state,
    (state) => state === "queued",
  );
  expect(await hitsOf("lockkeeper")).toBe(0);
  await leases.release(leaseOf(keyIn(registry.stateDirectory, "harbour")), "elsewhere:1:x");
  expect(await untilHits("lockkeeper", 1)).toBe(1);
});

test("a folder that another one of its name has replaced is looked after on", async () => {
  registry.start();
  expect(await untilHits("sluicegate", 1)).toBe(1);
  mkdirSync(`${root}.new`);
  writeFileSync(join(`${root}.new`, "locks.md"), "# Locks\n\nA lockkeeper works here.\n");
  renameSync(root, `${root}.old`);
  renameSync(`${root}.new`, root);
  expect(await untilHits("lockkeeper", 1)).toBe(1);
  writeFileSync(join(root, "weirs.md"), "# Weirs\n\nA weirmaster works there.\n");
  expect(await untilHits("weirmaster", 1)).toBe(1);
});

test("a folder that comes back is read, and what was indexed is found until then", async () => {
  registry.start();
  expect(await untilHits("sluicegate", 1)).toBe(1);
  rmSync(root, { recursive: true });
  await until(
    async () => (await registry.status("harbour")).lastError,
    (error) => error !== null,
  );
  expect(await hitsOf("sluicegate")).toBe(1);
  expect(registry.lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({
      message: "sync failed",
      level: "error",
      tenant: "harbour",
      code: "unreadable_input",
      error: (await registry.status("harbour")).lastError?.message,
    }),
  );
  mkdirSync(root);
  writeFileSync(join(root, "locks.md"), "# Locks\n\nA lockkeeper works here.\n");
  expect(await untilHits("lockkeeper", 1)).toBe(1);
});
