/**
 * Builds the program: `sh scripts/bun scripts/build.ts` makes dist/article-extractor for this machine.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BuildConfig } from "bun";
import { collectLicenses } from "./licenses.ts";
import { packPdfJs, packTexts, placelessPlaywright, SHORTEN } from "./pack.ts";

const ROOT = join(import.meta.dir, "..");

/** The modules with which the program and its workers begin. */
export const PROGRAM_ENTRIES: readonly string[] = [
  "article-extractor.ts",
  "extraction-worker.ts",
  "index-worker.ts",
].map((name) => join(ROOT, "bin", name));

/** The settings that every compiled program of this repository shares, benches included. */
export function compileSettings(
  outfile: string,
  target?: Bun.Build.CompileTarget,
): Omit<BuildConfig, "entrypoints"> {
  return {
    // The embedded files keep their paths below this root, and the worker must be beside the entry.
    root: join(ROOT, "bin"),
    format: "esm",
    target: "bun",
    minify: SHORTEN,
    bytecode: true,
    splitting: true,
    // Otherwise the program would run a `preload` and read a `.env` of the current directory.
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false, ...(target ? { target } : {}) },
  };
}

/**
 * Compiles the program into one file, with the licences of what it contains.
 * @param target another machine's, as Bun names it; by default this machine's
 */
export async function buildProgram(outfile: string, target?: Bun.Build.CompileTarget): Promise<void> {
  await mkdir(join(ROOT, "build"), { recursive: true });
  await writeFile(join(ROOT, "build/licenses.txt"), await collectLicenses(ROOT));
  const result = await Bun.build({
    ...compileSettings(outfile, target),
    entrypoints: [...PROGRAM_ENTRIES],
    plugins: [placelessPlaywright, await packTexts(ROOT), await packPdfJs(ROOT)],
  });
  if (!result.success) throw new AggregateError(result.logs, `building ${outfile} failed`);
}

if (import.meta.main) await buildProgram(join(ROOT, "dist/article-extractor"));
