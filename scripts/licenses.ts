/**
 * Collects the licences of everything that the compiled program contains: itself, Bun, and all production
 * dependencies. `sh scripts/bun scripts/licenses.ts` prints them.
 */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The fields of a package.json that are read here; any may be missing or in an old form. */
type PackageJson = {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string | { readonly type?: string };
  readonly licenses?: readonly { readonly type?: string }[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
};

type LicensedPackage = {
  readonly title: string;
  readonly licenseId: string | null;
  /** The licence and notice files, in the order of their names; empty when the package has none. */
  readonly texts: readonly string[];
};

const LICENSE_FILE = /^(licen[cs]e|copying)/i;
/** Apache-2.0, section 4(d), requires that a NOTICE file is distributed with the program. */
const NOTICE_FILE = /^(notice|third[-_ ]?party[-_ ]?notices?)/i;
const DIVIDER = `\n${"=".repeat(80)}\n\n`;

/**
 * The licences of the program as one text, which is the same for the same lock file and Bun version. It walks
 * the installed `dependencies` of package.json and their dependencies, not `devDependencies`; a peer
 * dependency counts when it is not optional.
 * @param root the directory of package.json and node_modules
 * @throws Error when a package is not installed, or has neither a licence file nor a licence in its
 * package.json
 */
export async function collectLicenses(root: string): Promise<string> {
  const own = render(await readPackage(root));
  return [own, describeBun(), await licensesOf(await walkDependencies(root))].join(DIVIDER);
}

/**
 * The licences of packages as one text, sorted by their names; two copies of one version count once.
 * @throws Error when a package has neither a licence file nor a licence in its package.json
 */
export async function licensesOf(directories: Iterable<string>): Promise<string> {
  const packages = await Promise.all([...directories].map(readPackage));
  const byTitle = new Map(packages.map((entry) => [entry.title, entry]));
  const titles = [...byTitle.keys()].sort();
  return titles.map((title) => render(byTitle.get(title)!)).join(DIVIDER);
}

/** The directories of all production dependencies, including nested copies of other versions. */
async function walkDependencies(root: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const waiting = [root];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const manifest = await readManifest(directory);
    for (const { name, required } of listDependencies(manifest)) {
      const installed = await locate(name, directory, root);
      if (installed === null && required)
        throw new Error(`${name}, which ${directory} needs, is not installed`);
      if (installed === null || found.has(installed)) continue;
      found.add(installed);
      waiting.push(installed);
    }
  }
  return found;
}

function listDependencies(manifest: PackageJson): { readonly name: string; readonly required: boolean }[] {
  const optional = Object.keys(manifest.optionalDependencies ?? {});
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
    (name) => manifest.peerDependenciesMeta?.[name]?.optional !== true,
  );
  // In some packages npm writes an optional dependency into both lists.
  const required = Object.keys(manifest.dependencies ?? {}).filter((name) => !optional.includes(name));
  return [
    ...required.map((name) => ({ name, required: true })),
    ...[...optional, ...peers].map((name) => ({ name, required: false })),
  ];
}

/** Searches where an import would: in the node_modules of the importer, then of each directory above it. */
async function locate(name: string, importer: string, root: string): Promise<string | null> {
  for (let directory = importer; ; directory = dirname(directory)) {
    const candidate = join(directory, "node_modules", name);
    if (await Bun.file(join(candidate, "package.json")).exists()) return candidate;
    if (directory === root || directory === dirname(directory)) return null;
  }
}

/** Reads the package.json of a directory. */
export async function readManifest(directory: string): Promise<PackageJson> {
  // The fields that matter are checked where they are read.
  return (await Bun.file(join(directory, "package.json")).json()) as PackageJson;
}

async function readPackage(directory: string): Promise<LicensedPackage> {
  const manifest = await readManifest(directory);
  const title = `${manifest.name} ${manifest.version}`;
  const names = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && (LICENSE_FILE.test(entry.name) || NOTICE_FILE.test(entry.name)))
    .map((entry) => entry.name)
    .sort();
  const licenseId = readLicenseId(manifest);
  if (licenseId === null && !names.some((name) => LICENSE_FILE.test(name))) {
    throw new Error(
      `${title} has no licence: no LICENSE or COPYING file in ${directory}, none in its package.json`,
    );
  }
  const texts = await Promise.all(names.map((name) => Bun.file(join(directory, name)).text()));
  return { title, licenseId, texts: texts.map((text) => text.replaceAll("\r\n", "\n").trim()) };
}

/** Returns the licence of a package as an SPDX expression; null when it names none. */
export function readLicenseId(manifest: PackageJson): string | null {
  const named = typeof manifest.license === "string" ? manifest.license : manifest.license?.type;
  const listed = (manifest.licenses ?? []).flatMap((license) => license.type ?? []).join(" OR ");
  const id = named ?? listed;
  // UNLICENSED is npm's word for "nobody may use this".
  return id === "" || id === "UNLICENSED" ? null : id;
}

function render(entry: LicensedPackage): string {
  const id = entry.licenseId ?? "see below";
  return [`${entry.title}\nLicence: ${id}`, ...entry.texts].map((part) => `${part}\n`).join("\n");
}

function describeBun(): string {
  return `Bun ${Bun.version}
Licence: MIT

This program is compiled with Bun and contains its runtime, which is under the MIT licence. Bun in turn
statically links JavaScriptCore and other parts of WebKit, which are under the LGPL 2, TinyCC, which is
under the LGPL 2.1, and further libraries under licences of their own. All of them, their licences, and
how to rebuild Bun with a changed WebKit are listed at https://bun.com/docs/project/license
`;
}

if (import.meta.main) process.stdout.write(await collectLicenses(join(import.meta.dir, "..")));
