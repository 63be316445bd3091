import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { parse as parseToml } from "smol-toml";
import { Failure } from "../../../base/failure.ts";
import { isRecord } from "../../../base/json.ts";
import type { LockedPackage } from "../../../tenants/index.ts";
import { isStdin, readText } from "../../input.ts";
import { type Io, wrongUsage } from "../../io.ts";

/** Longer lock files are a mistake; a repository of a thousand npm packages has 1 MB. */
const MAX_BYTES = 32 * 1024 * 1024;

type Format = {
  readonly name: RegExp;
  /** Matches only this format, for text without a file name. */
  readonly sign: RegExp;
  readonly read: (text: string) => Iterable<LockedPackage>;
};

const FORMATS: readonly Format[] = [
  // The first of the two of npm has every sign of the second, save for its workspaces.
  {
    name: /^bun\.lock$/,
    sign: /^\s*\{[\s\S]*?"workspaces"\s*:\s*\{\s*""/,
    read: (text) => bunPackages(Bun.JSONC.parse(text)),
  },
  {
    name: /^(?:package-lock|npm-shrinkwrap)\.json$/,
    sign: /^\s*\{/,
    read: (text) => npmPackages(JSON.parse(text)),
  },
  { name: /^Cargo\.lock$/, sign: /^\[\[package\]\]/m, read: (text) => cargoPackages(parseToml(text)) },
  { name: /^go\.sum$/, sign: /^\S+ v\S+ h1:/m, read: goModules },
  { name: /\.txt$/, sign: /^[\w.[\],-]+ *===?/m, read: pinnedRequirements },
];

const KNOWN = "package-lock.json, bun.lock, Cargo.lock, go.sum or requirements.txt";

/**
 * Reads which versions of packages a project uses; nothing is fetched, and no other file is read.
 * @param path its name tells the format: `package-lock.json` (versions 1 to 3) or `npm-shrinkwrap.json`, `bun.lock`,
 *   `Cargo.lock`, `go.sum`, or the `.txt` of a requirements file, of which `==` and `===` count; a pipe's content does
 * @throws Failure `invalid_usage` for another name, `unreadable_input` for what is not in its format, `too_large`
 *   over 32 MiB
 */
export async function readLockFile(path: string, io: Io): Promise<readonly LockedPackage[]> {
  const isPipe =
    isStdin(path) ||
    !(await stat(path).then(
      (it) => it.isFile(),
      () => true,
    ));
  const format = isPipe ? null : formatOf(path);
  const text = await readText(path, io, MAX_BYTES);
  return parseLockFile(path, text, format ?? formatIn(path, text));
}

/** The format of a pipe, whose name tells nothing. */
function formatIn(path: string, text: string): Format {
  const format = FORMATS.find(({ sign }) => sign.test(text));
  if (format) return format;
  throw new Failure("unreadable_input", `${path} cannot be read as a lock file: it is no ${KNOWN}`);
}

function formatOf(path: string): Format {
  const format = FORMATS.find(({ name }) => name.test(basename(path)));
  if (format) return format;
  throw wrongUsage(`--from-lockfile takes a ${KNOWN}, not ${path}`);
}

/** The packages in the text of a lock file; throws as `readLockFile`. */
export function parseLockFile(
  path: string,
  text: string,
  { read } = formatOf(path),
): readonly LockedPackage[] {
  try {
    return [...read(text)];
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    const why = cause instanceof RangeError ? "it is nested too deeply" : cause.message.slice(0, 200);
    throw new Failure("unreadable_input", `${path} cannot be read as a lock file: ${why}`, { cause });
  }
}

type Fields = Readonly<Record<string, unknown>>;

// Lock files are read as far as they have the expected form.
const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});
const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** @throws Error when the part is missing */
function requirePart(file: unknown, name: string): unknown {
  const part = fieldsOf(file)[name];
  if (typeof part !== "object" || part === null) throw new Error(`it has no ${name}`);
  return part;
}

const DEPENDENCIES = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
const dependenciesOf = (project: unknown): string[] =>
  DEPENDENCIES.flatMap((kind) => Object.keys(fieldsOf(fieldsOf(project)[kind])));

const NPM_FOLDER = "node_modules/";

function* npmPackages(file: unknown): Generator<LockedPackage> {
  if (fieldsOf(file).packages === undefined) {
    yield* npmTree(requirePart(file, "dependencies"));
    return;
  }
  const packages = fieldsOf(requirePart(file, "packages"));
  const direct = new Set<string>();
  for (const [path, entry] of Object.entries(packages))
    if (!path.includes(NPM_FOLDER))
      for (const name of dependenciesOf(entry)) direct.add(placeOf(path, name, packages));
  for (const [path, entry] of Object.entries(packages)) {
    const start = path.lastIndexOf(NPM_FOLDER);
    if (start < 0) continue;
    const { name, version } = fieldsOf(entry);
    // Only an alias has a name of its own.
    const own = stringOf(name) || path.slice(start + NPM_FOLDER.length);
    yield { name: own, version: stringOf(version), rank: direct.has(path) ? 0 : start === 0 ? 1 : 2 };
  }
}

/** Projects lie less deep. */
const MAX_DEPTH = 20;

/** Finds the package that a project in this folder uses: in its own `node_modules`, or in the nearest above. */
function placeOf(folder: string, name: string, packages: Fields): string {
  const parts = folder.split("/", MAX_DEPTH);
  for (let count = parts.length; count > 0; count--) {
    const path = `${parts.slice(0, count).join("/")}/${NPM_FOLDER}${name}`;
    if (Object.hasOwn(packages, path)) return path;
  }
  return NPM_FOLDER + name;
}

/** The form of npm 5 and 6 does not say what is direct; what it is, is at the top. */
function* npmTree(top: unknown): Generator<LockedPackage> {
  const levels = [{ dependencies: top, rank: 0 }];
  for (const { dependencies, rank } of levels) {
    for (const [name, entry] of Object.entries(fieldsOf(dependencies))) {
      const fields = fieldsOf(entry);
      yield { name, version: stringOf(fields.version), rank };
      if (fields.dependencies !== undefined) levels.push({ dependencies: fields.dependencies, rank: 2 });
    }
  }
}

function* bunPackages(file: unknown): Generator<LockedPackage> {
  const packages = fieldsOf(requirePart(file, "packages"));
  const direct = new Set<string>();
  for (const project of Object.values(fieldsOf(fieldsOf(file).workspaces))) {
    const owner = stringOf(fieldsOf(project).name);
    for (const name of dependenciesOf(project))
      direct.add(Object.hasOwn(packages, `${owner}/${name}`) ? `${owner}/${name}` : name);
  }
  for (const [key, entry] of Object.entries(packages)) {
    const [resolved] = Array.isArray(entry) ? entry : [];
    const [, name = "", version = ""] = /^(@?[^@]+)@(.*)$/s.exec(stringOf(resolved)) ?? [];
    yield { name, version, rank: direct.has(key) ? 0 : key === name ? 1 : 2 };
  }
}

function* cargoPackages(file: unknown): Generator<LockedPackage> {
  const found = requirePart(file, "package");
  const packages = Array.isArray(found) ? found.map(fieldsOf) : [];
  // A package without a source is the project itself. It names a dependency's version if there are several versions, and
  // in old files also the source.
  const direct = new Set(
    packages
      .filter(({ source }) => source === undefined)
      .flatMap(({ dependencies }) => (Array.isArray(dependencies) ? dependencies : []))
      .map((dependency) => stringOf(dependency).split(" ", 2).join(" ")),
  );
  for (const { name, version } of packages) {
    const isDirect = direct.has(stringOf(name)) || direct.has(`${stringOf(name)} ${stringOf(version)}`);
    yield { name: stringOf(name), version: stringOf(version), rank: isDirect ? 0 : 1 };
  }
}

/** Lines with `/go.mod` are of modules that were only looked at. */
function* goModules(text: string): Generator<LockedPackage> {
  for (const line of text.split("\n")) {
    const [name = "", version = "", ...rest] = line.trim().split(/\s+/, 4);
    if (name === "" || version.endsWith("/go.mod")) continue;
    if (rest.length !== 1) throw new Error(`${JSON.stringify(line.slice(0, 80))} is not a line of a go.sum`);
    yield { name, version, rank: 0 };
  }
}

function* pinnedRequirements(text: string): Generator<LockedPackage> {
  for (const line of text.split("\n")) {
    const [, name, version] =
      /^\s*([\w.-]+)(?:\s*\[[^\]]*\])?\s*===?\s*([^\s;,#\\]+)/.exec(line.slice(0, MAX_LINE)) ?? [];
    if (name !== undefined && version !== undefined) yield { name, version, rank: 0 };
  }
}

/** Hashes stand behind the version. */
const MAX_LINE = 1000;
