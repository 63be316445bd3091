/**
 * Builds the program. `sh scripts/bun scripts/build.ts` makes dist/article-extractor for this machine;
 * `--release` makes every target with its SHA-256 sum.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BuildConfig } from "bun";
import { collectLicenses } from "./licenses.ts";
import { playwrightPlugin } from "./playwright-plugin.ts";

const ROOT = join(import.meta.dir, "..");

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
    minify: true,
    bytecode: true,
    splitting: true,
    // Otherwise the program would run a `preload` and read a `.env` of the current directory.
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false, ...(target ? { target } : {}) },
  };
}

/** Compiles the program into one file. */
export async function buildProgram(outfile: string, target?: Bun.Build.CompileTarget): Promise<void> {
  const result = await Bun.build({
    ...compileSettings(outfile, target),
    entrypoints: ["article-extractor.ts", "extraction-worker.ts", "index-worker.ts"].map((name) =>
      join(ROOT, "bin", name),
    ),
    plugins: [playwrightPlugin],
  });
  if (!result.success) throw new AggregateError(result.logs, `building ${outfile} failed`);
}

async function writeLicenses(): Promise<void> {
  await mkdir(join(ROOT, "build"), { recursive: true });
  await writeFile(join(ROOT, "build/licenses.txt"), await collectLicenses(ROOT));
}

const RELEASE_TARGETS = [
  "bun-linux-x64",
  "bun-linux-arm64",
  "bun-linux-x64-musl",
  "bun-linux-arm64-musl",
  "bun-darwin-x64",
  "bun-darwin-arm64",
  "bun-windows-x64",
] as const;

async function buildRelease(): Promise<void> {
  const directory = join(ROOT, "dist/release");
  await rm(directory, { recursive: true, force: true });
  const sums: string[] = [];
  for (const target of RELEASE_TARGETS) {
    const name = `article-extractor-${target.slice("bun-".length)}${target.includes("windows") ? ".exe" : ""}`;
    await buildProgram(join(directory, name), target);
    const sum = new Bun.CryptoHasher("sha256")
      .update(await Bun.file(join(directory, name)).bytes())
      .digest("hex");
    sums.push(`${sum}  ${name}\n`);
    console.log(sums.at(-1)?.trimEnd());
  }
  await writeFile(join(directory, "SHA256SUMS"), sums.join(""));
}

if (import.meta.main) {
  await writeLicenses();
  if (process.argv.includes("--release")) await buildRelease();
  else await buildProgram(join(ROOT, "dist/article-extractor"));
}
