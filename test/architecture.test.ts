// biome-ignore-all lint/suspicious/noTemplateCurlyInString: strings here are source text
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import * as rules from "./support/architecture-rules.ts";
import type { SourceFile } from "./support/architecture-scan.ts";

setDefaultTimeout(120_000);

const root = join(import.meta.dir, "..");
const RULES: Readonly<Record<string, rules.Rule>> = { ...rules };

/** Every violation of every rule, as one line each. */
const check = (files: readonly SourceFile[]): string[] =>
  Object.entries(RULES).flatMap(([name, rule]) =>
    rule(files).map(({ path, detail }) => `${name}: ${path}: ${detail}`),
  );

async function readTree(): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const path of new Glob("{src,bin,test,scripts}/**/*.{ts,tsx}").scan(root)) {
    if (/(?:^|\/)node_modules\/|^test\/(?:fixtures|site)\//.test(path)) continue;
    files.push({ path, text: await Bun.file(join(root, path)).text() });
  }
  return files;
}

describe("the tree", async () => {
  const files = await readTree();

  test("is read", () => {
    const paths = files.map((file) => file.path);
    expect(paths).toContain("src/base/failure.ts");
    expect(paths).toContain("src/urls/index.ts");
    expect(paths).toContain("test/architecture.test.ts");
  });

  test.each(Object.entries(RULES))("keeps the rule %s", (_, rule) => {
    expect(rule(files)).toEqual([]);
  });
});

// What looks like a violation here is none.
const CLEAN: Readonly<Record<string, string>> = {
  "src/text-files.d.ts": 'declare module "*.txt" {\n  const text: string;\n  export default text;\n}\n',
  "src/base/failure.ts": "export class Failure extends Error {}\n",
  "src/base/log.ts": 'import { createConsola } from "consola/core";\nexport const log = createConsola();\n',
  "src/base/metrics.ts": "export const count = 1;\n",
  "src/app/index.ts": 'export { app } from "./app.ts";\n',
  "src/app/app.ts": [
    'import { type Options, readOptions } from "../settings/index.ts";',
    'import { start } from "../fetching/index.ts";',
    'import type { Failure } from "../base/failure.ts";',
    "export const app: [Options, Failure?] = [readOptions(start)];",
  ].join("\n"),
  "src/urls/index.ts":
    '// a comment\nexport { a } from "./a.ts";\nexport * from "./b.ts";\nexport type { T } from "./b.ts";\n',
  "src/urls/a.ts": 'import { b } from "./b.ts";\nexport const a = b;\n',
  "src/urls/b.ts":
    'export const b = "process.env fetch(1)"; // process.env, fetch(1)\nexport type T = string;\n',
  "src/fetching/index.ts": 'export { start } from "./http.ts";\n',
  "src/fetching/http.ts":
    'import { connect } from "node:net";\nimport { log } from "../base/log.ts";\nexport const start = () => [fetch("x"), connect(1), Bun.connect, log];\n',
  "src/articles/index.ts": 'export { from } from "./from.ts";\n',
  "src/articles/from.ts": [
    'import { start } from "../fetching/index.ts";',
    'import { a, type T } from "../urls/index.ts";',
    "export interface Fetcher { close(): void; fetch(url: T): Promise<T>; }",
    "export const from = (f: Fetcher) => ({ fetch(url: T) { return f.fetch(url); }, text: `${start} fetch(1) process.env` });",
    'export const pattern = /process.env|import("x")[\'"`]/;',
  ].join("\n"),
  "src/settings/index.ts": 'export { type Options, readOptions } from "./environment.ts";\n',
  "src/settings/environment.ts": [
    'import type { Fetcher } from "../articles/index.ts";',
    'import { type Hit, type Index } from "../search/index.ts";',
    'import { Failure } from "../base/failure.ts";',
    "export type Options = [Fetcher, Hit, Index];",
    "export const readOptions = (_: unknown) => [process.env.A, Bun.env.B, Failure];",
  ].join("\n"),
  "src/search/index.ts": 'export type { Hit, Index } from "./hit.ts";\n',
  "src/search/hit.ts": "export type Hit = 1;\nexport type Index = 2;\n",
  "src/cli/index.ts": 'export { main } from "./main.ts";\n',
  "src/cli/main.ts":
    'import { version } from "../../package.json";\nimport { app } from "../app/index.ts";\nexport const main = async () => [app, version, await import("../articles/index.ts")];\n',
  "bin/article-extractor.ts":
    'import { main } from "../src/cli/index.ts";\nmain(process.env, new URL("./worker.ts", import.meta.url));\n',
  "bin/worker.ts": 'import { run } from "../src/extraction/worker.ts";\nrun();\n',
  "src/extraction/worker.ts": "export const run = () => {};\n",
  "scripts/build.ts": 'import { main } from "../src/cli/index.ts";\nfetch(process.env.A, main);\n',
};

