import { isBuiltin } from "node:module";
import { dirname, join } from "node:path/posix";
import {
  EMBEDDED_FILES,
  ENVIRONMENT_READERS,
  MAX_FILE_LINES,
  NETWORK_USERS,
  PUBLIC_ROOM,
  ROOMS,
  UNUSED_DOOR_NAMES,
} from "./architecture.ts";
import { lineAt, type ModuleReference, type SourceFile, scanSource } from "./architecture-scan.ts";

export type Violation = { readonly path: string; readonly detail: string };
export type Rule = (files: readonly SourceFile[]) => Violation[];

/** Every file of `src/` belongs to a room that the table names. */
export const roomsAreKnown: Rule = (files) =>
  files
    .filter((file) => file.path.startsWith("src/") && !isDeclaration(file) && !(roomOf(file.path) in ROOMS))
    .map((file) => ({ path: file.path, detail: `the table names no room ${roomOf(file.path)}` }));

/** Imports follow the table, types included. */
export const importsFollowTheTable: Rule = (files) =>
  crossings(files).flatMap(({ from, to, reference, path }) => {
    const room = ROOMS[from];
    if (!room || !(to in ROOMS)) return [];
    if (room.mayImport.includes(to)) return [];
    if (room.mayImportTypesOf?.includes(to)) {
      if (reference.isTypeOnly) return [];
      return [{ path, detail: `line ${reference.line}: ${from} may import only types of ${to}` }];
    }
    return [{ path, detail: `line ${reference.line}: ${from} may not import ${to}` }];
  });

/** Another room is entered through its `index.ts`, or its only file; by a worker's entry, its `worker.ts`. */
export const roomsAreEnteredThroughTheirDoor: Rule = (files) =>
  crossings(files)
    .filter(({ to, target }) => to in ROOMS && to !== "bin" && target !== doorOf(to))
    .filter(({ from, to, target }) => from !== "bin" || target !== `src/${to}/worker.ts`)
    .map(({ to, target, reference, path }) => ({
      path,
      detail: `line ${reference.line}: enters ${to} through ${target}, not through ${doorOf(to)}`,
    }));

/** A room's `index.ts` names what the rest of the product uses, and no more; tests import what they try. */
export const doorsShowWhatIsUsed: Rule = (files) => {
  const used = usedNames(files);
  return product(files)
    .filter(({ path }) => ROOMS[roomOf(path)] && path === doorOf(roomOf(path)) && path.endsWith("/index.ts"))
    .flatMap((file) => {
      const room = roomOf(file.path);
      const unused = exportedNames(file).filter((name) => !used.get(file.path)?.has(name));
      if (room === PUBLIC_ROOM || unused.length <= (UNUSED_DOOR_NAMES[room] ?? 0)) return [];
      return [{ path: file.path, detail: `nothing outside of ${room} uses ${unused.join(", ")}` }];
    });
};

/** What is imported can be told, and is inside the product. */
export const importsStayInside: Rule = (files) =>
  product(files).flatMap((file) =>
    scanSource(file).references.flatMap(({ specifier, line }) => {
      if (specifier === null) return [{ path: file.path, detail: `line ${line}: imports a computed path` }];
      const target = resolve(file.path, specifier);
      if (target === null || isProduct(target) || EMBEDDED_FILES.includes(target)) return [];
      return [
        { path: file.path, detail: `line ${line}: imports ${target}, which is no part of the product` },
      ];
    }),
  );

/** No file reaches itself through its imports. */
export const noCycles: Rule = (files) => {
  const targets = new Map(
    files.map((file) => [
      file.path,
      scanSource(file).references.flatMap(({ specifier }) => resolve(file.path, specifier) ?? []),
    ]),
  );
  return findCycles(targets).map((cycle) => ({
    path: cycle[0] ?? "",
    detail: `imports itself: ${[...cycle, cycle[0]].join(" → ")}`,
  }));
};

/** One file of the product imports an npm package, so that replacing the package touches one file. */
export const packagesHaveOneOwner: Rule = (files) => {
  const owners = new Map<string, Set<string>>();
  for (const file of product(files)) {
    for (const { specifier } of scanSource(file).references) {
      const name = packageOf(specifier);
      if (name) owners.set(name, (owners.get(name) ?? new Set()).add(file.path));
    }
  }
  return [...owners]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => {
      const [first = "", ...others] = [...paths].sort();
      return { path: first, detail: `${name} is imported by ${others.join(", ")} too` };
    });
};

