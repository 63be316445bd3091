/**
 * Builds the library into dist/lib: a package of ES modules for Bun and Node with their declarations. What it uses of
 * other packages is inside, so whoever installs it gets nothing else.
 */
import { mkdir, rm } from "node:fs/promises";
import { builtinModules } from "node:module";
import { dirname, join, relative } from "node:path";
import manifest from "../package.json" with { type: "json" };
import project from "../project.json" with { type: "json" };
import { licensesOf } from "./licenses.ts";

const ROOT = join(import.meta.dir, "..");
const OUT = join(ROOT, "dist/lib");

/** What only `engine: "readability"` needs: whoever wants it installs them. */
const OPTIONAL: ReadonlySet<string> = new Set(["@mozilla/readability", "node-html-markdown"]);

/** Builds the modules; returns the folders of the packages that are inside them. */
async function buildModules(): Promise<ReadonlySet<string>> {
  const result = await Bun.build({
    entrypoints: ["src/library/index.ts", "bin/library-worker.ts"].map((path) => join(ROOT, path)),
    outdir: OUT,
    naming: { entry: "[name].js", chunk: "[name]-[hash].js" },
    target: "node",
    format: "esm",
    // The bundler would write the place of the repository into the library.
    define: { __filename: '"article-extractor"' },
    external: [...OPTIONAL],
    splitting: true,
    metafile: true,
  });
  if (!result.success) throw new AggregateError(result.logs, "building the library failed");
  const transpiler = new Bun.Transpiler({ loader: "js" });
  for (const output of result.outputs)
    for (const { path } of transpiler.scanImports(await output.text()))
      if (
        !path.startsWith(".") &&
        !builtinModules.includes(path.replace(/^node:/, "")) &&
        !OPTIONAL.has(path)
      )
        throw new Error(`the library imports ${path}`);
  const files = Object.keys(result.metafile?.inputs ?? {}).map((path) => PACKAGE.exec(path)?.[0]);
  return new Set(files.filter((path) => path !== undefined).map((path) => join(ROOT, path)));
}

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

async function writePackage(bundled: ReadonlySet<string>): Promise<void> {
  const { version, description, license, type, sideEffects } = manifest;
  const versions: Readonly<Record<string, string>> = manifest.dependencies;
  const engines = { bun: `>=${manifest.engines.bun}`, node: manifest.engines.node };
  const packageJson = {
    ...{ name: project.npm_package, version, description, license, type, sideEffects, engines },
    exports: { ".": { types: "./types/library/index.d.ts", default: "./index.js" } },
    peerDependencies: Object.fromEntries([...OPTIONAL].map((name) => [name, versions[name]])),
    peerDependenciesMeta: Object.fromEntries([...OPTIONAL].map((name) => [name, { optional: true }])),
  };
  await Bun.write(join(OUT, "package.json"), `${JSON.stringify(packageJson, null, 2)}\n`);
  await Bun.write(join(OUT, "LICENSE"), Bun.file(join(ROOT, "LICENSE")));
  await Bun.write(join(OUT, "LICENSES-OF-PACKAGES.txt"), await licensesOf(bundled));
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
await writePackage(await buildModules());
await writeDeclarations();
