import { expect, test } from "bun:test";
import { join } from "node:path";
import { TABLE_DOCUMENTS, withTables } from "../../scripts/readme.ts";

test.each(TABLE_DOCUMENTS)("the tables of %s are what the program declares", async (path) => {
  const text = await Bun.file(join(import.meta.dir, "../..", path)).text();
  // `sh scripts/bun scripts/readme.ts` brings them up to date.
  expect(await withTables(path, text)).toBe(text);
});
