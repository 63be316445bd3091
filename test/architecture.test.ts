// biome-ignore-all lint/suspicious/noTemplateCurlyInString: strings here are source text
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path/posix";
import * as table from "./support/architecture.ts";
import { type Reference, readSource, type Source } from "./support/source-tree.ts";

const ROOT = join(import.meta.dir, "..");
const MAP = readFileSync(join(ROOT, "src/README.md"), "utf8");
const { ROOMS } = table;

type Tree = ReadonlyMap<string, Source>;
type Rule = (tree: Tree) => string[];

const isProduct = (path: string): boolean => /^(?:src|bin)\//.test(path);
const product = (tree: Tree): Source[] => [...tree.values()].filter(({ path }) => isProduct(path));
const doorOf = (room: string): string => (ROOMS[room]?.isOneFile ? `src/${room}.ts` : `src/${room}/index.ts`);
const isDoor = (path: string): boolean => path.endsWith("/index.ts");

function roomOf(path: string): string {
  if (path.startsWith("bin/")) return "bin";
  const [, room = "", part = ""] = path.split("/");
  return (room === "base" ? `base/${part}` : room).replace(/\.ts$/, "");
}

function packageOf(target: string | null): string | null {
  if (target === null || /^(?:bun|node):|^bun$/.test(target) || isBuiltin(target)) return null;
  if (/^(?:src|bin|test|scripts|build)\/|^[\w-]+\.\w+$/.test(target)) return null;
  return target.split("/", target.startsWith("@") ? 2 : 1).join("/");
}

/** What one room imports of another. */
const crossings = (tree: Tree): (Reference & { path: string; from: string; to: string; target: string })[] =>
  product(tree).flatMap(({ path, references }) =>
    references.flatMap((reference) => {
      const { target } = reference;
      if (target === null || !isProduct(target)) return [];
      const [from, to] = [roomOf(path), roomOf(target)];
      return from === to ? [] : [{ ...reference, path, from, to, target }];
    }),
  );

const NETWORK_MODULE =
  /^(?:node:)?(?:net|tls|http|https|http2|dgram|dns|dns\/promises|child_process|undici|ws)$/;
const NETWORK_NAME = /^(?:fetch|connect|udpSocket|dns)$/;