const treeOf = (changes: Readonly<Record<string, string>>): SourceFile[] =>
  Object.entries({ ...CLEAN, ...changes }).map(([path, text]) => ({ path, text }));

const adding = (path: string, ...lines: string[]): Readonly<Record<string, string>> => ({
  [path]: [CLEAN[path] ?? "", ...lines].join("\n"),
});

describe("the rules", () => {
  test("find nothing in a clean tree", () => {
    expect(check(treeOf({}))).toEqual([]);
  });

  const planted: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    [
      "an import against the flow",
      adding("src/search/hit.ts", 'import { from } from "../articles/index.ts";'),
      "importsFollowTheTable: src/search/hit.ts: line 4: search may not import articles",
    ],
    [
      "an import of a type against the flow",
      adding("src/search/hit.ts", 'import type { Fetcher } from "../articles/index.ts";'),
      "importsFollowTheTable: src/search/hit.ts: line 4: search may not import articles",
    ],
    [
      "a dynamic import against the flow",
      adding("src/search/hit.ts", "export const x = await import(", '  "../articles/index.ts"', ");"),
      "importsFollowTheTable: src/search/hit.ts: line 4: search may not import articles",
    ],
    [
      "an import in a type against the flow",
      adding("src/search/hit.ts", 'export type X = typeof import("../articles/index.ts");'),
      "importsFollowTheTable: src/search/hit.ts: line 4: search may not import articles",
    ],
    [
      "a re-export against the flow",
      adding("src/search/hit.ts", "export {", "  from,", '} from "../articles/index.ts";'),
      "importsFollowTheTable: src/search/hit.ts: line 4: search may not import articles",
    ],
    [
      "an import for its side effects against the flow",
      adding("src/search/hit.ts", 'import "../articles/index.ts";'),
      "importsFollowTheTable: src/search/hit.ts: line 4: search may not import articles",
    ],
    [
      "a log where none is wanted",
      adding("src/urls/b.ts", 'import { log } from "../base/log.ts";'),
      "importsFollowTheTable: src/urls/b.ts: line 4: urls may not import base/log",
    ],
    [
      "settings that import code",
      adding(
        "src/settings/environment.ts",
        'import { type Fetcher as F, from } from "../articles/index.ts";',
      ),
      "importsFollowTheTable: src/settings/environment.ts: line 6: settings may import only types of articles",
    ],
    [
      "settings imported by a shell",
      adding("src/server/main.ts", 'import type { Options } from "../settings/index.ts";'),
      "importsFollowTheTable: src/server/main.ts: line 2: server may not import settings",
    ],
    [
      "an import of a room's inner file",
      adding("src/articles/from.ts", 'import { b } from "../urls/b.ts";'),
      "roomsAreEnteredThroughTheirDoor: src/articles/from.ts: line 6: enters urls through src/urls/b.ts, not through src/urls/index.ts",
    ],
    [
      "an import of a room's folder",
      adding("src/articles/from.ts", "import { b } from '../urls';"),
      "roomsAreEnteredThroughTheirDoor: src/articles/from.ts: line 6: enters urls through src/urls, not through src/urls/index.ts",
    ],
    [
      "a name in a door that only its own room uses",
      adding("src/urls/index.ts", "export {", "  type T as U,", '} from "./b.ts";'),
      "doorsShowWhatIsUsed: src/urls/index.ts: nothing outside of urls uses U",
    ],
    [
      "a name in a door that only tests use",
      {
        ...adding("src/urls/index.ts", 'export { b } from "./b.ts";'),
        "test/x.test.ts": 'import { b } from "../src/urls/index.ts";',
      },
      "doorsShowWhatIsUsed: src/urls/index.ts: nothing outside of urls uses b",
    ],
    [
      "a worker's URL into another room",
      adding("src/articles/from.ts", 'export const w = new URL("../extraction/w.ts", import.meta.url);'),
      "roomsAreEnteredThroughTheirDoor: src/articles/from.ts: line 6: enters extraction through src/extraction/w.ts, not through src/extraction/index.ts",
    ],
    [
      "a worker's entry into another room's inner file",
      adding("bin/worker.ts", 'import { b } from "../src/extraction/b.ts";'),
      "roomsAreEnteredThroughTheirDoor: bin/worker.ts: line 4: enters extraction through src/extraction/b.ts, not through src/extraction/index.ts",
    ],
    [
      "a room's worker imported by another room",
      adding("src/articles/from.ts", 'import { run } from "../extraction/worker.ts";'),
      "roomsAreEnteredThroughTheirDoor: src/articles/from.ts: line 6: enters extraction through src/extraction/worker.ts, not through src/extraction/index.ts",
    ],
    [
      "a room that the table does not name",
      { "src/utils/index.ts": "" },
      "roomsAreKnown: src/utils/index.ts: the table names no room utils",
    ],
    [
      "a computed import",
      adding("src/urls/b.ts", "export const x = (name: string) => import(`./${name}.ts`);"),
      "importsStayInside: src/urls/b.ts: line 4: imports a computed path",
    ],
    [
      "an import of a test's file",
      adding("src/urls/b.ts", 'import { x } from "../../test/support/x.ts";'),
      "importsStayInside: src/urls/b.ts: line 4: imports test/support/x.ts, which is no part of the product",
    ],
    [
      "a cycle of two files",
      adding("src/urls/b.ts", 'import type { a } from "./a.ts";'),
      "noCycles: src/urls/a.ts: imports itself: src/urls/a.ts → src/urls/b.ts → src/urls/a.ts",
    ],
    [
      "a cycle through the room's own door",
      adding("src/urls/a.ts", 'import type { T } from "./index.ts";'),
      "noCycles: src/urls/a.ts: imports itself: src/urls/a.ts → src/urls/index.ts → src/urls/a.ts",
    ],
    [
      "a file that imports itself",
      adding("src/urls/b.ts", 'import type { T as U } from "./b.ts";'),
      "noCycles: src/urls/b.ts: imports itself: src/urls/b.ts → src/urls/b.ts",
    ],
    [
      "a package with two owners",
      adding("src/cli/main.ts", 'import type { ConsolaInstance } from "consola";'),
      "packagesHaveOneOwner: src/base/log.ts: consola is imported by src/cli/main.ts too",
    ],
    [
      "a scoped package with two owners",
      {
        ...adding("src/cli/main.ts", 'import x from "@scope/name/part";'),
        ...adding("bin/worker.ts", 'const y = require("@scope/name");'),
      },
      "packagesHaveOneOwner: bin/worker.ts: @scope/name is imported by src/cli/main.ts too",
    ],
    ...[
      "export const x = process.env.HOME;",
      'export const x = process["env"];',
      "export const x = Bun.env;",
      "export const x = import.meta.env;",
      "export const { env } = process;",
      "export const x = `${process.env.HOME}`;",
    ].map(
      (line) =>
        [
          `the line ${line}`,
          adding("src/urls/b.ts", line),
          "environmentIsReadInSettings: src/urls/b.ts: line 4: reads the environment",
        ] as const,
    ),
    [
      "an import of the environment",
      adding("src/urls/b.ts", 'import { env } from "node:process";'),
      "environmentIsReadInSettings: src/urls/b.ts: line 4: imports the environment",
    ],
    ...[
      'export const x = await fetch("https://h.test/");',
      "export const x = y ? fetch(y) : null;",
      "fetch(y);",
    ].map(
      (line) =>
        [
          `the line ${line}`,
          adding("src/articles/from.ts", line),
          "networkIsInFetching: src/articles/from.ts: line 6: calls fetch",
        ] as const,
    ),
    ...[
      "export const x = globalThis.fetch;",
      "export const x = fetch;",
      "export const x = (y?: typeof fetch) => y ?? fetch;",
      "export const x = Bun.connect({});",
      "export const x = await Bun.udpSocket({});",
      "export const x = new WebSocket(y);",
    ].map(
      (line) =>
        [
          `the line ${line}`,
          adding("src/articles/from.ts", line),
          "networkIsInFetching: src/articles/from.ts: line 6: reaches the network",
        ] as const,
    ),
    ...[
      "node:net",
      "node:http",
      "node:https",
      "node:http2",
      "node:tls",
      "node:dgram",
      "node:dns/promises",
      "dns",
    ].map(
      (module) =>
        [
          `an import of ${module}`,
          adding("src/articles/from.ts", `import * as x from "${module}";`),
          "networkIsInFetching: src/articles/from.ts: line 6: imports a network module",
        ] as const,
    ),
    [
      "a network function of Bun",
      adding("src/articles/from.ts", 'import { connect } from "bun";'),
      "networkIsInFetching: src/articles/from.ts: line 6: imports a network function",
    ],
    ...["src/urls/b.ts", "scripts/build.ts", "test/x.test.ts"].map(
      (path) =>
        [
          `a file of 401 lines in ${path}`,
          { [path]: "//\n".repeat(401) + (CLEAN[path] ?? "").replaceAll("\n", " ").replace(/\/\/.*/, "") },
          `filesAreShort: ${path}: `,
        ] as const,
    ),
    [
      "an index with code",
      adding("src/urls/index.ts", "export const c = 1;"),
      "indexesOnlyReExport: src/urls/index.ts: line 6: is no re-export",
    ],
    [
      "an index with an import",
      adding("src/urls/index.ts", 'import "./a.ts";'),
      "indexesOnlyReExport: src/urls/index.ts: line 6: is no re-export",
    ],
    ...["export default 1;", "export { b as default };", 'export { default } from "./a.ts";'].map(
      (line) =>
        [
          `the line ${line}`,
          adding("src/search/hit.ts", line.replace("./a.ts", "yaml")),
          "noDefaultExports: src/search/hit.ts: line 4: has a default export",
        ] as const,
    ),
  ];

  test.each(planted)("find %s, and nothing else", (_, changes, violation) => {
    const found = check(treeOf(changes));
    expect(found.length).toBe(1);
    expect(found[0]).toStartWith(violation);
  });

  test("take a test that enters a room's inner file, and what is imported whole", () => {
    const changes = {
      "test/x.test.ts": 'import { b } from "../src/urls/b.ts";',
      ...adding("src/urls/index.ts", 'export { c } from "./b.ts";'),
      ...adding("src/cli/main.ts", 'export const c = async () => (await import("../urls/index.ts")).c;'),
    };
    expect(check(treeOf(changes))).toEqual([]);
  });

  test("take a file of 400 lines", () => {
    expect(check(treeOf({ "test/x.test.ts": "//\n".repeat(400) }))).toEqual([]);
  });
});
