import { expect, test } from "bun:test";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asideOf, replaceFile } from "../../../src/base/atomic-file.ts";
import { directoryForEachTest } from "../../support/for-all-tests.ts";

const root = directoryForEachTest();

test("makes a file, and replaces it by a text, bytes or pieces", async () => {
  const path = join(root(), "file");
  const replace = (content: Parameters<typeof replaceFile>[1]) =>
    replaceFile(path, content, { aside: asideOf(path, "test"), mode: 0o600 });
  await replace("");
  expect(await readFile(path, "utf8")).toBe("");
  await replace("text");
  expect(await readFile(path, "utf8")).toBe("text");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await replace(new Uint8Array([0, 255]));
  expect([...(await readFile(path))]).toEqual([0, 255]);
  await replace(async (file) => {
    await file.write("one");
    await file.write("two");
  });
  expect(await readFile(path, "utf8")).toBe("onetwo");
  expect(await readdir(root())).toEqual(["file"]);
});

test("keeps the old file until the new one is complete, and leaves nothing behind on failure", async () => {
  const path = join(root(), "file");
  const aside = asideOf(path, "test");
  await writeFile(path, "old");
  const failing = replaceFile(
    path,
    async (file) => {
      await file.write("half");
      expect(await readFile(path, "utf8")).toBe("old");
      expect((await readdir(root())).length).toBe(2);
      throw new Error("no more");
    },
    { aside },
  );
  await expect(failing).rejects.toThrow("no more");
  expect(await readFile(path, "utf8")).toBe("old");
  expect(await readdir(root())).toEqual(["file"]);
});

test("leaves no temporary file when a directory has the name", async () => {
  const path = join(root(), "a-directory");
  await mkdir(path);
  const work = replaceFile(path, "text", { aside: asideOf(path, "test") });
  expect(await work.catch((error) => error.code)).toBe("EISDIR");
  expect(await readdir(root())).toEqual(["a-directory"]);
});