const ENVIRONMENT_READ =
  /\b(?:process|Bun|import\s*\.\s*meta)\s*(?:\?\.|\.)\s*env\b|\b(?:process|Bun)\s*(?:\?\.)?\[|\{[^{}]*\benv\b[^{}]*\}\s*=\s*(?:process|Bun|import\s*\.\s*meta)\b/g;

/** Settings read the environment, and `bin/` hands it over; nobody else. */
export const environmentIsReadInSettings: Rule = (files) =>
  product(files)
    .filter((file) => !ENVIRONMENT_READERS.includes(roomOf(file.path)))
    .flatMap((file) => [
      ...matchesOf(file, ENVIRONMENT_READ, "reads the environment"),
      ...namedImportsOf(file, /^(?:node:)?process$|^bun$/, /\benv\b/, "imports the environment"),
    ]);

// Bun counts undici and ws as built in.
const NETWORK_MODULE =
  /^(?:node:)?(?:net|tls|http|https|http2|dgram|dns|dns\/promises|child_process|undici|ws)$/;
const NETWORK_ACCESS =
  /\b(?:globalThis|window|self|Bun)\s*(?:\?\.|\.)\s*fetch\b|(?<![\w$.])Bun\s*\.\s*(?:connect|udpSocket|dns)\b|\bnew\s+(?:WebSocket|EventSource|XMLHttpRequest)\b|(?:[^=!<>]=|\?\?|\|\|)\s*fetch\b(?!\s*[(.:])/g;

/** Only fetching opens outbound connections, for only it asks the egress policy. */
export const networkIsInFetching: Rule = (files) =>
  product(files)
    .filter((file) => roomOf(file.path) !== "fetching" && !(file.path in NETWORK_USERS))
    .flatMap((file) => [
      ...matchesOf(file, NETWORK_ACCESS, "reaches the network"),
      ...fetchCallsOf(file),
      ...namedImportsOf(file, NETWORK_MODULE, /^/, "imports a network module"),
      ...namedImportsOf(file, /^bun$/, /\b(?:fetch|connect|udpSocket|dns)\b/, "imports a network function"),
    ]);

/** Files stay short enough to be read in one go. */
export const filesAreShort: Rule = (files) =>
  files
    .map((file) => ({ path: file.path, lines: file.text.replace(/\n$/, "").split("\n").length }))
    .filter(({ lines }) => lines > MAX_FILE_LINES)
    .map(({ path, lines }) => ({ path, detail: `${lines} lines, ${MAX_FILE_LINES} allowed` }));

const RE_EXPORT = /\bexport\s+(?:type\s+)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\})\s*from\s*(?:"\s*"|'\s*')\s*;?/g;

/** A room's `index.ts` is a list of what it shows. */
export const indexesOnlyReExport: Rule = (files) =>
  product(files)
    .filter((file) => file.path.endsWith("/index.ts"))
    .flatMap((file) => {
      const rest = scanSource(file).code.replace(RE_EXPORT, (statement) => statement.replace(/[^\n]/g, " "));
      const start = rest.search(/\S/);
      if (start < 0) return [];
      return [{ path: file.path, detail: `line ${lineAt(rest, start)}: is no re-export` }];
    });

/** Names are the same everywhere, which default exports would not see to. */
export const noDefaultExports: Rule = (files) =>
  files
    .filter((file) => !isDeclaration(file))
    .flatMap((file) =>
      matchesOf(
        file,
        /\bexport\s+default\b|\bexport\s*\{[^}]*\b(?:as\s+default\b|default\b(?!\s+as))[^}]*\}/g,
        "has a default export",
      ),
    );

type Crossing = {
  readonly path: string;
  readonly from: string;
  readonly to: string;
  readonly target: string;
  readonly reference: ModuleReference;
};

function crossings(files: readonly SourceFile[]): Crossing[] {
  return product(files).flatMap((file) =>
    scanSource(file).references.flatMap((reference) => {
      const target = resolve(file.path, reference.specifier);
      if (target === null || !isProduct(target)) return [];
      const from = roomOf(file.path);
      const to = roomOf(target);
      return from === to ? [] : [{ path: file.path, from, to, target, reference }];
    }),
  );
}

