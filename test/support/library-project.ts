import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import packageFile from "../../package.json" with { type: "json" };
import project from "../../project.json" with { type: "json" };
import { outputOf } from "./local.ts";
import { temporaryDirectory } from "./temporary.ts";

const ROOT = join(import.meta.dir, "../..");
export const LIBRARY = join(ROOT, "dist/lib");

const found = Bun.which("node");
const version = found && Bun.spawnSync([found, "-p", "process.versions.node"]).stdout.toString().trim();
/** This machine's Node; null without one, or where it is older than the library's. */
export const node = version && Bun.semver.satisfies(version, packageFile.engines.node) ? found : null;
/** What the library runs on. */
export const RUNTIMES = [
  { name: "Bun", executable: process.execPath, isMissing: false },
  { name: "Node", executable: node ?? "node", isMissing: node === null },
] as const;

/** A directory of its own that has the built library among its packages, as its users' projects have it. */
export interface LibraryProject extends AsyncDisposable {
  readonly path: string;
  /** Runs the body of an asynchronous function; what it returns comes back through JSON. */
  run(executable: string, body: string, env?: Record<string, string>): Promise<unknown>;
  /** Runs a whole module; returns what it printed. */
  print(executable: string, source: string, env?: Record<string, string>): Promise<string>;
  /** Checks a TypeScript module as strictly as a user may; returns the compiler's complaints. */
  check(source: string): Promise<string>;
}

const IMPORTS = `import { extractArticle, extractArticleFromUrl, extractArticles, Failure } from "${project.npm_package}";`;

/** @param isLinked whether the package is there already; else whoever asks installs it */
export async function openLibraryProject({ isLinked } = { isLinked: true }): Promise<LibraryProject> {
  if (!existsSync(join(LIBRARY, "index.js"))) throw new Error("dist/lib is not built: run `make library`");
  const { path, ...place } = temporaryDirectory();
  await mkdir(join(path, "node_modules"));
  if (isLinked) await symlink(LIBRARY, join(path, "node_modules", project.npm_package));
  await writeFile(join(path, "package.json"), '{ "type": "module", "private": true }');

  const print: LibraryProject["print"] = async (executable, source, env = {}) => {
    const file = join(path, `${crypto.randomUUID()}.mjs`);
    await writeFile(file, source);
    const child = Bun.spawn([executable, file], {
      cwd: path,
      env: { PATH: process.env.PATH, ...env },
      stderr: "pipe",
    });
    const { stdout: output, stderr: errors } = await outputOf(child);
    if ((await child.exited) !== 0) throw new Error(errors);
    return output;
  };

  return {
    path,
    print,
    run: async (executable, body, env) => {
      const source = `${IMPORTS}\nconst answer = await (async () => { ${body} })();\nconsole.log(JSON.stringify(answer));`;
      return JSON.parse(await print(executable, source, env));
    },
    check: async (source) => {
      await writeFile(join(path, "use.ts"), source);
      const flags = "--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --module nodenext";
      const target = ["--target", "es2022", "--lib", "esnext,dom", "--types", ""];
      const compiler = join(ROOT, "node_modules/.bin/tsc");
      const tsc = Bun.spawn([process.execPath, compiler, ...flags.split(" "), ...target, "use.ts"], {
        cwd: path,
        stdout: "pipe",
      });
      const output = await new Response(tsc.stdout).text();
      return (await tsc.exited) === 0 ? output : output || "the compiler failed";
    },
    ...place,
  };
}
