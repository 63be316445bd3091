/** What the bundler is given in place of some files: texts that most runs never read, compressed, and playwright-core. */
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

/**
 * Compresses the texts into `build/packed`.
 * @param root the directory of package.json, where `build/licenses.txt` is already made
 * @returns what replaces them in the program, where they are decompressed when they are imported
 */
export async function packTexts(root: string): Promise<BunPlugin> {
  const modules = new Map<string, string>();
  // All files are written before the bundler runs, since it lists a directory only once.
  for (const path of TEXTS) modules.set(join(root, path), `${await pack(root, path)}export default text;\n`);
  return {
    name: "packed texts",
    setup(build) {
      build.onLoad({ filter: /[/\\](?:licenses\.txt|swagger-ui\S*)$/ }, ({ path }) => {
        const contents = modules.get(path);
        return contents === undefined ? undefined : { contents, loader: "js" };
      });
    },
  };
}

/** PDF.js. Its compiled code would take 5 MB of the program, and few runs read a PDF. */
const PDF_JS = "node_modules/unpdf/dist/pdfjs.mjs";

/** Compresses PDF.js into `build/packed`; what replaces it compiles its source when it is imported. */
export async function packPdfJs(root: string): Promise<BunPlugin> {
  const contents = `${await pack(root, PDF_JS)}
const place = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
export const { getDocument, OPS, PDFDateString } = await import(place);
URL.revokeObjectURL(place);
`;
  return {
    name: "packed PDF.js",
    setup(build) {
      build.onLoad({ filter: /unpdf[/\\]dist[/\\]pdfjs\.mjs$/ }, () => ({ contents, loader: "js" }));
    },
  };
}

/** Writes a compressed file, and returns the code that has its content as `text`. */
async function pack(root: string, path: string): Promise<string> {
  await mkdir(join(root, "build/packed"), { recursive: true });
  const packed = join(root, "build/packed", `${path.replaceAll(/[^\w.-]/g, "-")}.zst`);
  await writeFile(packed, Bun.zstdCompressSync(await Bun.file(join(root, path)).text(), { level: 19 }));
  return `import { readFileSync } from "node:fs";
import packed from ${JSON.stringify(packed)} with { type: "file" };
const text = Bun.zstdDecompressSync(readFileSync(packed)).toString();
`;
}

/**
 * playwright-core finds its own files by its place on the disk, which it does not have inside the program. So
 * the two JSON files that it needs are embedded, and the place becomes a constant. This was tried with
 * 1.65.1; a version whose text differs fails the build rather than the first launch.
 */
export const placelessPlaywright: BunPlugin = {
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
  // The bundler would write the place where the program is built into it.
  [
    /^"use strict";\n/g,
    '"use strict"; var __dirname = "/playwright-core/lib", __filename = "/playwright-core/lib/coreBundle.js";\n',
  ],
];

function replaceOnce(text: string, [pattern, replacement]: Replacement): string {
  const found = text.match(pattern)?.length ?? 0;
  if (found !== 1) throw new Error(`playwright-core: ${pattern} was found ${found} times, not once`);
  return text.replace(pattern, replacement);
}