const RULES: Readonly<Record<string, Rule>> = {
  "a room is in the table": (tree) =>
    product(tree)
      .filter(({ path }) => !(roomOf(path) in ROOMS) && !path.endsWith(".d.ts"))
      .map(({ path }) => `${path}: ${roomOf(path)}`),

  "imports follow the table": (tree) =>
    crossings(tree)
      .filter(({ from, to, isTypeOnly }) => {
        const room = ROOMS[from];
        return room && !room.mayImport.includes(to) && !(isTypeOnly && room.mayImportTypesOf?.includes(to));
      })
      .map(({ path, line, from, to }) => `${path}:${line}: ${from} may not import ${to}`),

  "a room is entered through its door": (tree) =>
    crossings(tree)
      .filter(({ to, target }) => to in ROOMS && to !== "bin" && target !== doorOf(to))
      .filter(({ from, to, target }) => from !== "bin" || target !== `src/${to}/worker.ts`)
      .map(({ path, line, target }) => `${path}:${line}: ${target}`),

  "a door shows only what other rooms use": (tree) => {
    const used = new Set(
      crossings(tree).flatMap(({ path, target, names }) =>
        // What is imported whole is used by its names.
        names
          .flatMap((name) => (name === "*" ? [...(tree.get(path)?.words ?? [])] : name))
          .map((name) => `${target} ${name}`),
      ),
    );
    return product(tree)
      .filter(
        ({ path }) => isDoor(path) && path === doorOf(roomOf(path)) && roomOf(path) !== table.PUBLIC_ROOM,
      )
      .flatMap(({ path, shown }) => [...shown.keys()].map((name) => `${path} ${name}`))
      .filter((shown) => !used.has(shown));
  },

  "imports stay inside the product": (tree) =>
    product(tree).flatMap(({ path, references }) =>
      references
        .filter(
          ({ target }) =>
            target === null || /^(?:test|scripts|build|docs)\/|^[\w-]+\.(?:json|txt)$/.test(target),
        )
        .filter(({ target }) => target === null || !table.EMBEDDED_FILES.includes(target))
        .map(({ line, target }) => `${path}:${line}: ${target}`),
    ),

  "no file reaches itself through its imports": (tree) => {
    const cycles: string[] = [];
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      const start = trail.indexOf(path);
      if (start >= 0) cycles.push([...trail.slice(start), path].join(" → "));
      if (start >= 0 || done.has(path)) return;
      for (const { target } of tree.get(path)?.references ?? []) if (target) visit(target, [...trail, path]);
      done.add(path);
    };
    for (const path of tree.keys()) visit(path, []);
    return cycles;
  },

  "a package has one owner": (tree) => {
    const owners = new Map<string, Set<string>>();
    for (const { path, references } of product(tree))
      for (const name of references.flatMap(({ target }) => packageOf(target) ?? []))
        owners.set(name, (owners.get(name) ?? new Set()).add(path));
    return [...owners].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths]}`);
  },

  "the environment is read in settings": (tree) =>
    product(tree)
      .filter(({ path }) => !table.ENVIRONMENT_READERS.includes(roomOf(path)))
      .flatMap(({ path, references, environmentReads }) =>
        [
          ...environmentReads,
          ...references
            .filter(
              ({ target, names }) =>
                /^(?:(?:node:)?process|bun)$/.test(target ?? "") && names.includes("env"),
            )
            .map(({ line }) => line),
        ].map((line) => `${path}:${line}`),
      ),

  "connections are opened in fetching": (tree) =>
    product(tree)
      .filter(({ path }) => roomOf(path) !== "fetching" && !(path in table.NETWORK_USERS))
      .flatMap(({ path, references, networkUses }) =>
        [
          ...networkUses,
          ...references
            .filter(
              ({ target, names, isTypeOnly }) =>
                !isTypeOnly &&
                (NETWORK_MODULE.test(target ?? "") ||
                  (target === "bun" && names.some((name) => NETWORK_NAME.test(name)))),
            )
            .map(({ line }) => line),
        ].map((line) => `${path}:${line}`),
      ),

  "an index only re-exports": (tree) =>
    product(tree)
      .filter(({ path }) => isDoor(path))
      .flatMap(({ path, statements }) => statements.map((line) => `${path}:${line}`)),

  "a function is short": (tree) =>
    product(tree).flatMap(({ path, functions }) =>
      functions
        .filter(({ name }) => table.IN_PAGE[path] !== name || name === "")
        .filter((size) =>
          Object.entries(table.MAX_FUNCTION).some(
            ([name, most]) => size[name as keyof typeof table.MAX_FUNCTION] > most,
          ),
        )
        .map(
          ({ line, lines, branches, parameters }) =>
            `${path}:${line}: ${lines} lines, ${branches} branches, ${parameters} parameters`,
        ),
    ),
};

const breaches = (tree: Tree): string[] =>
  Object.entries(RULES).flatMap(([name, rule]) => rule(tree).map((found) => `${name}: ${found}`));

const filesBelow = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path}`)
    .filter((path) => statSync(join(ROOT, path)).isFile());

const TREE: Tree = new Map(
  [...filesBelow("src"), ...filesBelow("bin")]
    .filter((path) => path.endsWith(".ts"))
    .map((path) => [path, readSource(path, readFileSync(join(ROOT, path), "utf8"))]),
);

describe("the tree", () => {
  test.each(Object.keys(RULES))("keeps the rule: %s", (name) => {
    expect(TREE.size).toBeGreaterThan(300);
    expect(RULES[name]?.(TREE)).toEqual([]);
  });
});

describe("the table of sizes", () => {
  const sizes = [...MAP.matchAll(/^\| `([\w/]+)\/` +\| +(\d+) \|$/gm)].map(
    ([, room = "", most]) => [room, Number(most)] as const,
  );
  const linesOf = (room: string): number =>
    filesBelow(`src/${room}`).reduce(
      (sum, path) => sum + (readFileSync(join(ROOT, path), "utf8").match(/\n/g)?.length ?? 0),
      0,
    );

  test("names every room", () => {
    const rooms = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((one) => one.isDirectory());
    expect(sizes.map(([room]) => room).sort()).toEqual(rooms.map(({ name }) => name).sort());
  });

  test.each(sizes)("holds for %s, which has at most %d lines", (room, most) => {
    expect(linesOf(room)).toBeLessThanOrEqual(most);
  });
});

