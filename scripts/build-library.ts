/**
 * Builds the library into dist/lib: a package of ES modules for Bun and Node with their declarations, which needs the
 * packages that it imports and no others.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import manifest from "../package.json" with { type: "json" };

const ROOT = join(import.meta.dir, "..");
const OUT = join(ROOT, "dist/lib");

/** What only `engine: "readability"` needs: whoever wants it installs them. */
const OPTIONAL = new Set(["@mozilla/readability", "node-html-markdown"]);

async function buildModules(): Promise<void> {
  const result = await Bun.build({
    entrypoints: ["src/library/index.ts", "bin/library-worker.ts"].map((path) => join(ROOT, path)),
    outdir: OUT,
    naming: { entry: "[name].js", chunk: "[name]-[hash].js" },
    target: "node",
    format: "esm",
    packages: "external",
    splitting: true,
  });
  if (!result.success) throw new AggregateError(result.logs, "building the library failed");
}

/** The packages that the modules import, each once. */
async function importedPackages(): Promise<readonly string[]> {
  const transpiler = new Bun.Transpiler({ loader: "js" });
  const packages = new Set<string>();
  for (const name of await readdir(OUT)) {
    if (!name.endsWith(".js")) continue;
    for (const { path } of transpiler.scanImports(await Bun.file(join(OUT, name)).text())) {
      if (path.startsWith("bun:") || path === "bun") throw new Error(`the library imports ${path}`);
      if (!path.startsWith(".") && !path.startsWith("node:")) packages.add(packageOf(path));
    }
  }
  return [...packages].sort();
}

const packageOf = (specifier: string): string =>
  specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

async function writePackage(): Promise<void> {
  const { name, version, description, homepage, license, type, sideEffects } = manifest;
  const engines = { bun: `>=${manifest.engines.bun}`, node: manifest.engines.node };
  const versions: Readonly<Record<string, string>> = manifest.dependencies;
  const pinned = (await importedPackages()).map((imported) => {
    const pin = versions[imported];
    if (pin === undefined) throw new Error(`the library imports ${imported}, which is no dependency`);
    return [imported, pin] as const;
  });
  const optional = pinned.filter(([imported]) => OPTIONAL.has(imported));
  const packageJson = {
    ...{ name, version, description, homepage, license, type, sideEffects, engines },
    exports: { ".": { types: "./types/library/index.d.ts", default: "./index.js" } },
    dependencies: Object.fromEntries(pinned.filter(([imported]) => !OPTIONAL.has(imported))),
    peerDependencies: Object.fromEntries(optional),
    peerDependenciesMeta: Object.fromEntries(optional.map(([imported]) => [imported, { optional: true }])),
  };
  await Bun.write(join(OUT, "package.json"), `${JSON.stringify(packageJson, null, 2)}\n`);
  await Bun.write(join(OUT, "LICENSE"), Bun.file(join(ROOT, "LICENSE")));
}

/** Writes the declarations that the library's own need, and none of those that only its modules need. */
async function writeDeclarations(): Promise<void> {
  const all = join(OUT, "all-types");
  const flags = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", all];
  const project = join(import.meta.dir, "tsconfig.library.json");
  const command = [process.execPath, "x", "tsc", ...flags, "--rootDir", ROOT, "-p", project];
  const tsc = Bun.spawn(command, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  if ((await tsc.exited) !== 0) throw new Error("writing the library's declarations failed");
  const waiting = [join(all, "src/library/index.d.ts")];
  for (const path of waiting) {
    const declarations = await Bun.file(path).text();
    const neighbours = [...declarations.matchAll(IMPORT)].map(([, , name]) =>
      join(dirname(path), `${name}.d.ts`),
    );
    waiting.push(...neighbours.filter((neighbour) => !waiting.includes(neighbour)));
    const out = join(OUT, "types", relative(join(all, "src"), path));
    await mkdir(dirname(out), { recursive: true });
    // Declarations name their neighbours as the sources do, with `.ts`, which only compilers with a flag take.
    await Bun.write(out, declarations.replace(IMPORT, '$1"$2.js"'));
  }
  await rm(all, { recursive: true });
}

const IMPORT = /(from |import\()"(\.[^"]+)\.ts"/g;

await rm(OUT, { recursive: true, force: true });
await buildModules();
await writePackage();
await writeDeclarations();
