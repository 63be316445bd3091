import type { BunPlugin } from "bun";

/**
 * playwright-core finds its own files by its place on the disk, which it does not have inside the program. So
 * the two JSON files that it needs are embedded, and the place becomes a constant. This was tried with
 * 1.65.1; a version whose text differs fails the build rather than the first launch.
 */
export const playwrightPlugin: BunPlugin = {
  name: "playwright-core",
  setup(build) {
    build.onLoad({ filter: /playwright-core[/\\]lib[/\\]coreBundle\.js$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      return { contents: REPLACEMENTS.reduce(replaceOnce, text), loader: "js" };
    });
  },
};

type Replacement = readonly [pattern: RegExp, text: string];

const REPLACEMENTS: readonly Replacement[] = [
  [/packageRoot = [\w.]+\.join\(__dirname, "\.\."\)/g, 'packageRoot = "/playwright-core"'],
  [/require\([\w.]+\.join\(packageRoot, "package\.json"\)\)/g, 'require("../package.json")'],
  [/require\([\w.]+\.join\(packageRoot, "browsers\.json"\)\)/g, 'require("../browsers.json")'],
];

function replaceOnce(text: string, [pattern, replacement]: Replacement): string {
  const found = text.match(pattern)?.length ?? 0;
  if (found !== 1) throw new Error(`playwright-core: ${pattern} was found ${found} times, not once`);
  return text.replace(pattern, replacement);
}