/** For each door the names that product files of other rooms import. */
function usedNames(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  for (const { path, target, reference } of crossings(files)) {
    const names = used.get(target) ?? new Set();
    used.set(target, names);
    for (const name of namesIn(reference.clause)) names.add(name);
    if (reference.clause.includes("{")) continue;
    // A file that imports a whole module names the parts that it uses.
    const file = files.find((candidate) => candidate.path === path);
    for (const [word] of file ? scanSource(file).code.matchAll(/[\w$]+/g) : []) names.add(word);
  }
  return used;
}

const exportedNames = (file: SourceFile): string[] =>
  scanSource(file).references.flatMap(({ clause }) => namesIn(clause, "exported"));

/** The names between the braces of an import or export. */
function namesIn(clause: string, side: "imported" | "exported" = "imported"): string[] {
  const inside = /\{([^}]*)\}/.exec(clause)?.[1] ?? "";
  return inside.split(",").flatMap((entry) => {
    const words = entry
      .trim()
      .replace(/^type\s+/, "")
      .split(/\s+as\s+/);
    return (side === "exported" ? words.at(-1) : words[0]) || [];
  });
}

// Declares modules that others make, and is imported by nobody.
const isDeclaration = (file: SourceFile): boolean => file.path.endsWith(".d.ts");

const isProduct = (path: string): boolean => path.startsWith("src/") || path.startsWith("bin/");
const product = (files: readonly SourceFile[]): SourceFile[] => files.filter((file) => isProduct(file.path));

function roomOf(path: string): string {
  if (path.startsWith("bin/")) return "bin";
  // Each file and folder of the base is a room of its own: nobody has to load all of it.
  const [, room = "", part = ""] = path.split("/");
  return (room === "base" ? `base/${part}` : room).replace(/\.ts$/, "");
}

const doorOf = (room: string): string => (ROOMS[room]?.isOneFile ? `src/${room}.ts` : `src/${room}/index.ts`);

/** The path that a relative specifier means; null for a package. */
function resolve(from: string, specifier: string | null): string | null {
  return specifier?.startsWith(".") ? join(dirname(from), specifier) : null;
}

function packageOf(specifier: string | null): string | null {
  if (specifier === null || specifier.startsWith(".")) return null;
  if (specifier === "bun" || specifier.startsWith("bun:") || isBuiltin(specifier)) return null;
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function matchesOf(file: SourceFile, pattern: RegExp, what: string): Violation[] {
  const { code } = scanSource(file);
  return [...code.matchAll(pattern)].map((match) => ({
    path: file.path,
    detail: `line ${lineAt(code, match.index)}: ${what}`,
  }));
}

function namedImportsOf(file: SourceFile, module: RegExp, names: RegExp, what: string): Violation[] {
  return scanSource(file)
    .references.filter(({ specifier, clause }) => module.test(specifier ?? "") && names.test(clause))
    .map(({ line }) => ({ path: file.path, detail: `line ${line}: ${what}` }));
}

// A call of the global function: not of a method, and not the declaration of a method of that name.
function fetchCallsOf(file: SourceFile): Violation[] {
  const { code } = scanSource(file);
  return [...code.matchAll(/(?<![\w$.#])fetch\s*\(/g)]
    .filter((match) => {
      const after = code.slice(closingParenthesis(code, match.index + match[0].length)).trimStart();
      const before = code.slice(0, match.index).trimEnd();
      if (after.startsWith("{")) return false;
      return !(after.startsWith(":") && /[{};,]$|\b(?:async|function)$/.test(before));
    })
    .map((match) => ({ path: file.path, detail: `line ${lineAt(code, match.index)}: calls fetch` }));
}

/** Where the parenthesis that is open at `start` has just been closed. */
function closingParenthesis(code: string, start: number): number {
  let depth = 1;
  let index = start;
  while (index < code.length && depth > 0) {
    if (code[index] === "(") depth++;
    if (code[index] === ")") depth--;
    index++;
  }
  return index;
}

/** One cycle through each file that is the first, by name, of one. */
function findCycles(targets: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  for (const start of [...targets.keys()].sort()) {
    const cycle = shortestWayBack(targets, start, done);
    if (cycle) cycles.push(cycle);
    // Whatever cycle runs through it has been found.
    done.add(start);
  }
  return cycles;
}

function shortestWayBack(
  targets: ReadonlyMap<string, readonly string[]>,
  start: string,
  excluded: ReadonlySet<string>,
): string[] | null {
  const ways: string[][] = [[start]];
  const seen = new Set(excluded);
  for (let way = ways.shift(); way; way = ways.shift()) {
    for (const next of targets.get(way.at(-1) ?? "") ?? []) {
      if (next === start) return way;
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return null;
}
