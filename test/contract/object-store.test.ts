import { expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { folderOf } from "../../src/base/objects.ts";
import { openObjectStore } from "../../src/scale/objects/open.ts";
import { optionsFor } from "../support/bucket.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { describeObjectStore } from "./object-store.contract.ts";

describeObjectStore("a directory", async () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, "made later");
  return { ...directory, open: () => openObjectStore({ kind: "directory", path }, optionsFor("")) };
});

test("symbolic links in a directory lead nowhere", async () => {
  const path = await mkdtemp(join(tmpdir(), "object-store-"));
  const inside = join(path, "inside");
  await mkdir(join(path, "outside"));
  await mkdir(inside);
  await writeFile(join(path, "outside/secret"), "secret");
  await symlink(join(path, "outside"), join(inside, "folder"));
  await symlink(join(path, "outside/secret"), join(inside, "file"));
  const store = await openObjectStore({ kind: "directory", path: inside }, optionsFor(""));
  const linked = /is a symbolic link, which is not followed$/;
  for (const call of [
    () => store.read("folder/secret"),
    () => store.head("folder/secret"),
    () => store.put("folder/secret", "1"),
    () => store.delete("folder/secret"),
    () => store.putStream("folder/deep/er", (async function* () {})()),
  ])
    await expect(call()).rejects.toThrow(linked);
  expect([await store.read("file"), await store.head("file")]).toEqual([null, null]);
  await store.put("file", "own");
  expect(await Bun.file(join(path, "outside/secret")).text()).toBe("secret");
  expect(await Array.fromAsync(store.list(""))).toEqual([{ key: "file", size: 3 }]);
  await rm(path, { recursive: true });
});

const HOSTILE = [
  "..",
  ".",
  "",
  "/",
  "\\",
  "\0",
  "\n",
  "%2e%2e",
  "a",
  "é",
  "~",
  "C:",
  "\u202e",
  "\ud800",
  "s3://x",
  "…",
];

test("no path and no key, however hostile, leads out of a folder", async () => {
  const path = await mkdtemp(join(tmpdir(), "object-store-"));
  const store = await openObjectStore({ kind: "directory", path: join(path, "root") }, optionsFor(""));
  await store.put("secret", "secret");
  const hostile = fc.oneof(
    fc.array(fc.constantFrom(...HOSTILE), { maxLength: 5 }).map((parts) => parts.join("/")),
    fc.string({ unit: "binary", maxLength: 12 }),
  );
  await fc.assert(
    fc.asyncProperty(hostile, hostile, async (folder, key) => {
      try {
        const confined = folderOf(folderOf(store, "jobs"), folder);
        await confined.put(key, "theirs");
      } catch (error) {
        expect((error as { code?: string }).code).toMatch(/^(?:invalid_usage|unwritable_output)$/);
      }
      expect(await readdir(path)).toEqual(["root"]);
      expect((await readdir(join(path, "root"))).filter((name) => name !== "jobs")).toEqual(["secret"]);
      expect(new TextDecoder().decode((await store.read("secret")) ?? undefined)).toBe("secret");
    }),
    { numRuns: 300 },
  );
  await rm(path, { recursive: true });
});
