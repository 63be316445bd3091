import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { scanSource } from "../../support/architecture-scan.ts";

const ROOT = join(import.meta.dir, "../../../src");
const WALK =
  /<!-- walk: (.+) -->\n\n\*\*(.+)\*\*, at most (\d+) (?:more )?files\.\n([\s\S]*?)<!-- \/walk -->/g;

/** What every walk may pass unnamed. */
const EVERYWHERE = /^(?:base|urls)\//;

type Walk = {
  readonly name: string;
  readonly most: number;
  readonly named: readonly string[];
  /** The files that it passes and no walk before it. */
  readonly passed: readonly string[];
};

/** The files below `src` that these import, and so on: no types, and nothing that is loaded when it is asked for. */
function filesFrom(starts: readonly string[]): ReadonlySet<string> {
  const found = new Set(starts);
  for (const path of found) for (const next of importsOf(path)) found.add(next);
  return found;
}

function importsOf(path: string): readonly string[] {
  return referencesOf(path)
    .filter(({ clause }) => clause !== "")
    .flatMap(({ target, names }) => (isDoor(target) ? names.map((name) => definerOf(target, name)) : target))
    .filter((target) => target.endsWith(".ts"));
}

/** The file behind a room's door that holds a name. */
function definerOf(door: string, name: string): string {
  const from = referencesOf(door).find(({ names }) => names.includes(name));
  if (from === undefined) throw new Error(`${door} does not show ${name}`);
  return isDoor(from.target) ? definerOf(from.target, name) : from.target;
}

const isDoor = (path: string): boolean => path.endsWith("/index.ts");

function referencesOf(path: string) {
  const { references } = scanSource({ path, text: readFileSync(join(ROOT, path), "utf8") });
  return references
    .filter(({ isTypeOnly, specifier }) => !isTypeOnly && specifier?.startsWith("."))
    .map(({ clause, specifier }) => ({
      clause,
      target: normalize(join(dirname(path), specifier ?? "")),
      names: valueNames(clause),
    }))
    .filter(({ target }) => !target.startsWith(".."));
}

const valueNames = (clause: string): readonly string[] =>
  (/\{([^}]*)\}/.exec(clause)?.[1] ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.split(/\s+as\s+/)[0] ?? "");

function readWalks(): readonly Walk[] {
  const before = new Set<string>();
  return [...readFileSync(join(ROOT, "README.md"), "utf8").matchAll(WALK)].map(
    ([, starts = "", name = "", most, text = ""]) => {
      const passed = [...filesFrom(starts.split(" "))].filter((path) => !before.has(path)).sort();
      for (const path of passed) before.add(path);
      const named = [...text.matchAll(/`([\w./-]*\/[\w./-]*)`/g)].map(([, path = ""]) => path);
      return { name, most: Number(most), named, passed };
    },
  );
}

const isAt = (path: string, named: string): boolean =>
  named.endsWith("/") ? path.startsWith(named) : path === named;

const walks = readWalks();

test("the map has four walks", () => {
  expect(walks.length).toBe(4);
});

describe.each(walks.map((walk) => [walk.name, walk] as const))("the walk %s", (_, walk) => {
  const { most, named } = walk;
  const everyWalk = walks.slice(0, walks.indexOf(walk) + 1).flatMap(({ passed }) => passed);
  const passed = walk.passed.filter((path) => !EVERYWHERE.test(path));

  test("passes what the map names", () => {
    expect(named.filter((place) => !everyWalk.some((path) => isAt(path, place)))).toEqual([]);
  });

  // A file that comes into a folder which is named already does not make the map wrong.
  test("passes no folder that the map does not name", () => {
    const folders = new Set(named.map((place) => dirname(`${place}x`)));
    const isNamed = (path: string): boolean =>
      folders.has(dirname(path)) || named.some((place) => isAt(path, place));
    expect(passed.filter((path) => !isNamed(path))).toEqual([]);
  });

  test("is as short as the map says", () => {
    expect(passed.length).toBeLessThanOrEqual(most);
    expect(passed.length).toBeGreaterThan(most - 20);
  });
});
