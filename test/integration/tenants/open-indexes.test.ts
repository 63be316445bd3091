import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { folderTenant } from "../../support/deployment.ts";
import { openRegistry, writeTree } from "../../support/search-server.ts";
import { indexIn } from "../../support/state-place.ts";

const search = { size: 10, wordMatch: false, timeoutMs: 5000 };

test("many tenants are searched in turn, more of them than stay open", async () => {
  const docs = writeTree({ "a.md": "# Apples\n\nThey are red.\n" });
  const tenants = Array.from({ length: 40 }, (_, index) =>
    folderTenant(`tenant-${index}`, { docs_root_dir: docs }),
  );
  await using registry = openRegistry({ tenants });
  for (const { codename } of registry.list()) await registry.build(codename);
  for (let round = 0; round < 3; round++)
    for (const { codename } of registry.list()) {
      expect((await registry.search(codename, "apples", search)).hits).toHaveLength(1);
      expect((await registry.status(codename)).documentCount).toBe(1);
    }
  // The last one is open and stays searched without its file, the first one was closed.
  for (const codename of ["tenant-0", "tenant-39"]) rmSync(indexIn(registry.stateDirectory, codename));
  expect((await registry.search("tenant-39", "apples", search)).hits).toHaveLength(1);
  await expect(registry.search("tenant-0", "apples", search)).rejects.toThrow("has no search index");
});
