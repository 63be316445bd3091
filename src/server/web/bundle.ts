import { join } from "node:path";

/**
 * Bundles a page's script with everything that it imports into one script for browsers. It runs while the
 * program is built (as a macro of the bundler), so that the binary contains the result and needs no compiler. A macro's
 * arguments are taken as they are written, so each call names its script in full.
 * @param entry a path below `page/`
 * @param format `esm` for a module; `iife` for a classic script, which pages of other sites load with one line
 * @throws Error when it does not compile; the reasons go to stderr
 */
export function bundlePageScript(entry: string, format: "esm" | "iife" = "esm"): string {
  // A macro may not call the bundler inside the bundler, but it may start another one.
  const build = Bun.spawnSync([
    process.execPath,
    "build",
    join(import.meta.dir, "page", entry),
    "--target=browser",
    `--format=${format}`,
    "--minify",
  ]);
  if (!build.success) {
    // The bundler does not show what a macro throws.
    console.error(build.stderr.toString());
    throw new Error(`${entry} does not compile`);
  }
  return build.stdout.toString();
}
