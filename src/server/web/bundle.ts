import { join } from "node:path";

/**
 * Bundles a page's script with everything that it imports into one module for browsers. It runs while the
 * program is built (as a macro of the bundler), so that the binary contains the result and needs no compiler.
 * @param entry a path below `page/`
 * @throws Error when it does not compile; the reasons go to stderr
 */
export function bundlePageScript(entry: string): string {
  // A macro may not call the bundler inside the bundler, but it may start another one.
  const build = Bun.spawnSync([
    process.execPath,
    "build",
    join(import.meta.dir, "page", entry),
    "--target=browser",
    "--format=esm",
    "--minify",
  ]);
  if (!build.success) {
    // The bundler does not show what a macro throws.
    console.error(build.stderr.toString());
    throw new Error(`${entry} does not compile`);
  }
  return build.stdout.toString();
}
