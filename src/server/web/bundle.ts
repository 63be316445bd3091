import { join } from "node:path";

/**
 * The script of a page and all that it imports, as one module for browsers. Runs while the program is being
 * built (a macro of the bundler), so that the binary holds the result and no compiler is needed later.
 * @param entry below `page/`
 * @throws Error when it does not compile; the reasons go to stderr
 */
export function bundlePageScript(entry: string): string {
  // A macro may not call the bundler inside the bundler, but may start another one.
  const build = Bun.spawnSync([
    process.execPath,
    "build",
    join(import.meta.dir, "page", entry),
    "--target=browser",
    "--format=esm",
    "--minify",
  ]);
  if (!build.success) {
    // What a macro throws is not shown.
    console.error(build.stderr.toString());
    throw new Error(`${entry} does not compile`);
  }
  return build.stdout.toString();
}