/** The files and packages that are loaded with these: no types, and nothing that is loaded when it is asked for. */
function loadedWith(
  entries: readonly string[],
  next: (reference: Reference) => readonly string[],
): ReadonlySet<string> {
  const found = new Set(entries);
  for (const path of found)
    for (const reference of TREE.get(path)?.references ?? [])
      if (reference.isStatic && !reference.isTypeOnly)
        for (const target of next(reference)) found.add(target);
  return found;
}

describe("the start", () => {
  const loaded = (entry: string): string[] =>
    // The bundler loads a room's whole door, whatever is taken from it.
    [...loadedWith([entry], ({ target }) => (target === null ? [] : [target]))]
      .filter((path) => path !== entry)
      .sort();

  test("prints the version before anything else is loaded", () => {
    expect(loaded("bin/article-extractor.ts")).toEqual([
      "node:fs",
      "package.json",
      "project.json",
      "src/base/version.ts",
    ]);
  });

  test("loads only the shell before the command is known", () => {
    const paths = loaded("bin/program.ts");
    expect(paths).toContain("src/cli/run.ts");
    expect(
      paths.filter((path) => !/^(?:bin|src\/cli|src\/base|src\/options|node:[\w/]+$)/.test(path)),
    ).toEqual(["cac", "package.json", "project.json"]);
    expect(paths.filter((path) => path.includes("/commands/"))).toEqual([]);
  });
});

