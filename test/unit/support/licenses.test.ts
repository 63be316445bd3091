import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { collectLicenses } from "../../../scripts/licenses.ts";
import { directoryForEachTest } from "../../support/for-all-tests.ts";

const REPOSITORY = join(import.meta.dir, "..", "..", "..");

describe("the licences of the program", () => {
  const root = directoryForEachTest();

  type Texts = Readonly<Record<string, string>>;
  /** Writes a package at a path under the root, with these files beside its package.json. */
  async function write(path: string, manifest: object, files: Texts = {}): Promise<void> {
    const all = {
      ...files,
      "package.json": JSON.stringify({ version: "1.0.0", license: "MIT", ...manifest }),
    };
    for (const [name, text] of Object.entries(all)) await Bun.write(join(root(), path, name), text);
  }
  const app = (dependencies: Texts, more: object = {}) => write("", { name: "app", dependencies, ...more });
  const install = (name: string, manifest: object = {}, files: Texts = {}) =>
    write(`node_modules/${name}`, { name, ...manifest }, files);

  test("follow the dependencies of dependencies and each nested version, but not what only developers need", async () => {
    await app({ a: "1" }, { devDependencies: { tool: "1" } });
    await install("a", { dependencies: { b: "2" } });
    await install("a/node_modules/b", { name: "b", version: "2.0.0", dependencies: { c: "1" } });
    await install("b");
    await install("c", { dependencies: { a: "1" } });
    await install("tool");
    const titles = [...(await collectLicenses(root())).matchAll(/^(\S+ [\d.]+)\nLicence: /gm)].map(
      (match) => match[1],
    );
    expect(titles).toEqual(["app 1.0.0", `Bun ${Bun.version}`, "a 1.0.0", "b 2.0.0", "c 1.0.0"]);
  });

  test("hold the texts of all licence and notice files", async () => {
    await app({ a: "1", "@scope/b": "1" });
    const own = { "LICENCE-MIT.txt": "Text of MIT\r\n", NOTICE: "Text of the notice" };
    await install("a", { license: undefined }, own);
    const licenses = [{ type: "MIT" }, { type: "X11" }];
    await install(
      "@scope/b",
      { license: undefined, licenses },
      { Copying: "Text of X11", "README.md": "no" },
    );
    const text = await collectLicenses(root());
    expect(text).toContain("a 1.0.0\nLicence: see below\n\nText of MIT\n\nText of the notice\n");
    expect(text).toContain("@scope/b 1.0.0\nLicence: MIT OR X11\n\nText of X11\n");
    expect(text).not.toContain("\r");
  });

  test("include a required peer and an optional dependency where they are installed", async () => {
    await app({ a: "1" });
    const peers = { peerDependencies: { p: "1", q: "1" }, peerDependenciesMeta: { q: { optional: true } } };
    await install("a", { ...peers, optionalDependencies: { o: "1" } });
    for (const name of ["p", "q"]) await install(name);
    const text = await collectLicenses(root());
    expect(["p", "q", "o"].map((name) => text.includes(`${name} 1.0.0\n`))).toEqual([true, false, false]);
  });

  test.each([undefined, "UNLICENSED", ""])("refuse a package without a licence: %j", async (license) => {
    await app({ a: "1" });
    await install("a", { version: "1.2.3", license }, { NOTICE: "not a licence" });
    await expect(collectLicenses(root())).rejects.toThrow("a 1.2.3 has no licence");
  });

  test("refuse a dependency that is not installed", async () => {
    await app({ a: "1" });
    await expect(collectLicenses(root())).rejects.toThrow("a, which");
  });

  test("of this program name Bun and each production package, the same at every run", async () => {
    const text = await collectLicenses(REPOSITORY);
    const manifest = await Bun.file(join(REPOSITORY, "package.json")).json();
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect(text).toContain(`\n${name} ${version}\n`);
    for (const name of Object.keys(manifest.devDependencies)) expect(text).not.toContain(`\n${name} `);
    expect(text).toContain("JavaScriptCore");
    // swagger-ui-dist depends on it, and package.json replaces it: it reports installations.
    expect(/.*scarf.*/.exec(text)?.[0]).toBeUndefined();
    expect(await collectLicenses(REPOSITORY)).toBe(text);
  });
});
