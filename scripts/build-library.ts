/**
 * Builds the library into dist/lib: ES modules for Bun and Node with their declarations. Packages remain
 * imports, which package.json names as dependencies.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const OUT = join(ROOT, "dist/lib");

async function buildModules(): Promise<void> {
  const result = await Bun.build({
    entrypoints: [join(ROOT, "src/library.ts")],
    outdir: OUT,
    naming: "[name].js",
    target: "node",
    format: "esm",
    packages: "external",
    splitting: false,
  });
  if (!result.success) throw new AggregateError(result.logs, "building the library failed");
}

async function writeDeclarations(): Promise<void> {
  const flags = [
    "--noEmit",
    "false",
    "--declaration",
    "--emitDeclarationOnly",
    "--outDir",
    join(OUT, "types"),
  ];
  const tsc = Bun.spawn(
    [process.execPath, "x", "tsc", ...flags, "--rootDir", ".", "-p", "scripts/tsconfig.library.json"],
    {
      cwd: ROOT,
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  if ((await tsc.exited) !== 0) throw new Error("writing the library's declarations failed");
  // The library has no browser, and its users do not have a browser's types.
  const browserTypes = join(OUT, "types/src/fetching/browser/chromium.d.ts");
  const opaque = ["Browser", "BrowserContext", "Page", "Request", "Response"].map(
    (n) => `export type ${n} = unknown;`,
  );
  await Bun.write(browserTypes, `${opaque.join("\n")}\n`);
  // Declarations refer to each other with `.ts` like the sources, which compilers accept only with a flag.
  for (const name of await readdir(join(OUT, "types"), { recursive: true })) {
    if (!name.endsWith(".d.ts")) continue;
    const file = Bun.file(join(OUT, "types", name));
    await file.write((await file.text()).replace(/(from |import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"'));
  }
}

async function requireNoBunImport(): Promise<void> {
  const code = await Bun.file(join(OUT, "library.js")).text();
  if (/from\s*"bun:|require\("bun:|import\("bun:/.test(code))
    throw new Error("the library imports a bun: module");
}

await rm(OUT, { recursive: true, force: true });
await buildModules();
await writeDeclarations();
await requireNoBunImport();
