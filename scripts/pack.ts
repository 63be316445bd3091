/**
 * Modules of the program that most runs never read are compressed in it, and decompressed when they are
 * imported. Compiled code of theirs would make the program a tenth larger; without it, the first page in a browser
 * costs 0.14 s of CPU time more.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BunPlugin } from "bun";

/**
 * How code is shortened. Names stay: the bundler would choose short ones by how often letters occur, also in the path of the
 * repository, and the program would have other bytes for each place where it is built.
 */
export const SHORTEN = { whitespace: true, syntax: true };

/** Texts, imported with `{ type: "text" }`; below the repository's root. */
const TEXTS = [
  "build/licenses.txt",
  "node_modules/swagger-ui-dist/swagger-ui.css",
  "node_modules/swagger-ui-dist/swagger-ui-bundle.js",
];
const BROWSER_LIBRARY = "node_modules/playwright-core/index.mjs";

/**
 * Compresses the modules into `build/packed`.
 * @param root the directory of package.json, where `build/licenses.txt` is already made
 * @returns what replaces the modules in the program
 */
export async function packModules(root: string): Promise<BunPlugin> {
  await mkdir(join(root, "build/packed"), { recursive: true });
  const modules = new Map<string, string>();
  // All files are written before the bundler runs, since it lists a directory only once.
  for (const path of TEXTS) {
    const text = await Bun.file(join(root, path)).text();
    modules.set(join(root, path), `${await pack(root, path, text)}export default text;`);
  }
  modules.set(join(root, BROWSER_LIBRARY), await packBrowserLibrary(root));
  return {
    name: "packed modules",
    setup(build) {
      build.onLoad({ filter: /[/\\](?:licenses\.txt|swagger-ui\S*|index\.mjs)$/ }, ({ path }) => {
        const contents = modules.get(path);
        return contents === undefined ? undefined : { contents, loader: "js" };
      });
    },
  };
}

/** Returns the beginning of a module: it declares `text`. */
async function pack(root: string, path: string, text: string): Promise<string> {
  const packed = join(root, "build/packed", `${path.replaceAll(/[^\w.-]/g, "-")}.zst`);
  await writeFile(packed, Bun.zstdCompressSync(text, { level: 19 }));
  return `import { readFileSync } from "node:fs";
import place from ${JSON.stringify(packed)} with { type: "file" };
const text = Bun.zstdDecompressSync(readFileSync(place)).toString();
`;
}

async function packBrowserLibrary(root: string): Promise<string> {
  const built = await Bun.build({
    entrypoints: [join(root, "node_modules/playwright-core/index.js")],
    format: "cjs",
    target: "bun",
    minify: SHORTEN,
    // The bundler would write the file's place into the program.
    define: { __dirname: '"/playwright-core/lib"', __filename: '"/playwright-core/lib/coreBundle.js"' },
    plugins: [placelessPlaywright],
  });
  const [output] = built.outputs;
  if (output === undefined) throw new AggregateError(built.logs, "bundling playwright-core failed");
  // The bundle is one function, behind a line of comments for the runtime.
  const text = (await output.text()).replace(/^\/\/ @bun.*\n/, "return ");
  return `${await pack(root, BROWSER_LIBRARY, text)}import { createRequire } from "node:module";
const module = { exports: {} };
new Function(text)()(module.exports, createRequire(import.meta.url), module);
export const chromium = module.exports.chromium;
`;
}

/**
 * playwright-core finds its own files by its place on the disk, which it does not have inside the program. So
 * the two JSON files that it needs are embedded, and the place becomes a constant. This was tried with
 * 1.65.1; a version whose text differs fails the build rather than the first launch.
 */
const placelessPlaywright: BunPlugin = {
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
