import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");
const page = await Bun.file(join(ROOT, "CONTRIBUTING.md")).text();
const LISTS = [...page.matchAll(/<!-- files: (.+) -->\n([\s\S]*?)<!-- \/files -->/g)];

/** The rooms in which an option does its work; the list names their door. */
const EFFECTS = /^src\/extraction\/(?!types\.ts)/;

async function sourcesWith(pattern: RegExp): Promise<string[]> {
  const found: string[] = [];
  for await (const path of new Bun.Glob("src/**/*.{ts,html}").scan(ROOT)) {
    if (!EFFECTS.test(path) && pattern.test(await Bun.file(join(ROOT, path)).text())) found.push(path);
  }
  return found.sort();
}

test("the page has its lists of files", () => {
  expect(LISTS.length).toBe(2);
});

test.each(LISTS.map(([, pattern = "", list = ""]) => [pattern, list]))(
  "the files that know %s are those listed",
  async (pattern, list) => {
    const listed = [...list.matchAll(/`(src\/[^`]+)`/g)].map(([, path = ""]) => path);
    expect(listed.filter((path) => !EFFECTS.test(path) && path.includes(".")).sort()).toEqual(
      await sourcesWith(new RegExp(pattern)),
    );
  },
);

test("every file and folder that the page names is there", () => {
  const named = [...page.matchAll(/`((?:src|test|scripts|docs)\/[^`\s]*)`/g)].map(([, path = ""]) => path);
  const paths = named.filter((path) => !/[A-Z]{3,}/.test(path));
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("every make target that the page names is there", async () => {
  const makefile = await Bun.file(join(ROOT, "Makefile")).text();
  const targets = [...page.matchAll(/`make ([a-z-]+)/g)].map(([, target = ""]) => target);
  for (const target of targets)
    expect(makefile).toMatch(new RegExp(`^${target === "bench-" ? "bench-%" : target}:`, "m"));
});