describe("the map", () => {
  const WALK =
    /<!-- walk: (.+) -->\n\n\*\*(.+)\*\*, at most (\d+) (?:more )?files\.\n([\s\S]*?)<!-- \/walk -->/g;
  /** The file behind a room's door that holds a name. */
  const definerOf = (target: string, name: string): string => {
    const from = TREE.get(target)?.shown.get(name);
    return from === undefined ? target : definerOf(from, name);
  };
  const before = new Set<string>();
  const walks = [...MAP.matchAll(WALK)].map(([, starts = "", name = "", most, text = ""]) => {
    const files = loadedWith(
      starts.split(" ").map((start) => `src/${start}`),
      ({ target, names }) =>
        target === null ? [] : isDoor(target) ? names.map((one) => definerOf(target, one)) : [target],
    );
    // Every walk may pass these unnamed.
    const passed = [...files].filter(
      (path) => path.startsWith("src/") && path.endsWith(".ts") && !before.has(path),
    );
    for (const path of passed) before.add(path);
    const shown = passed
      .map((path) => path.slice(4))
      .filter((path) => !/^(?:base|urls)\//.test(path))
      .sort();
    const named = [...text.matchAll(/`([\w./-]*\/[\w./-]*)`/g)].map(([, path = ""]) => path);
    return {
      name,
      most: Number(most),
      named,
      passed: shown,
      walked: [...before].map((path) => path.slice(4)),
    };
  });
  const isAt = (path: string, named: string): boolean =>
    named.endsWith("/") ? path.startsWith(named) : path === named;

  test("has four walks", () => {
    expect(walks.length).toBe(4);
  });

  test.each(walks)(
    "$name passes what it names, no folder unnamed, and no more files than it says",
    (walk) => {
      const { most, named, passed, walked } = walk;
      expect(named.filter((place) => !walked.some((path) => isAt(path, place)))).toEqual([]);
      // A file that comes into a folder which is named already does not make the map wrong.
      const folders = new Set(named.map((place) => dirname(`${place}x`)));
      expect(
        passed.filter((path) => !folders.has(dirname(path)) && !named.some((place) => isAt(path, place))),
      ).toEqual([]);
      expect(passed.length).toBeLessThanOrEqual(most);
      expect(passed.length).toBeGreaterThan(most - 20);
    },
  );
});

/** What the tree breaks when a file, a new one or one of its own, ends with these lines, and where they are. */
function breachesWith(path: string, lines: string): { readonly found: string[]; readonly place: string } {
  const before = TREE.has(path) ? readFileSync(join(ROOT, path), "utf8") : "";
  const tree = new Map([...TREE, [path, readSource(path, before + lines)]]);
  return { found: breaches(tree), place: `${path}:${before.split("\n").length}` };
}

describe("the rules", () => {
  // In what a line breaks, @ stands for its file and its place there.
  const FLOW = "imports follow the table: @: search may not import articles";
  const VALUES = "imports follow the table: @: settings may not import articles";
  const BELOW = "imports follow the table: @: urls may not import base/log";
  const DOOR = "a room is entered through its door: @:";
  const INSIDE = "imports stay inside the product: @:";
  const CYCLE = "no file reaches itself through its imports:";
  const ENVIRONMENT = "the environment is read in settings: @";
  const NETWORK = "connections are opened in fetching: @";
  const SHORT = "a function is short: @:";
  const SHOWN = "a door shows only what other rooms use:";
  const OWNER = "a package has one owner:";
  const deep = `export const f = (x) => ${"x ? 1 : ".repeat(15)}0;`;
  test.each([
    ["src/search/new.ts", 'import { from } from "../articles/index.ts";', FLOW],
    ["src/search/new.ts", 'import type { from } from "../articles/index.ts";', FLOW],
    ["src/search/new.ts", 'export { from } from "../articles/index.ts";', FLOW],
    ["src/search/new.ts", 'import "../articles/index.ts";', FLOW],
    ["src/search/new.ts", 'export const x = await import("../articles/index.ts");', FLOW],
    ["src/search/new.ts", 'type X = typeof import("../articles/index.ts");', FLOW],
    ["src/settings/new.ts", 'import { type F, from } from "../articles/index.ts";', VALUES],
    ["src/urls/new.ts", 'import { log } from "../base/log.ts";', BELOW],
    ["src/articles/new.ts", 'import { b } from "../urls/b.ts";', `${DOOR} src/urls/b.ts`],
    ["src/articles/new.ts", 'new URL("../extraction/w.ts", import.meta.url);', `${DOOR} src/extraction/w.ts`],
    ["bin/new.ts", 'import { b } from "../src/extraction/b.ts";', `${DOOR} src/extraction/b.ts`],
    ["src/urls/index.ts", 'export { type T as U } from "./b.ts";', `${SHOWN} src/urls/index.ts U`],
    ["src/utils/index.ts", "", "a room is in the table: src/utils/index.ts: utils"],
    ["src/urls/new.ts", "export const x = (name) => import(`./${name}.ts`);", `${INSIDE} null`],
    ["src/urls/new.ts", 'import { x } from "../../test/support/x.ts";', `${INSIDE} test/support/x.ts`],
    [
      "src/urls/page-url.ts",
      'import type { T } from "./index.ts";',
      `${CYCLE} src/urls/index.ts → src/urls/document-url.ts → src/urls/page-url.ts → src/urls/index.ts`,
    ],
    [
      "src/urls/new.ts",
      'import type { T as U } from "./new.ts";',
      `${CYCLE} src/urls/new.ts → src/urls/new.ts`,
    ],
    [
      "src/cli/new.ts",
      'import type { X } from "consola";',
      `${OWNER} consola: src/base/log.ts,src/cli/new.ts`,
    ],
    ["src/urls/new.ts", "export const x = process.env.HOME;", ENVIRONMENT],
    ["src/urls/new.ts", 'export const x = process["env"];', ENVIRONMENT],
    ["src/urls/new.ts", "export const x = Bun.env;", ENVIRONMENT],
    ["src/urls/new.ts", "export const x = `${import.meta.env}`;", ENVIRONMENT],
    ["src/urls/new.ts", "export const { env } = process;", ENVIRONMENT],
    ["src/urls/new.ts", 'import { env } from "node:process";', ENVIRONMENT],
    ["src/articles/new.ts", 'await fetch("https://h.test/");', NETWORK],
    ["src/articles/new.ts", "export const x = globalThis.fetch;", NETWORK],
    ["src/articles/new.ts", "export const x = (y?: typeof fetch) => y ?? fetch;", NETWORK],
    ["src/articles/new.ts", "export const x = Bun.connect({});", NETWORK],
    ["src/articles/new.ts", "export const x = new WebSocket(y);", NETWORK],
    ["src/articles/new.ts", 'import * as x from "node:http2";', NETWORK],
    ["src/articles/new.ts", 'import { connect } from "bun";', NETWORK],
    ["src/urls/index.ts", "export const c = 1;", "an index only re-exports: @"],
    [
      "src/urls/new.ts",
      `export function f() {${"\n".repeat(60)}}`,
      `${SHORT} 61 lines, 1 branches, 0 parameters`,
    ],
    ["src/urls/new.ts", deep, `${SHORT} 1 lines, 16 branches, 1 parameters`],
    [
      "src/urls/new.ts",
      "export const f = (a, b, c, d, e, g) => 1;",
      `${SHORT} 1 lines, 1 branches, 6 parameters`,
    ],
  ])("find in %s: %s", (path, line, breach) => {
    const { found, place } = breachesWith(path, line);
    expect(found).toEqual([breach.replace("@", place)]);
  });
});
