import { beforeAll, expect, test } from "bun:test";
import { join, relative } from "node:path";

const ROOT = join(import.meta.dir, "../../..");

/** What the extraction of a page loads later, if at all, and when. */
const LATER: Readonly<Record<string, string>> = {
  "src/app/crawling.ts": "with the first crawl",
  "src/chunks.ts": "with --chunks",
  "src/articles/native-markdown.ts": "where a page names its Markdown",
  "src/question.ts": "with --query",
  "src/extraction/files/read-file.ts": "for a document that is no page",
  "src/app/opentelemetry.ts": "with a collector of traces",
  "src/extraction/classic.ts": "for another engine",
  "src/extraction/parse.ts": "for a selector",
  "src/fetching/http/connect-node.ts": "under Node",
  "src/extraction/structured-data.ts": "where a page's data hold more than its text",
  "src/base/detect-language.ts": "for a page that does not name its language",
  "node_modules/playwright-core/index.mjs": "with a browser",
};

type Chunk = {
  readonly entryPoint?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
};

let chunks: Readonly<Record<string, Chunk>> = {};

beforeAll(async () => {
  const { metafile } = await Bun.build({
    entrypoints: [join(ROOT, "bin/article-extractor.ts")],
    root: join(ROOT, "bin"),
    target: "bun",
    splitting: true,
    metafile: true,
    plugins: [
      {
        name: "no licences",
        setup: (build) =>
          void build.onLoad({ filter: /licenses\.txt$/ }, () => ({ contents: "", loader: "text" })),
      },
    ],
  });
  if (!metafile) throw new Error("the bundler says nothing of its chunks");
  chunks = metafile.outputs;
});

/** The modules that are loaded with a command, as the bundler divides them. */
function loadedBy(...commands: readonly string[]): readonly string[] {
  const isNext = (entry: string): boolean =>
    commands.includes(entry) || !(entry.startsWith("src/cli/commands/") || Object.hasOwn(LATER, entry));
  const seen = new Set<string>();
  const visit = (path: string): void => {
    const chunk = chunks[path];
    if (!chunk || seen.has(path)) return;
    seen.add(path);
    for (const { path: next, kind } of chunk.imports) {
      const entry = relative(ROOT, join(ROOT, chunks[next]?.entryPoint ?? ""));
      if (kind !== "dynamic-import" || isNext(entry)) visit(next);
    }
  };
  for (const [path, { entryPoint }] of Object.entries(chunks))
    if (entryPoint?.endsWith("bin/article-extractor.ts")) visit(path);
  return [...seen].flatMap((path) => Object.keys(chunks[path]?.inputs ?? {}));
}

test("extracting a page loads nothing that crawls, searches or serves", () => {
  const modules = loadedBy("src/cli/commands/pages/extract.ts");
  expect(modules).toContain("src/extraction/extract.ts");
  // Markdown bodies are pages, too: the finder of their code is the one of documents.
  const isOther = (path: string): boolean =>
    /^src\/(?:crawler|tenants|search|server|scale|settings\/deployment)\//.test(path) ||
    /^src\/markdown\/(?!(?:code|scan|index)\.ts)/.test(path);
  expect(modules.filter(isOther)).toEqual([]);
});

test("extracting a page loads the packages of pages only", () => {
  const packages = loadedBy("src/cli/commands/pages/extract.ts").flatMap(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  );
  const ofPages =
    /^(?:cac|chardet|consola|dom-serializer|domelementtype|domhandler|domutils|entities|htmlparser2|lru-cache|marked|tldts|tldts-core|tough-cookie)$/;
  expect(packages).toContain("cac");
  expect(packages.filter((name) => !ofPages.test(name))).toEqual([]);
});

test("searching a folder loads nothing that fetches, crawls or serves", () => {
  const modules = loadedBy("src/cli/commands/documents/commands.ts", "src/cli/commands/documents/folder.ts");
  expect(modules).toContain("src/search/searcher.ts");
  expect(
    modules.filter((path) => /^src\/(?:app|crawler|fetching|server|scale|settings\/deployment)\//.test(path)),
  ).toEqual([]);
});

test("the tab key, which asks for the tenants, loads nothing of their searches and syncs", () => {
  const modules = loadedBy("src/cli/commands/about.ts", "src/cli/deployment.ts");
  expect(modules).toContain("src/settings/deployment/read.ts");
  expect(modules.filter((path) => /^src\/(?:crawler|tenants|search|server|scale)\//.test(path))).toEqual([]);
});
