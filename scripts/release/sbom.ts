/**
 * The bill of materials of the program in the form of CycloneDX 1.6: what the bundler put into it, not what is
 * installed beside it. `sh scripts/bun scripts/release/sbom.ts` prints it.
 */

import { join, resolve } from "node:path";
import { Glob } from "bun";
import { PROGRAM_ENTRIES } from "../build.ts";
import { readLicenseId, readManifest } from "../licenses.ts";

type Component = {
  readonly type: "application" | "framework" | "library";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly licenses: readonly [{ readonly expression: string }];
  readonly purl: string;
};

/**
 * Lists what the program contains; equal sources give an equal list.
 * @param root the directory of package.json and node_modules, where `build/licenses.txt` is already made
 * @param date when the sources were last changed, in ISO 8601
 */
export async function billOfMaterials(root: string, date: string): Promise<object> {
  const directories = await bundledPackages(root);
  const libraries = await Promise.all(
    [...directories].map((directory) => describePackage(directory, "library")),
  );
  const unique = [...new Map(libraries.map((library) => [library.purl, library])).values()];
  const components = [BUN, ...unique.sort((one, other) => (one.purl < other.purl ? -1 : 1))];
  const program = await describePackage(root, "application");
  const content = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { timestamp: date, component: program },
    components,
    // What these contain in turn, their own bundles do not tell.
    compositions: [
      {
        aggregate: "incomplete",
        assemblies: components
          .filter(({ name }) => name === BUN.name || BUNDLES.includes(name))
          .map((component) => component["bom-ref"]),
      },
    ],
    dependencies: [
      { ref: program["bom-ref"], dependsOn: components.map((component) => component["bom-ref"]) },
    ],
  };
  return { ...content, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}` };
}

/** Packages that are bundles of others themselves. */
const BUNDLES = ["playwright-core", "swagger-ui-dist"];

/** The runtime, which links JavaScriptCore and others; `article-extractor licenses` says under which licences. */
const BUN: Component = {
  type: "framework",
  "bom-ref": `pkg:npm/bun@${Bun.version}`,
  name: "bun",
  version: Bun.version,
  licenses: [{ expression: "MIT AND LGPL-2.0-or-later AND LGPL-2.1-or-later" }],
  purl: `pkg:npm/bun@${Bun.version}`,
};

/** The directories of the packages of which the bundler keeps anything. */
async function bundledPackages(root: string): Promise<ReadonlySet<string>> {
  const pages = [...new Glob("src/server/web/page/*/main.ts").scanSync(root)].map((path) => join(root, path));
  const builds = [
    { entrypoints: PROGRAM_ENTRIES, target: "bun" },
    // The scripts of pages are bundled on their own, and are texts for the bundler of the program.
    { entrypoints: pages, target: "browser" },
  ] as const;
  const found = new Set<string>();
  for (const { entrypoints, target } of builds) {
    const built = await Bun.build({
      entrypoints: [...entrypoints],
      target,
      splitting: true,
      minify: { syntax: true },
      metafile: true,
    });
    for (const output of Object.values(built.metafile?.outputs ?? {}))
      for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
        const inside = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path.replaceAll("\\", "/"))?.[1];
        if (inside !== undefined && bytesInOutput > 0) found.add(resolve(inside));
      }
  }
  return found;
}

async function describePackage(directory: string, type: Component["type"]): Promise<Component> {
  const manifest = await readManifest(directory);
  const { name = "", version = "" } = manifest;
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const expression = readLicenseId(manifest) ?? "LicenseRef-unknown";
  return { type, "bom-ref": purl, name, version, licenses: [{ expression }], purl };
}

/** A UUID of version 8 (RFC 9562), made of the content, so that another content has another serial number. */
function uuidOf(content: string): string {
  const hex = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The date of the last commit, in UTC, or the one that SOURCE_DATE_EPOCH names in seconds. */
export function sourceDate(root: string): string {
  const epoch =
    process.env.SOURCE_DATE_EPOCH ??
    Bun.spawnSync(["git", "log", "-1", "--format=%ct"], { cwd: root }).stdout.toString();
  return new Date(Number(epoch) * 1000).toISOString();
}

if (import.meta.main) {
  const root = join(import.meta.dir, "../..");
  console.log(JSON.stringify(await billOfMaterials(root, sourceDate(root)), null, 2));
}
