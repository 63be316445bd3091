import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import project from "../../project.json" with { type: "json" };
import type { Asset, Release } from "../../scripts/package/release.ts";
import { outputOf, serveLocal } from "./local.ts";
import { temporaryDirectory } from "./temporary.ts";

const ROOT = join(import.meta.dir, "../..");

/** What `make packages` made. */
export const PACKAGES = join(ROOT, "dist/packages");

/** The file of `make packages` whose name has this form. */
export function builtPackage(form: RegExp): string {
  const name = existsSync(PACKAGES) ? readdirSync(PACKAGES).find((file) => form.test(file)) : undefined;
  if (name === undefined) throw new Error("dist/packages is not made: run `make packages`");
  return join(PACKAGES, name);
}

/** The line of docs/install.md that begins so, to be typed in a clone of the repository. */
export function documentedLine(start: string): string {
  const text = readFileSync(join(ROOT, "docs/install.md"), "utf8");
  const lines = [...text.matchAll(/`([^`\n]+)`/g)].map(([, line = ""]) => line).concat(text.split("\n"));
  const line = lines.find((candidate) => candidate.startsWith(start));
  if (line === undefined) throw new Error(`docs/install.md has no line that begins with ${start}`);
  return `cd ${ROOT} && ${line}`;
}

/** A version as packages of tests have it. */
export const RELEASE: Release = {
  version: manifest.version,
  description: manifest.description,
  license: manifest.license,
  project,
  date: new Date("2026-01-02T03:04:06Z"),
  readme: "# Tides",
  licenseText: "MIT",
};

/** A machine of its own: an empty home, these programs on PATH, no way to any host but this one. */
export function bareMachine(tools: readonly string[]) {
  const { path, ...place } = temporaryDirectory();
  const home = join(path, "home");
  const bin = join(path, "bin");
  for (const folder of [home, bin]) mkdirSync(folder);
  for (const tool of tools) {
    const found = Bun.which(tool);
    if (found === null) throw new Error(`${tool} is missing`);
    symlinkSync(found, join(bin, tool));
  }
  const nowhere = "http://127.0.0.1:9";
  const env = {
    ...{ HOME: home, PATH: bin, TMPDIR: path },
    ...{ http_proxy: nowhere, https_proxy: nowhere, HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere },
    ...{ no_proxy: "127.0.0.1", NO_PROXY: "127.0.0.1" },
  };
  return {
    ...place,
    path,
    home,
    env,
    /** Runs a line of a shell in the home folder. */
    run: (
      script: string,
      more: Readonly<Record<string, string>> = {},
      shell: readonly string[] = ["/bin/sh"],
    ) =>
      outputOf(
        Bun.spawn([...shell, "-c", script], {
          cwd: home,
          env: { ...env, ...more },
          stdin: "ignore",
          stdout: "pipe",
          stderr: "pipe",
        }),
      ),
  };
}

/** Serves a page, and files by their names. */
export function serveFiles(files: Readonly<Record<string, string | Uint8Array | Bun.BunFile>>) {
  const server = serveLocal((request) => {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    const file = name === "page" ? PAGE : files[name];
    // A page of pip's index ends with a slash.
    const type = name === "page" || name.endsWith("/") ? "text/html" : "application/octet-stream";
    return file === undefined
      ? new Response("", { status: 404 })
      : new Response(file as Bun.BunFile, { headers: { "content-type": type } });
  });
  const origin = server.url.origin;
  return { origin, page: `${origin}/page`, [Symbol.dispose]: () => void server.stop(true) };
}

/** The text of the page that `serveFiles` serves. */
export const SENTENCE = "The sea rises twice a day, and the keeper writes down how far.";
const PAGE = `<!doctype html><title>Tides</title><article><h1>Tides</h1><p>${SENTENCE}</p></article>`;

/** What a registry of npm says of packages, and the packages. @param assets as `npm pack` names them */
export async function serveNpm(assets: readonly Asset[]) {
  const packages = new Map<string, { readonly json: string; readonly asset: Asset }>();
  const server = serveLocal((request) => {
    const path = decodeURIComponent(new URL(request.url).pathname.slice(1));
    const found = packages.get(path);
    if (found !== undefined) return new Response(found.json.replaceAll("{origin}", server.url.origin));
    const asset = assets.find(({ name }) => path === `-/${name}`);
    return asset === undefined ? new Response("{}", { status: 404 }) : new Response(asset.bytes as string);
  });
  for (const asset of assets) {
    const files = await new Bun.Archive(asset.bytes as Uint8Array<ArrayBuffer>).files("package/package.json");
    const described = JSON.parse((await files.get("package/package.json")?.text()) ?? "{}");
    const { name, version } = described;
    const integrity = `sha512-${new Bun.CryptoHasher("sha512").update(asset.bytes).digest("base64")}`;
    const dist = { tarball: `{origin}/-/${asset.name}`, integrity };
    const json = JSON.stringify({
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...described, dist } },
    });
    packages.set(name, { json, asset });
  }
  return { url: server.url.origin, [Symbol.dispose]: () => void server.stop(true) };
}
