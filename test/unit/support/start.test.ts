import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { scanSource } from "../../support/architecture-scan.ts";

const ROOT = join(import.meta.dir, "../../..");

/**
 * What a module has the program load before its first line runs: files of ours, and packages by their names. The bundler
 * loads a room's whole door, whatever is taken from it.
 */
function loadedWith(entry: string): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const path of found) {
    if (!path.endsWith(".ts")) continue;
    const { references } = scanSource({ path, text: readFileSync(join(ROOT, path), "utf8") });
    for (const { isTypeOnly, clause, specifier } of references) {
      if (isTypeOnly || clause === "" || specifier === null) continue;
      found.add(specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : specifier);
    }
  }
  found.delete(entry);
  return found;
}

test("the version is printed before anything else is loaded", () => {
  expect([...loadedWith("bin/article-extractor.ts")].sort()).toEqual([
    "node:fs",
    "package.json",
    "project.json",
    "src/base/version.ts",
  ]);
});

test("only the shell is loaded before the command is known", () => {
  const loaded = [...loadedWith("bin/program.ts")];
  expect(loaded).toContain("src/cli/run.ts");
  expect(loaded.filter((path) => !/^(?:bin|src\/cli|src\/base|node:[\w/]+$)/.test(path)).sort()).toEqual([
    "cac",
    "package.json",
    "project.json",
  ]);
  expect(loaded.filter((path) => path.includes("/commands/"))).toEqual([]);
});
